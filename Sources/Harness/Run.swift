import Automata
public import Basics
import Conformance
public import Journal
import System

/// Runs the cases of a plan with one worker or several; the journal has the order of the plan.
public final class Run {
  /// The results of a run.
  public struct Summary: Sendable {
    /// The number of cases by how they ended.
    public var tally = Tally()
    /// The visited cells, by machine, without those of earlier sessions.
    public var coverage: [Coverage] = []
    /// The coverage of each machine by all sessions of the run.
    public var totalCoverage: [Record.Coverage] = []
    /// The report on how the devices were left.
    public var park: [String] = []
    /// A scenario for each lock that is not known to be parked: a run of it parks the lock.
    public var parkScenarios: [ParkReport.ParkScenario] = []
    /// The permanent choices that the devices have shown.
    public var choices: [ShownChoices.Known] = []
    /// The exit status of the command.
    public var exitStatus: CommandStatus { tally.exitStatus }
  }

  private let plan: Plan
  private let workers: [RunWorker]
  private let listener: any JournalListener
  private let observer: (any CaseObserver)?
  private let retries: Int
  private let failsFlaky: Bool
  private let maximumFailures: Int?
  private let earlier: Earlier
  private let prepare: () -> [String]
  private let isStopped: () -> Bool
  /// Guards the state that workers share.
  private let monitor = Monitor()
  private var state: State

  /// The state that workers share.
  private struct State {
    var summary = Summary()
    var count = CoverageCount()
    var choices: ShownChoices
    var stopCause: StopCause?
    var failures = 0
    /// The number of other active workers.
    var others = 0
  }

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - plan: the cases to run.
  ///   - workers: the workers that run them, at least one.
  ///   - listener: receives the journal.
  ///   - observer: receives each event at once.
  ///   - retries: the maximum number of retries of a case that failed or had a lab fault.
  ///   - failsFlaky: whether a case that passes only on a retry counts as failed.
  ///   - maximumFailures: the number of failed cases after which no more are begun; no limit by default.
  ///   - earlier: the results of the run that this one resumes.
  ///   - prepare: called before the first case; returns diagnostics, a line each.
  ///   - isStopped: whether to end the run after the current step.
  public init(
    _ plan: Plan, in workers: [RunWorker], listener: any JournalListener,
    seenBy observer: (any CaseObserver)? = nil, retries: Int = 0, failsFlaky: Bool = false,
    maximumFailures: Int? = nil, earlier: Earlier = Earlier(), prepare: @escaping () -> [String] = { [] },
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.plan = plan
    self.workers = workers
    self.listener = listener
    self.observer = observer
    self.retries = retries
    self.failsFlaky = failsFlaky
    self.maximumFailures = maximumFailures
    self.earlier = earlier
    self.prepare = prepare
    self.isStopped = isStopped
    state = State(choices: earlier.choices)
  }

  /// The results of a run before it was resumed.
  public struct Earlier: Sendable {
    /// The ids of the cases with a verdict.
    public var judged: Set<ExactText> = []
    /// The number of those cases by how they ended.
    public var tally = Tally()
    /// The permanent choices that the devices have shown.
    public var choices = ShownChoices()
    /// The coverage of each machine.
    public var coverage: [Record.Coverage] = []
    /// Whether there was an earlier part of the run.
    public var isThere = false

    /// Makes empty results.
    public init() {}
  }

  /// Runs all cases. A failing device does not end the run.
  public func perform() -> Summary {
    state.summary.tally = earlier.tally
    listener.take(
      .run(
        Record.Run(
          seed: plan.seed, cases: plan.cases.count, isResumed: earlier.isThere,
          failsFlaky: failsFlaky)))
    for diagnostic in prepare() { listener.diagnostic(diagnostic) }
    driveAll()
    var summary = state.summary
    var park = workers[0].provider.park()
    for worker in workers.dropFirst() { park.add(worker.provider.park()) }
    listener.take(park)
    (summary.park, summary.parkScenarios) = (park.diagnostics, park.parkScenarios)
    summary.choices = state.choices.all
    summary.tally.isInTrouble = park.fault != nil
    summary.coverage = state.count.coverage
    summary.totalCoverage = earlier.coverage
    for coverage in summary.coverage { summary.totalCoverage.add(coverage.record) }
    for item in summary.choices { listener.diagnostic("\(item)") }
    for coverage in summary.coverage { listener.take(coverage) }
    let tooLittle = summary.tally.tooLittle
    if let tooLittle { listener.diagnostic(tooLittle) }
    listener.take(.end(Record.End(summary.tally, reasons: park.reasons + [tooLittle].compactMap(\.self))))
    return summary
  }

  /// Runs all cases with all workers, the first of which uses this thread.
  private func driveAll() {
    let queue = CaseQueue(plan.cases, listener, seenBy: observer, monitor, reach: 64 * workers.count) {
      [earlier] in
      !earlier.judged.contains(ExactText($0.id))
    }
    for worker in workers.dropFirst() {
      // Shared state is accessed only in the monitor, and this thread waits until all workers are done.
      nonisolated(unsafe) let work = {
        self.drive(in: worker, queue)
        self.monitor.locked {
          self.state.others -= 1
          self.monitor.announce()
        }
      }
      monitor.locked { state.others += 1 }
      if !inBackground({ unsafe work() }) { monitor.locked { state.others -= 1 } }
    }
    drive(in: workers[0], queue)
    monitor.locked {
      while state.others > 0 { monitor.wait() }
    }
  }

  private func drive(in worker: RunWorker, _ queue: CaseQueue<Plan.Cases>) {
    // The last case on each device.
    var last: [String: EarlierCase] = [:]
    while let (test, turn) = queue.take() {
      var visits: [(CellCoverage, MachineLibrary.Entry)] = []
      let last = runAttempts(test, in: worker, turn, after: &last[test.device.description], &visits)
      monitor.locked {
        if last.verdict.limit != nil { state.stopCause = .limit(last.verdict.message ?? "") }
        count(failureIn: last.ending(failsFlaky: failsFlaky))
      }
      turn.end { [self, visits] in
        let ending = last.ending(failsFlaky: failsFlaky)
        if last.isContradiction { count(failureIn: ending) }
        state.summary.tally.count(ending)
        if ending.word == .agree { state.summary.tally.observations += last.verdict.observations ?? 0 }
        for (coverage, machine) in visits { state.count.add(coverage, of: machine) }
      }
    }
  }

  /// Counts a failed case, and stops the run at the maximum.
  private func count(failureIn ending: Record.Ending) {
    guard ending.element == .failed || ending == .labFault else { return }
    state.failures += 1
    if state.stopCause == nil, state.failures == maximumFailures {
      state.stopCause = .failures(state.failures)
    }
  }

  /// The last attempt at a case.
  private final class LastAttempt {
    let test: Case
    var outcome: Outcome
    var verdict: Record.Verdict
    /// The attempts before it.
    private let before: CaseAttempts
    var isContradiction: Bool { outcome.isContradiction }

    init(_ test: Case, _ outcome: Outcome, _ verdict: Record.Verdict, after before: CaseAttempts) {
      (self.test, self.outcome, self.verdict, self.before) = (test, outcome, verdict, before)
    }

    /// How the case ended.
    func ending(failsFlaky: Bool) -> Record.Ending {
      var attempts = before
      attempts.end(verdict.attemptEnding)
      return attempts.ending(failsFlaky: failsFlaky)
    }
  }

  /// Checks a case against the permanent choices that the device showed in earlier cases.
  private func judge(_ last: LastAttempt, in worker: RunWorker, _ verdict: inout Record.Verdict) {
    guard verdict.word == .agree else { return }
    if let (held, shown) = state.choices.take(verdict.shown, of: last.test.record) {
      let contradiction = Divergence.Contradiction(
        of: DeviceChoice(held.shown.choice, held.shown.options), shown: shown.options, evidence: held.id)
      last.outcome.verdict = .divergence(Divergence(.contradiction(contradiction), at: last.outcome.time))
      (last.outcome.isContradiction, last.outcome.isFlaky) = (true, false)
      // The saved scenario shows the contradiction without the earlier cases.
      var test = last.test
      test.scenario.assumed = held.shown.options
      worker.conclude(test, &last.outcome, listener)
      verdict = last.outcome.record(of: last.test)
    }
    last.verdict = verdict
  }

  /// Why no more cases begin.
  private enum StopCause {
    /// A safety limit stopped a case, and with it the run.
    case limit(String)
    /// The maximum number of failures was reached.
    case failures(Int)
  }

  /// Attempts a case until it passes, or until the maximum number of attempts is reached.
  ///
  /// - Returns: the last attempt.
  private func runAttempts(
    _ test: Case, in worker: RunWorker, _ listener: CaseQueue<Plan.Cases>.Turn,
    after earlier: inout EarlierCase?,
    _ visits: inout [(CellCoverage, MachineLibrary.Entry)]
  ) -> LastAttempt {
    var test = test
    var attempts = CaseAttempts()
    while true {
      let (moment, begin) = (WallClock.time, MonotonicClock.now)
      listener.take(.begin(test.record))
      var outcome = perform(test, in: worker, listener, after: &earlier, &visits)
      monitor.locked { worker.conclude(test, &outcome, listener) }
      outcome.isTriedAgain = outcome.mayBeTriedAgain && test.attempt <= retries && !isEnded
      outcome.isFlaky = outcome.verdict == .agree && test.attempt > 1
      let verdict = outcome.record(of: test)
      listener.take(CaseTime(start: moment, taken: MonotonicClock.now - begin))
      guard verdict.isTriedAgain else {
        let last = LastAttempt(test, outcome, verdict, after: attempts)
        listener.take(verdict) { [self] in judge(last, in: worker, &$0) }
        return last
      }
      listener.take(.verdict(verdict))
      attempts.end(verdict.attemptEnding, isTriedAgain: true)
      test.attempt += 1
      attempts.beginAgain()
    }
  }

  /// Whether a stop was requested.
  private var isEnded: Bool { monitor.locked { isStopped() } }

  private func perform(
    _ test: Case, in worker: RunWorker, _ listener: any JournalListener, after earlier: inout EarlierCase?,
    _ visits: inout [(CellCoverage, MachineLibrary.Entry)]
  ) -> Outcome {
    if let reason = test.skipReason { return Outcome(.skipped(reason)) }
    switch monitor.locked({ state.stopCause }) {
    case .limit(let words): return Outcome(.incomplete("not begun: \(words)"))
    case .failures(let count):
      let cases = count == 1 ? "1 case" : "\(count) cases"
      return Outcome(.skipped("not begun: \(cases) failed, after which no more are wanted"))
    case nil: break
    }
    if isEnded { return Outcome(.incomplete("not begun")) }
    do {
      return drive(
        test, try worker.provider.device(test.device, seed: test.seed), listener, after: &earlier, &visits)
    } catch {
      return Outcome(error.symptom == .stopped ? .incomplete("not begun") : .labFault(error))
    }
  }

  private func drive<Device: DeviceUnderTest>(
    _ test: Case, _ device: Device, _ listener: any JournalListener, after earlier: inout EarlierCase?,
    _ visits: inout [(CellCoverage, MachineLibrary.Entry)]
  ) -> Outcome {
    let abilities = device.abilities
    var runner = CaseRunner(
      test, test.machine.specification(abilities), device,
      invariants: test.machine.invariants(on: test.device),
      after: earlier, listener: listener, isStopped: { [self] in isEnded })
    let outcome = runner.run()
    earlier = runner.last
    visits.append((runner.coverage, test.machine.variant(under: abilities.conditions)))
    return outcome
  }
}
