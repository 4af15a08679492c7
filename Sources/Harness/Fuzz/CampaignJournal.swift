public import Conformance
public import Journal
import Automata
import Basics
import System

/// Writes a campaign into a journal, so that the reports of runs serve it too: one case for the campaign, and one for
/// each finding, in which its test is done once more on a fresh device.
public final class CampaignJournal {
  private let target: FuzzTarget
  private let settings: FuzzSettings
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  /// Has a test done, and keeps what belongs to it.
  private let keeping: (Case, () -> Outcome) -> Outcome
  private var count: EndingCount
  /// When the campaign began, as people and as clocks count.
  private var start = (moment: WallClock.time, clock: MonotonicClock.now)

  /// Prepares the journal of a campaign.
  ///
  /// - Parameters:
  ///   - earlier: what the cases of its earlier sessions came to.
  ///   - recording: has the test of a finding done, and keeps what belongs to it.
  public init(
    _ target: FuzzTarget, _ settings: FuzzSettings, provider: any DeviceProvider,
    listener: any JournalListener, earlier: EndingCount = EndingCount(),
    recording: @escaping (Case, () -> Outcome) -> Outcome = { $1() }
  ) {
    keeping = recording
    count = earlier
    self.target = target
    self.settings = settings
    self.provider = provider
    self.listener = listener
  }

  /// The id of the case that stands for the campaign itself.
  public static func id(of target: FuzzTarget) -> String { "fuzz/\(target.machine.label)" }

  /// The id of the case that shows a finding, by where that was saved: the same in whichever folder of reports, so that a
  /// history knows it again.
  public static func id(ofSaved path: String) -> String { Plan.id(of: file(ofSaved: path)) }

  /// What the case calls its file: `failures/fuzz-sesame-8f31c2.yaml`.
  private static func file(ofSaved path: String) -> String {
    path.split(separator: "/").suffix(2).joined(separator: "/")
  }

  /// What was found, each finding once.
  public var found: EndingCount.Found { count.found }

  /// The campaign begins.
  public func begin() {
    start = (WallClock.time, MonotonicClock.now)
    listener.take(.run(Record.Run(seed: settings.seed)))
  }

  /// Records a lab fault.
  public func trouble(_ fault: LabFault) {
    listener.note(fault, attempt: 1, at: .zero)
  }

  /// The lab says something.
  public func diagnostic(_ text: String) {
    listener.diagnostic(text)
  }

  /// A finding as a scenario that does the same again.
  public func scenario(of finding: Finding) -> Scenario {
    let start = target.written(target.starts[finding.test.start])
    let part = finding.divergence.lastStimulus.map { " after \($0)" } ?? ""
    var scenario = Scenario(
      title: "\(finding.divergence.summary)\(part)", machine: target.machine.label, device: target.device,
      start: start, seed: target.seed, tags: ["fuzz"], actions: finding.actions,
      vocabulary: target.vocabulary)
    if case .contradiction(let contradiction) = finding.divergence.kind {
      scenario.assumed = contradiction.held.options
    }
    return scenario
  }

  /// Writes a finding, and the case in which its saved scenario is driven.
  ///
  /// - Parameters:
  ///   - scenario: what does it again, as it is read from where it was saved.
  ///   - path: where that is.
  ///   - text: a hash of what stands there.
  ///   - replay: the line to paste that does it again.
  public func record(_ finding: Finding, _ scenario: Scenario, path: String, text: String, replay: String) {
    let test = Case(
      id: Self.id(ofSaved: path), name: scenario.title, file: Self.file(ofSaved: path), text: text,
      scenario: scenario, machine: target.machine, device: target.device,
      start: target.starts[finding.test.start],
      seed: target.seed, settings: target.device.ownSettings)
    let record = finding.record(path: path)
    listener.take(.finding(record))
    listener.take(.begin(test.record))
    var outcome = verdict(on: finding, test)
    outcome.replay = replay
    count.count(end(test, outcome), showing: record)
  }

  private func verdict(on finding: Finding, _ test: Case) -> Outcome {
    let mark = test.scenario.steps.unfolded().last?.mark ?? .start
    if let reason = finding.whyNoVerdict {
      let isOfLab = finding.divergence.isOfLab && finding.confirmation.shown > 0
      let fault = LabFault(
        isOfLab ? .programFailed : .notReproduced, "\(finding.divergence.summary): \(reason)",
        from: isOfLab ? finding.divergence.fault?.origin : nil)
      return Outcome(.labFault(fault), mark, at: finding.divergence.time)
    }
    return keeping(test) {
      if let outcome = drivenAgain(finding, test) { return outcome }
      var outcome = Outcome(.divergence(finding.divergence), mark, at: finding.divergence.time)
      (outcome.observations, outcome.steps) = (tell(finding, of: test), finding.steps)
      do throws(FileFault) { outcome.attachments = try finding.packets?.save(test) ?? [] } catch {
        listener.diagnostic("the packets of \(test.id) are not saved: \(error)")
      }
      return outcome
    }
  }

  /// Does the test of a finding once more, to have all of it in the journal: `nil` where that costs time or wear, or comes
  /// to something else.
  private func drivenAgain(_ finding: Finding, _ test: Case) -> Outcome? {
    // It would keep us waiting as long again.
    if case .stoppedAnswering = finding.divergence.kind { return nil }
    let (spec, seed) = (target.device, target.seed)
    let isSimulated = (try? provider.describe(spec).abilities.isSimulated) ?? false
    guard spec.kind == .emulator || spec.kind != .lock && isSimulated else { return nil }
    let kept = JournalList()
    do throws(LabFault) {
      // A program keeps running between tests; for a device that keeps its state, another one shows what the finding
      // does on its own.
      var device = spec.kind == .emulator ? try provider.another(spec, seed: seed) : nil
      if device == nil { device = try provider.device(spec, seed: seed) }
      guard let device else { return nil }
      let outcome = Self.drive(test, device, target, kept)
      guard case .divergence(let divergence) = outcome.verdict, divergence.isLike(finding.divergence) else {
        return nil
      }
      for record in kept.records { listener.take(record) }
      return outcome
    } catch {
      return nil
    }
  }

  /// Writes what was done and seen when a finding was confirmed, with the steps of its scenario, and what the model held
  /// possible meanwhile.
  ///
  /// - Returns: how many observations it rests on.
  private func tell(_ finding: Finding, of test: Case) -> Int? {
    let abilities = (try? provider.describe(target.device))?.abilities
    var writer = TraceWriter(listener, target.vocabulary)
    var model = abilities.flatMap { FollowedModel(test.machine.specification($0), $0, from: test.start) }
    model?.write(to: &writer, at: .zero)
    var steps = test.scenario.steps.unfolded()[...]
    /// Tells of steps that let time pass, up to the next one that does something, which follows.
    func passTime(at time: Instant) -> StepMark {
      while let (mark, step) = steps.popFirst() {
        guard let words = step.action.passing else { return mark }
        listener.note(.wait, words, mark, at: time)
      }
      return .start
    }
    var last = Instant.zero
    for entry in finding.trace {
      switch entry.event {
      case .stimulus(let stimulus):
        writer.mark = passTime(at: last)
        writer.ask(reaching: model?.allows(stimulus.number) ?? true)
      case .fault: writer.mark = passTime(at: last)
      case .observation: break
      }
      model?.pass(until: entry.time, writingTo: &writer)
      writer.record(entry.event, at: entry.time)
      model?.take(entry)
      model?.write(to: &writer, at: entry.time)
      last = entry.time
    }
    if steps.allSatisfy({ $0.step.action.passing != nil }) { _ = passTime(at: last) }
    model?.pass(until: finding.divergence.time, writingTo: &writer)
    return finding.trace.isEmpty ? nil : writer.observations
  }

  private static func drive<Device: DeviceUnderTest>(
    _ test: Case, _ device: Device, _ target: FuzzTarget, _ listener: any JournalListener
  ) -> Outcome {
    var runner = CaseRunner(
      test, target.machine.specification(device.abilities), device,
      invariants: target.machine.invariants(on: target.device), listener: listener, isStopped: { false })
    return runner.run()
  }

  /// Writes what another process wrote of a finding: the case that shows it, from its first line to its verdict.
  public func record(_ finding: Record.Finding, _ lines: [Record]) {
    for record in [.finding(finding)] + lines { listener.take(record) }
    for case .verdict(let verdict) in lines { count.count(verdict.ending(), showing: finding) }
  }

  private func end(_ test: Case, _ outcome: Outcome) -> Record.Ending {
    let verdict = outcome.record(of: test)
    listener.take(.verdict(verdict))
    return verdict.ending()
  }

  /// The campaign ends.
  ///
  /// - Parameters:
  ///   - coverage: what was visited.
  ///   - faults: what went wrong with the campaign itself.
  ///   - areOwn: whether that is a fault of ours, and not of the machine.
  /// - Returns: what the command ends with.
  public func end(
    _ end: CampaignEnd, _ status: CampaignStatus, _ coverage: Coverage?, faults: [String] = [],
    areOwn: Bool = true
  ) -> CommandStatus {
    let test = Case(
      id: Self.id(of: target), name: "\(status.events) events on \(target.machine.label)",
      file: "fuzz/\(target.machine.label)",
      scenario: Scenario(title: "fuzz", machine: target.machine.label, steps: []), machine: target.machine,
      device: target.device, start: target.starts[target.starts.count - 1], seed: settings.seed,
      settings: target.device.ownSettings)
    listener.take(.begin(test.record))
    listener.take(CaseTime(start: start.moment, taken: MonotonicClock.now - start.clock))
    // A campaign without any event proves nothing.
    let isEmpty = end == .done && status.events == 0
    count.count(
      self.end(test, Outcome(isEmpty ? .skipped("nothing was compared: no event was tried") : end.verdict)))
    listener.take(.campaign(status))
    let park = provider.park()
    listener.take(park)
    count.note(isInTrouble: park.fault != nil)
    for item in status.shown { listener.diagnostic("\(target.device): \(item), as shown") }
    if let coverage { listener.take(coverage) }
    for fault in faults { listener.diagnostic(fault) }
    if !faults.isEmpty { count.note(areOwn ? .internalFault : .labFault) }
    listener.take(.end(Record.End(count.tally)))
    return count.tally.exitStatus
  }
}

extension Step.Action {
  /// What a step waits for that does nothing else; `nil` for one that does something.
  fileprivate var passing: String? {
    switch self {
    case .wait(let interval): interval.description
    case .settle: ScenarioGrammar.settled
    case .next: ScenarioGrammar.next
    case .perform, .performNow, .refuse, .fault, .expect, .until, .fuzz, .repeated, .note: nil
    }
  }
}

/// Why a campaign ended.
public enum CampaignEnd: Equatable, Sendable {
  /// The budget is used up, and nothing was found, or all that was found is noted.
  case done
  /// A divergence was found.
  case found
  /// A stop was requested.
  case stopped
  /// A lab fault persisted, or left tests without a verdict.
  case trouble(LabFault)
  /// A safety limit was reached.
  case limited(String)

  /// What that makes of the campaign as a case: its findings are cases of their own.
  var verdict: Outcome.Verdict {
    switch self {
    case .done, .found: .agree
    case .stopped: .incomplete("stopped before its budget was used up")
    case .trouble(let fault): .labFault(fault)
    case .limited(let reason): .limited(reason)
    }
  }
}
