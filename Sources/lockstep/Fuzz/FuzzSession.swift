import Automata
import Conformance
import Harness
import Simulation
import Transports

/// A campaign from the command line to its reports.
final class FuzzSession {
  private let arguments: FuzzArguments
  private let console: Console
  private let world: World
  private let folder: RunFolder
  private let target: FuzzTarget
  /// What is explored in place of the target, where it has a twin.
  private let twin: FuzzTarget?
  private let settings: FuzzSettings
  private let journal: CampaignJournal
  private let report: any FuzzReport
  private let begin = MonotonicClock.now

  init(_ arguments: FuzzArguments, _ console: Console) throws(UsageError) {
    self.arguments = arguments
    self.console = console
    world = World(answerTimeout: arguments.run.answerTimeout, lab: try arguments.run.labSettings())
    let seed = arguments.run.seed ?? UInt64(world.drawSeed())
    settings = try arguments.settings(seed: seed)
    let machine = try arguments.machine(in: world)
    target = try arguments.target(machine, in: world, seed: seed)
    twin = try arguments.twinTarget(machine, target, in: world, seed: seed)
    do {
      folder = try RunFolder(
        out: arguments.run.out, kind: "fuzz", command: Array(CommandLine.arguments.dropFirst()))
    } catch {
      throw UsageError(error.description)
    }
    world.devices.bench.capture(in: folder.path)
    journal = CampaignJournal(target, settings, provider: world.devices, listener: folder)
    report =
      arguments.run.format == .json
      ? JSONFuzzReport(console, isQuiet: arguments.run.isQuiet)
      : HumanFuzzReport(console, console.painter(arguments.run.color), isQuiet: arguments.run.isQuiet)
  }

  func perform() -> CommandStatus {
    Interruption.listen()
    defer { world.devices.shutDown() }
    journal.begin()
    report.begin(target, twin, settings)
    do throws(LabFault) {
      let explored = twin ?? target
      let device = try world.devices.device(explored.device, seed: explored.seed)
      return explore(explored, device)
    } catch {
      return end(.trouble(error), CampaignStatus(), visits: [], under: [])
    }
  }

  private func explore<Device: DeviceUnderTest>(_ explored: FuzzTarget, _ device: Device) -> CommandStatus {
    var corpus = CorpusFolder(
      arguments.corpus ?? arguments.run.out + "/corpus", explored,
      TestRunner(explored, device, settings, recorder: NoRecorder()).alphabet)
    let known = corpus.read(world.reader)
    report.say("corpus  \(corpus.path): \(known.count) tests")
    let edge = Campaign<Device>.Edge(
      isStopped: { [self] in isStopped }, elapsed: { [begin] in MonotonicClock.now - begin },
      progress: { [self] in report.progress($0, took: MonotonicClock.now - begin) },
      found: { [self] in found(&$0) },
      keep: { corpus.keep($0, $1) },
      trouble: { [self] in
        journal.trouble($0)
        report.say("trouble  \($0)")
      })
    var campaign = Campaign(explored, device, settings, corpus: known, edge: edge)
    let cause = campaign.perform()
    if let fault = corpus.fault { console.say("lockstep: the corpus is not kept: \(fault)") }
    return end(
      cause, campaign.status, visits: campaign.visits,
      under: campaign.runner.lockstep.device.abilities.circumstances)
  }

  private var isStopped: Bool {
    if Interruption.isRequested || folder.fault != nil { return true }
    return arguments.duration.map { MonotonicClock.now - begin >= $0 } ?? false
  }

  private func found(_ finding: inout Finding) {
    finding.twin = askDevice(of: finding)
    let scenario = journal.scenario(of: finding)
    do {
      let path = try folder.save(
        scenario, in: "failures", stem: "fuzz-\(target.machine.machine.name)", finding.comments)
      finding.path = path
      let line = replayLine(path)
      journal.record(finding, scenario, path: path, replay: line)
      report.found(finding, scenario, replay: line)
    } catch {
      console.say("lockstep: the counterexample is not saved: \(error)")
    }
  }

  /// Asks the device of something that was found on its twin.
  private func askDevice(of finding: Finding) -> TwinVerdict? {
    guard let twin else { return nil }
    do throws(LabFault) {
      let check = TwinCheck(target: target, settings: settings)
      return check.ask(
        finding, twin, twin: try world.devices.device(twin.device, seed: twin.seed),
        device: try world.devices.device(target.device, seed: target.seed))
    } catch {
      return .notAsked(error.description)
    }
  }

  private func replayLine(_ path: String) -> String {
    var words = ["lockstep", "replay", path]
    if target.device.kind == .lock, let device = arguments.run.device {
      words += ["--device", device] + arguments.run.lab.words
    }
    return words.map(shellWord).joined(separator: " ")
  }

  private func end(
    _ cause: CampaignEnd, _ status: CampaignStatus, visits: [UInt32], under circumstances: [String]
  ) -> CommandStatus {
    // The time that was asked for is a budget, and not somebody who stopped it.
    let cause = cause == .stopped && !Interruption.isRequested && folder.fault == nil ? .done : cause
    let exit = journal.end(cause, status, visits: visits, under: circumstances)
    do {
      try folder.finish(seed: settings.seed)
      try folder.writeJUnit(to: arguments.run.junit ?? arguments.run.out + "/junit.xml")
    } catch {
      console.say("lockstep: \(error)")
      return .internalFault
    }
    report.end(
      FuzzEnd(
        cause: cause, status: status, coverage: nil, seed: settings.seed, took: MonotonicClock.now - begin,
        resume: nil, journal: folder.journalPath))
    return exit
  }
}
