import Basics
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("Schemas", .timeLimit(.minutes(10)))
struct SchemaTests {
  /// Checks texts, which are lines or whole documents, against schemas: prints of each how many there were, and what is wrong.
  private static let checker = """
    import json, sys
    from jsonschema import Draft7Validator
    for place in sys.argv[1:]:
        schema, text = (open(place + "/" + name).read() for name in ["schema.json", "text"])
        schema = json.loads(schema)
        Draft7Validator.check_schema(schema)
        try: values = [json.loads(text)]
        except ValueError: values = [json.loads(line) for line in text.splitlines()]
        print(len(values), *(json.dumps(value)[:300] + " " + error.message[:200] for value in values
            for error in list(Draft7Validator(schema).iter_errors(value))[:1]))
    """

  /// What the checker says of each text.
  private static func check(_ texts: [(schema: String, text: String)]) throws -> [String] {
    let folder = try Command.Folder()
    for (number, (schema, text)) in texts.enumerated() {
      try folder.write("\(number)/schema.json", schema)
      try folder.write("\(number)/text", text)
    }
    let said = python(checker, texts.indices.map { "\(folder.path)/\($0)" }).output
    let lines = said.split(separator: "\n").map(String.init)
    #expect(lines.count == texts.count, "\(said)")
    return lines
  }

  private static let bad = """
    scenario: Too early
    device: { emulator: reference, registered: true }
    tags: [a]
    steps:
      - closeTo
      - { wait: 1 s }
      - { note: something }
      - { expect: { status: connecting } }

    """

  /// A schema, and a line whose output must be valid against it.
  static let outputs = [
    ("run", "run --seed 1 --format json"), ("run", "run --seed 1 --format json -vv"),
    ("run", "run lock.yaml --device 'emulator:sesame5?initial=twice' --seed 1 --format json"),
    ("run", "run lock.yaml --device 'emulator:sesame5?defect=publish-before-login' --seed 1 --format json"),
    ("replay", "replay good.yaml --format json"), ("report", "report Reports/runs/* --format json"),
    ("list", "list --format json"), ("list", "list --device emulator:door --format json"),
    ("validate", "validate empty wrong.yaml gone.yaml --format json"),
    ("machines", "machines --format json"), ("machines", "machines door --format json"),
    ("doctor", "doctor --format json"), ("version", "version --format json"),
    ("cover", "cover door --format json"), ("cover", "cover sesame-table --steps 20 --format json"),
    ("mutants", "mutants door --suite tour --format json"),
    (
      "fuzz",
      "fuzz sesame-table --steps 2k --seed 1 --keep-going --device 'emulator:reference?defect=deaf-unlock' --format json"
    ),
    ("emulate", "emulate sesame5 --serve tcp-server:127.0.0.1:0 --duration 300ms --format json"),
    ("packets", "packets it.btsnoop --format json"),
  ]

  /// A schema, and the files that must be valid against it.
  static let files = [
    ("journal", "Reports/runs/*-run/journal.jsonl"), ("journal", "Reports/runs/*-fuzz/journal.jsonl"),
    ("manifest", "Reports/runs/*-fuzz/manifest.json"),
  ]

  @Test("what is printed as JSON is as its schema says")
  func outputs() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/bad.yaml", Self.bad)
    let good = try folder.write(
      "Scenarios/good.yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo, connect]\n")
    try folder.write("good.yaml", String(contentsOfFile: good, encoding: .utf8))
    try folder.write("Scenarios/wrong.yml.txt", "")
    try folder.write("lock.yaml", "scenario: A\nmachine: sesame\nsteps: [closeTo, connect, { wait: 3 s }]\n")
    try folder.write("wrong.yaml", "scenario: A\n")
    try folder.makeFolder("empty")
    expect(try Command.line("replay lock.yaml --capture it.btsnoop", in: folder.path).status, 0)
    var texts = try Self.outputs.map { ($0, try Command.line($1, in: folder.path).output) }
    for (name, pattern) in Self.files { texts.append((name, try folder.read(all: pattern))) }
    // It starts the program itself again and again.
    texts.append(("figure", try Command.run("bench", "--only", "start", in: folder.path).output))
    let said = try Self.check(texts.map { (try Command.call("schema", $0).output, $1) })
    for (line, (name, text)) in zip(said, texts) {
      #expect(Int(line) ?? 0 > 0, "\(name): \(line) \(text.prefix(1000))")
    }
  }

  @Test(
    "those that editors complete by are published as they are",
    arguments: ["scenario", "machine", "bench", "nightly", "config"])
  func published(_ name: String) throws {
    let path = "Scenarios/schema/\(name).schema.json"
    let published = try String(contentsOfFile: Command.root + "/" + path, encoding: .utf8)
    let text = Schema.all.first { $0.name == name }?.text()
    #expect(published == text, "run: lockstep schema \(name) > \(path)")
  }

  @Test("the usual one is that of a scenario, as it is published; all are schemas, and one is XML's")
  func all() throws {
    let published = try String(
      contentsOfFile: Command.root + "/Scenarios/schema/scenario.schema.json", encoding: .utf8)
    expect(try Command.call("schema").output, published)
    expect(try Command.call("schema", "scenario").output, published)
    let folder = try Command.Folder()
    // Nothing that is no object is valid: each schema is read, and it says something.
    let schemas = Schema.all.filter { $0.name != "junit" }
    for (line, schema) in zip(try Self.check(schemas.map { ($0.text(), "3") }), schemas) {
      #expect(line.hasPrefix("1 3 "), "\(schema.name): \(line)")
    }
    try folder.write("good.yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo]\n")
    try folder.write("junit.xsd", try Command.call("schema", "junit").output)
    expect(try Command.line("run good.yaml --quiet", in: folder.path).status, 0)
    let xml = try Tool.shell("xmllint --noout --schema junit.xsd Reports/junit.xml", in: folder.path)
    expect(xml.errors, "Reports/junit.xml validates\n")
  }
}
