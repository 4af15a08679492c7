import SesameDevice
import Automata
import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

/// Shrinking on a device: what it came to, and what that took.
struct Shrinking {
  var best: TestCase
  var runs = 0
  var events = 0
  var isMinimal = false

  /// Shrinks a failing test, running every candidate that is asked for.
  init<Device: DeviceUnderTest>(
    _ failure: Execution, of test: TestCase, on lockstep: inout Lockstep<Device, NoRecorder>,
    _ alphabet: Alphabet, starts: [StartCondition]
  ) throws {
    let divergence = try #require(failure.divergence)
    var shrinker = Shrinker(
      failure, of: test, specification: lockstep.tracker.specification, alphabet: alphabet, starts: starts)
    while runs < 2000, let candidate = shrinker.next() {
      let execution = try lockstep.run(candidate, alphabet, starts: starts)
      runs += 1
      events += execution.events
      shrinker.tell(execution, isSame: execution.divergence?.isLike(divergence) ?? false)
    }
    best = shrinker.best
    isMinimal = shrinker.isMinimal
  }
}

/// Draws tests: legal choices, and now and then a wait, a disturbance or what must be refused.
struct Drawing {
  var random: SeededGenerator
  var length = 50
  /// One in so many choices is something else than a stimulus that is allowed; none when 0.
  var others = 0
  /// The start of every test; drawn when there is none.
  var start: Int?

  /// Draws tests until one fails; `nil` when none of so many events does.
  mutating func failure<Device: DeviceUnderTest>(
    of lockstep: inout Lockstep<Device, NoRecorder>, _ alphabet: Alphabet, starts: [StartCondition],
    within events: Int
  ) throws -> (TestCase, Execution)? {
    var spent = 0
    while spent < events {
      var test = TestCase(start: start ?? random.below(starts.count))
      var execution = Execution()
      _ = try lockstep.reset(to: starts[test.start])
      while execution.divergence == nil, test.choices.count < length {
        let explorationState = lockstep.explorationState
        guard let choice = choice(in: explorationState, alphabet), let action = alphabet.action(of: choice)
        else {
          break
        }
        test.choices.append(choice)
        execution.performed.append(choice)
        execution.explorationStates.append(explorationState)
        execution.divergence = try lockstep.carryOut(action).divergence
      }
      spent += execution.events
      if execution.divergence != nil { return (test, execution) }
    }
    return nil
  }

  private mutating func choice(in explorationState: ExplorationState, _ alphabet: Alphabet) -> Choice? {
    if others > 0, random.below(others) == 0 {
      let acts = alphabet.acts.indices.filter { act in
        !alphabet.acts[act].variants.isEmpty
          && (act >= alphabet.eventCount || explorationState.forbidden >> UInt64(act) & 1 == 1)
          && (act != alphabet.edge || explorationState.hasDeadline)
      }
      if !acts.isEmpty {
        let act = acts[random.below(acts.count)]
        return Choice(
          act, variant: random.below(alphabet.acts[act].variants.count),
          isForbidden: act < alphabet.eventCount)
      }
    }
    if explorationState.isAwaiting, random.below(4) > 0 { return Choice(alphabet.settle) }
    let legal = (0..<alphabet.eventCount).filter {
      explorationState.legal >> UInt64($0) & 1 == 1 && !alphabet.acts[$0].variants.isEmpty
    }
    guard !legal.isEmpty else { return explorationState.hasDeadline ? Choice(alphabet.settle) : nil }
    let act = legal[random.below(legal.count)]
    return Choice(act, variant: random.below(alphabet.acts[act].variants.count))
  }
}

@Suite("Shrinking on emulated locks")
struct ShrinkerBenchTests {
  /// A bug of the reference lock, the length that breadth-first search proves to be the least, and what may be
  /// spent at the median.
  struct Target: Sendable, CustomTestStringConvertible {
    var bug: ReferenceLock.Bug
    var minimum: Int
    var runs: Int
    var events: Int
    var others: Int
    var seeds: ClosedRange<UInt64>

    var testDescription: String { "\(bug.rawValue)\(others > 0 ? ", one in \(others) something else" : "")" }
  }

  // swift-format-ignore
  static let targets = [
    Target(bug: .deafUnlock, minimum: 16, runs: 10, events: 100, others: 0, seeds: 1...20),
    Target(bug: .deafUnlock, minimum: 16, runs: 20, events: 200, others: 8, seeds: 1...20),
    Target(bug: .jamAfterAbortedLogins, minimum: 28, runs: 16, events: 280, others: 0, seeds: 1...5),
  ]

  @Test("each failing test is shrunk to the shortest, and the median within the budget", arguments: targets)
  func reference(target: Target) throws {
    let specification = Specification(try Machine(.sesameTable))
    var lockstep = Lockstep(specification, ReferenceLock(bug: target.bug), recorder: NoRecorder())
    let alphabet = Alphabet(specification, lockstep.device.abilities)
    let starts = [StartCondition()]
    var lengths: [Int] = []
    var runs: [Int] = []
    var events: [Int] = []
    for seed in target.seeds {
      var drawing = Drawing(random: SeededGenerator(seed: seed, for: "walk"), others: target.others)
      let (test, failure) = try #require(
        try drawing.failure(of: &lockstep, alphabet, starts: starts, within: 1_000_000))
      let shrinking = try Shrinking(failure, of: test, on: &lockstep, alphabet, starts: starts)
      #expect(shrinking.isMinimal)
      lengths.append(shrinking.best.choices.count)
      runs.append(shrinking.runs)
      events.append(shrinking.events)
    }
    expect(lengths, [Int](repeating: target.minimum, count: lengths.count))
    #expect(runs.sorted()[lengths.count / 2] <= target.runs)
    #expect(events.sorted()[lengths.count / 2] <= target.events)
  }

  /// Bugs of other shapes, each with the start of its tests: one whose shortest trace has the other start, one that
  /// shows in every status, one that counts.
  static let shapes: [(bug: ReferenceLock.Bug, start: Int)] = [
    (.forgottenPositions, 1), (.staleReset, 1), (.wornBolt, 1), (.newbornLock, 0), (.evenResets, 0),
  ]

  @Test("bugs of other shapes end at the shortest as well, whatever the start was", arguments: shapes)
  func otherShapes(bug: ReferenceLock.Bug, start: Int) throws {
    let machine = try Machine(.sesameTable)
    var lockstep = Lockstep(Specification(machine), ReferenceLock(bug: bug), recorder: NoRecorder())
    let alphabet = Alphabet(lockstep.tracker.specification, lockstep.device.abilities)
    let starts = machine.startConditions(of: lockstep.device.abilities)
    for seed in 1...2 as ClosedRange<UInt64> {
      var drawing = Drawing(
        random: SeededGenerator(seed: seed, for: "shape"), length: 200, others: 8, start: start)
      let (test, failure) = try #require(
        try drawing.failure(of: &lockstep, alphabet, starts: starts, within: 1_000_000))
      expect(test.start, start)
      let shrinking = try Shrinking(failure, of: test, on: &lockstep, alphabet, starts: starts)
      #expect(shrinking.isMinimal)
      expect(shrinking.best.choices.count, bug.shortest)
      #expect(shrinking.runs <= 300)
    }
  }

  /// Defects of the living lock, each with the fewest choices that are known to show it.
  static let defects = [
    ("status-lags-one-behind", 4), ("moved-reported-as-unlocked", 4), ("settings-lost-on-reconnect", 7),
    ("registration-busy-after-reset", 12),
  ]

  @Test("what is left of a test of a living lock fails, and is short", arguments: defects)
  func living(defect: String, minimum: Int) throws {
    let lock = try EmulatedLockSpecification(parsing: "sesame5", settings: [(name: "defect", value: defect)])
    let device = ClientDevice(DirectLink(lock, seed: 1)) { SeededGenerator(seed: 1, for: "client") }
    let specification = Specification(try Machine(.sesame), showsEffects: false)
    var lockstep = Lockstep(specification, device, recorder: NoRecorder())
    let alphabet = Alphabet(specification, lockstep.device.abilities)
    let starts = [
      StartCondition([Argument("registered", .flag(false))]),
      StartCondition([Argument("registered", .flag(true)), Argument("configured", .flag(true))]),
    ]
    for seed in 1...3 as ClosedRange<UInt64> {
      var drawing = Drawing(random: SeededGenerator(seed: seed, for: defect), length: 60, others: 5)
      let (test, failure) = try #require(
        try drawing.failure(of: &lockstep, alphabet, starts: starts, within: 20_000))
      let shrinking = try Shrinking(failure, of: test, on: &lockstep, alphabet, starts: starts)
      #expect(shrinking.isMinimal)
      #expect(shrinking.best.choices.count <= minimum + 8)
      #expect(shrinking.runs <= 100)
      let again = try lockstep.run(shrinking.best, alphabet, starts: starts)
      #expect(try #require(again.divergence).isLike(#require(failure.divergence)))
    }
  }
}
