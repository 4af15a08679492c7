@testable import Nightly
import Documents
import Basics
import TestSupport
import Testing

@Suite("A nightly plan")
struct NightPlanTests {
  static func read(_ text: String) throws(DocumentError) -> NightPlan {
    try NightPlan(Array(text.utf8), name: "nights/third.yaml")
  }

  /// A plan whose fuzzing is odd.
  private static func fuzzing(_ text: String) -> String {
    "nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b}]\nfuzz: { machine: sesame, \(text) }"
  }

  @Test("the machine that is fuzzed is a name, or a file that is named from the folder of the plan")
  func machine() throws {
    func machine(_ text: String) throws -> String? {
      let text = "nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b}]\nfuzz: { machine: \(text) }"
      return try NightPlan(Array(text.utf8), name: "nights/plan.yaml").fuzz?.machine
    }
    expect(try machine("sesame"), "sesame")
    expect(try machine("../keypad.yaml"), "keypad.yaml")
    expect(try machine("keypad.yaml"), "nights/keypad.yaml")
    expect(try machine("/lab/keypad.yaml"), "/lab/keypad.yaml")
  }

  @Test("says what is driven on which locks, with which budgets")
  func whole() throws {
    let plan = try Self.read(
      """
      nightly: Third floor
      bench: ../bench.yaml
      duration: 6 h
      actuations: 2000
      retries: 7
      suites:
        - { name: smoke, scenarios: [../Scenarios/sesame5, door.yaml], tags: [sesame5], repeat: 2, case-timeout: 1 min,
            retries: 1, actuations: 50 }
        - { name: rest, scenarios: ../Scenarios/peers }
      fuzz: { machine: sesame, tags: [sesame5], stretch: 3 min, actuations: 40 }
      """)
    expect(
      plan,
      NightPlan(
        name: "Third floor", bench: "bench.yaml", duration: .seconds(21_600), actuations: 2000, retries: 7,
        suites: [
          .init(
            name: "smoke", scenarios: ["Scenarios/sesame5", "nights/door.yaml"], tags: ["sesame5"], rounds: 2,
            timeout: .seconds(60), retries: 1, actuations: 50),
          .init(name: "rest", scenarios: ["Scenarios/peers"]),
        ], fuzz: .init(machine: "sesame", tags: ["sesame5"], stretch: .seconds(180), actuations: 40)))
    let settings = NightSettings(plan, processes: 3)
    expect([settings.duration, settings.fuzzing], [.seconds(21_600), .seconds(180)])
    expect(
      [settings.actuations, settings.retries, settings.processes, settings.fuzzActuations], [2000, 7, 3, 40])
  }

  @Test("says little where little is unusual")
  func short() throws {
    let text = "nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b}]\nfuzz: { machine: sesame }"
    let plan = try Self.read(text)
    expect(plan.fuzz, .init(machine: "sesame", tags: [], stretch: .seconds(600), actuations: 100))
    expect(NightSettings(plan, processes: 1), NightSettings(duration: .seconds(3600), processes: 1))
  }

  @Test(
    "says where it is wrong",
    arguments: [
      ("nightly: A\nduration: 6 h\nsuites: []", "a suite at least"),
      ("nightly: A\nduration: 6\nsuites: [{name: a, scenarios: b}]", "`6 s`"),
      ("nightly: A\nduration: 0 s\nsuites: [{name: a, scenarios: b}]", "a duration such as 6 h"),
      ("nightly: A\nduration: 1 h\nsuites: [{name: a, scenario: b}]", "did you mean `scenarios`?"),
      (
        "nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b}, {name: a, scenarios: b}]",
        "duplicate suite"
      ),
      ("nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b, repeat: 0}]", "from 1 to 100000"),
      ("nightly: A\nduration: 1 h\nsuites: [{name: a, scenarios: b}]\nfuzz: {}", "missing key `machine`"),
      ("nightly: A\nsuites: [{name: a, scenarios: b}]", "missing key `duration`"),
      (fuzzing("stretch: 10"), "`10 s`"), (fuzzing("stretch: 0 s"), "a duration such as 6 h"),
      (fuzzing("stretch: [1 min]"), "a duration such as"), (fuzzing("actuations: 1"), "from 2 to 1000000"),
      (fuzzing("actuations: many"), "from 2 to 1000000"),
      (fuzzing("strech: 1 min"), "did you mean `stretch`?"),
    ])
  func wrong(_ text: String, _ message: String) {
    do throws(DocumentError) {
      _ = try Self.read(text)
      Issue.record("it was read: \(text)")
    } catch {
      #expect(error.description.contains(message), "\(error)")
    }
  }
}
