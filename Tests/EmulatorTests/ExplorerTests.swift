import Automata
import Conformance
import Emulator
import Models
import Basics
import Testing

/// Generated tests on the lock of the open benchmark.
struct ExplorerTests {
  /// What a search came to.
  private struct Search {
    var events = 0
    var divergence: Divergence?
    var cells: Set<[Int]> = []
  }

  /// Explores until a disagreement, or for so many events.
  private func search(_ bug: ReferenceLock.Bug?, seed: UInt64, budget: Int) throws -> Search {
    let machine = try Machine(.sesameTable)
    let specification = Specification(machine, showsEffects: false)
    var lockstep = Lockstep(specification, ReferenceLock(bug: bug), recorder: NoRecorder())
    let alphabet = Alphabet(specification, lockstep.device.abilities)
    var explorer = Explorer(alphabet, starts: machine.definition.starts.count, seed: seed)
    let starts = [false, true].map { StartCondition([Argument("registered", .flag($0))]) }
    var search = Search()
    while search.events < budget {
      _ = try lockstep.reset(to: starts[explorer.begin()])
      while search.events < budget {
        let explorationState = lockstep.explorationState
        guard let choice = explorer.next(in: explorationState), let action = alphabet.action(of: choice)
        else {
          break
        }
        #expect(explorationState.admits(choice, alphabet))
        search.events += 1
        search.cells.insert([explorationState.node, Int(choice.act)])
        if let divergence = try lockstep.carryOut(action).divergence {
          search.divergence = divergence
          return search
        }
      }
      _ = explorer.end(in: lockstep.explorationState)
    }
    return search
  }

  @Test("both seeded bugs are found", arguments: 1...3 as ClosedRange<UInt64>)
  func seededBugs(seed: UInt64) throws {
    #expect(try search(.deafUnlock, seed: seed, budget: 10_000).divergence != nil)
    #expect(try search(.jamAfterAbortedLogins, seed: seed, budget: 200_000).divergence != nil)
  }
}
