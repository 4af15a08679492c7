public import Conformance
public import Journal
import Basics

/// Runs a tour of a machine on a device, and records it in a journal, with one case for each test.
public final class TourRun {
  /// The results of a tour.
  public struct Summary: Sendable {
    /// The number of tests by how they ended.
    public var tally = Tally()
    /// The visited cells.
    public var coverage: Coverage
    /// The gaps, with their reasons.
    public var gaps: [CoverageGaps] = []
    /// The number of choices, and how many of them were stimuli.
    public var events = (all: 0, stimuli: 0)
    /// The tests that passed, as scenarios.
    public var scenarios: [Scenario] = []
    /// The report on how the device was left.
    public var park: [String] = []
    /// A scenario for each lock that is not known to be parked: a run of it parks the lock.
    public var parkScenarios: [ParkReport.ParkScenario] = []
    /// The exit status of the command.
    public var exitStatus: CommandStatus { tally.exitStatus }
  }

  private let target: FuzzTarget
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  private let isStopped: () -> Bool
  private let replay: (Case, Outcome) -> String?
  private let settings: Tour.Settings

  /// The longest timer that a tour waits for in real time.
  private static let longestTimer = Interval.seconds(660)

  /// The number of consecutive tests with lab faults that ends a tour.
  private static let maximumTroubles = 3

  /// Prepares a tour.
  ///
  /// - Parameters:
  ///   - isStopped: whether to end the tour after the current choice.
  ///   - replay: the replay command of a failed case.
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

  /// Runs the tour until its end or a stop request.
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
    let park = provider.park()
    listener.take(park)
    (summary.park, summary.parkScenarios) = (park.diagnostics, park.parkScenarios)
    summary.tally.isInTrouble = park.fault != nil
    listener.take(summary.coverage)
    listener.take(.end(Record.End(summary.tally, reasons: park.reasons)))
    return summary
  }

  private func drive<Device: DeviceUnderTest>(_ device: Device) -> Summary {
    let abilities = device.abilities.disturbing(target.machine.machine)
    let machine = target.machine.variant(under: abilities.conditions)
    let specification = machine.specification(abilities)
    let alphabet = Alphabet(specification, abilities, weights: target.withheld.map { ($0, 0) })
    let starts = machine.machine.startConditions(target.starts, of: abilities)
    var settings = settings
    settings.coversRows = true
    settings.longestTimer = abilities.isInVirtualTime ? .forever : Self.longestTimer
    var tour = Tour(
      specification, alphabet, starts: starts, standing: abilities.conditions, settings: settings)
    var engine = TestEngine(
      specification, alphabet, starts: starts, device,
      invariants: target.machine.invariants(on: target.device),
      recorder: TraceWriter(listener, specification.vocabulary))
    var summary = Summary(coverage: Coverage(machine.label, engine.lockstep.tracker.coverage))
    var troubles = 0
    while !tour.isFinished, !isStopped(), troubles < Self.maximumTroubles {
      let start = tour.begin()
      var test = begin(summary.tally.cases + 1, starts[start])
      listener.take(.begin(test.record))
      var execution = Execution()
      var outcome = self.outcome(of: &tour, from: start, on: &engine, &execution)
      if case .labFault(let fault) = outcome.verdict, fault.symptom != .linkLost {
        troubles += 1
        do {
          try engine.recover()
        } catch {
          listener.note(error, attempt: 0, at: engine.lockstep.now)
          troubles = Self.maximumTroubles
        }
      } else {
        troubles = 0
      }
      if case .divergence = outcome.verdict { tour.diverge() }
      for text in engine.lockstep.takeDiagnostics() { listener.diagnostic(text, at: engine.lockstep.now) }
      tour.end(in: engine.lockstep.explorationState)
      test.scenario = scenario(test, execution, specification.vocabulary)
      outcome.steps = engine.lockstep.recorder.steps
      switch outcome.verdict {
      case .divergence, .unmet, .labFault: outcome.replay = replay(test, outcome)
      case .agree: if !execution.performed.isEmpty { summary.scenarios.append(test.scenario) }
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
      specification, alphabet, starts: open, standing: abilities.conditions, after: tour)
    summary.gaps = CoverageGaps.grouped(finder.gaps(in: cells), of: cells)
    noteGaps(&summary, starts[starts.count - 1])
    return summary
  }

  /// Records the gaps of the tour as a case of its own, so that every report lists them: an incomplete case
  /// if something could have been covered, else a skipped one.
  private func noteGaps(_ summary: inout Summary, _ start: StartCondition) {
    guard summary.tally.exitStatus == .agree, !summary.gaps.isEmpty else { return }
    let id = "cover/\(target.machine.label)-rest"
    let test = Case(
      id: id, name: "What the tour of \(target.machine.label) did not cover", file: id,
      scenario: Scenario(title: "rest", machine: target.machine.label, steps: []), machine: target.machine,
      device: target.device, start: start, seed: target.seed)
    listener.take(.begin(test.record))
    let isAvoidable = summary.gaps.contains(where: \.isAvoidable)
    let count = summary.gaps.reduce(0) { $0 + (isAvoidable && !$1.isAvoidable ? 0 : $1.items.count) }
    let text = "\(count) not covered" + (isAvoidable ? "" : ", none of which this device can show")
    let verdict: Outcome.Verdict = isAvoidable ? .incomplete(text) : .skipped(text)
    var record = Outcome(verdict, StepMark(0, line: 0), at: .zero).record(of: test)
    record.details = CoverageGaps.lines(of: summary.gaps)
    end(record, &summary)
  }

  private func end(_ test: Case, _ outcome: Outcome, _ summary: inout Summary) {
    end(outcome.record(of: test), &summary)
  }

  private func end(_ verdict: Record.Verdict, _ summary: inout Summary) {
    listener.take(.verdict(verdict))
    summary.tally.count(verdict.ending())
    if verdict.word == .agree { summary.tally.observations += verdict.observations ?? 0 }
  }

  /// The result of one test. Actions and starts that the device turns out not to support are left out from
  /// then on.
  private func outcome<Device: DeviceUnderTest>(
    of tour: inout Tour, from start: Int, on engine: inout TestEngine<Device, TraceWriter>,
    _ execution: inout Execution
  ) -> Outcome {
    var trouble: LabFault?
    do {
      try engine.perform(&tour, from: start, isStopped: isStopped, &execution)
    } catch {
      trouble = error
    }
    var mark = StepMark(execution.performed.count, line: 0)
    if let trouble, trouble.symptom == .notPossible {
      guard mark.number > 0 else {
        return Outcome(tour.exclude(start: start) ? .skipped(trouble.detail) : .labFault(trouble))
      }
      tour.exclude()
      // The comparison so far has a verdict.
      guard engine.lockstep.recorder.observations > 0, execution.divergence == nil else {
        return Outcome(.skipped(trouble.detail), mark, at: engine.lockstep.now)
      }
      listener.diagnostic(trouble.detail, at: engine.lockstep.now)
      var outcome = Outcome(.agree, mark, at: engine.lockstep.now)
      outcome.observations = engine.lockstep.recorder.observations
      return outcome
    }
    var verdict: Outcome.Verdict
    do {
      var last = execution
      if trouble != nil || execution.divergence != nil {
        var attempts = Attempts.drawn(maximumLosses: engine.maximumLosses)
        last = try engine.run(
          execution.test, &attempts, following: (execution, trouble),
          isStopped: isStopped, note: { listener.note($0, attempt: $1, at: $2) })
      }
      if var divergence = last.divergence {
        mark = StepMark(last.performed.count, line: 0)
        divergence.step = mark.number
        verdict = .divergence(divergence)
      } else {
        let recorder = engine.lockstep.recorder
        verdict =
          isStopped()
          ? .incomplete("stopped after step \(mark.number)")
          : recorder.observations == 0 ? .skipped(recorder.whyNothingWasCompared) : .agree
      }
    } catch {
      verdict = Outcome.Verdict(error, in: mark, isStopped: isStopped())
    }
    var outcome = Outcome(verdict, mark, at: engine.lockstep.now)
    outcome.observations = engine.lockstep.recorder.observations
    return outcome
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
