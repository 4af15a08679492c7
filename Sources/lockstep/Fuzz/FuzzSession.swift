import Automata
import Conformance
import Harness
import Simulation
import Transports

/// A campaign in this process, from what was asked for to its end.
final class FuzzSession {
  /// How often the state of the campaign is written down, at most, and how often its coverage is looked at.
  private static let periods = (state: Interval.seconds(5), look: Interval.milliseconds(200))

  private let arguments: FuzzArguments
  private let world: World
  private let desk: FuzzDesk
  private let target: FuzzTarget
  /// What is explored in place of the target, where it has a twin.
  private let twin: FuzzTarget?
  private let settings: FuzzSettings
  private let journal: CampaignJournal
  private let report: any FuzzReport
  private let begin = MonotonicClock.now
  private var state: CampaignState
  private var lastState: Interval
  private var lastLook = Interval.zero
  /// The machine as it is on the device.
  private var machine: MachineLibrary.Entry

  /// - Parameters:
  ///   - arguments: what was asked for, also where a campaign is taken up again.
  ///   - desk: where everything goes.
  init(_ arguments: FuzzArguments, _ plan: FuzzPlan, _ desk: FuzzDesk) {
    self.arguments = arguments
    self.desk = desk
    world = plan.world
    target = plan.target
    twin = plan.twin
    settings = plan.settings
    state = plan.state
    machine = plan.target.machine
    report = desk.report
    lastState = begin
    journal = CampaignJournal(
      target, settings, provider: world.devices, listener: desk.listener, earlier: desk.tally)
  }

  func perform() -> FuzzEnd {
    defer { world.devices.shutDown() }
    if desk.keepsJournal { journal.begin() }
    report.begin(FuzzHead(target, twin: twin, settings, duration: arguments.duration))
    do throws(LabFault) {
      let explored = twin ?? target
      let device = try world.devices.device(explored.device, seed: explored.seed)
      return explore(explored, device)
    } catch {
      return end(.trouble(error), state.status, under: [])
    }
  }

  private func explore<Device: DeviceUnderTest>(_ explored: FuzzTarget, _ device: Device) -> FuzzEnd {
    let circumstances = device.abilities.circumstances
    machine = explored.machine.variant(under: circumstances)
    var corpus = CorpusFolder(
      arguments.corpusFolder, explored,
      TestRunner(explored, device, settings, recorder: NoRecorder()).alphabet)
    let known = corpus.read(world.reader)
    if desk.keepsJournal { report.say("corpus  \(corpus.path): \(known.count) tests") }
    var lastRead = begin
    let edge = Campaign<Device>.Edge(
      isStopped: { [self] in isStopped }, elapsed: { [begin] in MonotonicClock.now - begin },
      progress: { [self] in progress($0) },
      found: { [self] in found(&$0) },
      keep: { corpus.keep($0, $1) },
      trouble: { [self] in
        journal.trouble($0)
        report.say("trouble  \($0)")
      },
      coverage: { [self] in look($0) },
      news: { [self] in
        // Only who shares the folder with others looks for what they put there.
        guard settings.shard.count > 1, MonotonicClock.now - lastRead >= .seconds(2) else { return [] }
        lastRead = MonotonicClock.now
        return corpus.read(world.reader)
      })
    var campaign = Campaign(
      explored, device, settings, corpus: known, earlier: state.earlier(), edge: edge)
    let cause = campaign.perform()
    for (index, known) in campaign.earlier.findings.enumerated() { state.findings[index].count = known.count }
    for finding in campaign.findings {
      if let index = state.findings.firstIndex(where: { $0.signature == finding.signature }) {
        state.findings[index].count = finding.count
      }
    }
    state.cells.formUnion(CellBits(campaign.runner.lockstep.tracker.coverage.visits))
    if let fault = corpus.fault { report.warn("the corpus is not kept: \(fault)") }
    return end(cause, campaign.status, under: circumstances)
  }

  private var isStopped: Bool {
    if Interruption.isRequested || desk.isStopped { return true }
    return arguments.duration.map { MonotonicClock.now - begin >= $0 } ?? false
  }

  /// How long the campaign has been explored, in all its sittings.
  private var elapsed: Interval { state.elapsed + (MonotonicClock.now - begin) }

  private func progress(_ status: CampaignStatus) {
    let now = MonotonicClock.now
    report.progress(
      FuzzProgress(status: status, took: state.elapsed + (now - begin), coverage: state.coverage))
    guard now - lastState >= Self.periods.state else { return }
    lastState = now
    keep(status)
  }

  /// Looks at the coverage, now and then.
  private func look(_ coverage: borrowing CellCoverage) {
    let now = MonotonicClock.now
    guard now - lastLook >= Self.periods.look else { return }
    lastLook = now
    state.cells.formUnion(CellBits(coverage.visits))
    count()
  }

  private func count() {
    let cells = machine.machine.stateCount * machine.machine.eventCount
    state.coverage = Coverage(machine, visits: state.cells.visits(of: cells))
  }

  /// Writes down how far the campaign is, to be taken up again.
  private func keep(_ status: CampaignStatus) {
    var state = state
    state.status = status
    state.elapsed = elapsed
    desk.keep(state)
  }

  private func found(_ finding: inout Finding) {
    finding.twin = askDevice(of: finding)
    let scenario = journal.scenario(of: finding)
    do {
      let path = try save(
        scenario, in: arguments.run.out + "/failures", stem: "fuzz-\(target.machine.machine.name)",
        finding.comments)
      finding.path = path
      let line = replayLine(path)
      journal.record(finding, scenario, path: path, replay: line)
      report.found(FindingNotice(finding, scenario, path: path, replay: line))
      // One that could not be tried again is to be found again.
      guard finding.confirmation.runs > 0 else { return }
      state.findings.append(
        .init(
          signature: finding.signature, path: path, length: finding.test.choices.count, count: finding.count))
    } catch {
      report.warn("the counterexample is not saved: \(error)")
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
    _ cause: CampaignEnd, _ status: CampaignStatus, under circumstances: [String]
  ) -> FuzzEnd {
    // The time that was asked for is a budget, and not somebody who stopped it.
    let cause = cause == .stopped && !Interruption.isRequested && !desk.isStopped ? .done : cause
    if !state.cells.isVisited.isEmpty { count() }
    keep(status)
    var end = FuzzEnd(cause: cause, status: status, seed: settings.seed, took: elapsed)
    end.coverage = state.coverage
    if desk.keepsJournal {
      let cells = machine.machine.stateCount * machine.machine.eventCount
      let visits = state.cells.visits(of: cells).map { UInt32(truncatingIfNeeded: $0) }
      end.exit = journal.end(
        cause, status, visits: state.cells.isVisited.isEmpty ? [] : visits, under: circumstances)
    }
    return end
  }
}
