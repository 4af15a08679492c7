public import Automata
import Basics

/// The result of a search for a test that distinguishes a wrong machine from the right one.
public enum Distinction: Sendable {
  /// The shortest such test, which was run and failed.
  case test(DistinguishingTest)
  /// No such test exists: the search visited every pair of model and device that a test can reach.
  ///
  /// Exact for machines without timers; with timers, for tests that let time pass from one end of a window to the
  /// next.
  case equivalent(pairs: Int)
  /// The search found no test among this many pairs, but cannot rule one out.
  case undecided(pairs: Int)
}

/// A test that fails on a wrong machine.
public struct DistinguishingTest: Sendable {
  /// The condition in which it starts.
  public var start: StartCondition
  /// The tester's actions; `isForbidden` marks a stimulus that no possible state allows.
  public var actions: [(action: TestAction, isForbidden: Bool)]
  /// The choices of the wrong machine.
  public var decisions: [MachineDevice.Decision]
  /// The divergence with which it fails.
  public var divergence: Divergence
  /// The trace of the test.
  public var trace: [TraceList.Entry]
}

/// Searches for the shortest tests that distinguish wrong machines from a right one: breadth first over the pairs
/// of the model's set of possible states and the configuration of the wrong machine.
///
/// The tester gives stimuli, injects the faults that the conditions name, and lets time pass from one end of a
/// window to the next. The wrong machine chooses freely: it fails if any of its choices leads to a divergence.
///
/// The pairs that are reached before the wrong transition is taken are the same for all mutants of a machine, and
/// are computed once.
public final class DistinguishingSearch {
  /// The right machine.
  public let specification: Specification
  private let limit: Int
  private let stimuli: [[Stimulus]]
  private let starts: [StartCondition]
  private let original: ReferenceInterpreter
  /// The pairs that the right machine reaches, without faults and with them.
  private lazy var bases = [false, true].map { explored(withFaults: $0) }
  private let hasFaults: Bool

  /// Prepares a search.
  ///
  /// - Parameter limit: the maximum number of pairs to visit.
  public init(_ specification: Specification, limit: Int = 20_000) {
    self.specification = specification
    self.limit = limit
    let machine = specification.machine
    original = ReferenceInterpreter(
      machine.definition, specification.vocabulary, showsEffects: specification.showsEffects,
      data: machine.data)
    let abilities = MachineDevice(machine, showsEffects: specification.showsEffects).abilities
    stimuli = machine.definition.events.enumerated().map { number, event in
      guard event.kind != .spontaneous else { return [] }
      if let data = specification.data {
        // The values that the machine holds at the start.
        let tracker = Tracker(specification)
        return data.drawnStimuli(of: number, in: machine.definition).principal.prefix(8).map {
          tracker.stimulus($0)
        }
      }
      let arguments = abilities.arguments.first { $0.stimulus == event.name }?.values ?? [[]]
      return arguments.map { Stimulus(number, $0) }
    }
    hasFaults = machine.definition.conditions.contains { !$0.faults.isEmpty }
    starts = machine.startConditions(of: abilities)
  }

  /// Searches for a test that distinguishes a mutant from the machine.
  public func distinguish(_ mutant: Mutant) -> Distinction {
    let interpreter = ReferenceInterpreter(
      mutant.machine.definition, specification.vocabulary, showsEffects: specification.showsEffects,
      data: mutant.machine.data)
    for withFaults in hasFaults ? [false, true] : [false] {
      if specification.data != nil {
        // The variables of a mutant are laid out by its own rows, so that no pairs are shared.
        var search = ProductSearch(specification, interpreter, stimuli, withFaults: withFaults, limit: limit)
        let path = search.search(starts)
        if let path, let test = verified(path, mutant) { return .test(test) }
        guard withFaults || !hasFaults else { continue }
        return path == nil && search.isComplete
          ? .equivalent(pairs: search.count) : .undecided(pairs: search.count)
      }
      let base = bases[withFaults ? 1 : 0]
      var run = ProductSearch(specification, interpreter, stimuli, withFaults: withFaults, limit: limit)
      if let path = run.search(from: base, mutant) {
        if let test = verified(path, mutant) { return .test(test) }
        // The path to that pair already took the wrong transition: search again, without the shared pairs.
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

  /// Runs a test; `nil` if it does not fail after all.
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
  /// Runs a test, and records which stimuli were forbidden.
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
