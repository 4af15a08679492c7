import Reporting
import CommandLine
import System
import Devices
public import Journal
import Basics
import Automata
import Documents
import Conformance
public import Harness
import Models

extension Command {
  static var list: Command {
    Command(
      "list", "Lists the scenarios that a run would include.",
      examples: [
        Example("lockstep list", "All of Scenarios/."),
        Example("lockstep list Scenarios/sesame5 --filter jam", "Those that speak of a jam."),
      ],
      options: [
        RunArguments.device, .bench(\.lab.bench).heldOnly(beside: RunArguments.realLock), RunArguments.seed,
        RunArguments.filter,
        RunArguments.shard, .format(\.format),
      ] + SettingsChoice.options.map { $0.lifted(to: \.settings) }, operands: RunArguments.paths,
      defaults: RunArguments(), settings: \.settings
    ) { arguments, console throws(UsageError) in
      let world = World(lab: try arguments.settingsOfLock(), messages: console.status)
      guard let set = arguments.scenarios(world, console) else { return .usage }
      let plan = try arguments.plan(set, world, console.status)
      let width = plan.cases.map(\.file.count).max() ?? 0
      for test in plan.cases {
        let file = test.file.leftAligned(in: width + 2)
        console.print(
          in: arguments.format, file + test.name + (test.skipReason.map { "   (skipped: \($0))" } ?? ""),
          test.json)
      }
      guard plan.cases.isEmpty else { return .agree }
      arguments.suggestFilters(console)
      return .nothingSelected
    }
  }

  static var validate: Command {
    Command(
      "validate", "Checks scenarios, machine files and .lockstep.yaml without running anything.",
      examples: [
        Example("lockstep validate", "All of Scenarios/."),
        Example("lockstep validate Scenarios/sesame5/jam.yaml", "One file."),
        Example("lockstep validate --format json", "Each problem as a line for a program."),
      ],
      options: [.format(\.format, "How the result is printed; json is one object for each problem.")],
      operands: RunArguments.paths,
      defaults: RunArguments()
    ) { arguments, console throws(UsageError) in
      let result = Validation(
        arguments.chosenPaths, besides: arguments.reports.folders, reader: World().reader, settings: .lockstep
      )
      switch arguments.format {
      case .json:
        for folder in result.empty {
          console.print(
            Diagnostic(
              .emptyFolder, ofPath: folder, "there is no scenario in this folder", severity: .warning
            )
            .json)
        }
        for diagnostic in result.diagnostics { console.print(diagnostic.json) }
      case .human:
        for folder in result.empty { console.say("lockstep: \(folder): there is no scenario in this folder") }
        if !result.diagnostics.isEmpty {
          console.say(result.diagnostics.map(\.description).joined(separator: "\n"))
        }
        if !result.hasErrors, let summary = result.summary { console.print(summary) }
      }
      return result.hasErrors ? .usage : result.summary == nil ? .nothingSelected : .agree
    }
  }

  static var version: Command {
    Command(
      "version", "Prints the version, and the commit from which it was built.",
      examples: [Example("lockstep version", "The version, in one line.")],
      options: [.format(\.format, "How it is printed.")], defaults: RunArguments()
    ) { arguments, console throws(UsageError) in
      let build = Version.build
      console.print(
        in: arguments.format,
        "lockstep \(Version.text)" + (build.map { " (\($0.commit), \($0.date))" } ?? ""),
        .omittingNil([
          "version": .text(Version.text), "commit": build.map { .text($0.commit) },
          "date": build.map { .text($0.date) },
        ]))
      return .agree
    }
  }

  static var machines: Command {
    Command(
      "machines", "Lists the machines, or prints one.",
      examples: [
        Example("lockstep machines", "The names of all."),
        Example("lockstep machines sesame", "One of them, state by state."),
        Example("lockstep machines door --format mermaid", "Another one, as a diagram for a document."),
      ],
      options: [
        .value(
          "format", \.format, MachineForm.names.joined(separator: "|"),
          "The output format. Default: table.", example: "mermaid"),
        .flag(
          "wide", \.isWide,
          "Prints the whole table with a column for each state, even if it is wider than \(tableWidth) columns."
        ),
      ],
      operands: .init(
        placeholder: "NAME", summary: "A machine's name, or the path of a YAML, DOT or SCXML file.",
        count: 0...1,
        as: .machine, path: \.names), defaults: MachineArguments()
    ) { arguments, console throws(UsageError) in
      guard let name = arguments.names.first else {
        if case .json = arguments.format {
          for machine in MachineDefinition.catalog {
            console.print(.mapping(MachineDefinition.headFields.members(of: machine)))
          }
        } else {
          console.print(columns(MachineDefinition.catalog.map { ($0.name, $0.summary) }))
        }
        return .agree
      }
      let machine = try World(messages: console.status).machine(name).machine
      switch arguments.format {
      case .drawn(.table) where !arguments.isWide:
        let cells = CellCoverage(machine)
        let regions = machine.definition.states.indices.map { cells.region(of: $0) }
        console.print(machine.definition.table(within: tableWidth, regions: regions))
      case .json: console.print(.mapping(MachineDefinition.figureFields.members(of: machine.definition)))
      case .drawn(let format): console.print(machine.definition.text(in: format))
      }
      return .agree
    }
  }
}

/// The width of a table on a terminal.
private let tableWidth = 100

private struct MachineArguments {
  var names: [String] = []
  var format = MachineForm.drawn(.table)
  var isWide = false
}

/// The notations of machines, as option values.
private enum MachineForm: ArgumentValue {
  case drawn(MachineFormat)
  /// The list for programs; a single machine is best read as YAML.
  case json

  static let names = MachineFormat.allCases.map(\.rawValue) + ["json"]
  static var form: String { "one of " + names.joined(separator: ", ") }
  static var kind: ValueKind { .choice(names) }

  init?(argument: String) {
    if let format = MachineFormat(rawValue: argument) {
      self = .drawn(format)
    } else if argument == "json" {
      self = .json
    } else {
      return nil
    }
  }
}

extension MachineDefinition {
  /// The fields of a machine in the list of machines.
  fileprivate static let headFields: [Field<Self>] = [
    .derived("name", \.name, .text), .derived("summary", \.summary, .text),
  ]

  /// These fields, and those that describe its structure.
  static let figureFields: [Field<Self>] =
    headFields + [
      .known("states", { $0.states.map(\.name) }, .list(.text)),
      .known("events", { $0.events.map(\.name) }, .list(.text)),
      .known("transitions", \.transitions.count, .count),
    ]
}

extension Case: Written {
  public static let fields: [Field<Self>] = [
    .derived("id", \.id, .text), .derived("name", \.name, .text), .derived("file", \.file, .text),
    .derived("machine", \.machine.label, .text), .derived("device", \.device.description, .text),
    .derived("tags", \.scenario.tags, .list(.text)), .derived("steps", \.scenario.steps.count, .count),
    .known("skipped", \.skipReason, .text),
  ]
}
