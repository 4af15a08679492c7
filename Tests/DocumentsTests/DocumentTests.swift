@testable import Documents
import TestSupport
import Testing

/// A document that must be well-formed.
func document(_ text: String, limits: Limits = Limits()) throws -> Document {
  try Document(text: text, name: "a.yaml", limits: limits)
}

/// The first lines of what is wrong with a document; empty when nothing is.
func complaints(_ bytes: [UInt8], limits: Limits = Limits()) -> [String] {
  do {
    _ = try Document(bytes, name: "a.yaml", limits: limits)
    return []
  } catch {
    return error.problems.map { "\($0.position) \($0.message)" + ($0.hint.map { "; \($0)" } ?? "") }
  }
}

func complaints(_ text: String, limits: Limits = Limits()) -> [String] {
  complaints(Array(text.utf8), limits: limits)
}

@Suite("Documents")
struct DocumentTests {
  @Test("a scenario is read into nodes, and every scalar stays text")
  func scenario() throws {
    let text = """
      # yaml-language-server: $schema=../schema/scenario.schema.json
      scenario: A drop between challenge and login
      device: { lock: sesame5, registered: true }
      seed: 0x2A
      steps:
        - closeTo
        - until: { status: [no, 12:30, "on"] }
        - wait:
      note: |
        two
        lines
      """
    expect(
      try document(text).root,
      .mapping([
        ("scenario", .plain("A drop between challenge and login")),
        ("device", .mapping([("lock", .plain("sesame5")), ("registered", .plain("true"))])),
        ("seed", .plain("0x2A")),
        (
          "steps",
          .list([
            .plain("closeTo"),
            .mapping([
              (
                "until",
                .mapping([("status", .list([.plain("no"), .plain("12:30"), Node(.scalar("on", .quoted))]))])
              )
            ]),
            .mapping([("wait", .plain(""))]),
          ])
        ),
        ("note", Node(.scalar("two\nlines", .quoted))),
      ]))
  }

  @Test("nodes know their layout, and values are found by key")
  func layout() throws {
    let root = try document("a: [1]\nb:\n  c: {}\n").root
    expect(
      [root.layout, root["a"]?.layout, root["b"]?.layout, root["b"]?["c"]?.layout],
      [.block, .flow, .block, .flow])
    expect(root["b"]?.entries?.first?.key.text, "c")
    expect(root["a"]?.members, [.plain("1")])
    #expect(root["d"] == nil && root["a"]?["x"] == nil && root.text == nil && root.members == nil)
  }

  static let places: [(text: String, key: String, start: Position, end: Position)] = [
    ("a: x", "a", Position(line: 1, column: 4, offset: 3), Position(line: 1, column: 5, offset: 4)),
    ("b: 1\na: xy\n", "a", Position(line: 2, column: 4, offset: 8), Position(line: 2, column: 6, offset: 10)),
    (
      "b: 1\r\n\r\na: xy\r\n", "a", Position(line: 3, column: 4, offset: 11),
      Position(line: 3, column: 6, offset: 13)
    ),
    ("b: 1\ra: xy\r", "a", Position(line: 2, column: 4, offset: 8), Position(line: 2, column: 6, offset: 10)),
    ("äö: 鍵\na: 🔒z", "a", Position(line: 2, column: 4, offset: 13), Position(line: 2, column: 6, offset: 18)),
    (
      "{鍵: 1, a: [x, y]}", "a", Position(line: 1, column: 11, offset: 12),
      Position(line: 1, column: 17, offset: 18)
    ),
    ("\u{FEFF}a: x", "a", Position(line: 1, column: 4, offset: 6), Position(line: 1, column: 5, offset: 7)),
    (
      "a:\n  - x\n  - yz\n\n# end\nb: 1", "a", Position(line: 2, column: 3, offset: 5),
      Position(line: 3, column: 7, offset: 15)
    ),
    (
      "a:\n  b: 1\n  c:\n    - d: ee\n\nf: 1", "a", Position(line: 2, column: 3, offset: 5),
      Position(line: 4, column: 12, offset: 26)
    ),
    (
      "a: \"x\n  y\"\nb: 1", "a", Position(line: 1, column: 4, offset: 3),
      Position(line: 2, column: 5, offset: 10)
    ),
    ("a:\nb: 1", "a", Position(line: 1, column: 3, offset: 2), Position(line: 1, column: 3, offset: 2)),
  ]

  @Test("a node knows the line, the column and the byte where it starts and ends", arguments: places)
  func positions(text: String, key: String, start: Position, end: Position) throws {
    let node = try document(text).root[key]
    expect([node?.position, node?.end], [start, end])
  }

  @Test("anchors and aliases repeat nodes, redefinitions included")
  func aliases() throws {
    let root = try document("a: &x [1, 2]\nb: &y [*x]\nc: &x {d: *y}\ne: *x\n&k f: 1\ng: *k\n").root
    let list = Node.list([.plain("1"), .plain("2")])
    expect(
      root,
      .mapping([
        ("a", list), ("b", .list([list])), ("c", .mapping([("d", .list([list]))])),
        ("e", .mapping([("d", .list([list]))])),
        ("f", .plain("1")), ("g", .plain("f")),
      ]))
  }
}

@Suite("What documents may not hold")
struct DocumentProblemTests {
  static let problems: [(String, [String])] = [
    ("", ["1:1 the document is empty"]),
    ("# only a comment\n", ["2:1 the document is empty"]),
    (
      "a: 1\na: 2\n\"a\": 3\nb: 1\n",
      [
        "2:1 duplicate key `a`; it is given on line 1 already",
        "3:1 duplicate key `a`; it is given on line 1 already",
      ]
    ),
    (
      "x: {a: 1, a: 2}\ny:\n  - b: 1\n    b: 2\n",
      [
        "1:11 duplicate key `a`; it is given on line 1 already",
        "4:5 duplicate key `b`; it is given on line 3 already",
      ]
    ),
    ("a: 1\n---\nb: 2\n", ["2:1 a second document starts here, and one is expected"]),
    ("a: 1\n...\nb: 2\n", ["3:1 the document ends before this; one document is expected in a file"]),
    (
      "a: !!int 1\nb: !mine [1]\n",
      [
        "1:4 tags are not used here; remove `tag:yaml.org,2002:int`: values are typed by their key",
        "2:4 tags are not used here; remove `!mine`: values are typed by their key",
      ]
    ),
    ("%TAG ! tag:x,2000:\n---\na: 1\n", ["1:1 tags are not used here; remove %TAG"]),
    ("a: *b\n", ["1:4 no node before this one is named `&b`"]),
    (
      "base: &defaults 1\nb: *default\n",
      ["2:4 no node before this one is named `&default`; did you mean `*defaults`?"]
    ),
    ("a: &a [1, *a]\n", ["1:11 `*a` stands inside the node it names"]),
    (
      "<<: {a: 1}\n\"<<\": 1\n",
      [
        "1:1 merge keys are not used here; repeat the entries, or write \"<<\" in quotes where it is a name"
      ]
    ),
    (
      "[a]: 1\n? {b: c}\n: 2\n",
      [
        "1:1 a key must be text, and this is a list", "2:3 a key must be text, and this is a mapping",
      ]
    ),
    ("?\n: 2\n", ["1:2 a key is missing before this colon"]),
    (
      "a: b: c\n",
      [
        "1:5 mapping values are not allowed in this context; put text that holds a colon and a space in quotes, or check the indentation"
      ]
    ),
    ("a:\n\t- b\n", ["2:1 found character that cannot start any token; indent with spaces, not with tabs"]),
    (
      "a: @b\n",
      ["1:4 found character that cannot start any token; put text that starts with this character in quotes"]
    ),
    ("a: \"b\nc: d\n", ["1:4 the quoted text that starts here has no end"]),
    (
      "a: [1, 2\nb: 3\n",
      ["2:2 did not find expected ',' or ']'; while parsing a flow sequence that starts on line 1"]
    ),
    (
      "a: 1\n  b: 2\n",
      [
        "2:4 mapping values are not allowed in this context; put text that holds a colon and a space in quotes, or check the indentation"
      ]
    ),
    (
      "a: 1\na: 2\nb: [\n",
      [
        "2:1 duplicate key `a`; it is given on line 1 already",
        "4:1 did not find expected node content; while parsing a flow node",
      ]
    ),
    ("a: \"\\ud800\"\n", ["1:7 found invalid Unicode character escape code; while parsing a quoted scalar"]),
  ]

  @Test("each is reported where it stands, all of them together", arguments: problems)
  func reported(text: String, expected: [String]) {
    expect(complaints(text), expected)
  }

  static let bytes: [([UInt8], String)] = [
    ([0xFF, 0xFE, 0x61, 0x00], "1:1 the file is UTF-16; save it as UTF-8"),
    ([0xFE, 0xFF, 0x00, 0x61], "1:1 the file is UTF-16; save it as UTF-8"),
    (Array("a: x\u{0}".utf8), "1:5 a NUL byte: this is no text file"),
    (
      Array("a: 1\nb: \u{1B}[0m".utf8),
      "2:4 the character U+001B cannot stand in YAML; write it as an escape in double quotes"
    ),
    (
      Array("a: \u{7F}".utf8),
      "1:4 the character U+007F cannot stand in YAML; write it as an escape in double quotes"
    ),
    (
      Array("鍵: \u{9B}".utf8),
      "1:4 the character U+009B cannot stand in YAML; write it as an escape in double quotes"
    ),
    (
      Array("a: \u{FFFE}".utf8),
      "1:4 the character U+FFFE cannot stand in YAML; write it as an escape in double quotes"
    ),
    (
      Array("a: 鍵\u{FEFF}".utf8),
      "1:5 the character U+FEFF cannot stand in YAML; write it as an escape in double quotes"
    ),
    (Array("鍵: 1\r\nb: ".utf8) + [0xC3, 0x28], "2:4 the byte 0xC3 is no UTF-8; save the file as UTF-8"),
    ([0x61, 0x80], "1:2 the byte 0x80 is no UTF-8; save the file as UTF-8"),
    ([0xC0, 0x80], "1:1 the byte 0xC0 is no UTF-8; save the file as UTF-8"),
    ([0xE0, 0x80, 0x80], "1:1 the byte 0xE0 is no UTF-8; save the file as UTF-8"),
    ([0xED, 0xA0, 0x80], "1:1 the byte 0xED is no UTF-8; save the file as UTF-8"),
    ([0xF4, 0x90, 0x80, 0x80], "1:1 the byte 0xF4 is no UTF-8; save the file as UTF-8"),
    ([0x61, 0xF0, 0x9F, 0x94], "1:2 the byte 0xF0 is no UTF-8; save the file as UTF-8"),
  ]

  @Test("the first byte that is no text is named", arguments: bytes)
  func encoding(bytes: [UInt8], expected: String) {
    expect(complaints(bytes), [expected])
  }

  @Test("a file too large is refused by its size, before anything of it is read")
  func size() {
    let limits = Limits(bytes: 1000)
    expect(
      complaints(String(repeating: "#", count: 1000) + "\n", limits: limits),
      [
        "1:1 the file has 1001 bytes, and at most 1000 are read"
      ])
    #expect(throws: Never.self) { try limits.check(byteCount: 1000, name: "a.yaml") }
    let error = #expect(throws: DocumentError.self) {
      try Limits().check(byteCount: 100_000_000, name: "b.yaml")
    }
    expect(error?.description, "b.yaml:1:1: the file has 100000000 bytes, and at most 4194304 are read")
  }

  @Test("what is nested too deep is refused, and what just fits is not")
  func depth() {
    for (open, close) in [("[", "]"), ("- ", ""), ("{a: ", "}")] {
      let nested = { (depth: Int) in
        String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
      }
      expect(complaints(nested(64)), [])
      expect(
        complaints(nested(65)), ["1:\(64 * open.count + 1) lists and mappings are nested more than 64 deep"])
      expect(complaints(nested(100_000)).count, 1)
    }
  }

  @Test("aliases that multiply are stopped at the limit of nodes")
  func billionLaughs() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...12 {
      let names = Array(repeating: "*a\(level - 1)", count: 10)
      text += "a\(level): &a\(level) [\(names.joined(separator: ", "))]\n"
    }
    expect(complaints(text), ["6:15 the document holds more than 250000 nodes, what aliases repeat included"])
    let list = "[" + String(repeating: "x, ", count: 99) + "x]"
    expect(complaints(list, limits: Limits(nodes: 101)), [])
    expect(complaints(list, limits: Limits(nodes: 100)).count, 1)
  }

  @Test("of very many problems the first hundred are listed and the rest counted")
  func manyProblems() {
    let text = String(repeating: "a: 1\n", count: 151)
    let error = #expect(throws: DocumentError.self) { try document(text) }
    expect([error?.problems.count, error?.omitted], [100, 50])
    #expect(error?.description.hasSuffix("\na.yaml: and 50 more") == true)
  }
}
