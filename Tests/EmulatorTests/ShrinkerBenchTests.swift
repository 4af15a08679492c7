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
    _ failure: Execution, on engine: inout TestEngine<Device, NoRecorder>
  ) throws {
    let divergence = try #require(failure.divergence)
    var shrinker = Shrinker(
      failure, of: failure.test, specification: engine.specification, alphabet: engine.alphabet,
      starts: engine.starts)
    while runs < 2000, let candidate = shrinker.next() {
      let execution = engine.attempt(candidate).execution
      runs += 1
      events += execution.events
      shrinker.noteResult(execution, isSame: execution.divergence?.isLike(divergence) ?? false)
    }
    best = shrinker.best
    isMinimal = shrinker.isMinimal
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
    let lock = ReferenceLock(bug: target.bug)
    var engine = TestEngine(
      specification, Alphabet(specification, lock.abilities), starts: [StartCondition()], lock,
      recorder: NoRecorder())
    var lengths: [Int] = []
    var runs: [Int] = []
    var events: [Int] = []
    for seed in target.seeds {
      var drawing = Drawing(
        engine.alphabet, starts: 0..<1, SeededGenerator(seed: seed, for: "walk"), others: target.others)
      let failure = try #require(try engine.perform(all: &drawing, maximum: 1_000_000))
      let shrinking = try Shrinking(failure, on: &engine)
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
    let (specification, lock) = (Specification(machine), ReferenceLock(bug: bug))
    var engine = TestEngine(
      specification, Alphabet(specification, lock.abilities),
      starts: machine.startConditions(of: lock.abilities), lock, recorder: NoRecorder())
    for seed in 1...2 as ClosedRange<UInt64> {
      var drawing = Drawing(
        engine.alphabet, starts: start..<start + 1, SeededGenerator(seed: seed, for: "shape"), length: 200,
        others: 8)
      let failure = try #require(try engine.perform(all: &drawing, maximum: 1_000_000))
      expect(failure.start, start)
      let shrinking = try Shrinking(failure, on: &engine)
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
    let starts = [
      StartCondition([Argument("registered", .flag(false))]),
      StartCondition([Argument("registered", .flag(true)), Argument("configured", .flag(true))]),
    ]
    var engine = TestEngine(
      specification, Alphabet(specification, device.abilities), starts: starts, device, recorder: NoRecorder()
    )
    for seed in 1...3 as ClosedRange<UInt64> {
      var drawing = Drawing(
        engine.alphabet, starts: 0..<2, SeededGenerator(seed: seed, for: defect), length: 60, others: 5)
      let failure = try #require(try engine.perform(all: &drawing, maximum: 20_000))
      let shrinking = try Shrinking(failure, on: &engine)
      #expect(shrinking.isMinimal)
      #expect(shrinking.best.choices.count <= minimum + 8)
      #expect(shrinking.runs <= 100)
      let again = engine.attempt(shrinking.best).execution
      #expect(try #require(again.divergence).isLike(#require(failure.divergence)))
    }
  }
}
