public import Documents

/// A machine that was read from a file, and where its parts stand in it.
public struct MachineFile: Sendable {
  /// The machine.
  public let definition: MachineDefinition
  /// Its text.
  public let source: Source
  private let places: DefinitionPlaces

  init(_ definition: MachineDefinition, _ places: DefinitionPlaces, in source: Source) {
    self.definition = definition
    self.source = source
    self.places = places
  }

  /// Reads a file: DOT where its name ends in `.dot` or `.gv`, and else YAML.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What messages call it, usually its path.
  /// - Throws: Everything that is wrong with the file or with the machine in it, each with its line and column.
  public init(_ bytes: [UInt8], name: String) throws(DocumentError) {
    let isDOT = name.hasSuffix(".dot") || name.hasSuffix(".gv")
    self = try isDOT ? MachineFile(dot: bytes, name: name) : MachineFile(yaml: bytes, name: name)
  }

  /// What in the file is well-formed and yet hardly meant.
  ///
  /// - Parameter machine: the machine that its definition makes.
  public func warnings(of machine: Machine) -> [Diagnostic] {
    let warnings = machine.warnings()
    let problems = places.problems(warnings.map(\.place)) { number, start, end in
      let warning = warnings[number]
      var problem = Problem(
        warning.kind.code, at: start, to: end, warning.description, hint: .words(warning.cure))
      problem.severity = .warning
      return problem
    }
    guard !problems.isEmpty else { return [] }
    return DocumentError(source: source, problems: problems, omitted: warnings.count - problems.count)
      .diagnostics
  }

  /// Where a part of the machine stands in the file.
  public func place(of part: DefinitionFinding.Place) -> (start: Position, end: Position) {
    places.place(of: part)
  }
}

/// Where the parts of a definition stand in a file.
struct DefinitionPlaces: Sendable {
  typealias Place = (start: Position, end: Position)

  var machine: Place = (.start, .start)
  var states: [Place] = []
  var events: [Place] = []
  var conditions: [Place] = []
  var choices: [Place] = []
  var starts: [Place] = []
  var rows: [Place] = []

  /// The most problems that are reported of one file: those after them mostly follow from them.
  private static let maximum = 100

  func place(of part: DefinitionFinding.Place) -> Place {
    switch part {
    case .machine: machine
    case .state(let number): states[number]
    case .event(let number): events[number]
    case .condition(let number): conditions[number]
    case .choice(let number): choices[number]
    case .start(let number): starts[number]
    case .row(let number): rows[number]
    }
  }

  /// What is wrong with parts, in the order of the text; only what is shown is put into words.
  func problems(
    _ parts: [DefinitionFinding.Place],
    _ words: (_ number: Int, _ start: Position, _ end: Position) -> Problem
  ) -> [Problem] {
    let places = parts.map(place)
    let order = places.indices.sorted { (places[$0].start.offset, $0) < (places[$1].start.offset, $1) }
    return order.prefix(Self.maximum).map { words($0, places[$0].start, places[$0].end) }
  }
}
