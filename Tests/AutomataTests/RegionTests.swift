import Automata
import Documents
import TestSupport
import Testing

/// A machine file of two regions, of which a test replaces some lines.
private func text(_ changes: [(line: String, other: String)] = []) -> String {
  var text = """
    machine: m
    events: [on, off, open, turn: spontaneous]
    conditions: [c, d, { name: late, from-entry: true }]
    choices: { kind: [old, new] }
    variables: { n: { form: integer, first: 0 } }
    regions:
      link:
        states: [away, { name: near, transparent: true }]
        start: away
        transitions:
          - { event: on, from: away, to: near }
          - { event: off, from: near, to: away }
      lock:
        states: [shut, { name: ajar, entry: light }]
        start: shut
        transitions:
          - { event: open, from: shut, to: ajar, in: { link: near } }
          - { from: ajar, to: shut, after: 7 s }
          - { event: turn, from: ajar, to: shut }

    """
  for (line, other) in changes { text = text.replacing(line, with: other) }
  return text
}

private func read(_ text: String) throws(DocumentError) -> MachineFile {
  try MachineFile(Array(text.utf8), name: "m.yaml")
}

@Suite("Regions side by side")
struct RegionTests {
  @Test("the states of a machine of regions are those that its regions reach together")
  func states() throws {
    let definition = try read(text()).definition
    expect(
      definition.states.map { "\($0.name): \($0.status), \($0.region)" },
      [
        "away (shut): away, link", "away (ajar): away, link", "shut (near): shut, lock",
        "ajar (near): ajar, lock",
      ])
    expect(definition.starts, [Start("away (shut)")])
    expect(
      definition.transitions.map(\.line),
      [
        "on: away (shut) → shut (near)",
        "on: away (ajar) → ajar (near)",
        "off: shut (near) → away (shut)",
        "off: ajar (near) → away (ajar)",
        "open: shut (near) → ajar (near) ; light start lock",
        "after 7 s: away (ajar) → away (shut) of lock",
        "after 7 s: ajar (near) → shut (near) of lock",
        "turn: away (ajar) → away (shut) stop lock",
        "turn: ajar (near) → shut (near) stop lock",
      ])
    expect(try MachineDefinition(yaml: Array(definition.yaml().utf8), name: "again"), definition)
  }

  /// Changes of the file, and the rows that they give or change.
  // swift-format-ignore
  static let cases: [(name: String, changes: [(line: String, other: String)], rows: [String])] = [
    ("an event goes to all regions", [("- { event: turn, from: ajar, to: shut }", "- { event: off, from: ajar, to: shut, then: click }"), (", turn: spontaneous", "")], [
      "off: ajar (near) → away (shut) ; click stop lock",
    ]),
    ("a region whose rows all have a `when` may stay", [("event: turn, from: ajar, to: shut", "event: off, from: ajar, to: shut, when: n > 1"), (", turn: spontaneous", ""), ("event: off, from: near, to: away", "event: off, from: near, to: away, when: n < 5")], [
      "off: ajar (near) → away (shut) [(n < 5) && (n > 1)] stop lock",
      "off: shut (near) → away (shut) [n < 5]",
      "off: ajar (near) → away (ajar) [n < 5]",
      "off: away (ajar) → away (shut) [n > 1] stop lock",
      "off: ajar (near) → shut (near) [n > 1] stop lock",
    ]),
    ("a row of the other region needs the absence of a condition", [("event: turn, from: ajar, to: shut", "event: off, from: ajar, to: shut, given: c"), (", turn: spontaneous", "")], [
      "off given c: ajar (near) → away (shut) stop lock",
      "off unless c: ajar (near) → away (ajar)",
      "off given c: away (ajar) → away (shut) stop lock",
    ]),
    ("a row that stays is one row", [("- { event: turn, from: ajar, to: shut }", "- { event: turn, from: \"*\", to: \"=\", then: hum }")], [
      "turn: away (shut), away (ajar), shut (near), ajar (near) → the same ; hum",
    ]),
    ("of the rows of one state the first is taken whose `in` is true", [("- { event: turn, from: ajar, to: shut }", "- { event: open, from: shut, to: \"=\", then: buzz }"), (", turn: spontaneous", "")], [
      "open: away (shut) → the same ; buzz",
    ]),
    ("a row that stays keeps the clock", [("event: turn, from: ajar, to: shut", "event: turn, from: ajar, to: \"=\", not-before: 2 s")], [
      "turn within 2 s to forever: away (ajar), ajar (near) → the same of lock, keep lock",
    ]),
    ("a start in another state", [("machine: m\n", "machine: m\nstarts: [{ state: { lock: ajar } }]\n")], []),
  ]

  @Test("what the regions do in one step is one row", arguments: cases.indices)
  func rows(index: Int) throws {
    let (name, changes, expected) = Self.cases[index]
    let usual = Set(try read(text()).definition.transitions.map(\.line))
    let definition = try read(text(changes)).definition
    let lines = definition.transitions.map(\.line).filter { !usual.contains($0) }
    expect(lines, expected)
    if lines.isEmpty { #expect(definition.starts == [Start("away (ajar)", start: ["lock"])], "\(name)") }
  }

  @Test("states of one name in two regions have the names of all regions")
  func names() throws {
    let changes = [("away", "shut"), ("near, transparent: true", "near")]
    let definition = try read(text(changes)).definition
    expect(
      definition.states.map(\.name),
      [
        "shut (link: shut, lock: shut)", "shut (link: shut, lock: ajar)", "near (link: near, lock: shut)",
        "near (link: near, lock: ajar)",
      ])
  }

  // swift-format-ignore
  static let refusals: [(changes: [(line: String, other: String)], problem: String)] = [
    ([("in: { link: near }", "in: { lnik: near }")], "17:52: region 'lnik' is not defined | did you mean `link`?"),
    ([("in: { link: near }", "in: { link: naer }")], "17:58: region 'link' has no state 'naer' | did you mean `near`?"),
    ([("in: { link: near }", "in: { lock: shut }")], "17:52: `in` names the row's own region 'lock' | use `from` for it"),
    ([("to: ajar", "to: ajra")], "17:40: 'open' leads to 'ajra', which is not defined | did you mean `ajar`?"),
    ([("start: shut", "start: shtu")], "15:12: the machine starts in 'shtu', which is not defined | did you mean `shut`?"),
    ([("machine: m\n", "machine: m\nstarts: [{ state: { lock: nera } }]\n")], "2:27: region 'lock' has no state 'nera' | expected shut, ajar"),
    ([("after: 7 s", "after: 7 s, when: n > m")], "18:55: `when`: unknown name `m` | expected n, change, now, elapsed"),
    ([("after: 7 s", "after: 7 s, when: elapsed > seconds(3)")], "18:9: 'after 7 s' uses `elapsed`, which rows of regions do not have | set a variable to `now` on entry, and subtract it"),
    ([("after: 7 s", "after: 7 s, given: late")], "18:9: 'given late after 7 s' depends on condition 'late', which counts from the entry of a state | use a condition without `from-entry`"),
    ([("after: 7 s", "after: 7 s, start: link")], "18:52: timer 'link' has the name of a region | give the timer another name"),
    ([("after: 7 s", "after: 7 s, stop: other")], "18:51: no row starts the timer 'other' | "),
    ([("to: near }", "to: near, set: { n: 1 } }"), ("event: open, from: shut, to: ajar, in: { link: near }", "event: on, from: shut, to: ajar, set: { n: 2 }"), ("open, ", "")],
      "17:9: one step of 'on' gives 'n' two values, in the regions 'link' and 'lock' | set it in one region, or limit one of the rows with `in`"),
    ([("to: near }", "to: near, start: t }"), ("event: open, from: shut, to: ajar, in: { link: near }", "event: on, from: shut, to: ajar, stop: t"), ("open, ", "")],
      "17:9: one step of 'on' gives timer 't' two values, in the regions 'link' and 'lock' | set it in one region, or limit one of the rows with `in`"),
    ([("to: near }", "to: near, shows: x }"), ("event: open, from: shut, to: ajar, in: { link: near }", "event: on, from: shut, to: ajar, shows: y"), ("open, ", "")],
      "17:9: one step of 'on' has two outputs, in the regions 'link' and 'lock' | give one of the rows `first` or `then` in place of `shows`"),
    ([("- { event: off", "- { event: turn, from: near, to: away, within: 3 s }\n      - { event: off")],
      "12:9: 'turn' has rows with a time beside others, in the regions 'link' and 'lock' | limit the rows with `in`, so that one region has rows at a time"),
    ([("event: turn, from: ajar, to: shut", "event: turn, from: [shut, ajar], to: [shut, ajar]")],
      "19:9: 'turn' leads to states with different effects on entry | show the effects with `then`, in a row for each state"),
    ([("to: near }", "to: near, given: c }"), ("event: open, from: shut, to: ajar, in: { link: near }", "event: on, from: shut, to: ajar, given: d"), ("open, ", "")],
      "11:9: the conditions of 'on' cannot be joined, in the regions 'link' and 'lock' | limit the rows with `in`, so that one region has rows at a time"),
    ([("to: near }", "to: near, unless: c }\n      - { event: on, from: away, to: \"=\", unless: d }"), ("event: open, from: shut, to: ajar, in: { link: near }", "event: on, from: shut, to: ajar"), ("open, ", "")],
      "12:9: the device chooses among rows of 'on', in the regions 'link' and 'lock' | limit the rows with `in`, so that one region has rows at a time"),
    ([("[shut, { name: ajar,", "[{ name: shut, transparent: true }, { name: ajar,")],
      "14:14: no region shows a status in 'near, shut' | a state of the last region must show a status if all others are transparent"),
    ([("machine: m\n", "machine: m\nstates: [A]\n")], "7:1: `regions` stands beside `states` | give one of them"),
    ([("    start: away\n", "")], "8:5: missing key `start` | "),
    ([("in: { link: near }", "inn: { link: near }")], "17:46: unknown key `inn` | expected event, from, to, shift, when, set, start, stop, timer, keep-timer, after, within, …"),
  ]

  @Test(
    "what is wrong in a region, or cannot be one row, is refused with its place", arguments: refusals.indices)
  func refusal(index: Int) throws {
    let (changes, expected) = Self.refusals[index]
    let error = #expect(throws: DocumentError.self) { try read(text(changes)) }
    let problem = try #require(error?.problems.first)
    expect("\(problem.position): \(problem.message) | \(problem.hint ?? "")", expected)
  }

  // swift-format-ignore
  @Test("states that the regions do not reach, and rows that they do not take together, are warned of")
  func warnings() throws {
    let changes = [
      ("[away,", "[gone, away,"), ("in: { link: near } }", "in: { link: gone } }\n      - { event: open, from: shut, to: \"=\" }"),
      ("{ event: turn, from: ajar, to: shut }", "{ event: turn, from: \"*\", to: \"=\" }"),
    ]
    let file = try read(text(changes))
    expect(
      file.warnings(of: try Machine(file.definition)).map { "\($0.problem.position): \($0.problem.message)" },
      [
        "4:12: no row has an option of choice 'kind'",
        "8:14: state 'gone' cannot be reached from any start",
        "14:20: state 'ajar' cannot be reached from any start",
        "17:9: 'open' is never taken, since the regions are never in such states together",
      ])
  }

  @Test("regions that have too many states together are refused")
  func limit() throws {
    func region(_ name: String) -> String {
      let states = (0..<120).map { "\(name)\($0)" }
      let rows = (0..<120).map {
        "      - { event: \(name), from: \(name)\($0), to: \(name)\(($0 + 1) % 120) }"
      }
      return
        "  \(name):\n    states: [\(states.joined(separator: ", "))]\n    start: \(name)0\n    transitions:\n"
        + rows.joined(separator: "\n") + "\n"
    }
    let error = #expect(throws: DocumentError.self) {
      try read("machine: m\nevents: [x, y]\nregions:\n" + region("x") + region("y"))
    }
    expect(
      error?.problems.map { "\($0.position): \($0.message)" },
      ["3:1: the regions together have more than the 10000 states allowed"])
  }
}
