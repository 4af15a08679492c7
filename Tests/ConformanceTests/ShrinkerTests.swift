import Automata
import Conformance
import Models
import Basics
import TestSupport
import Testing

/// Shrinking on a machine that plays itself.
private struct Bench {
  var engine: TestEngine<SimulatedMachine, NoRecorder>
  var specification: Specification { engine.specification }
  var alphabet: Alphabet { engine.alphabet }

  init(_ bug: SeededBug) throws {
    let machine = try Machine(.sesameTable)
    let specification = Specification(machine)
    let device = SimulatedMachine(machine, bug)
    engine = TestEngine(
      specification, Alphabet(specification, device.abilities, weights: [("wait", 0)]),
      starts: [StartCondition()], device, recorder: NoRecorder())
  }

  mutating func run(_ test: TestCase) -> Execution { engine.attempt(test).execution }

  /// The first of many tests drawn by chance that fails; one in eight choices is to be refused if any.
  mutating func failure(seed: UInt64, refusals: Bool) throws -> Execution {
    var drawing = Drawing(
      alphabet, starts: 0..<1, SeededGenerator(seed: seed, for: "walk"), others: refusals ? 8 : 0)
    return try #require(try engine.perform(all: &drawing, maximum: 250_000))
  }

  func shrinker(_ failure: Execution) -> Shrinker {
    Shrinker(failure, of: TestCase(start: 0), specification: specification, alphabet: alphabet)
  }

  func test(_ names: String) -> TestCase {
    TestCase(
      start: 0,
      names.split(separator: " ").map { name in
        let isForbidden = name.hasPrefix("!")
        let event = specification.vocabulary.stimulus(String(isForbidden ? name.dropFirst() : name))
        return Choice(event!, isForbidden: isForbidden)
      })
  }

  func names(_ test: TestCase) -> String {
    test.choices.map { ($0.isForbidden ? "!" : "") + alphabet.acts[Int($0.act)].name }.joined(separator: " ")
  }
}

extension SeededBug: CustomTestStringConvertible {
  var testDescription: String { name }
}

@Suite("Shrinking")
struct ShrinkerTests {
  /// What was seen, the status before, the stimulus; the same again; whether they show the same fault.
  static let pairs: [([String], [String], Bool)] = [
    (["locked", "unlocked", "unlock"], ["locked", "moved", "unlock"], true),
    (["locked", "locked", "reset"], ["moved", "moved", "reset"], true),
    (["locked", "locked", "reset"], ["moved", "moved", "toggle"], false),
    (["locked", "locked", "reset"], ["moved", "unlocked", "reset"], false),
    (["moved", "locked", "lock"], ["unlocked", "locked", "lock"], false),
  ]

  @Test("a stimulus that changes nothing is the same fault in every status", arguments: pairs)
  func likeness(first: [String], second: [String], isLike: Bool) {
    let divergences = [first, second].map {
      Divergence(.unexpected($0[0]), at: .zero, lastStimulus: $0[2], lastStatus: $0[1])
    }
    expect(divergences[0].isLike(divergences[1]), isLike)
    expect(divergences[1].isLike(divergences[0]), isLike)
  }

  @Test("a failing test ends as short as breadth-first search proves possible", arguments: SeededBug.all)
  func shortest(bug: SeededBug) throws {
    var bench = try Bench(bug)
    let refusals = bug.name.contains("refused")
    let minimum = try #require(bench.engine.lockstep.device.shortest(refusals: refusals))
    for seed in 1...3 as ClosedRange<UInt64> {
      let failure = try bench.failure(seed: seed, refusals: refusals)
      let signature = try #require(failure.divergence).signature
      var shrinker = bench.shrinker(failure)
      var seen: Set<[Choice]> = [failure.performed]
      var asked: Set<TestCase> = []
      while let candidate = shrinker.next() {
        #expect(asked.insert(candidate).inserted, "\(bench.names(candidate)) is run again")
        #expect(candidate < shrinker.best)
        let execution = bench.run(candidate)
        let isNew = seen.insert(execution.performed).inserted
        #expect(isNew, "\(bench.names(candidate)) comes to a run that was made")
        shrinker.noteResult(execution, isSame: execution.divergence?.signature == signature)
      }
      #expect(shrinker.isMinimal)
      expect(bench.run(shrinker.best).divergence?.signature, signature)
      expect(shrinker.best.choices.count, minimum)
    }
  }

  @Test("what leads nowhere is left out, and what is refused stays where the bug needs it")
  func refusals() throws {
    var bench = try Bench(SeededBug.all[9])
    let failure = bench.run(
      bench.test(
        "closeTo !lock connect !lock linkUp gattReady loginDone reset !lock !lock disconnect closeTo"))
    let signature = try #require(failure.divergence).signature
    var shrinker = bench.shrinker(failure)
    expect(shrinker.phase, "shrinking, 12 of 12 choices left")
    var phases: [String] = []
    while let candidate = shrinker.next() {
      phases.append(String(shrinker.phase.prefix { $0 != "," }))
      let execution = bench.run(candidate)
      shrinker.noteResult(execution, isSame: execution.divergence?.signature == signature)
    }
    expect(
      bench.names(shrinker.best),
      "closeTo connect linkUp gattReady loginDone reset !lock !lock disconnect closeTo")
    expect(phases.first, "cutting cycles")
    expect(shrinker.phase, "minimal for this model, 10 of 12 choices left")
  }

  @Test(
    "of what is done many times in a row the number is searched for, and what is done is made simpler at once",
    arguments: [128, 255, 256], [0, 1, 57])
  func counted(limit: Int, more: Int) throws {
    // In the status `noSignal` a request of each kind in turn.
    let requests = ["lock", "unlock"]
    let bug = SeededBug(
      name: "a count", memory: [0],
      remember: { memory, step in [step.isRefused && requests.contains(step.event) ? memory[0] + 1 : 0] },
      strikes: { memory, event, _ in memory[0] >= limit && event == "closeTo" })
    for turn in ["!lock", "!lock !unlock"] {
      var bench = try Bench(bug)
      let length = turn.split(separator: " ").count
      let repeated = Array(repeating: turn, count: (limit + more + length - 1) / length)
      let test = "closeTo connect linkUp gattReady loginDone lock disconnect "
      let failure = bench.run(bench.test(test + repeated.joined(separator: " ") + " closeTo"))
      let signature = try #require(failure.divergence).signature
      var shrinker = bench.shrinker(failure)
      var events = 0
      while let candidate = shrinker.next() {
        let execution = bench.run(candidate)
        events += execution.events
        shrinker.noteResult(execution, isSame: execution.divergence?.signature == signature)
      }
      #expect(shrinker.isMinimal)
      expect(shrinker.best.choices.count, limit + 1)
      #expect(events < 20_000, "\(events) events for \(turn)")
    }
  }

  @Test("a failure that comes and goes costs length, but neither an end nor the best", arguments: 1...6)
  func flaky(seed: UInt64) throws {
    var bench = try Bench(SeededBug.all[5])
    let failure = try bench.failure(seed: 1, refusals: true)
    let signature = try #require(failure.divergence).signature
    var random = SeededGenerator(seed: seed, for: "flaky")
    var shrinker = bench.shrinker(failure)
    var asked: Set<TestCase> = []
    while let candidate = shrinker.next() {
      #expect(asked.insert(candidate).inserted)
      let best = shrinker.best
      let execution = bench.run(candidate)
      let isSame = execution.divergence?.signature == signature && random.below(3) > 0
      shrinker.noteResult(execution, isSame: isSame)
      expect(shrinker.best < best, isSame)
    }
    expect(bench.run(shrinker.best).divergence?.signature, signature)
  }
}

@Suite("Shrinking where time counts")
struct TimedShrinkerTests {
  private let specification: Specification
  private let alphabet: Alphabet
  private var engine: TestEngine<ScriptedDevice, NoRecorder>

  init() throws {
    specification = Specification(try Machine(.sesame), showsEffects: false)
    let device = ScriptedDevice([:])
    alphabet = Alphabet(specification, device.abilities)
    engine = TestEngine(
      specification, alphabet, starts: [StartCondition()], device, recorder: NoRecorder())
  }

  /// A device that shows something so long after `closeTo`.
  private mutating func show(_ answers: [(Interval, ScriptedDevice.Show)]) {
    engine = TestEngine(
      specification, alphabet, starts: [StartCondition()], ScriptedDevice(["closeTo": answers]),
      recorder: NoRecorder())
  }

  private mutating func shrink(_ actions: [TestAction]) throws -> [TestAction] {
    let test = TestCase(start: 0, actions.compactMap { alphabet.choice(of: $0) })
    expect(test.choices.count, actions.count)
    let failure = engine.attempt(test).execution
    let signature = try #require(failure.divergence).signature
    var shrinker = Shrinker(failure, of: test, specification: specification, alphabet: alphabet)
    while let candidate = shrinker.next() {
      let execution = engine.attempt(candidate).execution
      shrinker.noteResult(execution, isSame: execution.divergence?.signature == signature)
    }
    return shrinker.best.choices.compactMap { alphabet.action(of: $0) }
  }

  private var closeTo: TestAction { .stimulus(Stimulus(specification.vocabulary.stimulus("closeTo")!)) }

  @Test("a failure that shows only while the end is awaited needs nothing after its cause")
  mutating func atTheEnd() throws {
    let best = try shrink([
      .wait(.seconds(1)), closeTo, .wait(.milliseconds(20)), .edge(TimerEdge(.closing, .milliseconds(-1))),
    ])
    expect(best, [closeTo])
  }

  @Test("a wait that matters is made as short as it may be, and the others are left out")
  mutating func waits() throws {
    show([(.seconds(1), .status("receivedBle")), (.milliseconds(9500), .status("noSignal"))])
    let best = try shrink([
      .wait(.seconds(12)), closeTo, .settle, .wait(.milliseconds(20)), .wait(.seconds(4 * 3600)),
    ])
    expect(best, [closeTo, .wait(.seconds(10))])
  }

  @Test("of two tests of one length the one that moves less is smaller")
  mutating func movements() throws {
    let device = ScriptedDevice([
      "closeTo": [(.seconds(1), .status("receivedBle"))],
      "connect": [
        (.zero, .status("connecting")), (.milliseconds(50), .status("waitingGatt")),
        (.milliseconds(100), .status("logining")), (.milliseconds(200), .status("locked")),
      ],
    ])
    let alphabet = Alphabet(specification, device.abilities, moving: ["lock", "unlock", "toggle"])
    engine = TestEngine(
      specification, alphabet, starts: [StartCondition()], device, recorder: NoRecorder())
    let vocabulary = specification.vocabulary
    let steps = ["closeTo", "settle", "connect", "settle", "unlock", "settle"]
    let test = TestCase(
      start: 0, steps.map { Choice(vocabulary.stimulus($0) ?? alphabet.settle) })
    let failure = engine.attempt(test).execution
    var shrinker = Shrinker(failure, of: test, specification: specification, alphabet: alphabet)
    // Whatever is done, what matters is that so much is done.
    while let candidate = shrinker.next() {
      let execution = engine.attempt(candidate).execution
      shrinker.noteResult(execution, isSame: execution.performed.count == failure.performed.count)
    }
    expect(shrinker.best.choices.count, failure.performed.count)
    expect(alphabet.movements(of: TestCase(start: 0, failure.performed)), 1)
    expect(alphabet.movements(of: shrinker.best), 0)
  }

  @Test("the shortest way goes by stimuli, and by settling where the device has something to do")
  mutating func ways() throws {
    show([(.seconds(1), .status("receivedBle"))])
    let closeTo = try #require(alphabet.choice(of: closeTo))
    let test = TestCase(start: 0, [closeTo, Choice(alphabet.settle), Choice(alphabet.wait)])
    let execution = engine.attempt(test).execution
    let paths = ModelPaths(specification, alphabet)
    let nodes = execution.explorationStates.map(\.node)
    expect(paths.path(from: nodes[0], to: nodes[1]), [closeTo])
    expect(paths.path(from: nodes[0], to: nodes[2]), [closeTo, Choice(alphabet.settle)])
    expect(paths.path(from: nodes[0], to: nodes[0]), [])
    // Several nodes were possible: there is no way that would be sure.
    expect(paths.path(from: nodes[0], to: -1), nil)
    expect(paths.path(from: -1, to: nodes[0]), nil)
  }
}
