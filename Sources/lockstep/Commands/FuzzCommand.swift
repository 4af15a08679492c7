import CommandLine
import Reporting
import Devices
import Programs
import System
import Bench
import Harness
import Journal

extension Command {
  static var fuzz: Command {
    Command(
      "fuzz", "Generates random tests, and shrinks and saves those that make model and device diverge.",
      discussion: """
        Without --steps and --duration, fuzzing continues until a divergence or Ctrl-C. Ctrl-C once ends the test, writes all
        reports and prints how to resume; twice ends at once.

        Tests interfere at these levels: events (stimuli, waits, events around the lock), messages (of the protocol of the
        lock), att (the packets that carry them) and link (the radio). Each device supports some of them; exec: only events.

        Each finding is tried again after a reset, shrunk to the shortest test that shows it, and saved in failures/ as a
        scenario. 'lockstep replay' shows it; move it to Scenarios/regressions/ to check it from then on. A finding is
        reproduced, flaky or not reproduced, with k of n attempts, and with -v also with the likelihood of a defect compared to
        chance.

        --resume continues a stopped campaign with its counts; earlier findings are counted and not searched for again. The
        resumed campaign generates other tests than an uninterrupted one. They depend only on the seed and on the number of
        times that the campaign was resumed.

        With --jobs, several processes generate different tests and share rare ones as they find them. Two such campaigns with
        one seed therefore differ, but each finding can be replayed.

        A start condition that the device refuses is left out, and reported once. After a lab fault the campaign continues; it
        stops after three tests in a row with lab faults.

        Exit status: 0 no findings; 1 a divergence; 3 a lab fault, even if the campaign continued, if tests have no verdict
        because of it, or if no finding was reproduced; 5 stopped before the budget was used up; 6 stopped by --actuations; 70 a
        process of --jobs crashed or did not stop (3 if it was killed from outside).

        """,
      examples: [
        Example("lockstep fuzz sesame", "Tests of the lock's machine until one fails."),
        Example(
          "lockstep fuzz sesame --device 'emulator:sesame5?defect=deaf-unlock'",
          "The same on a lock with a bug, to see what a finding looks like."),
        Example(
          "lockstep fuzz sesame --duration 8h --keep-going --jobs 4",
          "A night on four processors, all findings."),
        Example(
          "lockstep fuzz sesame --lab labgrid://lab:20408 --tags model=sesame5 --actuations 200",
          "On a lock of a lab, after its emulator."),
      ],
      options: FuzzArguments.options,
      operands: .init(
        placeholder: "MACHINE",
        summary: "The machine: its name, or the path of a machine file. Not needed with --resume.",
        count: 0...1,
        as: .machine, path: \.operands), defaults: FuzzArguments(), settings: \.run.settings,
      groups: OptionGroup.usual,
      perform: FuzzArguments.perform)
  }
}

extension FuzzArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let earlier = try resume.map { run throws(UsageError) in
      try CampaignState.read(run, out: self.run.reports.out)
    }
    var arguments = try earlier.map { earlier throws(UsageError) in try resuming(earlier.state) } ?? self
    guard !arguments.operands.isEmpty else { throw UsageError("missing MACHINE") }
    if let diagnostic = earlier?.run.diagnostic { console.say("lockstep: \(diagnostic)") }
    arguments.run.job = earlier?.run.manifest?.job
    _ = try arguments.run.resolveShard(console)
    do throws(NoPlace) {
      try arguments.run.acquire(console)
    } catch {
      return try error.status(console)
    }
    defer { arguments.run.release(console) }
    let world = try World.forCampaign(arguments, messages: console.status)
    let plan = try CampaignPlan(arguments, in: world, earlier: earlier?.state)
    let isParallel = (arguments.jobs?.value ?? 1) > 1
    if isParallel, plan.target.device.kind == .lock || world.devices.bench.device != nil {
      throw UsageError("--jobs: a lock can be driven by one process only")
    }
    let output = try CampaignFolder(arguments, plan, world.devices, console, earlier: earlier?.run)
    world.devices.bench.capture(in: output.folder.path)
    world.devices.output = ProgramOutput(in: output.folder.path)
    output.folder.reserve([plan.target.device], on: world.devices.bench)
    Interruption.listen()
    defer { world.devices.shutDown() }
    return output.close(
      isParallel
        ? WorkerPool(
          plan, WorkerArguments(arguments: arguments, plan: plan).all, in: output.folder.path, output
        ).perform()
        : CampaignSession(plan, output).perform())
  }
}
