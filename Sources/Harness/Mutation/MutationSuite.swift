import Automata
import Basics
import Conformance

/// The tests whose strength is measured.
public enum MutationSuite: Sendable {
  /// These scenarios.
  case scenarios([ScenarioSet.Item])
  /// A tour through all cells of the machine.
  case tour
  /// This many random events.
  case fuzz(events: Int)
}

/// One test of a suite, prepared for machines as devices.
struct MutationTest {
  /// The contents of the test.
  enum Body {
    case scenario(Scenario)
    case tour(Tour)
    case fuzz(events: Int)
  }

  /// The path of its scenario, or the name of its suite.
  let name: String
  private let body: Body
  private let specification: Specification
  private let alphabet: Alphabet
  private let starts: [StartCondition]
  private let seed: UInt64
  /// How the machine decides where it has a choice: the first preference with which the machine itself
  /// passes.
  private var preference = MachineDevice.Preference.first
  /// The cells and states that the machine itself visited.
  private var tried: [Bool] = []
  private var visited: [Bool] = []

  /// Prepares a test; `nil` if the machine itself fails it.
  ///
  /// - Parameter device: the machine itself.
  init?(
    _ name: String, _ body: Body, _ specification: Specification, _ device: MachineDevice, seed: UInt64,
    by preferences: [MachineDevice.Preference]
  ) {
    self.name = name
    self.body = body
    self.specification = specification
    self.seed = seed
    alphabet = Alphabet(specification, device.abilities)
    starts = specification.machine.startConditions(of: device.abilities)
    for preference in preferences {
      self.preference = preference
      let outcome = run(on: device)
      guard outcome.divergence == nil, outcome.isAsExpected else { continue }
      (tried, visited) = (outcome.device.tried, outcome.device.visited)
      return
    }
    return nil
  }

  /// Whether the test reaches the mutated place; otherwise it cannot fail.
  func reaches(_ state: Int, _ stimulus: Int?) -> Bool {
    stimulus.map { tried[state * specification.machine.eventCount + $0] } ?? visited[state]
  }

  /// Whether a machine fails the test.
  func fails(on device: MachineDevice) -> Bool { run(on: device).divergence != nil }

  private func run(
    on machine: MachineDevice
  ) -> (divergence: Divergence?, isAsExpected: Bool, device: MachineDevice) {
    var device = machine
    device.decide(by: preference)
    // A start that the machine lacks does not test it.
    if case .scenario(let scenario) = body {
      var runner = CaseRunner(scenario, seed: seed, specification, bare: device)
      return (runner.runBare(), runner.isAsExpected, runner.lockstep.device)
    }
    var engine = TestEngine(specification, alphabet, starts: starts, device, recorder: NoRecorder())
    let divergence = try? body.perform(on: &engine, seed: seed)
    return (divergence ?? nil, true, engine.lockstep.device)
  }
}

extension MutationTest.Body {
  /// Runs a generated test; returns the first divergence.
  func perform<Device: DeviceUnderTest, Recorder: TraceRecorder>(
    on engine: inout TestEngine<Device, Recorder>, seed: UInt64
  ) throws(LabFault) -> Divergence? {
    switch self {
    case .scenario: return nil
    case .tour(var tour): return try engine.perform(all: &tour)?.divergence
    case .fuzz(let events):
      var explorer = Explorer(engine.alphabet, starts: engine.starts.count, seed: seed)
      return try engine.perform(all: &explorer, maximum: events)?.divergence
    }
  }
}

extension MutationSuite {
  /// The tests, and the names of those that the machine itself fails.
  func tests(
    of specification: Specification, seed: UInt64
  ) -> (tests: [MutationTest], omittedTests: [String]) {
    let device = MachineDevice(specification)
    var tests: [MutationTest] = []
    var omittedTests: [String] = []
    func add(
      _ name: String, _ body: MutationTest.Body, seed: UInt64, by preferences: [MachineDevice.Preference]
    ) {
      if let test = MutationTest(name, body, specification, device, seed: seed, by: preferences) {
        tests.append(test)
      } else {
        omittedTests.append(name)
      }
    }
    switch self {
    case .scenarios(let items):
      // The expectations of a scenario may need certain decisions.
      for item in items {
        let seed = item.scenario.seed ?? seed
        add(
          item.path, .scenario(item.scenario), seed: seed,
          by: [.first, .last] + (0..<30).map { .seeded(seed &+ $0) })
      }
    case .tour:
      let tour = Tour(
        specification, Alphabet(specification, device.abilities),
        starts: specification.machine.startConditions(of: device.abilities))
      add("tour", .tour(tour), seed: seed, by: [.seeded(seed)])
      // Optional events, such as the loss of a link in every state, would leave no time for the states beyond them.
      let spontaneous = specification.machine.spontaneous.joined()
      if spontaneous.contains(where: { $0.latest == .forever && $0.guard.given == 0 }) {
        add("tour without what only may happen", .tour(tour), seed: seed, by: [.first])
      }
    case .fuzz(let events): add("fuzz", .fuzz(events: events), seed: seed, by: [.seeded(seed)])
    }
    return (tests, omittedTests)
  }
}
