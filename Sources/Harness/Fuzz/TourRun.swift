public import Conformance
public import Journal
import Basics

/// Makes a tour through a machine on a device, and writes it into a journal: one case for each of its tests.
public final class TourRun {
  /// What came of a tour.
  public struct Summary: Sendable {
    /// How many tests came to which end.
    public var tally = Tally()
    /// What was visited.
    public var coverage: Coverage
    /// What was not, and why.
    public var gaps: [CoverageGaps] = []
    /// How many choices were made, and how many of them were stimuli.
    public var events = (all: 0, stimuli: 0)
    /// The tests that agree, as scenarios that do the same again.
    public var scenarios: [Scenario] = []
    /// What there is to say of how the device was left.
    public var leave: [String] = []
    /// What the command ends with.
    public var exitStatus: CommandStatus { tally.exitStatus }
  }

  private let target: FuzzTarget
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  private let isStopped: () -> Bool
  private let replay: (Case, Outcome) -> String?
  private let settings: Tour.Settings

  /// So many tests in a row with trouble in the lab end a tour.
  private static let mostTroubles = 3
  /// How often a test is done whose link is lost before there is no verdict on it.
  private static let attempts = 3

  /// Prepares a tour.
  ///
  /// - Parameters:
  ///   - isStopped: whether the tour is to end after the choice that is being made.
  ///   - replay: the line to paste that does a failed case again.
  public init(
    _ target: FuzzTarget, settings: Tour.Settings = Tour.Settings(), provider: any DeviceProvider,
    listener: any JournalListener, isStopped: @escaping () -> Bool = { false },
    replay: @escaping (Case, Outcome) -> String? = { _, _ in nil }
  ) {
    self.target = target
    self.settings = settings
    self.provider = provider
    self.listener = listener
    self.isStopped = isStopped
    self.replay = replay
  }

  /// Makes the tour, to its end or until it is stopped.
  public func perform() -> Summary {
    listener.take(.run(Record.Run(seed: target.seed)))
    var summary: Summary
    do {
      summary = drive(try provider.device(target.device, seed: target.seed))
    } catch {
      summary = Summary(coverage: Coverage(target.machine.label, CellCoverage(target.machine.machine)))
      let test = begin(1, target.starts[target.starts.count - 1])
      listener.take(.begin(test.record))
      end(test, Outcome(.labFault(error)), &summary)
    }
    let leave = provider.leave()
    listener.take(leave)
    summary.leave = leave.remarks
    summary.tally.isInTrouble = leave.fault != nil
    listener.take(summary.coverage)
    listener.take(.end(Record.End(summary.tally, summary.exitStatus)))
    return summary
  }

  private func drive<Device: DeviceUnderTest>(_ device: Device) -> Summary {
    let abilities = device.abilities.disturbing(target.machine.machine)
    let machine = target.machine.variant(under: abilities.circumstances)
    let specification = machine.specification(abilities)
    let alphabet = Alphabet(specification, abilities, weights: target.withheld.map { ($0, 0) })
    let starts = machine.machine.startConditions(target.starts, of: abilities)
    var tour = Tour(
      specification, alphabet, starts: starts, standing: abilities.circumstances, settings: settings)
    var engine = TestEngine(
      specification, alphabet, starts: starts, device,
      invariants: target.machine.invariants,
      recorder: TraceWriter(listener, specification.vocabulary))
    var summary = Summary(coverage: Coverage(machine.label, engine.lockstep.tracker.coverage))
    var troubles = 0
    while !tour.isFinished, !isStopped(), troubles < Self.mostTroubles {
      let start = tour.begin()
      var test = begin(summary.tally.cases + 1, starts[start])
      listener.take(.begin(test.record))
      var execution = Execution()
      var outcome: Outcome
      do {
        outcome = try run(&tour, from: start, on: &engine, &execution)
        if case .divergence(let divergence) = outcome.verdict, execution.wasDisturbed {
          outcome = try repeated(execution.test, on: &engine, after: divergence)
        }
        troubles = 0
      } catch {
        outcome = follow(error, &tour, &engine.lockstep, execution, &troubles)
      }
      for text in engine.lockstep.takeRemarks() { listener.remark(text, at: engine.lockstep.now) }
      tour.end(in: engine.lockstep.situation)
      test.scenario = scenario(test, execution, specification.vocabulary)
      switch outcome.verdict {
      case .divergence, .labFault: outcome.replay = replay(test, outcome)
      case .agree: if !test.scenario.steps.isEmpty { summary.scenarios.append(test.scenario) }
      case .skipped, .incomplete, .limited: break
      }
      end(test, outcome, &summary)
      summary.events.all += execution.performed.count
      summary.events.stimuli += execution.performed.count { Int($0.act) < alphabet.eventCount }
      if case .limited = outcome.verdict { break }
    }
    let cells = engine.lockstep.tracker.coverage
    summary.coverage = Coverage(machine.label, cells)
    let open = tour.openStarts.isEmpty ? starts : tour.openStarts.map { starts[$0] }
    let finder = GapFinder(
      specification, alphabet, starts: open, standing: abilities.circumstances, after: tour)
    summary.gaps = CoverageGaps.grouped(finder.gaps(in: cells), of: cells)
    return summary
  }

  private func end(_ test: Case, _ outcome: Outcome, _ summary: inout Summary) {
    let verdict = outcome.record(of: test)
    listener.take(.verdict(verdict))
    summary.tally.count(verdict)
  }

  /// Does one test.
  private func run<Source: ChoiceSource, Device: DeviceUnderTest>(
    _ source: inout Source, from start: Int, on engine: inout TestEngine<Device, TraceWriter>,
    _ execution: inout Execution
  ) throws(LabFault) -> Outcome {
    try engine.perform(&source, from: start, isStopped: isStopped, &execution)
    let mark = StepMark(execution.performed.count, line: 0)
    let now = engine.lockstep.now
    if var divergence = execution.divergence {
      divergence.step = mark.number
      return Outcome(.divergence(divergence), mark, at: now)
    }
    if isStopped() { return Outcome(.incomplete("stopped after step \(mark.number)"), mark, at: now) }
    return Outcome(.agree, mark, at: now)
  }

  /// Does a test again that ended with a divergence after the air had lost a link, which proves nothing: the first time
  /// with all its links decides.
  private func repeated<Device: DeviceUnderTest>(
    _ test: TestCase, on engine: inout TestEngine<Device, TraceWriter>, after divergence: Divergence
  ) throws(LabFault) -> Outcome {
    var last = divergence
    for attempt in 1...Self.attempts {
      let fault = LabFault(.linkLost, "this attempt ended with: \(last.summary)")
      listener.note(fault, attempt: attempt, at: engine.lockstep.now)
      if attempt == Self.attempts || isStopped() { break }
      var (replay, execution) = (RepeatedTest(test, engine.alphabet), Execution())
      let outcome = try run(&replay, from: test.start, on: &engine, &execution)
      guard case .divergence(let again) = outcome.verdict, execution.wasDisturbed else { return outcome }
      last = again
    }
    let words = "the air lost the link in each attempt; the last ended with: \(last.summary)"
    return Outcome(
      .labFault(LabFault(.linkLost, words)), StepMark(last.step, line: 0), at: engine.lockstep.now)
  }

  /// Follows up trouble: what the device cannot do, and where it cannot be brought, is left out from now on.
  private func follow<Device: DeviceUnderTest>(
    _ fault: LabFault, _ tour: inout Tour, _ lockstep: inout Lockstep<Device, TraceWriter>,
    _ execution: Execution, _ troubles: inout Int
  ) -> Outcome {
    let mark = StepMark(execution.performed.count, line: 0)
    if fault.symptom == .safetyLimit { return Outcome(.limited(fault.detail), mark, at: lockstep.now) }
    if fault.symptom == .notPossible, mark.number > 0 {
      tour.exclude()
      return Outcome(.skipped(fault.detail), mark, at: lockstep.now)
    }
    if fault.symptom == .notPossible {
      return Outcome(
        tour.exclude(start: tour.test.start) ? .skipped(fault.detail) : .labFault(fault), mark, at: .zero)
    }
    troubles += 1
    listener.note(fault, attempt: troubles, at: lockstep.now)
    do {
      try lockstep.restart()
    } catch {
      listener.note(error, attempt: 0, at: lockstep.now)
      troubles = Self.mostTroubles
    }
    return Outcome(.labFault(fault), mark, at: lockstep.now)
  }

  private func begin(_ number: Int, _ start: StartCondition) -> Case {
    let id = "cover/\(target.machine.label)-\(number)"
    let title = "A tour of \(target.machine.label), part \(number)"
    return Case(
      id: id, name: title, file: id,
      scenario: Scenario(title: title, machine: target.machine.label, steps: []), machine: target.machine,
      device: target.device, start: start, seed: target.seed)
  }

  private func scenario(_ test: Case, _ execution: Execution, _ vocabulary: Vocabulary) -> Scenario {
    Scenario(
      title: test.name, machine: target.machine.label, device: target.device, start: test.start,
      seed: target.seed, tags: ["tour"], execution: execution, vocabulary: vocabulary)
  }
}
