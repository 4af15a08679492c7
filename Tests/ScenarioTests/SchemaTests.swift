import Harness
import Basics
import Documents
import Foundation
import TestSupport
import Testing

/// Checks files against a schema, and says of each whether it is valid.
private let validate = """
  import json, sys, yaml, jsonschema
  schema = json.load(open(sys.argv[1]))
  jsonschema.Draft7Validator.check_schema(schema)
  for path in sys.argv[2:]:
      errors = list(jsonschema.Draft7Validator(schema).iter_errors(yaml.safe_load(open(path))))
      print(path.split("/")[-1], "valid" if not errors else "wrong: " + errors[0].message[:80])
  """

@Suite("The JSON Schema of scenarios", .enabled(if: hasSchemaValidator))
struct SchemaTests {
  private let schema = Suite.root + "/Scenarios/schema/scenario.schema.json"

  @Test("every scenario is valid")
  func scenarios() {
    let result = python(validate, [schema] + Suite.items.map(\.path))
    expect(result.status, 0)
    let wrong = result.output.split(separator: "\n").filter { !$0.hasSuffix(" valid") }
    expect(wrong, [])
  }

  /// Steps, and whether they have the form of steps; names are not the schema's business.
  // swift-format-ignore
  private static let steps: [(step: String, isValid: Bool)] = [
    ("connect", true), ("setAutolock: 10 s", true), ("lock: { tag: Alice }", true), ("connect:", false),
    ("until: { status: locked }", true), ("until: { status: [locked, moved], within: 7.5 ms }", true),
    ("until: { within: 3 s }", false), ("until: { status: locked, within: 3 }", false), ("until: locked", false),
    ("expect: { status: locked, for: 5 s }", true), ("expect: { refused: true }", true), ("expect: { refused: no way }", true),
    ("expect: { battery: 5.9 }", true), ("expect: { battery: { above: 5, below: 6 } }", true),
    ("expect: { battery: { over: 5 } }", false), ("expect: { quiet: 3 s }", true), ("expect: { quiet: soon }", false),
    ("wait: 3 s", true), ("wait: 3", false), ("wait: [3 s]", false), ("wait: 3 weeks", false),
    ("fault: jam", true), ("fault: { drop: next-notification }", true), ("fault: { a: 1, b: 2 }", false),
    ("refuse: lock", true), ("refuse: { lock: { tag: A } }", true), ("refuse: [lock]", false), ("now: disconnect", true),
    ("repeat: { times: 3, steps: [lock, wait: 1 s] }", true), ("repeat: { times: 0, steps: [lock] }", false),
    ("repeat: { times: 3 }", false), ("repeat: { times: 3, steps: [wait: 3] }", false), ("note: text", true),
    ("note: [a]", false), ("{ lock: , unlock: }", false), ("[lock]", false),
  ]

  @Test("the schema and the reader have the same grammar")
  func grammar() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lockstep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var files: [String] = []
    for (number, step) in Self.steps.enumerated() {
      let file = folder.appending(path: "\(number)").path
      try Data("scenario: A\nmachine: sesame\nsteps:\n  - \(step.step)\n".utf8).write(to: URL(filePath: file))
      files.append(file)
    }
    let lines = python(validate, [schema] + files).output.split(separator: "\n")
    expect(lines.count, Self.steps.count)
    for (line, step) in zip(lines, Self.steps) {
      #expect(line.hasSuffix(" valid") == step.isValid, "\(step.step): \(line)")
    }
  }
}
