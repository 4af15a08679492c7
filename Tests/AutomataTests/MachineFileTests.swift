import Basics
import Documents
import Foundation
import TestSupport
import Testing

@testable import Automata

/// A machine of a few lines, of which a test replaces some.
private func text(_ changes: [(key: String, value: String)]) -> String {
  var lines = [
    ("machine", "m"), ("states", "[A, B]"), ("events", "[go, come: spontaneous]"), ("conditions", "[c]"),
    ("starts", "[{ state: A }]"),
    ("transitions", "[{ event: go, from: A, to: B }, { event: come, from: \"*\", to: A }]"),
  ]
  for (key, value) in changes {
    lines.removeAll { $0.0 == key }
    if !value.isEmpty { lines.append((key, value)) }
  }
  return lines.map { "\($0.0): \($0.1)\n" }.joined()
}

private func file(_ text: String, name: String = "m.yaml") throws(DocumentError) -> MachineFile {
  try MachineFile(Array(text.utf8), name: name)
}

private func warnings(_ text: String, name: String = "m.yaml") throws -> String? {
  let file = try file(text, name: name)
  let warnings = file.warnings(of: try Machine(file.definition))
  return warnings.isEmpty ? nil : warnings.map(\.description).joined(separator: "\n")
}

@Suite("The page of machine files")
struct MachinePageTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/Automata/Automata.docc/Machine-files.md")

  private func page() throws -> String { try String(contentsOf: Self.page, encoding: .utf8) }

  /// What is fenced off as of a kind.
  private func fenced(_ kind: String, in page: String) -> [String] {
    page.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      .filter { $0.hasPrefix(kind + "\n") }.map { String($0.dropFirst(kind.count + 1)) }
  }

  @Test("each table has the keys that the reader knows, with what their schema says, and an example of each")
  func keys() throws {
    let sections: [(title: String, number: Int, fields: [Form.Field])] = [
      ("The file", 1, MachineGrammar.machine), ("A state", 1, MachineGrammar.state),
      ("An event", 1, MachineGrammar.eventKeys), ("A condition", 1, MachineGrammar.condition),
      ("A start", 1, MachineGrammar.start), ("A row", 1, MachineGrammar.row),
      ("Regions", 1, MachineGrammar.region), ("Regions", 2, Array(MachineGrammar.regionState.suffix(1))),
      ("Regions", 3, Array(MachineGrammar.regionRow.suffix(1))), ("Rules", 2, MachineGrammar.rule),
    ]
    // Two tables have the keys of others and one more.
    expect(MachineGrammar.regionState.dropLast().map(\.name), ["name", "status", "entry"])
    expect(MachineGrammar.regionRow.dropLast().map(\.name), MachineGrammar.row.map(\.name))
    let parts = try page().components(separatedBy: "\n## ")
    for section in sections {
      let part = try #require(parts.first { $0.hasPrefix(section.title + "\n") })
      let table = part.components(separatedBy: "|---|---|---|\n")[section.number]
        .components(separatedBy: "\n\n")[0]
      let rows = table.split(separator: "\n").map { $0.components(separatedBy: " | ") }
      expect(
        rows.map { $0.prefix(2).joined(separator: " | ") },
        section.fields.map { "| `\($0.name)`\($0.isRequired ? " (required)" : "") | \($0.summary)" })
      for (row, field) in zip(rows, section.fields) {
        #expect(row.count == 3 && row[2].hasPrefix("`\(field.name): ") && row[2].hasSuffix("` |"), "\(row)")
      }
    }
  }

  @Test("each form of a value is on the page")
  func forms() throws {
    let page = try page()
    for word in MachineGrammar.ValueWord.allCases {
      #expect(page.contains("| `\(word.rawValue)`\(word.limit == nil ? "" : ", `\(word.rawValue): [")"))
    }
  }

  @Test("the whole example is read, says nothing that is not meant, and is what the page says it is")
  func example() throws {
    let page = try page()
    let example = fenced("yaml", in: page)[0]
    let file = try file(example, name: "keypad.yaml")
    expect(file.warnings(of: try Machine(file.definition)), [])
    expect(file.definition.states.count, 6)
    expect(file.definition.transitions.filter { $0.trigger == .timer }.count, 3)
    expect(try MachineDefinition(yaml: Array(file.definition.yaml().utf8), name: "again"), file.definition)
    let holding = try MachineFile(Array(fenced("yaml", in: page)[1].utf8), name: "code-lock.yaml")
    expect(holding.warnings(of: try Machine(holding.definition)), [])
    expect(holding.definition.variables.map(\.name), ["pin", "tries", "log"])
    expect(
      try MachineDefinition(yaml: Array(holding.definition.yaml().utf8), name: "again"), holding.definition)
    let linked = try MachineFile(Array(fenced("yaml", in: page)[2].utf8), name: "linked-lock.yaml")
    expect(linked.warnings(of: try Machine(linked.definition)), [])
    let rules = """
      machine: m
      states: [a]
      readings: { battery: number }
      events: [go]
      starts: [{ state: a }]
      transitions: [{ event: go, from: a, to: a }]

      """ + fenced("yaml part", in: page)[0]
    let ruled = try MachineFile(Array(rules.utf8), name: "rules.yaml")
    expect(ruled.definition.rules.map { $0.machine.name }, ["battery"])
    let choosing = try MachineFile(Array(fenced("yaml", in: page)[3].utf8), name: "forgetful-keypad.yaml")
    expect(choosing.warnings(of: try Machine(choosing.definition)), [])
    expect(choosing.definition.choices, [DeviceChoice("code-timer", ["first-code", "last-code"])])
    // The warning that the page shows is what is said of its third machine.
    expect(
      try warnings(fenced("yaml", in: page)[4], name: "siren.yaml").map { $0 + "\n" },
      fenced("text", in: page).first { $0.hasPrefix("siren.yaml") })
  }
}

@Suite("Warnings: what in a machine is hardly meant")
struct MachineWarningTests {
  // swift-format-ignore
  static let cases: [(name: String, changes: [(key: String, value: String)], warnings: [String])] = [
    ("nothing", [], []),
    ("a state without a way", [("states", "[A, B, X, Y]")], [
      "6:16: state 'X' cannot be reached from any start | lead a row to it, start in it, or remove it",
      "6:19: state 'Y' cannot be reached from any start | lead a row to it, start in it, or remove it",
    ]),
    ("states that lead to each other alone", [
      ("states", "[A, B, X, Y]"),
      ("transitions", "[{ event: go, from: X, to: Y }, { event: go, from: Y, to: X }, { event: come, from: A, to: B }]"),
    ], [
      "5:16: state 'X' cannot be reached from any start | lead a row to it, start in it, or remove it",
      "5:19: state 'Y' cannot be reached from any start | lead a row to it, start in it, or remove it",
    ]),
    ("a second start is a way", [("states", "[A, B, X]"), ("starts", "[{ state: A }, { state: X }]")], []),
    ("a guard that contradicts itself, and a state behind it", [
      ("states", "[A, B, X]"), ("conditions", "[c, d]"),
      ("transitions", "[{ event: go, from: A, to: X, given: [c, d], unless: [d, c] }, { event: come, from: A, to: B }]"),
    ], [
      "4:16: state 'X' cannot be reached from any start | lead a row to it, start in it, or remove it",
      "6:15: 'go given c or d unless d or c' is never taken, since `given` and `unless` contradict each "
        + "other | take 'c', 'd' out of `given` or of `unless`",
    ]),
    ("a guard of which one condition is left", [
      ("conditions", "[c, d]"),
      ("transitions", "[{ event: go, from: A, to: B, given: [c, d], unless: c }, { event: come, from: A, to: B }]"),
    ], []),
    ("a row from any state where none is left", [
      ("transitions", "[{ event: go, from: [A, B], to: B }, { event: come, from: A, to: B }, { event: go, from: \"*\", to: A }]"),
    ], [
      "6:84: 'go' from any state is never taken, since every state has a row of its own for it | "
        + "remove the row, or one of the others",
    ]),
    ("a row for ever", [("transitions", "[{ event: go, from: A, to: B }, { event: come, from: A, to: B, not-before: forever }]")], [
      "6:46: 'come after forever' is never taken, since its time never comes | give it a time, or "
        + "remove it",
    ]),
    ("timers that another one beats, in the order of the rows", [
      ("states", "[A, B, C]"),
      ("transitions", """

          - { event: go, from: A, to: B }
          - { event: come, from: [A, B, C], to: C, not-before: 3 s }
          - { from: [B, C], to: A, after: 4 s }
          - { from: [A, B, C], to: A, within: 2 s }
          - { from: B, to: C, after: 2 s }
        """),
    ], [
      "8:5: 'come within 3 s to forever' is never taken from 'A', 'B', 'C', since 'within 2 s' is "
        + "always taken first | give it an earlier time, or give the other a condition",
      "9:5: 'after 4 s' is never taken from 'B', 'C', since 'within 2 s' is always taken first | give "
        + "it an earlier time, or give the other a condition",
    ]),
    ("timers that only a condition, a value or a stay could beat", [
      ("events", "[go, come: spontaneous, set, set2]"),
      ("conditions", "[c, { name: v, stimuli: set }]"), ("states", "[A, B, C, D]"),
      ("transitions", """

          - { event: go, from: A, to: [B, C, D] }
          - { event: set, from: A, to: "=" }
          - { event: set2, from: A, to: "=" }
          - { from: B, to: A, after: 1 s, given: c }
          - { from: B, to: A, after: 9 s }
          - { from: C, to: A, within: 1 s, plus: v }
          - { from: C, to: A, after: 9 s }
          - { event: come, from: D, to: "=", after: 1 s, unless: c }
          - { from: D, to: A, after: 9 s }
        """),
    ], []),
    ("two timers between which the device chooses", [
      ("transitions", "[{ event: go, from: A, to: B }, { event: come, from: B, to: A, within: 3 s }, { from: B, to: A, within: 3 s }]"),
    ], []),
    ("a row that says what another one says, and one that leads elsewhere", [
      ("transitions", """

          - { event: go, from: A, to: B }
          - { event: come, from: "*", to: A }
          - { from: B, to: [A, B], after: 3 s, first: x }
          - { from: B, to: A, after: 3 s, first: x }
          - { from: [A, B], to: [B, A], after: 3 s, first: x }
        """),
    ], ["11:5: 'after 3 s' from 'B' repeats an earlier row | remove one of the two"]),
  ]

  @Test(
    "what is hardly meant is said with its place and its cure, in the order of the text",
    arguments: cases.indices)
  func table(index: Int) throws {
    let (name, changes, expected) = Self.cases[index]
    let text = text(changes)
    let lines = (try warnings(text) ?? "").split(separator: "\n")
    let said = stride(from: 0, to: lines.count, by: 3).map { number -> String in
      let place = lines[number].dropFirst("m.yaml:".count).replacing(": warning: ", with: ": ")
      let cure = lines[number + 2].drop { $0 != "^" }.dropFirst().drop { $0 == "~" }
      return "\(place) |\(cure)"
    }
    expect(said, expected)
    if expected.isEmpty { #expect(lines.isEmpty, "\(name)") }
  }

  @Test("as a compiler shows it, and no more than a hundred of them, in YAML and in DOT")
  func shown() throws {
    let states = (0..<150).map { "s\($0)" }.joined(separator: ", ")
    let lines = try #require(try warnings(text([("states", "[A, B, \(states)]")]))).split(separator: "\n")
    expect(lines.count, 301)
    expect(lines.last, "m.yaml: and 50 more")
    expect(
      try warnings("digraph M {\n  s0 -> s1 [label=\"a/1\"]\n  s2 -> s1 [label=\"a/1\"]\n}\n", name: "m.dot"),
      """
      m.dot:3:3: warning: state 's2' cannot be reached from any start
        3 |   s2 -> s1 [label="a/1"]
          |   ^~ lead a row to it, start in it, or remove it
      """)
  }
}

@Suite("What is unknown in a machine")
struct MachineHintTests {
  // swift-format-ignore
  static let cases: [(changes: [(key: String, value: String)], problem: String)] = [
    ([("starts", "[{ state: a }]")], "the machine starts in 'a', which is not defined | did you mean `A`?"),
    ([("states", "[Locked, B]"), ("starts", "[{ state: Lcoked }]"), ("transitions", "[{ event: [go], from: B, to: B }]")],
      "expected an event, found a list | "),
    ([("transitions", "[{ event: gp, from: A, to: B }, { event: go, from: A, to: B }, { event: come, from: B, to: A }]")],
      "a row names event 'gp', which is not defined | expected go, come"),
    ([("transitions", "[{ event: coem, from: A, to: B }, { event: go, from: A, to: B }, { event: come, from: B, to: A }]")],
      "a row names event 'coem', which is not defined | did you mean `come`?"),
    ([("transitions", "[{ event: go, from: b, to: B }, { event: come, from: B, to: A }]")],
      "'go' starts from 'b', which is not defined | did you mean `B`?"),
    ([("transitions", "[{ event: go, from: A, to: b }, { event: come, from: B, to: A }]")],
      "'go' leads to 'b', which is not defined | did you mean `B`?"),
    ([("conditions", "[wind]"), ("transitions", "[{ event: go, from: A, to: B, given: wnid }, { event: come, from: B, to: A }]")],
      "'go' depends on condition 'wnid', which is not defined | did you mean `wind`?"),
    ([("conditions", "[{ name: wind, until: a }]")],
      "condition 'wind' ends with the status 'a', which no state has | did you mean `A`?"),
    ([("conditions", "[{ name: wind, stimuli: Go }]")],
      "condition 'wind' is set by 'Go', which is not defined | did you mean `go`?"),
    ([("conditions", "[{ name: wind, unsure: wnid }]")],
      "'wind' depends on condition 'wnid', which is not defined | did you mean `wind`?"),
    ([("conditions", "[{ name: wind, faults: x, untill: A }]")], "unknown key `untill` | did you mean `until`?"),
    ([("events", "[go, come: spontanous]")], "unknown kind `spontanous` | did you mean `spontaneous`?"),
    ([("readings", "{ battery: nubmer }")], "unknown type `nubmer` | did you mean `number`?"),
    ([("transitions", "[{ event: go, from: A, shift: B, to: B }]")], "`shift` stands beside `to` | give one of them"),
    ([("transitions", "[{ event: go, from: A, to: B, after: 3 s, within: 3 s }]")],
      "`within` stands beside `after` | give one of them"),
    ([("transitions", "[{ from: A, to: B, after: 3 }]")], "expected a duration such as 3 s, found `3` | a unit is missing: `3 s`"),
    ([("transitions", "[{ event: go, from: A }]")], "missing key `to` or `shift` | "),
    ([("transitions", "[{ from: A, to: B }]")],
      "missing key `event` or `after` or `within` or `not-before` or `plus` | "),
    ([("events", "[go: { one-of: { a: text }, arguments: { b: text } }, come: spontaneous]")],
      "`one-of` stands beside `arguments` | give one of them"),
  ]

  @Test("what is unknown is answered with the nearest name", arguments: cases.indices)
  func nearest(index: Int) throws {
    let text = text(Self.cases[index].changes)
    let error = #expect(throws: DocumentError.self) { try file(text) }
    let problem = try #require(error?.problems.first)
    expect("\(problem.message) | \(problem.hint ?? "")", Self.cases[index].problem)
  }

  @Test("a DOT file is answered alike")
  func dot() throws {
    let text = try file(text([])).definition.dot().replacing("starts=\"A\"", with: "starts=\"a\"")
    let error = #expect(throws: DocumentError.self) { try file(text, name: "m.gv") }
    expect(error?.problems.first?.message, "the machine starts in 'a', which is not defined")
    expect(error?.problems.first?.hint, "did you mean `A`?")
  }
}

@Suite("The JSON Schema of machines", .enabled(if: hasSchemaValidator))
struct MachineSchemaTests {
  /// What replaces a part of a machine, and whether it has the form of one; names are not the schema's business.
  // swift-format-ignore
  static let parts: [(key: String, value: String, isValid: Bool)] = [
    ("machine", "m", true), ("machine", "", false), ("machine", "[m]", false), ("summary", "some text", true), ("sumary", "some text", false),
    ("states", "", false), ("states", "[]", false), ("states", "A", false), ("states", "[A, { name: B }]", true),
    ("states", "[A, { name: B, status: b, entry: [x, y] }]", true), ("states", "[A, { nmae: B }]", false), ("states", "[A, { status: B }]", false),
    ("events", "[]", false), ("events", "[go, come]", true), ("events", "[go, come: both]", true), ("events", "[go, come: never]", false),
    ("events", "[go, come: { kind: both }]", true), ("events", "[go, { come: both, come2: both }]", false),
    ("events", "[go: { arguments: { a: text, b: hex, c: flag, d: integer, e: number, f: duration, g: [x, y] } }, come]", true),
    ("events", "[go: { arguments: { a: { integer: [1, 9] }, b: { number: [0.5, 9] }, c: { duration: [1 s, forever] } } }, come]", true),
    ("events", "[go: { one-of: { a: text } }, come]", true), ("events", "[go: { one-of: { a: text }, arguments: { b: text } }, come]", false),
    ("events", "[go: { arguments: { a: words } }, come]", false), ("events", "[go: { arguments: { a: { text: [1, 9] } } }, come]", false),
    ("events", "[go: { arguments: { a: { integer: [1] } } }, come]", false), ("events", "[go: { arguments: { a: { integer: [1, 2, 3] } } }, come]", false),
    ("events", "[go: { arguments: { a: { integer: [a, b] } } }, come]", false), ("events", "[go: { arguments: { a: [] } }, come]", false),
    ("events", "[go: { arguments: {} }, come]", true), ("events", "[go: { argument: {} }, come]", false),
    ("conditions", "", true), ("conditions", "[]", true), ("conditions", "[{ name: c, faults: [a, b], moments: d, events: come, until: A }]", true),
    ("conditions", "[{ name: c, stimuli: go, unsure: c, reading: r, from-entry: true, delay: 3 s }]", true), ("conditions", "[{ name: c, from-entry: 3 }]", false),
    ("conditions", "[{ name: c, delay: 3 }]", false), ("conditions", "[{ faults: a }]", false), ("conditions", "{ c: d }", false),
    ("readings", "{ battery: { number: [0, 6] }, kind: [a, b] }", true), ("readings", "[battery]", false), ("readings", "{ battery: volts }", false),
    ("starts", "", false), ("starts", "[]", false), ("starts", "[A]", false), ("starts", "[{ state: A, when: { on: true } }]", true),
    ("starts", "[{ state: A, when: { on: 3 } }]", false), ("starts", "[{ when: { on: true } }]", false),
    ("transitions", "", false),
    ("regions", "{ r: { states: [A], start: A, transitions: [{ event: go, from: A, to: A }] } }", false),
    ("row", "{ event: go, from: [A, B], to: [A, B], given: c, unless: [c], first: x, then: [y, z], shows: w, ours: true }", true),
    ("row", "{ event: come, from: A, to: B, within: 3 s, not-before: 1 s, plus: c }", true), ("row", "{ from: A, shift: B, after: 3 s }", false),
    ("row", "{ from: A, shift: A, within: 3 s }", true), ("row", "{ from: A, to: B, within: forever }", true), ("row", "{ from: A, to: B, within: 3 }", false),
    ("row", "{ from: A, to: B }", false), ("row", "{ event: go, from: A }", false), ("row", "{ event: go, to: A }", false),
    ("row", "{ event: go, from: A, to: A, shift: A }", false), ("row", "{ from: A, to: B, after: 3 s, within: 3 s }", false),
    ("row", "{ from: A, to: B, not-before: -1.5 s, within: 3 s, plus: c }", true), ("row", "{ from: A, to: B, within: -3 s, plus: c }", false),
    ("row", "{ from: A, to: B, after: 3 s, not-before: 3 s }", false), ("row", "{ from: A, to: B, after: 3 s, plus: c }", false),
    ("row", "{ event: [go], from: A, to: B }", false), ("row", "{ event: go, from: { A: B }, to: B }", false), ("row", "{ event: go, from: A, to: B, ours: ours }", false),
    ("row", "{ event: go, from: A, to: B, form: A }", false),
  ]

  @Test("the schema and the reader have the same grammar")
  func grammar() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lockstep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let schema = folder.appending(path: "schema").path
    try Data(MachineDefinition.schema.indented.utf8).write(to: URL(filePath: schema))
    var files: [String] = []
    for (number, part) in Self.parts.enumerated() {
      let isRow = part.key == "row"
      let others = "{ event: go, from: B, to: A }, { event: come, from: B, to: A }"
      let text = text([isRow ? ("transitions", "[\(part.value), \(others)]") : (part.key, part.value)])
      let file = folder.appending(path: "\(number).yaml").path
      try Data(text.utf8).write(to: URL(filePath: file))
      files.append(file)
      let isRead = (try? MachineDefinition(yaml: Array(text.utf8), name: "m.yaml")) != nil
      // What the reader knows beyond the grammar is wrong with one row alone: a shift to another status.
      #expect(isRead == part.isValid, "\(part.key): \(part.value)")
    }
    let lines = validate(files, against: schema)
    expect(lines.count, Self.parts.count)
    for (line, part) in zip(lines, Self.parts) where !part.value.contains("shift: B") {
      #expect(line.hasSuffix(" valid") == part.isValid, "\(part.key): \(part.value): \(line)")
    }
  }
}
