import Automata
import Documents
import Harness
import Models

extension Command {
  static var list: Command {
    Command(
      "list", "Lists the scenarios that a run would drive.",
      examples: [
        Example("lockstep list", "All of Scenarios/."),
        Example("lockstep list Scenarios/sesame5 --filter jam", "Those that speak of a jam."),
      ],
      ArgumentParser(
        options: [
          RunArguments.device, RunArguments.seed, RunArguments.filter, RunArguments.shard,
          RunArguments.format,
        ], operands: RunArguments.paths),
      defaults: { RunArguments() }
    ) { arguments, console throws(UsageError) in
      let world = World()
      guard let set = arguments.scenarios(world, console) else { return .usage }
      let plan = try arguments.plan(set, world)
      let width = plan.cases.map(\.file.count).max() ?? 0
      for test in plan.cases {
        if arguments.format == .json {
          console.print(test.json)
        } else {
          let gap = String(repeating: " ", count: width - test.file.count + 2)
          console.print(test.file + gap + test.name + (test.skipReason.map { "   (skipped: \($0))" } ?? ""))
        }
      }
      return plan.cases.isEmpty ? .nothingSelected : .agree
    }
  }

  static var validate: Command {
    Command(
      "validate", "Checks scenarios without running them.",
      examples: [
        Example("lockstep validate", "All of Scenarios/."),
        Example("lockstep validate Scenarios/sesame5/jam.yaml", "One file."),
      ],
      ArgumentParser(options: [], operands: RunArguments.paths), defaults: { RunArguments() }
    ) { arguments, console throws(UsageError) in
      guard let set = arguments.scenarios(World(), console) else { return .usage }
      guard !set.items.isEmpty else { return .nothingSelected }
      console.print(
        "\(set.items.count) \(set.items.count == 1 ? "scenario is" : "scenarios are") well-formed")
      return .agree
    }
  }

  static var schema: Command {
    Command(
      "schema", "Prints the JSON Schema of a scenario.",
      examples: [Example("lockstep schema", "For an editor that completes and checks scenarios.")],
      ArgumentParser<Nothing>(options: [], operands: nil), defaults: { Nothing() }
    ) { _, console throws(UsageError) in
      console.print(Scenario.schema.pages)
      return .agree
    }
  }

  static var version: Command {
    Command(
      "version", "Prints the version.", examples: [Example("lockstep version", "The version, in one line.")],
      ArgumentParser<Nothing>(options: [], operands: nil), defaults: { Nothing() }
    ) { _, console throws(UsageError) in
      console.print("lockstep \(Version.text)")
      return .agree
    }
  }

  static var machines: Command {
    Command(
      "machines", "Lists the machines, or prints one.",
      examples: [
        Example("lockstep machines", "The names of all."),
        Example("lockstep machines door --format mermaid", "One of them, as a diagram for a document."),
      ],
      ArgumentParser(
        options: [
          .value(
            "format", \.format, MachineFormat.allCases.map(\.rawValue).joined(separator: "|"),
            "How the machine is printed. A table unless given.", example: "mermaid")
        ],
        operands: .init(
          placeholder: "NAME", summary: "A machine's name, or the path of a YAML or DOT file.", count: 0...1,
          as: .machine, path: \.names)),
      defaults: { MachineArguments() }
    ) { arguments, console throws(UsageError) in
      guard let name = arguments.names.first else {
        console.print(columns(MachineDefinition.catalog.map { ($0.name, $0.summary) }))
        return .agree
      }
      do throws(MachineLibrary.Missing) {
        let machine = try World().machines.machine(name).machine
        console.print(machine.definition.text(in: arguments.format.format))
        return .agree
      } catch {
        throw UsageError(error.description + (error.hint.map { ": \($0)" } ?? ""))
      }
    }
  }
}

/// What a command without options takes.
struct Nothing {}

/// The version of Lockstep.
enum Version {
  static let text = "1.0"
  /// When the manual of this version was made.
  static let date = "2026-11-22"
}

private struct MachineArguments {
  var names: [String] = []
  var format = MachineForm.table
}

/// The notations of machines, as arguments.
private struct MachineForm: ArgumentValue {
  let format: MachineFormat
  static let table = MachineForm(format: .table)
  static var form: String { "one of " + MachineFormat.allCases.map(\.rawValue).joined(separator: ", ") }
  static var kind: ValueKind { .choice(MachineFormat.allCases.map(\.rawValue)) }

  private init(format: MachineFormat) {
    self.format = format
  }

  init?(argument: String) {
    guard let format = MachineFormat(rawValue: argument) else { return nil }
    self.format = format
  }
}

extension Case {
  fileprivate var json: JSON {
    var members: [JSON.Member] = [
      .init("id", .text(id)), .init("name", .text(name)), .init("file", .text(file)),
      .init("machine", .text(machine.label)), .init("device", .text(device.description)),
      .init("tags", .list(scenario.tags.map(JSON.text))), .init("steps", .integer(scenario.steps.count)),
    ]
    if let skipReason { members.append(.init("skipped", .text(skipReason))) }
    return .mapping(members)
  }
}
