import Automata
import Basics
import Conformance
import Testing

/// Tests generated on a machine that is its own device.
struct Walk: ChoiceSource {
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
  private let pace: DevicePace?

  init(
    _ definition: MachineDefinition, seed: UInt64 = 1, events: Int, learned: [TestCase] = [],
    weights: [(name: String, weight: Double)] = [], moving: [String] = [],
    pace: DevicePace? = nil, _ change: (inout Explorer.Settings) -> Void = { _ in }
  ) throws {
    let machine = try Machine(definition)
    let device = MachineDevice(machine, .seeded(1), showsEffects: false)
    let specification = Specification(machine, showsEffects: false)
    var abilities = device.abilities
    abilities.resting = moving
    alphabet = Alphabet(specification, abilities, weights: weights, moving: moving)
    let starts = machine.startConditions(of: device.abilities)
    var settings = Explorer.Settings()
    change(&settings)
    explorer = Explorer(alphabet, starts: starts.count, settings: settings, seed: seed)
    for test in learned { explorer.learn(test) }
    self.pace = pace
    var engine = TestEngine(specification, alphabet, starts: starts, device, recorder: NoRecorder())
    let failure = try engine.perform(all: &self, maximum: events)
    if let divergence = failure?.divergence { Issue.record("a machine differs from itself: \(divergence)") }
  }

  mutating func begin() -> Int { explorer.begin() }

  mutating func next(in explorationState: ExplorationState) -> Choice? {
    if let pace { explorer.take(pace) }
    guard let choice = explorer.next(in: explorationState) else { return nil }
    steps.append((explorationState, choice))
    let isPossible = explorationState.admits(choice, alphabet) && alphabet.action(of: choice) != nil
    #expect(isPossible, "\(choice) was not to be had")
    return choice
  }

  mutating func spend(_ time: Interval) {
    times.append(time)
    explorer.spend(time)
  }

  mutating func end(in explorationState: ExplorationState) -> Bool {
    tests.append(explorer.test)
    wasRare.append(explorer.end(in: explorationState))
    return wasRare[wasRare.count - 1]
  }

  /// How often an event was taken where others were legal, too.
  func count(_ event: Int) -> Int {
    steps.count {
      Int($0.choice.act) == event && !$0.choice.isForbidden && $0.explorationState.legal.nonzeroBitCount > 1
    }
  }
}
