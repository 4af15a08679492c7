@testable import Bench
import Conformance
import LockFiles
import Basics
import Documents
import Foundation
import TestSupport
import Testing

@Suite("The JSON Schema of a bench", .timeLimit(.minutes(10)))
struct BenchSchemaTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  @Test("it is published as it is")
  func published() throws {
    let published = try String(
      contentsOfFile: Self.root + "/Scenarios/schema/bench.schema.json", encoding: .utf8)
    #expect(
      published == Inventory.schema(guarded: LockFamily.allGuarded).indented,
      "run: lockstep schema bench > Scenarios/schema/bench.schema.json")
  }

  /// Files that differ in their form alone, and whether they have it.
  ///
  /// Names that refer to one another, and what is given twice, are no schema's business.
  // swift-format-ignore
  static let files: [(text: String, isValid: Bool)] = [
    (InventoryTests.whole, true),
    ("bench: a\nlocks: []", true), ("locks: []", false), ("bench: a", false), ("bench: a b\nlocks: []", false),
    ("bench: a\nlocks: []\nother: b", false), ("bench: a\nlocks: {}", false), ("- a", false),
    ("bench: a\nlocks: [{ name: a, file: a.yaml }]", true),
    ("bench: a\nlocks: [{ name: a, device: emulator:sesame5 }]", true),
    ("bench: a\nlocks: [{ name: a, device: lock:a }]", false),
    ("bench: a\nlocks: [{ name: a }]", false), ("bench: a\nlocks: [{ file: a }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, device: emulator:c }]", false),
    ("bench: a\nlocks: [{ name: a, device: emulator:c, control: unix:b }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, control: unix:b }]", true),
    ("bench: a\nlocks: [{ name: a, file: b, control: b }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, park: as-found, firmware: 1.2, tags: [a, b], allow: [reset], dongles: [] }]", true),
    ("bench: a\nlocks: [{ name: a, file: b, rest: open }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, tags: a }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, tags: [a b] }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, allow: lock }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: {} }]", true),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { gap: 1.5 s, per-hour: 5, per-shift: 50, cool-down: 1 h, battery-floor: 5%, battery-slope: 100 % } }]", true),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { gap: 5 } }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { per-hour: 5 s } }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { per-hour: 0 } }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { battery-floor: 5 } }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { battery-floor: 101 % } }]", false),
    ("bench: a\nlocks: [{ name: a, file: b, limits: { hourly: 5 } }]", false),
    ("bench: a\nlocks: []\ndongles: [{ name: a, transport: usb:0 }]", true),
    ("bench: a\nlocks: []\ndongles: [{ name: a, path: 1-2.3.4 }]", true),
    ("bench: a\nlocks: []\ndongles: [{ name: a, path: 1 }]", false),
    ("bench: a\nlocks: []\ndongles: [{ name: a, transport: usb:0A12:0001, serial: 12345 }]", true),
    ("bench: a\nlocks: []\ndongles: [{ name: a, path: 1-2, serial: A }]", false),
    ("bench: a\nlocks: []\ndongles: [{ name: a, path: 1-2, transport: usb:0 }]", false),
    ("bench: a\nlocks: []\ndongles: [{ name: a }]", false),
    ("bench: a\nlocks: []\nswitches: [{ name: a, off: b, on: c }]", true),
    ("bench: a\nlocks: []\nswitches: [{ name: a, off: b }]", false),
    ("bench: a\nlocks: []\nswitches: [{ name: a, off: b, on: c, settle: 5 }]", false),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c, expires: 2026-12-01 }]", true),
    ("bench: a\nlocks: []\nquarantine: [{ reason: b, owner: c, expires: 2026-12-01 }]", false),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, owner: c, expires: 2026-12-01 }]", false),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, expires: 2026-12-01 }]", false),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c }]", false),
    ("bench: a\nlocks: []\nquarantine: [{ scenario: a, reason: b, owner: c, expires: soon }]", false),
  ]

  @Test("the reader takes what has the form, and nothing else", arguments: files.indices)
  func reader(index: Int) {
    let (text, isValid) = Self.files[index]
    let checks = Inventory.Checks(guarded: LockFamily.allGuarded)
    expect((try? Inventory(Array(text.utf8), name: "bench.yaml", checks: checks)) != nil, isValid)
  }

  @Test("so does a validator of JSON Schema", .enabled(if: hasSchemaValidator))
  func validator() throws {
    let texts = Self.files.map(\.text)
    let input = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    // As editors read it, by YAML 1.2: days are text, and so are the keys `on` and `off`.
    let script = """
      import json, re, sys, yaml, jsonschema
      class Loader(yaml.SafeLoader): pass
      Loader.yaml_implicit_resolvers = {
          key: [(tag, exp) for tag, exp in list if not tag.endswith((":timestamp", ":bool"))]
          for key, list in yaml.SafeLoader.yaml_implicit_resolvers.items()}
      Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
      schema = json.loads(sys.argv[1])
      jsonschema.Draft7Validator.check_schema(schema)
      for text in json.loads(sys.argv[2]):
          errors = list(jsonschema.Draft7Validator(schema).iter_errors(yaml.load(text, Loader)))
          print("valid" if not errors else "wrong: " + errors[0].message[:80].replace("\\n", " "))
      """
    let result = python(script, [Inventory.schema(guarded: LockFamily.allGuarded).line, input])
    let lines = result.output.split(separator: "\n")
    expect(lines.count, Self.files.count)
    for (line, file) in zip(lines, Self.files) {
      #expect((line == "valid") == file.isValid, "\(file.text): \(line)")
    }
  }
}
