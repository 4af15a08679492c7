public import Automata
import Basics

/// What becomes of looking for a test that tells a wrong machine from the right one.
public enum Distinction: Sendable {
  /// The shortest test there is, which was carried out and failed.
  case test(DistinguishingTest)
  /// There is none: every pair of a model and a device that a test can lead to was looked at.
  ///
  /// Exact for machines without timers; with them, for tests that let time pass from one end of a window to the next.
  case equivalent(pairs: Int)
  /// None was found among so many pairs, and there are more.
  case undecided(pairs: Int)
}

/// A test on which a wrong machine fails.
public struct DistinguishingTest: Sendable {
  /// The condition in which it starts.
  public var start: StartCondition
  /// What the tester does, with whether it is a stimulus that no possible state allows.
  public var actions: [(action: TestAction, isForbidden: Bool)]
  /// What the wrong machine decides where it has a choice.
  public var decisions: [MachineDevice.Decision]
  /// How it fails.
  public var divergence: Divergence
  /// What was done and seen.
  public var trace: [TraceList.Entry]
}

/// Looks for the shortest tests that tell wrong machines from a right one: breadth first over the pairs of what the
/// model thinks possible and where the wrong machine is.
///
/// A tester gives stimuli, brings about faults that the conditions know, and lets time pass from one end of a window
/// to the next. The wrong machine decides what it likes: it fails when some decision of its makes it diverge.
///
/// The pairs that are reached before the wrong transition is taken are the same for all mutants of a machine; they are
/// found once.
public final class DistinguishingSearch {
  /// The right machine.
  public let specification: Specification
  private let limit: Int
  private let stimuli: [[Stimulus]]
  private let starts: [StartCondition]
  private let original: ReferenceInterpreter
  /// Without faults, and with them.
  private lazy var bases = [false, true].map { explored(withFaults: $0) }
  private let hasFaults: Bool

  /// Prepares a search.
  ///
  /// - Parameter limit: how many pairs are looked at, at the most.
  public init(_ specification: Specification, limit: Int = 20_000) {
    self.specification = specification
    self.limit = limit
    let machine = specification.machine
    original = ReferenceInterpreter(
      machine.definition, specification.vocabulary, showsEffects: specification.showsEffects)
    let abilities = MachineDevice(machine, showsEffects: specification.showsEffects).abilities
    stimuli = machine.definition.events.enumerated().map { number, event in
      guard event.kind != .spontaneous else { return [] }
      let arguments = abilities.arguments.first { $0.stimulus == event.name }?.values ?? [[]]
      return arguments.map { Stimulus(number, $0) }
    }
    hasFaults = machine.definition.conditions.contains { !$0.faults.isEmpty }
    starts = machine.startConditions(of: abilities)
  }

  /// Looks for a test that tells a mutant from the machine.
  public func distinguish(_ mutant: Mutant) -> Distinction {
    let interpreter = ReferenceInterpreter(
      mutant.machine.definition, specification.vocabulary, showsEffects: specification.showsEffects)
    for withFaults in hasFaults ? [false, true] : [false] {
      let base = bases[withFaults ? 1 : 0]
      var run = ProductSearch(specification, interpreter, stimuli, withFaults: withFaults, limit: limit)
      if let path = run.search(from: base, mutant) {
        if let test = verified(path, mutant) { return .test(test) }
        // The path to it already took the wrong transition: search again, without what was found before.
        var fresh = ProductSearch(specification, interpreter, stimuli, withFaults: withFaults, limit: limit)
        if let path = fresh.search(starts), let test = verified(path, mutant) { return .test(test) }
        return .undecided(pairs: fresh.count)
      }
      if withFaults || !hasFaults {
        let count = base.count + run.count
        return base.isComplete && run.isComplete ? .equivalent(pairs: count) : .undecided(pairs: count)
      }
    }
    return .undecided(pairs: 0)
  }

  private func explored(withFaults: Bool) -> ProductSearch {
    var search = ProductSearch(specification, original, stimuli, withFaults: withFaults, limit: limit)
    _ = search.search(starts, continues: true)
    return search
  }

  /// Carries a test out; `nil` when it does not fail after all.
  private func verified(_ path: ProductSearch.Path, _ mutant: Mutant) -> DistinguishingTest? {
    var test = DistinguishingTest(
      start: starts[path.start], actions: [], decisions: [],
      divergence: Divergence(.overdue, at: .zero), trace: [])
    var now = Instant.zero
    for move in path.moves {
      switch move {
      case .perform(let stimulus, let branch):
        test.actions.append((.stimulus(stimulus), false))
        if branch >= 0 { test.decisions.append(.take(branch)) }
      case .fault(let fault): test.actions.append((.fault(fault), false))
      case .elapse(let interval):
        now = now + interval
        if case .wait(let before)? = test.actions.last?.action {
          test.actions[test.actions.count - 1].action = .wait(before + interval)
        } else {
          test.actions.append((.wait(interval), false))
        }
      case .fire(let number): test.decisions.append(.fire(number, at: now))
      case .settle: break
      }
    }
    var device = MachineDevice(
      mutant.machine, .scripted(test.decisions), showsEffects: specification.showsEffects)
    device.options = path.options
    var lockstep = Lockstep(specification, device, recorder: TraceList())
    guard let divergence = try? lockstep.divergence(of: &test) else { return nil }
    test.divergence = divergence
    test.trace = lockstep.recorder.entries
    return test
  }
}

extension Lockstep {
  /// Carries a test out, and notes which stimuli were forbidden.
  fileprivate mutating func divergence(of test: inout DistinguishingTest) throws(LabFault) -> Divergence? {
    if let divergence = try begin(test.start) { return divergence }
    for number in test.actions.indices {
      if case .stimulus(let stimulus) = test.actions[number].action {
        test.actions[number].isForbidden = !tracker.allows(stimulus.number)
      }
      if let divergence = try carryOut(test.actions[number].action).divergence {
        test.actions.removeSubrange((number + 1)...)
        return divergence
      }
    }
    return nil
  }
}
