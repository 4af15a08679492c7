import Automata
import Conformance
import Models
import Simulation
import TestSupport
import Testing

/// Shrinking on a machine that plays itself.
private struct Bench {
  var lockstep: Lockstep<PlayedMachine, NoRecorder>
  let specification: Specification
  let alphabet: Alphabet
  private let starts = [StartCondition()]

  init(_ bug: SeededBug) throws {
    let machine = try Machine(.sesameTable)
    specification = Specification(machine)
    lockstep = Lockstep(specification, PlayedMachine(machine, bug), recorder: NoRecorder())
    alphabet = Alphabet(specification, lockstep.device.abilities)
  }

  mutating func run(_ test: TestCase) throws -> Execution { try lockstep.run(test, alphabet, starts: starts) }

  /// The first of many tests drawn by chance that fails; one in eight choices is to be refused if any.
  mutating func failure(seed: UInt64, refusals: Bool) throws -> Execution {
    var random = SeededGenerator(seed: seed, for: "walk")
    for _ in 0..<5_000 {
      var execution = Execution()
      try lockstep.reset()
      while execution.divergence == nil, execution.events < 50 {
        let situation = lockstep.situation
        let isForbidden = refusals && random.below(8) == 0
        let candidates = isForbidden ? situation.forbidden : situation.legal
        let events = (0..<alphabet.eventCount).filter { candidates >> UInt64($0) & 1 == 1 }
        let event = events[random.below(events.count)]
        execution.performed.append(Choice(event, isForbidden: isForbidden))
        execution.situations.append(situation)
        execution.divergence = try lockstep.perform(Stimulus(event))
      }
      if execution.divergence != nil { return execution }
    }
    throw LabFault(.notPossible, "no test fails")
  }

  func shrinker(_ failure: Execution) -> Shrinker {
    Shrinker(failure, of: TestCase(start: 0), specification: specification, alphabet: alphabet)
  }

  func test(_ names: String) -> TestCase {
    TestCase(
      start: 0,
      names.split(separator: " ").map { name in
        let isForbidden = name.hasPrefix("!")
        let event = lockstep.vocabulary.stimulus(String(isForbidden ? name.dropFirst() : name))
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
  @Test("a failing test ends as short as breadth-first search proves possible", arguments: SeededBug.all)
  func shortest(bug: SeededBug) throws {
    var bench = try Bench(bug)
    let refusals = bug.name.contains("refused")
    let least = try #require(bench.lockstep.device.shortest(refusals: refusals))
    for seed in 1...5 as ClosedRange<UInt64> {
      let failure = try bench.failure(seed: seed, refusals: refusals)
      let signature = try #require(failure.divergence).signature
      var shrinker = bench.shrinker(failure)
      var seen: Set<[Choice]> = [failure.performed]
      var asked: Set<TestCase> = []
      while let candidate = shrinker.next() {
        #expect(asked.insert(candidate).inserted, "\(bench.names(candidate)) is run again")
        #expect(candidate < shrinker.best)
        let execution = try bench.run(candidate)
        let isNew = seen.insert(execution.performed).inserted
        #expect(isNew, "\(bench.names(candidate)) comes to a run that was made")
        shrinker.tell(execution, isSame: execution.divergence?.signature == signature)
      }
      #expect(shrinker.isMinimal)
      expect(try bench.run(shrinker.best).divergence?.signature, signature)
      expect(shrinker.best.choices.count, least)
    }
  }
}
