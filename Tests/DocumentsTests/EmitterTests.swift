import Documents
import Basics
import TestSupport
import Testing

@Suite("Saving documents")
struct EmitterTests {
  @Test("a scenario is saved as a person would write it")
  func scenario() {
    let flow = { (entries: [(String, Node)]) in Node.mapping(entries, layout: .flow) }
    let node = Node.mapping([
      ("scenario", .text("A drop: no half-open session")),
      ("machine", .text("sesame")),
      ("device", flow([("lock", .text("sesame5")), ("registered", .plain("true"))])),
      ("seed", .plain("42")),
      ("tags", .list([])),
      ("limits", .mapping([])),
      ("wait", .plain("")),
      (
        "steps",
        .list([
          .text("closeTo"),
          flow([
            (
              "expect",
              flow([
                ("status", .list([.text("on"), .text("off")], layout: .flow)), ("within", .plain("11 s")),
              ])
            )
          ]),
          .mapping([
            ("fault", .text("drop")), ("then", .list([.text("a"), .list([.text("b"), .plain("1")])])),
          ]),
          .plain(""),
        ])
      ),
    ])
    let schema = "yaml-language-server: $schema=../schema/scenario.schema.json"
    expect(
      node.yaml(comments: [schema, "Seed\n42\u{FEFF}\u{2028}é\u{FFFE}"]),
      """
      # yaml-language-server: $schema=../schema/scenario.schema.json
      # Seed 42  é\("\u{20}")
      scenario: "A drop: no half-open session"
      machine: sesame
      device: { lock: sesame5, registered: true }
      seed: 42
      tags: []
      limits: {}
      wait:
      steps:
        - closeTo
        - { expect: { status: ["on", "off"], within: 11 s } }
        - fault: drop
          then:
            - a
            - - b
              - 1
        -

      """)
  }

  @Test("a flow that does not fit on its line becomes a block")
  func wide() {
    let words = (0..<30).map { Node.text("word\($0)") }
    let narrow = Node.mapping([("a", .list(Array(words.prefix(14)), layout: .flow))])
    let wide = Node.mapping([("a", .list(words, layout: .flow))])
    expect(narrow.yaml().split(separator: "\n").count, 1)
    expect(wide.yaml().split(separator: "\n").count, 31)
    expect(try? document(wide.yaml()).root, wide)
  }

  static let texts: [(String, String)] = [
    ("plain", "plain"), ("two words", "two words"), ("3 s", "3 s"), ("a-b_c.d/e", "a-b_c.d/e"),
    ("鍵 🔒", "鍵 🔒"),
    ("-5x", "\"-5x\""), ("-x5", "-x5"), ("- \u{301}", "\"- \u{301}\""), ("a:b", "a:b"), ("a#b", "a#b"),
    ("it's", "it's"), ("say \"hi\"", "say \"hi\""),
    ("", "\"\""), ("no", "\"no\""), ("True", "\"True\""), ("NULL", "\"NULL\""), ("~", "\"~\""),
    ("y", "\"y\""),
    ("5", "\"5\""), ("-5", "\"-5\""), ("0x1F", "\"0x1F\""), ("1e3", "\"1e3\""), ("12:30", "\"12:30\""),
    (".5", "\".5\""),
    ("1_000", "\"1_000\""), ("2026-11-20", "\"2026-11-20\""), (".inf", "\".inf\""), ("<<", "\"<<\""),
    ("=", "\"=\""),
    ("-", "\"-\""), ("- a", "\"- a\""), ("---", "\"---\""), ("...", "\"...\""), ("? a", "\"? a\""),
    ("a: b", "\"a: b\""),
    ("a:", "\"a:\""), ("a #b", "\"a #b\""), ("#a", "\"#a\""), ("&a", "\"&a\""), ("*a", "\"*a\""),
    ("!a", "\"!a\""),
    ("|", "\"|\""), (">", "\">\""), ("'a", "\"'a\""), ("\"a", "\"\\\"a\""), ("%a", "\"%a\""),
    ("@a", "\"@a\""),
    ("`a", "\"`a\""), ("a,b", "\"a,b\""), ("[a", "\"[a\""), ("a}", "\"a}\""), (" a", "\" a\""),
    ("a ", "\"a \""),
    ("a\nb", "\"a\\nb\""), ("\ta\r", "\"\\ta\\r\""), ("\u{0}\u{1B}\u{7F}", "\"\\x00\\x1B\\x7F\""),
    ("\u{85}\u{9B}", "\"\\x85\\x9B\""), ("\u{2028}\u{FEFF}\u{FFFE}", "\"\\u2028\\uFEFF\\uFFFE\""),
    ("\\d", "\\d"), ("\\d\n", "\"\\\\d\\n\""),
  ]

  @Test(
    "text is quoted just where a reader would take it for something else, and reads back", arguments: texts)
  func quoting(text: String, expected: String) throws {
    expect(Node.text(text).yaml(), expected + "\n")
    let inside = Node.mapping([
      (text, .list([.text(text)], layout: .flow)), ("k", .mapping([(text, .text(text))], layout: .flow)),
    ])
    expect(try document(inside.yaml()).root, inside)
  }

  @Test("a plain scalar stays plain, unless its text cannot stand so")
  func plainScalars() throws {
    for text in ["5", "true", "3 s", "-1.5", "0x1F", "no", "~"] {
      expect(Node.plain(text).yaml(), text + "\n")
    }
    expect(Node.plain("a: b").yaml(), "\"a: b\"\n")
    expect(Node(.scalar("abc", .quoted)).yaml(), "\"abc\"\n")
  }

  @Test("a key too long for a line of its own is marked as a key")
  func longKeys() throws {
    let key = String(repeating: "k", count: 3000)
    let node = Node.mapping([
      (key, .list([.text("a"), .mapping([(key, .mapping([(key, .text("b"))], layout: .flow))])])),
      ("short", .plain("")),
    ])
    expect(try document(node.yaml()).root, node)
  }

  /// A tree of any shape, with texts made of the pieces that YAML gives a meaning to.
  static func randomNode(_ generator: inout SeededGenerator, depth: Int) -> Node {
    let layout: Node.Layout = generator.below(2) == 0 ? .flow : .block
    switch depth == 0 ? 0 : generator.below(4) {
    case 0, 1:
      switch generator.below(4) {
      case 0: return .plain(["", "5", "-0.5", "true", "3 s", "null", "0x1F"][generator.below(7)])
      case 1: return Node(.scalar(randomText(&generator), .quoted))
      default: return .text(randomText(&generator))
      }
    case 2:
      return .list(
        (0..<generator.below(5)).map { _ in randomNode(&generator, depth: depth - 1) }, layout: layout)
    default:
      var keys: [String] = []
      let entries = (0..<generator.below(5)).compactMap { _ -> (String, Node)? in
        let key = randomText(&generator)
        if keys.contains(key) { return nil }
        keys.append(key)
        return (key, randomNode(&generator, depth: depth - 1))
      }
      return .mapping(entries, layout: layout)
    }
  }

  static func randomText(_ generator: inout SeededGenerator) -> String {
    let pieces = [
      "a", "Z", "0", "1", " ", "  ", ":", ": ", "-", "- ", "?", "? ", "#", " #", ",", "[", "]", "{", "}", "&",
      "*", "!",
      "|", ">", "'", "\"", "%", "@", "`", "\\", "\n", "\r\n", "\t", "...", "---", "<<", "=", "~", "e\u{301}",
      "鍵",
      "🔒", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{A0}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFD}",
      "\u{FFFF}",
      "\u{1FFFE}", "\u{10FFFF}", "yes", "null", ".5", "0x", "key",
    ]
    return (0..<generator.below(6)).map { _ in pieces[generator.below(pieces.count)] }.joined()
  }

  @Test("whatever is saved loads back equal, and is saved the same again")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 11)
    for round in 0..<1500 {
      let node = Self.randomNode(&generator, depth: 4)
      if node == .plain("") { continue }
      let text = node.yaml()
      let loaded = try document(text).root
      if loaded != node || loaded.yaml() != text {
        Issue.record("round \(round): \(node.content) was saved as\n\(text)")
        return
      }
    }
  }
}
