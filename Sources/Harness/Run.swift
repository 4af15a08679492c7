import Automata
import Conformance
import Simulation

/// Drives the cases of a plan one after the other.
public final class Run {
  /// What came of a run.
  public struct Summary: Sendable {
    /// How many cases came to which end.
    public var tally = Tally()
    /// Which cells were visited, by machine.
    public var coverage: [Coverage] = []
    /// What there is to say of how the devices were left.
    public var leave: [String] = []
    /// What the command ends with.
    public var exitStatus: CommandStatus { tally.exitStatus }
  }

  private let plan: Plan
  private let provider: any DeviceProvider
  private let listener: any JournalListener
  private let isStopped: () -> Bool
  private let replay: (Case, Outcome) -> String?

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - plan: what to drive.
  ///   - provider: makes the devices.
  ///   - listener: takes in the journal.
  ///   - isStopped: whether the run is to end after the step that is being done.
  ///   - replay: the line to paste that does a failed case again.
  public init(
    _ plan: Plan, provider: any DeviceProvider, listener: any JournalListener,
    isStopped: @escaping () -> Bool = { false },
    replay: @escaping (Case, Outcome) -> String? = { _, _ in nil }
  ) {
    self.plan = plan
    self.provider = provider
    self.listener = listener
    self.isStopped = isStopped
    self.replay = replay
  }

  /// Drives all cases. A device that fails does not end the run.
  public func perform() -> Summary {
    var summary = Summary()
    var count = CoverageCount()
    listener.take(.run(seed: plan.seed))
    var limit: String?
    for test in plan.cases {
      listener.take(.begin(test))
      var outcome = perform(test, limit, &count)
      switch outcome.verdict {
      case .divergence, .labFault: outcome.replay = replay(test, outcome)
      case .limited: limit = outcome.verdict.message
      case .agree, .skipped, .incomplete: break
      }
      listener.take(.verdict(outcome, test))
      summary.tally.count(outcome.verdict)
    }
    let leave = provider.leave()
    for remark in leave.remarks { listener.take(.remark(remark, at: .zero)) }
    summary.leave = leave.remarks
    summary.tally.isInTrouble = leave.fault != nil
    summary.coverage = count.coverage
    for coverage in summary.coverage { listener.take(.coverage(coverage)) }
    listener.take(.end(summary.tally, summary.exitStatus))
    return summary
  }

  private func perform(_ test: Case, _ limit: String?, _ count: inout CoverageCount) -> Outcome {
    if let reason = test.skipReason { return Outcome(.skipped(reason)) }
    if let limit { return Outcome(.incomplete("not begun: \(limit)")) }
    if isStopped() { return Outcome(.incomplete("not begun")) }
    do {
      return drive(test, try provider.device(test.device, seed: test.seed), &count)
    } catch {
      return Outcome(.labFault(error))
    }
  }

  private func drive<Device: DeviceUnderTest>(
    _ test: Case, _ device: Device, _ count: inout CoverageCount
  ) -> Outcome {
    let abilities = device.abilities
    var runner = CaseRunner(
      test, test.machine.specification(abilities), device,
      invariants: invariants(for: test.machine.machine.name),
      listener: listener, isStopped: isStopped)
    let outcome = runner.run()
    count.add(runner.coverage, of: test.machine.variant(under: abilities.circumstances))
    return outcome
  }
}
