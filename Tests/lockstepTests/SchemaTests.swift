import Basics
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("Schemas", .timeLimit(.minutes(10)))
struct SchemaTests {
  /// Checks lines or a whole document against a schema: prints what is wrong, and how many there were.
  private static let checker = """
    import json, sys
    from jsonschema import Draft7Validator
    schema = json.load(open(sys.argv[1]))
    Draft7Validator.check_schema(schema)
    text = sys.stdin.read()
    try: values = [json.loads(text)]
    except ValueError: values = [json.loads(line) for line in text.splitlines()]
    for value in values:
        for error in list(Draft7Validator(schema).iter_errors(value))[:1]:
            print(json.dumps(value)[:300], error.message[:200])
    print(len(values))
    """

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
    ("run", "$LOCKSTEP run --seed 1 --format json"), ("run", "$LOCKSTEP run --seed 1 --format json -vv"),
    ("run", "$LOCKSTEP run lock.yaml --device 'emulator:sesame5?initial=twice' --seed 1 --format json"),
    (
      "run",
      "$LOCKSTEP run lock.yaml --device 'emulator:sesame5?defect=publish-before-login' --seed 1 --format json"
    ),
    ("journal", "cat Reports/runs/*/journal.jsonl"),
    ("manifest", "cat $(ls -d Reports/runs/*-run | head -1)/manifest.json"),
    ("replay", "$LOCKSTEP replay good.yaml --format json"),
    ("report", "$LOCKSTEP report Reports/runs/* --format json"),
    ("list", "$LOCKSTEP list --format json; $LOCKSTEP list --device emulator:door --format json"),
    ("validate", "mkdir empty; $LOCKSTEP validate empty wrong.yaml gone.yaml --format json"),
    ("machines", "$LOCKSTEP machines --format json; $LOCKSTEP machines door --format json"),
    ("doctor", "$LOCKSTEP doctor --format json"), ("version", "$LOCKSTEP version --format json"),
    ("cover", "$LOCKSTEP cover door --format json"),
    ("cover", "$LOCKSTEP cover sesame-table --steps 20 --format json"),
    ("mutants", "$LOCKSTEP mutants door --suite tour --format json"),
    (
      "fuzz",
      "$LOCKSTEP fuzz sesame-table --steps 2k --seed 1 --keep-going --device 'emulator:reference?defect=deaf-unlock' --format json"
    ),
    ("journal", "cat Reports/runs/*-fuzz/journal.jsonl"),
    (
      "emulate", "$LOCKSTEP emulate sesame5 --serve tcp-server:127.0.0.1:0 --duration 300ms --format json"
    ),
    (
      "packets",
      "$LOCKSTEP replay lock.yaml --capture it.btsnoop > text; $LOCKSTEP packets it.btsnoop --format json"
    ),
    ("figure", "$LOCKSTEP bench --only start"),
  ]

  @Test("what is printed as JSON is as its schema says")
  func outputs() throws {
    let folder = try Command.Folder()
    try folder.write("check.py", Self.checker)
    try folder.write("Scenarios/bad.yaml", Self.bad)
    let good = try folder.write(
      "Scenarios/good.yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo, connect]\n")
    try folder.write("good.yaml", String(contentsOfFile: good, encoding: .utf8))
    try folder.write("Scenarios/wrong.yml.txt", "")
    try folder.write("lock.yaml", "scenario: A\nmachine: sesame\nsteps: [closeTo, connect, { wait: 3 s }]\n")
    try folder.write("wrong.yaml", "scenario: A\n")
    for (name, line) in Self.outputs {
      try folder.write("schema.json", try Command.call("schema", name).output)
      let result = try Command.shell(
        "{ \(line); } > out 2> errors; python3 check.py schema.json < out", in: folder.path)
      let lines = result.output.split(separator: "\n").map(String.init)
      #expect(
        lines.count == 1 && Int(lines.last ?? "") ?? 0 > 0, "\(line): \(lines.prefix(4)) \(result.errors)")
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
    try folder.write("check.py", Self.checker)
    for schema in Schema.all where schema.name != "junit" {
      try folder.write("schema.json", schema.text())
      // Nothing that is no object is valid: the schema is read, and it says something.
      let result = try Command.shell("echo 3 | python3 check.py schema.json", in: folder.path)
      #expect(result.output.hasPrefix("3 ") && result.output.hasSuffix("\n1\n"), "\(schema.name): \(result)")
    }
    try folder.write("good.yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo]\n")
    let xml = try Command.shell(
      "$LOCKSTEP schema junit > junit.xsd; $LOCKSTEP run good.yaml --quiet; xmllint --noout --schema junit.xsd Reports/junit.xml",
      in: folder.path)
    expect(xml.errors, "Reports/junit.xml validates\n")
  }
}
