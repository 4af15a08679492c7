import Automata
import Basics
import Conformance
import Testing

/// Tests generated on a machine that is its own device.
struct Walk {
  /// The tests.
  var tests: [TestCase] = []
  /// Whether each was rare.
  var wasRare: [Bool] = []
  /// All choices, each with where it was made.
  var steps: [(explorationState: ExplorationState, choice: Choice)] = []
  /// How much time each of them took.
  var times: [Interval] = []
  var alphabet: Alphabet
  var explorer: Explorer

  init(
    _ definition: MachineDefinition, seed: UInt64 = 1, events: Int, learned: [TestCase] = [],
    weights: [(name: String, weight: Double)] = [], moving: [String] = [],
    pace: DevicePace? = nil, _ change: (inout Explorer.Settings) -> Void = { _ in }
  ) throws {
    let machine = try Machine(definition)
    let device = MachineDevice(machine, .seeded(1), showsEffects: false)
    let specification = Specification(machine, showsEffects: false)
    var lockstep = Lockstep(specification, device, recorder: NoRecorder())
    var abilities = device.abilities
    abilities.resting = moving
    alphabet = Alphabet(specification, abilities, weights: weights, moving: moving)
    let starts = machine.startConditions(of: device.abilities)
    var settings = Explorer.Settings()
    change(&settings)
    explorer = Explorer(alphabet, starts: starts.count, settings: settings, seed: seed)
    for test in learned { explorer.learn(test) }
    while steps.count < events {
      _ = try lockstep.reset(to: starts[explorer.begin()])
      let atOnce = try lockstep.pass(until: lockstep.now)
      #expect(atOnce == nil)
      while steps.count < events {
        if let pace { explorer.take(pace) }
        guard let choice = explorer.next(in: lockstep.explorationState) else { break }
        let (explorationState, begin) = (lockstep.explorationState, lockstep.now)
        steps.append((explorationState, choice))
        guard explorationState.admits(choice, alphabet), let action = alphabet.action(of: choice) else {
          Issue.record("\(choice) was not to be had")
          return
        }
        if let divergence = try lockstep.carryOut(action).divergence {
          Issue.record("a machine differs from itself: \(divergence)")
          return
        }
        times.append(lockstep.now - begin)
        explorer.spend(lockstep.now - begin)
      }
      tests.append(explorer.test)
      wasRare.append(explorer.end(in: lockstep.explorationState))
    }
  }

  /// How often an event was taken where others were legal, too.
  func count(_ event: Int) -> Int {
    steps.count {
      Int($0.choice.act) == event && !$0.choice.isForbidden && $0.explorationState.legal.nonzeroBitCount > 1
    }
  }
}
