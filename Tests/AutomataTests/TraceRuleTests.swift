import Automata
import Basics
import Documents
import TestSupport
import Testing

@Suite("Rules in machine files")
struct TraceRuleTests {
  private static let machine = """
    machine: lock
    states: [locked, unlocked]
    conditions: [jam]
    readings: { battery: number, last: { record: { user: text, tries: integer } } }
    events: [{ open: { arguments: { user: text } } }, lock, { opened: spontaneous }]
    starts: [{ state: locked }]
    transitions:
      - { event: open, from: locked, to: unlocked }
      - { event: lock, from: unlocked, to: locked }
      - { event: opened, from: locked, to: unlocked }
    rules:
    """

  private func read(_ rule: String) throws(DocumentError) -> MachineDefinition {
    try MachineDefinition(yaml: Array((Self.machine + "\n  - " + rule).utf8), name: "lock.yaml")
  }

  @Test("the events of a rule are those that its rows name, with the arguments that the machine gives them")
  func events() throws {
    let row = { (event: String) in "{ event: \(event), from: a, to: = }" }
    let names = [
      "open", "opened", "status unlocked", "reading battery", "reading last", "fault jam", "refused",
    ]
    let definition = try read(
      "{ rule: r, states: [a, { name: wrong, status: broken }], conditions: [jam], transitions: [\(names.map(row).joined(separator: ", "))] }"
    )
    let rule = try #require(definition.rules.first?.machine)
    expect(
      rule.events.map { "\($0.name) " + ($0.arguments?.forms.map(\.name).joined(separator: ",") ?? "") },
      [
        "open user", "opened ", "status unlocked ", "reading battery value", "reading last user,tries",
        "fault jam ", "refused ",
      ])
    expect(rule.starts.map(\.state), ["a"])
    expect(rule.conditions.map(\.name), ["jam"])
    let again = try MachineDefinition(yaml: Array(definition.yaml().utf8), name: "again")
    expect(again, definition)
    #expect(definition.text(in: .table).contains("rule r, broken by: wrong"))
  }

  // swift-format-ignore
  static let mistakes: [(rule: String, problem: String)] = [
    ("{ rule: r, states: [a], transitions: [{ event: reading batery, from: a, to: = }] }",
      "12:52: a row names event 'reading batery', which is not defined"),
    ("{ rule: r, states: [a], transitions: [{ event: status lokked, from: a, to: = }] }",
      "12:52: a row names event 'status lokked', which is not defined"),
    ("{ rule: r, states: [a], transitions: [{ event: open, from: a, when: usr == 'x', to: = }] }",
      "12:73: `when`: unknown name `usr`"),
    ("{ rule: r, states: [a], transitions: [{ event: open, from: b, to: = }] }",
      "12:64: 'open' starts from 'b', which is not defined"),
    ("{ states: [a], transitions: [] }", "12:5: missing key `rule`"),
    ("{ rule: r, states: [a], conditions: [jamm], transitions: [{ event: open, from: a, to: = }] }",
      "12:42: the machine has no condition 'jamm'"),
    ("{ rule: r, transitions: [{ event: open, from: a, to: = }] }", "12:5: missing key `states`"),
    ("{ rule: r, states: [a], transitions: [{ event: open, from: a, to: = }] }", "12:5: expected a state with `status: broken`, found a mapping"),
    ("{ rule: r, states: [a, b], transitions: [{ from: a, to: b, after: 3 s }] }", "12:46: expected a row with an event, found a mapping"),
    ("{ rule: r, timers: [], states: [a, { name: b, status: broken }], transitions: [{ event: open, from: a, to: = }] }",
      "12:16: unknown key `timers`"),
  ]

  @Test("a mistake in a rule is reported at its place", arguments: mistakes)
  func mistake(rule: String, problem: String) throws {
    let error = #expect(throws: DocumentError.self) { try read(rule) }
    let first = try #require(error?.problems.first)
    expect("\(first.position): \(first.message)", problem)
  }
}
