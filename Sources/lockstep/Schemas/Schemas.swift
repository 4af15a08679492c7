import System
import CommandLine
import Bench
import Conformance
import LockFiles
import Nightly
import Automata
import Journal
import Documents
import Basics
import Devices
import Harness
import Reporting

/// The schema of a format that Lockstep reads or writes.
struct Schema {
  /// The name on the command line.
  let name: String
  let summary: String
  /// Returns the text. It is generated on demand, because every command needs the names of all schemas.
  let text: () -> String

  private init(_ name: String, _ summary: String, text: @escaping @autoclosure () -> String) {
    self.name = name
    self.summary = summary
    self.text = text
  }

  private init(_ name: String, _ summary: String, _ shape: @escaping @autoclosure () -> JSON) {
    self.name = name
    self.summary = summary
    text = {
      guard case .mapping(let members) = shape() else { preconditionFailure("a schema is an object") }
      let head: [JSON.Member] = [
        .init("$schema", "http://json-schema.org/draft-07/schema#"),
        .init("title", .text("lockstep \(name)")), .init("description", .text(summary)),
      ]
      return JSON.mapping(head + members).indented
    }
  }

  /// All schemas; the scenario's is the default.
  static var all: [Schema] {
    [
      Schema("scenario", "A scenario, in YAML.", text: Scenario.schema.indented),
      Schema(
        "nightly", "A nightly plan, in YAML: what 'lockstep nightly' takes.", text: NightPlan.schema.indented),
      Schema("machine", "A machine, in YAML.", text: MachineDefinition.schema.indented),
      Schema(
        "bench", "A bench, in YAML: what --bench takes.",
        text: Inventory.schema(guarded: LockFamily.allGuarded).indented),
      Schema(
        "config", "A file of settings, in YAML: .lockstep.yaml.",
        text: CommandSet.lockstep.settingsForm.schema(
          title: "lockstep config", summary: "Options that apply if the command line does not give them."
        ).indented),
      Schema(
        "journal", "A line of runs/NAME/journal.jsonl.", Shape.any(Record.shapes + [KeptCase.lineShape])),
      Schema("manifest", "runs/NAME/manifest.json.", Manifest.shape),
      Schema("run", "A line of 'lockstep run --format json'.", Shape.any(Record.shapes)),
      Schema(
        "replay", "A line of 'lockstep replay --format json'.", Shape.any(Record.shapes + [trace])),
      Schema("fuzz", "A line of 'lockstep fuzz --format json'.", Shape.any(fuzz)),
      Schema("cover", "A line of 'lockstep cover --format json'.", Shape.any(Record.shapes + [gap])),
      Schema("mutants", "A line of 'lockstep mutants --format json'.", Shape.any(mutants)),
      Schema("report", "The object of 'lockstep report --format json'.", RunSummary.shape),
      Schema(
        "night", "The object of 'lockstep nightly --format json', and summary.json of a night.",
        NightlyReport.shape),
      Schema("history", "The object of 'lockstep history --format json'.", HistoryAnswer.shape),
      Schema("clean", "The object of 'lockstep clean --format json'.", CleanReport.shape),
      Schema("list", "A line of 'lockstep list --format json'.", Case.shape),
      Schema("validate", "A line of 'lockstep validate --format json'.", Diagnostic.shape),
      Schema(
        "machines", "A line of 'lockstep machines --format json'.",
        Shape.object(MachineDefinition.figureFields)),
      Schema("emulate", "A line of 'lockstep emulate --format json'.", Shape.any(emulate)),
      Schema("scan", "A line of 'lockstep scan --format json'.", scan),
      Schema(
        "packets", "A line of 'lockstep packets --format json', and of runs/NAME/packets/*.jsonl.",
        Shape.any(packets)),
      Schema("devices", "A line of 'lockstep devices --format json'.", DeviceState.shape),
      Schema(
        "doctor", "A line of 'lockstep doctor --format json'.",
        Shape.any(Symptom.shape, Shape.object(["fit": Shape.flag]))),
      Schema("figure", "A line of 'lockstep bench'.", figure),
      Schema(
        "version", "The object of 'lockstep version --format json'.",
        Shape.object(["version": Shape.text], optional: ["commit": Shape.text, "date": Shape.text])),
      Schema("junit", "The JUnit report of the profile ci, as an XML Schema.", text: JUnitProfile.schema),
    ]
  }

  /// The schemas of the files that users write.
  static var ofFiles: [Schema] {
    all.filter { ["scenario", "machine", "bench", "nightly", "config"].contains($0.name) }
  }

  /// The name of the schema's file, as the first line of a file refers to it.
  var fileName: String { name + (name == "junit" ? ".xsd" : ".schema.json") }

  private static let trace = Shape.object(["trace": Shape.text, "same": Shape.count, "runs": Shape.count])

  /// The progress of a campaign with its pace, which differs from run to run and is not in the journal.
  private static let progress: JSON = {
    guard case .mapping(var members) = CampaignStatus.shape,
      let place = members.firstIndex(where: { $0.name == "properties" }),
      case .mapping(let keys) = members[place].value
    else { return CampaignStatus.shape }
    members[place].value = .mapping(keys + [.init("eventsPerSecond", Shape.count)])
    return .mapping(members)
  }()

  private static let fuzz = [
    Shape.object(["progress": progress]), Shape.object(["diagnostic": Shape.text]),
    Shape.object(["finding": Record.Finding.shape]), Shape.object(["campaign": progress]),
    Shape.object(["coverage": Record.Coverage.shape]),
    Shape.object(["resume": Shape.text]),
  ]

  private static let gap = Shape.object(["missing": CoverageGaps.shape])

  private static let mutants: [JSON] = {
    let fate = Shape.words("killed", "survived", "equivalent", "undecided")
    return [
      Shape.object([
        "machine": Shape.text, "mutants": Shape.count, "tried": Shape.count, "seed": Shape.count,
        "tests": Shape.count, "leftOut": Shape.texts,
      ]),
      Shape.object(
        ["mutant": Shape.count, "kind": Shape.text, "summary": Shape.text, "fate": fate],
        optional: [
          "killer": Shape.text, "test": Shape.text, "divergence": Shape.text, "scenario": Shape.text,
          "pairs": Shape.count,
        ]),
      Shape.object(["defect": Shape.text, "device": Shape.text, "fate": fate, "killers": Shape.texts]),
      Shape.object([
        "score": Shape.text, "killed": Shape.count, "survived": Shape.count, "equivalent": Shape.count,
        "undecided": Shape.count, "percent": Shape.number,
      ]),
    ]
  }()

  private static let packets: [JSON] = {
    // If the clock was set back, times may be before the first one.
    let time: JSON = ["type": "string", "pattern": "^-?[0-9]+\\.[0-9]{3,6}$"]
    let layer = Shape.object(["layer": Shape.text, "text": Shape.text])
    return [
      Shape.object([
        "t": time, "from": Shape.words("client", "lock", "host", "controller"),
        "bytes": ["type": "string", "pattern": "^([0-9a-f*]{2})*$"], "layers": Shape.list(layer),
      ]),
      Shape.object(["t": time, "event": Shape.text]),
    ]
  }()

  private static let emulate = [
    Shape.object([
      "advertising": Shape.object(
        [
          "lock": Shape.text, "model": Shape.text, "uuid": Shape.text, "address": Shape.text,
          "registered": Shape.flag, "on": Shape.texts,
        ], optional: ["control": Shape.text, "keyFile": Shape.text])
    ]), Shape.object(["listening": Shape.texts]), Shape.object(["t": Shape.time, "notice": Shape.text]),
    Shape.object(["t": Shape.time, "diagnostic": Shape.text]),
  ]

  private static let scan = Shape.object(
    ["address": Shape.text],
    optional: [
      "model": Shape.text, "uuid": Shape.text, "registered": Shape.flag, "name": Shape.text,
      "rssi": Shape.whole,
    ])

  private static let figure = Shape.object([
    "name": Shape.text, "value": Shape.number, "unit": Shape.text, "better": Shape.words("higher", "lower"),
    "method": Shape.text,
  ])
}

extension Command {
  static var schema: Command {
    Command(
      "schema", "Prints the schema of a scenario, or of another input or output format.",
      discussion: """
        Schemas are JSON Schema, draft-07; that of the JUnit report is an XML Schema. Where output has a JSON object on each
        line, the schema is that of a line. A later version may have more keys, and none that mean something else.


        """
          + Schema.all.map {
            "  \($0.name.leftAligned(in: 11))\($0.summary)\n"
          }
          .joined(),
      examples: [
        Example("lockstep schema", "For an editor that completes and checks scenarios."),
        Example(
          "lockstep schema scenario --machine door", "The same, with the names of a machine and its devices."),
        Example("lockstep schema journal", "For a program that reads what a run wrote down."),
        Example(
          "lockstep schema --out schema", "The schemas of a project again, as 'lockstep new' laid them out."),
      ],
      options: [
        .value(
          "machine", \.machine, "MACHINE",
          "Prints the schema of scenarios for this machine, with all its names: the name of a machine, "
            + "or the path of a YAML, DOT or SCXML file.", example: "door", as: .machine),
        .value(
          "device", \.device, "SPEC",
          "With --machine: the schema of scenarios for this device, as for --device of 'lockstep run'.",
          example: "emulator:door", as: .device),
        .value(
          "out", \.out, "DIR",
          "Writes the schema NAME to a folder as NAME.schema.json, or without NAME those of all input "
            + "files.",
          example: "schema", as: .folder, short: "o"),
      ],
      operands: .init(
        placeholder: "NAME", summary: "The format whose schema to print. Default: scenario.", count: 0...1,
        as: .choice(Schema.all.map(\.name)), path: \.names), defaults: SchemaArguments()
    ) { arguments, console throws(UsageError) in
      let name = arguments.names.first ?? "scenario"
      guard let schema = Schema.all.first(where: { $0.name == name }) else {
        throw UsageError("unknown schema '\(name)': \(hint(for: name, of: Schema.all.map(\.name)))")
      }
      let text = try arguments.schemaOfMachine(name, console)?.indented
      guard let out = arguments.out else {
        console.print(text ?? schema.text())
        return .agree
      }
      let isAll = arguments.names.isEmpty && text == nil
      try checked("--out: ") {
        try makeFolder(out)
        for each in isAll ? Schema.ofFiles : [schema] {
          try WholeFile.replace("\(out)/\(each.fileName)", with: text ?? each.text())
        }
      }
      return .agree
    }
  }
}

private struct SchemaArguments {
  var names: [String] = []
  var machine: String?
  var device: String?
  var out: String?

  /// Returns the schema of the scenarios of a machine, if one is given.
  func schemaOfMachine(_ name: String, _ console: Console) throws(UsageError) -> JSON? {
    guard let machine else {
      if device != nil { throw UsageError("--device goes with --machine: name the machine too") }
      return nil
    }
    guard name == "scenario" else {
      throw UsageError("--machine goes with the schema of a scenario: ask for that")
    }
    let world = World(messages: console.status)
    let entry = try world.machine(machine)
    return try checked("--device: ") {
      try Scenario.schema(of: entry, on: world.deviceSpec(device), provider: world.devices)
    }
  }
}
