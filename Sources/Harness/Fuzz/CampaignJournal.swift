public import Conformance
public import Journal
import Automata
import Basics
import System

/// Writes a campaign into a journal, so that the reports of runs can show it: one case for the campaign, and
/// one for each finding, in which its test runs once more on a new device.
public final class CampaignJournal {
  private let target: FuzzTarget
  private let settings: FuzzSettings
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  /// Runs a test, and stores its artifacts.
  private let keeping: (Case, () -> Outcome) -> Outcome
  private var count: EndingCount
  /// When the campaign began, by the calendar and by the monotonic clock.
  private var start = (moment: WallClock.time, clock: MonotonicClock.now)

  /// Prepares the journal of a campaign.
  ///
  /// - Parameters:
  ///   - earlier: the number of cases of its earlier sessions, by how they ended.
  ///   - recording: runs the test of a finding, and stores its artifacts.
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

  /// The id of the campaign's own case.
  public static func id(of target: FuzzTarget) -> String { "fuzz/\(target.machine.label)" }

  /// The id of a finding's case, from the path of its scenario: it does not depend on the folder of reports,
  /// so that a history recognizes it.
  public static func id(ofSaved path: String) -> String { Plan.id(of: file(ofSaved: path)) }

  /// The case's name for its file: `failures/fuzz-sesame-8f31c2.yaml`.
  private static func file(ofSaved path: String) -> String {
    path.split(separator: "/").suffix(2).joined(separator: "/")
  }

  /// The findings, each counted once.
  public var found: EndingCount.Found { count.found }

  /// Records the beginning of the campaign.
  public func begin() {
    start = (WallClock.time, MonotonicClock.now)
    listener.take(.run(Record.Run(seed: settings.seed)))
  }

  /// Records a lab fault.
  public func trouble(_ fault: LabFault) {
    listener.note(fault, attempt: 1, at: .zero)
  }

  /// Records a diagnostic of the lab.
  public func diagnostic(_ text: String) {
    listener.diagnostic(text)
  }

  /// A scenario that reproduces a finding.
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

  /// Records a finding, and the case of its saved scenario.
  ///
  /// - Parameters:
  ///   - scenario: reproduces the finding, as read from its file.
  ///   - path: the path of the file.
  ///   - text: a hash of the file's text.
  ///   - replay: the replay command.
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
      (outcome.observations, outcome.steps) = (write(finding, of: test), finding.steps)
      do throws(FileFault) { outcome.attachments = try finding.packets?.save(test) ?? [] } catch {
        listener.diagnostic("the packets of \(test.id) are not saved: \(error)")
      }
      return outcome
    }
  }

  /// Repeats the test of a finding to record all of it.
  ///
  /// - Returns: `nil` if that costs time or wear, or has another result.
  private func drivenAgain(_ finding: Finding, _ test: Case) -> Outcome? {
    // Each attempt waits for an answer that does not come.
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

  /// Records the trace of the run that confirmed a finding, with the steps of its scenario and the model's
  /// possible states.
  ///
  /// - Returns: the number of observations.
  private func write(_ finding: Finding, of test: Case) -> Int? {
    let abilities = (try? provider.describe(target.device))?.abilities
    var writer = TraceWriter(listener, target.vocabulary)
    var model = abilities.flatMap { FollowedModel(test.machine.specification($0), $0, from: test.start) }
    model?.write(to: &writer, at: .zero)
    var steps = test.scenario.steps.unfolded()[...]
    /// Records the steps that let time pass before the next action, and returns that action's step.
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

  /// Records a finding of another process, with all records of its case.
  public func record(_ finding: Record.Finding, _ lines: [Record]) {
    for record in [.finding(finding)] + lines { listener.take(record) }
    for case .verdict(let verdict) in lines { count.count(verdict.ending(), showing: finding) }
  }

  private func end(_ test: Case, _ outcome: Outcome) -> Record.Ending {
    let verdict = outcome.record(of: test)
    listener.take(.verdict(verdict))
    return verdict.ending()
  }

  /// Why a campaign that ended as planned proves nothing; `nil` if it proves something.
  private func emptiness(_ status: CampaignStatus) -> String? {
    if status.events == 0 { return "no event was tried" }
    let stimuli = target.machine.machine.stimulusNames
    // Such a device has only faults in common with the machine.
    guard !stimuli.isEmpty, target.undriven == stimuli else { return nil }
    return "\(target.device) takes no stimulus of the machine"
  }

  /// Records the end of the campaign.
  ///
  /// - Parameters:
  ///   - coverage: the visited cells.
  ///   - faults: the problems of the campaign itself.
  ///   - areOwn: whether the problems are internal errors, and not problems of the host.
  /// - Returns: the exit status of the command.
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
    let reason = end == .done ? emptiness(status) : nil
    let outcome = Outcome(reason.map { .skipped("nothing was compared: \($0)") } ?? end.verdict)
    count.count(self.end(test, outcome))
    listener.take(.campaign(status))
    let park = provider.park()
    listener.take(park)
    count.note(isInTrouble: park.fault != nil)
    for item in status.shown { listener.diagnostic("\(target.device): \(item), as shown") }
    if let coverage { listener.take(coverage) }
    for fault in faults { listener.diagnostic(fault) }
    if !faults.isEmpty { count.note(areOwn ? .internalFault : .labFault) }
    listener.take(.end(Record.End(count.tally, reasons: park.reasons + faults)))
    return count.tally.exitStatus
  }
}

extension Step.Action {
  /// What a step of time waits for; `nil` for a step that acts.
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
  /// The budget is used up, and there are no findings, or all of them are recorded.
  case done
  /// A divergence was found.
  case found
  /// A stop was requested.
  case stopped
  /// A lab fault persisted, or left tests without a verdict.
  case trouble(LabFault)
  /// A safety limit was reached.
  case limited(String)

  /// The verdict of the campaign's own case: its findings are cases of their own.
  var verdict: Outcome.Verdict {
    switch self {
    case .done, .found: .agree
    case .stopped: .incomplete("stopped before its budget was used up")
    case .trouble(let fault): .labFault(fault)
    case .limited(let reason): .limited(reason)
    }
  }
}
