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
      "fuzz", "Draws tests, and shrinks and saves what makes model and device disagree.",
      discussion: """
        Without --steps and --duration it goes on until a divergence, or until Ctrl-C: once ends the test, writes
        everything and says how to go on; twice ends at once.

        Tests interfere at these levels: events (stimuli, waits, what happens around the lock), messages (of the lock's
        protocol), att (the packets below it) and link (the radio). A device offers what it can; exec: only events.

        What is found is tried again from a reset, shrunk to the shortest test that shows it, and saved in failures/ as
        a scenario: 'lockstep replay' shows it, and moved to Scenarios/regressions/ it is checked from then on. It is
        reproduced, flaky or not reproduced, with k of n, and with -v also how much likelier a defect is than chance.

        A campaign that was stopped goes on with --resume: it counts on, and what it had found is counted and not found
        again. It draws other tests than one that was never stopped, and the same ones each time: they depend on the
        seed and on how often the campaign was taken up again.

        With --jobs several processes explore: each draws tests of its own, and learns rare ones from the others, as
        they come. So two such campaigns of one seed differ; what they find replays as ever.

        A start that the device refuses is left out, and said once. After trouble in the lab the campaign goes on, up to
        three tests in a row.

        Exit status: 0 nothing found, 1 a divergence, 3 trouble in the lab, also where tests came to no verdict because of
        it and the campaign went on, or nothing but what did not show again, 5 stopped before the budget was used up,
        6 stopped by --actuations, 70 one of --jobs died or did not stop (3 where somebody killed it).

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
        summary: "The machine: its name, or the path of a file. Not needed with --resume.", count: 0...1,
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
    _ = try arguments.run.settlePart(console)
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
