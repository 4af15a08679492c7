public import Documents

/// A machine that was read from a file, with the positions of its parts in the file.
public struct MachineFile: Sendable {
  /// The machine.
  public let definition: MachineDefinition
  /// The text of the file.
  public let source: Source
  private let places: DefinitionPlaces
  /// Warnings about the file that its machine does not show.
  private let notes: [Problem]
  /// What is probably unintended in the regions of the machine.
  private let regionNotes: [RegionNote]

  init(
    _ definition: MachineDefinition, _ places: DefinitionPlaces, in source: Source, notes: [Problem] = [],
    regionNotes: [RegionNote] = []
  ) {
    self.definition = definition
    self.source = source
    self.places = places
    self.notes = notes
    self.regionNotes = regionNotes
  }

  /// Reads a file: as DOT if its name ends in `.dot` or `.gv`, as SCXML if it ends in `.scxml`, and otherwise as YAML.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  /// - Throws: All problems of the file or of the machine in it, each with its line and column.
  public init(_ bytes: [UInt8], name: String) throws(DocumentError) {
    switch MachineNotation(ofFile: name) {
    case .dot: try self.init(dot: bytes, name: name)
    case .scxml: try self.init(scxml: bytes, name: name)
    case .yaml: try self.init(yaml: bytes, name: name)
    }
  }

  /// Returns a warning for each part of the file that is well-formed but probably unintended.
  ///
  /// - Parameter machine: The machine made from the definition.
  public func warnings(of machine: Machine) -> [Diagnostic] {
    var warnings = regionNotes
    // Several rows of the machine may stand for one row of a region.
    for warning in machine.warnings() {
      let note = RegionNote(kind: warning.kind, place: places.place(of: warning.place))
      if !places.haveRegions || !warnings.contains(note) { warnings.append(note) }
    }
    let problems = DefinitionPlaces.problems(warnings.map(\.place)) { number, start, end in
      let warning = DefinitionWarning(warnings[number].kind, at: .machine)
      var problem = Problem(
        warning.kind.code, at: start, to: end, warning.description, hint: .words(warning.fix))
      problem.severity = .warning
      return problem
    }
    guard !(notes + problems).isEmpty else { return [] }
    return DocumentError(
      source: source, problems: notes + problems, omitted: warnings.count - problems.count
    ).diagnostics
  }

  /// Returns the position in the file of a part of the machine.
  public func place(of part: DefinitionFinding.Place) -> (start: Position, end: Position) {
    places.place(of: part)
  }
}

/// The languages in which a machine file can be written.
public enum MachineNotation: Sendable {
  case yaml, dot, scxml

  /// Recognizes the language by the name of a file.
  public init(ofFile name: String) {
    self =
      name.hasSuffix(".dot") || name.hasSuffix(".gv") ? .dot : name.hasSuffix(".scxml") ? .scxml : .yaml
  }
}

/// The positions of the parts of a definition in a file.
struct DefinitionPlaces: Sendable {
  typealias Place = (start: Position, end: Position)

  var machine: Place = (.start, .start)
  var states: [Place] = []
  var events: [Place] = []
  var conditions: [Place] = []
  var choices: [Place] = []
  var variables: [Place] = []
  var starts: [Place] = []
  var rows: [Place] = []
  /// Whether several states, and several rows, may have one position.
  var haveRegions = false

  /// The maximum number of problems reported per file: later problems mostly follow from earlier ones.
  private static let maximum = 100

  func place(of part: DefinitionFinding.Place) -> Place {
    switch part {
    case .machine: machine
    case .state(let number): states[number]
    case .event(let number): events[number]
    case .condition(let number): conditions[number]
    case .choice(let number): choices[number]
    case .variable(let number): variables[number]
    case .start(let number): starts[number]
    case .row(let number): rows[number]
    }
  }

  /// Returns the problems of parts, in the order of the text. It builds only those that are reported.
  func problems(
    _ parts: [DefinitionFinding.Place],
    _ makeProblem: (_ number: Int, _ start: Position, _ end: Position) -> Problem
  ) -> [Problem] { Self.problems(parts.map(place), makeProblem) }

  /// Returns the problems at some positions, in the order of the text. It builds only those that are reported.
  static func problems(
    _ places: [Place], _ makeProblem: (_ number: Int, _ start: Position, _ end: Position) -> Problem
  ) -> [Problem] {
    let order = places.indices.sorted { (places[$0].start.offset, $0) < (places[$1].start.offset, $1) }
    return order.prefix(maximum).map { makeProblem($0, places[$0].start, places[$0].end) }
  }
}
