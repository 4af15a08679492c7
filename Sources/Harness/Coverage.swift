import Automata
import Basics
public import Conformance
public import Journal

/// The coverage of a machine by a run, with the machine's name in reports.
public struct Coverage: Equatable, Sendable {
  /// The machine's name in reports.
  public let machine: String
  /// The visited cells.
  public private(set) var cells: CellCoverage
  /// The figures of the whole machine.
  public let total: CellCoverage.Figures

  /// Makes the coverage of a machine.
  public init(_ machine: String, _ cells: CellCoverage) {
    self.machine = machine
    self.cells = cells
    total = cells.total
  }

  /// Returns the legal cells that a coverage of this machine lacks, as `state, stimulus`; none if its visited cells are
  /// unknown.
  public func missing(in coverage: Record.Coverage) -> [String] {
    let definition = cells.machine.definition
    return cells.legalCells.enumerated().filter { coverage.isTried(allowed: $0.offset) == false }.map {
      let cell = $0.element.cell
      return "\(definition.states[cell.state].name), \(definition.events[cell.event].name)"
    }
  }

  /// The figures in words: `37 of 37 transitions covered, 12 of 177 forbidden requests tried`.
  public var summary: String { total.record.words }

  /// All figures as a table: a line for each region and, if there are several, one for the whole machine.
  public var table: [String] {
    let regions = cells.regions
    let parts = regions.count > 1 ? regions + [total] : [total]
    var rows = [["", "states", "allowed", "forbidden", "transitions", "pairs"]]
    rows += parts.map { part in
      [part.region.isEmpty ? "all" : part.region] + part.shares.map { "\($0.visited)/\($0.count)" }
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, text in
        column == 0 ? text.leftAligned(in: widths[column]) : text.rightAligned(in: widths[column])
      }.joined(separator: "   ")
    }
  }
}

extension CellCoverage.Share: CustomStringConvertible {
  public var description: String { "\(visited) of \(count)" }
}

extension CellCoverage.Figures {
  /// The shares in the order of the table's columns.
  fileprivate var shares: [CellCoverage.Share] { [states, legal, empty, transitions, pairs] }

  /// The figures as a journal record.
  fileprivate var record: Record.Coverage.Figures {
    func share(_ share: CellCoverage.Share) -> Record.Coverage.Share { .init(share.visited, of: share.count) }
    var figures = Record.Coverage.Figures()
    (figures.legal, figures.empty, figures.states) = (share(legal), share(empty), share(states))
    (figures.transitions, figures.pairs) = (share(transitions), share(pairs))
    return figures
  }
}

extension Coverage {
  /// The coverage as a journal record.
  public var record: Record.Coverage {
    var record = Record.Coverage(machine)
    record.total = total.record
    if cells.regions.count > 1 { record.regions = cells.regions.map { .init($0.region, $0.record) } }
    let visited = cells.stimulusDigits
    record.visited = [visited.legal, visited.empty, visited.outcomes]
    return record
  }

  /// The machine as a journal record, with everything that a drawing of the coverage needs.
  var machineRecord: Record.Machine {
    let definition = cells.machine.definition
    let stimuli = definition.events.indices.filter(cells.machine.isStimulus)
    var numbers = [Int](repeating: 0, count: definition.events.count)
    for (number, event) in stimuli.enumerated() { numbers[event] = number }
    var record = Record.Machine(machine, hash: cells.machine.hash)
    record.states = definition.states.map(\.name)
    if cells.regions.count > 1 { record.regions = definition.states.indices.map(cells.region(of:)) }
    record.stimuli = stimuli.map { definition.events[$0].name }
    record.cells = cells.legalCells.map { item in
      .init(state: item.cell.state, stimulus: numbers[item.cell.event], next: item.next)
    }
    record.spontaneous = spontaneousRows
    return record
  }

  /// The transitions that happen without the tester: by state and event, the possible targets.
  private var spontaneousRows: [Record.Machine.Spontaneous] {
    let definition = cells.machine.definition
    return cells.machine.spontaneous.enumerated().flatMap { state, edges in
      var rows: [Record.Machine.Spontaneous] = []
      for edge in edges {
        let cause = edge.event.map { definition.events[$0].name } ?? "after \(edge.latest)"
        let row = rows.firstIndex { $0.event == cause } ?? rows.count
        if row == rows.count { rows.append(.init(state: state, event: cause, next: [])) }
        if !rows[row].next.contains(edge.target) { rows[row].next.append(edge.target) }
      }
      return rows
    }
  }
}

/// The visits of a run, by machine, in the order of first use.
struct CoverageCount {
  private var cells: [(machine: String, visits: CellCoverage)] = []

  /// The coverage of each machine. Computing it takes as long as a case.
  var coverage: [Coverage] { cells.map { Coverage($0.machine, $0.visits) } }

  mutating func add(_ visits: CellCoverage, of machine: MachineLibrary.Entry) {
    if let index = cells.firstIndex(where: { $0.machine == machine.label }) {
      cells[index].visits.add(visits)
    } else {
      cells.append((machine.label, visits))
    }
  }
}
