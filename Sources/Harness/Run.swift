public import Basics
import Conformance
public import Journal

/// Drives the cases of a plan one after the other.
public final class Run {
  /// What came of a run.
  public struct Summary: Sendable {
    /// How many cases came to which end.
    public var tally = Tally()
    /// Which cells were visited, by machine.
    public var coverage: [Coverage] = []
    /// What there is to say of how the devices were left.
    public var park: [String] = []
    /// What the command ends with.
    public var exitStatus: CommandStatus { tally.exitStatus }
  }

  private let plan: Plan
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  private let retries: Int
  private let maximumFailures: Int?
  private let earlier: Earlier
  private let prepare: () -> [String]
  private let isStopped: () -> Bool
  private let conclude: (Case, inout Outcome) -> Void

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - plan: what to drive.
  ///   - provider: makes the devices.
  ///   - listener: takes in the journal.
  ///   - retries: how often a case is tried again that diverged or that the lab failed, at most.
  ///   - maximumFailures: after how many cases that fail no more are begun; any number unless given.
  ///   - earlier: what was done when this is a run that is taken up again.
  ///   - prepare: what is to be done before the first case; gives what there is to say of it, a line each.
  ///   - isStopped: whether the run is to end with the step that is being done.
  ///   - conclude: adds to what came of a case the line to paste that does it again, and the files that belong to it,
  ///     before it is written down.
  public init(
    _ plan: Plan, provider: any DeviceProvider, listener: any JournalListener, retries: Int = 0,
    maximumFailures: Int? = nil, earlier: Earlier = Earlier(), prepare: @escaping () -> [String] = { [] },
    isStopped: @escaping () -> Bool = { false },
    conclude: @escaping (Case, inout Outcome) -> Void = { _, _ in }
  ) {
    self.plan = plan
    self.provider = provider
    self.listener = listener
    self.retries = retries
    self.maximumFailures = maximumFailures
    self.earlier = earlier
    self.prepare = prepare
    self.isStopped = isStopped
    self.conclude = conclude
  }

  /// What a run did before it was taken up again.
  public struct Earlier: Sendable {
    /// The cases that came to a judgement, by their ids.
    public var judged: Set<ExactText> = []
    /// How they ended.
    public var tally = Tally()
    /// Whether there was anything before.
    public var isThere = false

    /// Nothing was done.
    public init() {}
  }

  /// Drives all cases. A device that fails does not end the run.
  public func perform() -> Summary {
    var summary = Summary()
    summary.tally = earlier.tally
    var count = CoverageCount()
    listener.take(
      .run(
        Record.Run(
          seed: plan.seed, cases: plan.cases.count, isResumed: earlier.isThere,
          failsFlaky: earlier.tally.failsFlaky)))
    for diagnostic in prepare() { listener.diagnostic(diagnostic) }
    var hindrance: Hindrance?
    var failures = 0
    for test in plan.cases where !earlier.judged.contains(ExactText(test.id)) {
      let verdict = tries(test, hindrance, &count)
      summary.tally.count(verdict)
      if verdict.limit != nil { hindrance = .limit(verdict.message ?? "") }
      guard verdict.word.isFailure, !verdict.isExcused else { continue }
      failures += 1
      if hindrance == nil, failures == maximumFailures { hindrance = .failures(failures) }
    }
    let park = provider.park()
    listener.take(park)
    summary.park = park.diagnostics
    summary.tally.isInTrouble = park.fault != nil
    summary.coverage = count.coverage
    for coverage in summary.coverage { listener.take(coverage) }
    if summary.exitStatus == .incomplete, let words = summary.tally.shortfall { listener.diagnostic(words) }
    listener.take(.end(Record.End(summary.tally, summary.exitStatus)))
    return summary
  }

  /// Why no more cases are begun.
  private enum Hindrance {
    /// A safety limit stopped a case, and with it the run.
    case limit(String)
    /// So many failed.
    case failures(Int)
  }

  /// Tries a case until it agrees, or as often as is allowed.
  ///
  /// A divergence stands unless a later try agrees: that the lab failed then takes nothing back.
  private func tries(_ test: Case, _ hindrance: Hindrance?, _ count: inout CoverageCount) -> Record.Verdict {
    var test = test
    var divergence: Record.Verdict?
    while true {
      listener.take(.begin(test.record))
      var outcome = perform(test, hindrance, &count)
      conclude(test, &outcome)
      outcome.isTriedAgain = outcome.mayBeTriedAgain && test.attempt <= retries && !isStopped()
      outcome.isFlaky = outcome.verdict == .agree && test.attempt > 1
      let verdict = outcome.record(of: test)
      listener.take(.verdict(verdict))
      if verdict.word == .divergence { divergence = verdict }
      guard verdict.isTriedAgain else { return verdict.word == .agree ? verdict : divergence ?? verdict }
      test.attempt += 1
    }
  }

  private func perform(_ test: Case, _ hindrance: Hindrance?, _ count: inout CoverageCount) -> Outcome {
    if let reason = test.skipReason { return Outcome(.skipped(reason)) }
    switch hindrance {
    case .limit(let words): return Outcome(.incomplete("not begun: \(words)"))
    case .failures(let count):
      let cases = count == 1 ? "1 case" : "\(count) cases"
      return Outcome(.skipped("not begun: \(cases) failed, after which no more are wanted"))
    case nil: break
    }
    if isStopped() { return Outcome(.incomplete("not begun")) }
    do {
      return drive(test, try provider.device(test.device, seed: test.seed), &count)
    } catch {
      return Outcome(error.symptom == .stopped ? .incomplete("not begun") : .labFault(error))
    }
  }

  private func drive<Device: DeviceUnderTest>(
    _ test: Case, _ device: Device, _ count: inout CoverageCount
  ) -> Outcome {
    let abilities = device.abilities
    var runner = CaseRunner(
      test, test.machine.specification(abilities), device,
      invariants: test.machine.invariants(on: test.device),
      listener: listener, isStopped: isStopped)
    let outcome = runner.run()
    count.add(runner.coverage, of: test.machine.variant(under: abilities.conditions))
    return outcome
  }
}
