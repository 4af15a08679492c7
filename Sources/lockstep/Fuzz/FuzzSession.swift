import Automata
import Conformance
import Harness
import Simulation
import Transports

/// A campaign from the command line to its reports.
///
/// Without a twin the device is explored. With one, the twin is: what is found there is shrunk there, and the device
/// is asked for it; where nothing is found, the device does the rarest of the twin's tests.
final class FuzzSession {
  /// How much is explored on a twin when nothing else is said: the device still waits.
  private static let twinSteps = 100_000

  private let arguments: FuzzArguments
  private let console: Console
  private let world: World
  private let folder: RunFolder
  private let target: FuzzTarget
  /// What is explored in place of the target, where it has a twin.
  private let twin: FuzzTarget?
  private var settings: FuzzSettings
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
    if target.device.kind != .lock { settings.actuations = arguments.run.lab.actuations?.value }
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
      guard let twin else {
        return finish(explore(target, try world.devices.device(target.device, seed: target.seed)))
      }
      var explored = explore(twin, try world.devices.device(twin.device, seed: twin.seed))
      if explored.cause == .done, explored.status.depths.isEmpty {
        let device = try world.devices.device(target.device, seed: target.seed)
        explored = check(explored, device)
      }
      return finish(explored)
    } catch {
      return finish(Explored(cause: .trouble(error)))
    }
  }

  /// What came of exploring.
  private struct Explored {
    var cause: CampaignEnd
    var status = CampaignStatus()
    var coverage: Coverage?
    /// The tests that did what few others did, and what they mean.
    var rare: [(test: TestCase, actions: [(action: TestAction, isForbidden: Bool)])] = []
  }

  private func explore<Device: DeviceUnderTest>(_ explored: FuzzTarget, _ device: Device) -> Explored {
    var settings = settings
    if twin != nil {
      settings.actuations = nil
      if settings.steps == nil, arguments.duration == nil { settings.steps = Self.twinSteps }
    }
    var corpus = CorpusFolder(
      arguments.corpus ?? arguments.run.out + "/corpus", explored,
      TestRunner(explored, device, settings, recorder: NoRecorder()).alphabet)
    let known = corpus.read(world.reader)
    report.say("corpus  \(corpus.path): \(known.count) tests")
    var result = Explored(cause: .done)
    var edge = edge(for: device, isTwin: twin != nil)
    edge.keep = { test, actions in
      corpus.keep(test, actions)
      result.rare.append((test, actions))
    }
    var campaign = Campaign(explored, device, settings, corpus: known, edge: edge)
    result.cause = campaign.perform()
    result.status = campaign.status
    result.coverage = Coverage(explored.machine.label, campaign.coverage)
    if let fault = corpus.fault { console.say("lockstep: the corpus is not kept: \(fault)") }
    return result
  }

  /// Lets the device do the rarest of its twin's tests, the shortest first.
  private func check<Device: DeviceUnderTest>(_ explored: Explored, _ device: Device) -> Explored {
    var result = explored
    var campaign = Campaign(target, device, settings, edge: edge(for: device, isTwin: false))
    let tests = explored.rare.compactMap { $0.test.translated($0.actions, to: campaign.runner.alphabet) }
      .sorted()
    report.say("twin    agrees with the model; the device does \(tests.count) of its tests")
    result.cause = campaign.perform(tests)
    result.status = campaign.status
    result.coverage = Coverage(target.machine.label, campaign.coverage)
    return result
  }

  private func edge<Device: DeviceUnderTest>(
    for device: Device, isTwin: Bool
  ) -> Campaign<Device>.Edge {
    Campaign<Device>.Edge(
      isStopped: { [self] in isStopped }, elapsed: { [begin] in MonotonicClock.now - begin },
      progress: { [self] in report.progress($0, took: MonotonicClock.now - begin) },
      found: { [self] in found(&$0, onTwin: isTwin) },
      trouble: { [self] in
        journal.trouble($0)
        report.say("trouble  \($0)")
      })
  }

  private var isStopped: Bool {
    if Interruption.isRequested || folder.fault != nil { return true }
    return arguments.duration.map { MonotonicClock.now - begin >= $0 } ?? false
  }

  private func found(_ finding: inout Finding, onTwin: Bool) {
    finding.isOnTwin = onTwin
    finding.twin = compare(finding)
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

  /// What device and twin have to say of a finding; nothing where there is no twin.
  private func compare(_ finding: Finding) -> TwinVerdict? {
    guard let twin else { return nil }
    do throws(LabFault) {
      return compare(
        finding, twin, try world.devices.device(twin.device, seed: twin.seed),
        try world.devices.device(target.device, seed: target.seed))
    } catch {
      return .notAsked(error.description)
    }
  }

  private func compare<First: DeviceUnderTest, Second: DeviceUnderTest>(
    _ finding: Finding, _ twin: FuzzTarget, _ first: First, _ second: Second
  ) -> TwinVerdict {
    var check = TwinCheck(twin, first, target, second, settings)
    return finding.isOnTwin ? check.confirm(finding) : check.contradict(finding)
  }

  private func replayLine(_ path: String) -> String {
    var words = ["lockstep", "replay", path]
    if target.device.kind == .lock, let device = arguments.run.device {
      words += ["--device", device] + arguments.run.lab.words
    }
    return words.map(shellWord).joined(separator: " ")
  }

  private func finish(_ explored: Explored) -> CommandStatus {
    // The time that was asked for is a budget, and not somebody who stopped it.
    let isBudget = explored.cause == .stopped && !Interruption.isRequested && folder.fault == nil
    let cause = isBudget ? .done : explored.cause
    let exit = journal.end(cause, explored.status, explored.coverage)
    do {
      try folder.finish(seed: settings.seed)
      try folder.writeJUnit(to: arguments.run.junit ?? arguments.run.out + "/junit.xml")
    } catch {
      console.say("lockstep: \(error)")
      return .internalFault
    }
    report.end(
      FuzzEnd(
        cause: cause, status: explored.status, coverage: explored.coverage, seed: settings.seed,
        took: MonotonicClock.now - begin, resume: nil, journal: folder.journalPath))
    return exit
  }
}
