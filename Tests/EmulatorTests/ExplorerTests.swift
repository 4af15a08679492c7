import Automata
import Conformance
import Emulator
import Models
import Basics
import Testing

/// Generated tests on the lock of the open benchmark.
struct ExplorerTests {
  /// Whether a disagreement is found within so many events.
  private func finds(_ bug: ReferenceLock.Bug, seed: UInt64, budget: Int) throws -> Bool {
    let machine = try Machine(.sesameTable)
    let specification = Specification(machine, showsEffects: false)
    let lock = ReferenceLock(bug: bug)
    let alphabet = Alphabet(specification, lock.abilities)
    let starts = [false, true].map { StartCondition([Argument("registered", .flag($0))]) }
    var engine = TestEngine(specification, alphabet, starts: starts, lock, recorder: NoRecorder())
    var explorer = Explorer(alphabet, starts: starts.count, seed: seed)
    return try engine.perform(all: &explorer, maximum: budget) != nil
  }

  @Test("both seeded bugs are found", arguments: 1...3 as ClosedRange<UInt64>)
  func seededBugs(seed: UInt64) throws {
    #expect(try finds(.deafUnlock, seed: seed, budget: 10_000))
    #expect(try finds(.jamAfterAbortedLogins, seed: seed, budget: 200_000))
  }
}
