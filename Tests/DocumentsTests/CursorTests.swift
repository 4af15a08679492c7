import Documents
import TestSupport
import Testing

/// What a reader of one value reports about a document, one line each.
func findings<Value>(_ text: String, _ body: (Cursor) -> Value?) -> [String] {
  do {
    _ = try Document.read(Array(text.utf8), name: "a.yaml", as: body)
    return []
  } catch {
    return error.problems.map { "\($0.position) \($0.message)" + ($0.hint.map { "; \($0)" } ?? "") }
  }
}

@Suite("Reading values")
struct CursorTests {
  enum Colour: String, CaseIterable {
    case auto, always, never
  }

  /// One cursor method by name, as text, so that one table covers them all.
  static func read(_ method: String, _ cursor: Cursor) -> String? {
    switch method {
    case "text": cursor.text()
    case "integer": cursor.integer().map(String.init)
    case "port": cursor.integer(in: 1...65535).map(String.init)
    case "seed": cursor.integer(as: UInt64.self).map { String($0) }
    case "number": cursor.number().map { "\($0)" }
    case "share": cursor.number(in: 0...1).map { "\($0)" }
    case "flag": cursor.flag().map { "\($0)" }
    case "status": cursor.name("status", of: ["locked", "unlocked", "moved"])
    case "colour": cursor.choice("colour", as: Colour.self)?.rawValue
    case "pair": cursor.value("a pair such as 1x2") { $0.contains("x") ? $0 : nil }
    case "list": cursor.list().map { $0.compactMap { $0.text() }.joined(separator: "+") }
    case "listOrOne": cursor.listOrOne().compactMap { $0.text() }.joined(separator: "+")
    case "entries": cursor.entries()?.compactMap { $0.key.text() }.joined(separator: "+")
    case "step":
      cursor.variant("step", of: ["lock", "wait"]).map { "\($0.name) \($0.value?.text() ?? "alone")" }
    default: nil
    }
  }

  static let values: [(String, String, String)] = [
    ("text", "a b", "a b"), ("text", "5", "5"), ("text", "\"\"", ""), ("text", "no", "no"),
    ("integer", "5", "5"), ("integer", "-5", "-5"), ("integer", "+5", "5"), ("integer", "0", "0"),
    ("integer", "0x1F", "31"), ("integer", "-0x1f", "-31"),
    ("integer", "9223372036854775807", "9223372036854775807"),
    ("port", "65535", "65535"), ("seed", "18446744073709551615", "18446744073709551615"),
    ("number", "0.5", "0.5"), ("number", "3", "3.0"), ("number", "-1e-3", "-0.001"), ("share", "1", "1.0"),
    ("flag", "true", "true"), ("flag", "false", "false"),
    ("status", "moved", "moved"), ("status", "\"moved\"", "moved"), ("colour", "never", "never"),
    ("pair", "3x4", "3x4"),
    ("list", "[a, b]", "a+b"), ("list", "[]", ""), ("listOrOne", "[a, b]", "a+b"), ("listOrOne", "a", "a"),
    ("entries", "{b: 1, a: 2}", "b+a"),
    ("step", "lock", "lock alone"), ("step", "wait: 3 s", "wait 3 s"),
  ]

  @Test("values are read as their reader types them", arguments: values)
  func value(method: String, text: String, expected: String) throws {
    expect(try document(text).read { Self.read(method, $0) }, expected)
  }

  static let mistakes: [(String, String, String)] = [
    ("text", "[a]", "1:1 expected text, found a list"),
    ("integer", "1.5", "1:1 expected a whole number, found `1.5`"),
    ("integer", "010", "1:1 expected a whole number, found `010`"),
    ("integer", "--5", "1:1 expected a whole number, found `--5`"),
    ("integer", "0x", "1:1 expected a whole number, found `0x`"),
    ("integer", "0x-5", "1:1 expected a whole number, found `0x-5`"),
    ("integer", "1_000", "1:1 expected a whole number, found `1_000`"),
    ("integer", "9223372036854775808", "1:1 expected a whole number, found `9223372036854775808`"),
    ("integer", "\"5\"", "1:1 expected a whole number, found the text `5`; write it without quotes"),
    ("integer", "\"five\"", "1:1 expected a whole number, found the text `five`"),
    ("integer", "{a: 1}", "1:1 expected a whole number, found a mapping"),
    ("port", "0", "1:1 expected a whole number from 1 to 65535, found `0`"),
    ("seed", "-1", "1:1 expected a whole number, found `-1`"),
    ("number", "nan", "1:1 expected a number, found `nan`"),
    ("number", "inf", "1:1 expected a number, found `inf`"),
    ("number", "1e999", "1:1 expected a number, found `1e999`"),
    ("number", "0x1p3", "1:1 expected a number, found `0x1p3`"),
    ("share", "1.5", "1:1 expected a number from 0.0 to 1.0, found `1.5`"),
    ("flag", "yes", "1:1 expected true or false, found `yes`; did you mean `true`?"),
    ("flag", "Off", "1:1 expected true or false, found `Off`; did you mean `false`?"),
    ("flag", "maybe", "1:1 expected true or false, found `maybe`"),
    ("flag", "\"true\"", "1:1 expected true or false, found the text `true`; write it without quotes"),
    ("status", "lokced", "1:1 unknown status `lokced`; did you mean `locked`?"),
    ("status", "broken", "1:1 unknown status `broken`; expected locked, unlocked, moved"),
    ("status", "[locked]", "1:1 expected a status, found a list"),
    ("colour", "allways", "1:1 unknown colour `allways`; did you mean `always`?"),
    ("pair", "[3, 4]", "1:1 expected a pair such as 1x2, found a list"),
    ("pair", "34", "1:1 expected a pair such as 1x2, found `34`"),
    ("list", "a", "1:1 expected a list, found `a`"),
    ("entries", "[a]", "1:1 expected a mapping, found a list"),
    ("step", "lokc", "1:1 unknown step `lokc`; did you mean `lock`?"),
    ("step", "{}", "1:1 expected a step, found a mapping"),
    (
      "step", "lock: 1\nwait: 2",
      "2:1 a step has only one key; is the line indented too little, or `- ` missing?"
    ),
    ("step", "[lock]", "1:1 expected a step, found a list"),
    (
      "status", "\"one\\ntwo \u{9}\(String(repeating: "long ", count: 20))\"",
      "1:1 unknown status `one two  long long long long long long l…`; expected locked, unlocked, moved"
    ),
  ]

  @Test("what is none of that is reported, with what was expected and what was found", arguments: mistakes)
  func mistake(method: String, text: String, expected: String) {
    expect(findings(text) { Self.read(method, $0) }, [expected])
  }

  @Test("nothing after a key is nothing, and nothing is no value of any kind")
  func nothing() {
    for (method, expected) in [
      ("text", "text"), ("integer", "a whole number"), ("flag", "true or false"), ("status", "a status"),
      ("list", "a list"), ("entries", "a mapping"), ("step", "a step"),
    ] {
      let found = findings("a:\n") { cursor in
        cursor.fields(["a"])?.required("a").flatMap { $0.isMissing ? Self.read(method, $0) : "something" }
      }
      expect(found, ["1:3 expected \(expected), found nothing"])
    }
  }

  struct Bench: Equatable {
    var name: String
    var port: Int?
    var locks: [String]
  }

  static func bench(_ cursor: Cursor) -> Bench? {
    guard let fields = cursor.fields(["name", "port", "locks"]) else { return nil }
    let name = fields.required("name")?.text()
    let port = fields.optional("port")?.integer(in: 1...65535)
    let locks = fields.required("locks")?.list()?.compactMap { $0.text() }
    guard let name, let locks else { return nil }
    return Bench(name: name, port: port, locks: locks)
  }

  @Test("a reader gets its value, with what was left out left out")
  func bench() throws {
    expect(
      try document("name: b1\nlocks: [x, y]\n").read(as: Self.bench),
      Bench(name: "b1", port: nil, locks: ["x", "y"]))
    expect(
      try document("locks: []\nport: 0x50\nname: b2\n").read(as: Self.bench),
      Bench(name: "b2", port: 80, locks: []))
  }

  @Test("every mistake of a document comes out together, in the order of the text")
  func together() {
    expect(
      findings("lcoks: [a]\nport: many\nport: 80\nlocks: [a, [b], {c: d}]\n", Self.bench),
      [
        "1:1 unknown key `lcoks`; did you mean `locks`?",
        "1:1 missing key `name`",
        "2:7 expected a whole number from 1 to 65535, found `many`",
        "3:1 duplicate key `port`; it is given on line 2 already",
        "4:12 expected text, found a list",
        "4:17 expected text, found a mapping",
      ])
  }

  @Test("a problem that is not fatal to the value still fails the reading")
  func notFatal() {
    expect(
      findings("name: b\nlocks: []\nbolt: 1\n", Self.bench),
      ["3:1 unknown key `bolt`; expected name, port, locks"])
    expect(findings("a") { _ in nil as Int? }, ["1:1 this document cannot be read"])
  }

  @Test("a reader can report problems of its own, at a value or at a key")
  func ownProblems() {
    let found = findings("from: 5\nto: 3\n") { cursor -> Int? in
      guard let fields = cursor.fields(["from", "to"]) else { return nil }
      guard let from = fields.required("from")?.integer(), let to = fields.required("to")?.integer() else {
        return nil
      }
      if to < from {
        fields.optional("to")?.report("ends before it starts", hint: "at least \(from)")
        fields.key("to")?.report("this is the key")
      }
      return from
    }
    expect(found, ["2:1 this is the key", "2:5 ends before it starts; at least 5"])
  }
}
