import Automata
public import Conformance
import Documents

/// How much of a machine a run has tried, under the name that reports call it by.
public struct Coverage: Equatable, Sendable {
  /// The machine, as reports call it.
  public let machine: String
  /// What was counted.
  public private(set) var cells: CellCoverage
  /// The figures of the whole machine.
  public let total: CellCoverage.Figures

  /// Names what was counted.
  public init(_ machine: String, _ cells: CellCoverage) {
    self.machine = machine
    self.cells = cells
    total = cells.total
  }

  /// The legal cells that were not visited, as `state, stimulus`.
  public var missing: [String] {
    let definition = cells.machine.definition
    return cells.missing.filter(\.isLegal).map {
      "\(definition.states[$0.state].name), \(definition.events[$0.event].name)"
    }
  }

  /// The figures in words: `31 of 31 legal, 12 of 177 empty`.
  public var summary: String { "\(total.legal) legal, \(total.empty) empty" }

  /// All figures as a table: a line for each region, and one for all where there are several.
  public var table: [String] {
    let regions = cells.regions
    let parts = regions.count > 1 ? regions + [total] : [total]
    var rows = [["", "states", "legal", "empty", "transitions", "pairs"]]
    rows += parts.map { part in
      [part.region.isEmpty ? "all" : part.region] + part.shares.map { "\($0.visited)/\($0.count)" }
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, text in
        let space = String(repeating: " ", count: widths[column] - text.count)
        return column == 0 ? text + space : space + text
      }.joined(separator: "   ")
    }
  }
}

extension CellCoverage.Share: CustomStringConvertible {
  public var description: String { "\(visited) of \(count)" }
}

extension CellCoverage.Figures {
  /// In the order of the table.
  fileprivate var shares: [CellCoverage.Share] { [states, legal, empty, transitions, pairs] }

  /// The figures as members of the journal: each a list of how many were visited and how many there are.
  fileprivate var members: [JSON.Member] {
    zip(["legal", "empty", "states", "transitions", "pairs"], [legal, empty, states, transitions, pairs]).map
    {
      JSON.Member($0, [.integer($1.visited), .integer($1.count)])
    }
  }
}

extension Coverage {
  /// The figures as the journal has them.
  var json: JSON {
    var members = [JSON.Member("machine", .text(machine))] + total.members
    let regions = cells.regions
    if regions.count > 1 {
      members.append(
        .init("regions", .list(regions.map { .mapping([.init("name", .text($0.region))] + $0.members) })))
    }
    let visited = cells.stimulusDigits
    members.append(
      .init("visited", [.text(visited.legal), .text(visited.empty), .text(visited.outcomes)]))
    return .mapping(members)
  }

  /// The machine as the journal has it: what a drawing of the coverage needs.
  var machineJSON: JSON {
    let definition = cells.machine.definition
    let stimuli = definition.events.indices.filter(cells.machine.isStimulus)
    var numbers = [Int](repeating: 0, count: definition.events.count)
    for (number, event) in stimuli.enumerated() { numbers[event] = number }
    var members: [JSON.Member] = [
      .init("name", .text(machine)), .init("hash", .text(cells.machine.hash)),
      .init("states", .list(definition.states.map { .text($0.name) })),
    ]
    if cells.regions.count > 1 {
      members.append(.init("regions", .list(definition.states.indices.map { .text(cells.region(of: $0)) })))
    }
    members += [
      .init("stimuli", .list(stimuli.map { .text(definition.events[$0].name) })),
      .init(
        "cells",
        .list(
          cells.legalCells.map { item in
            .list([
              .integer(item.cell.state), .integer(numbers[item.cell.event]),
              .list(item.next.map(JSON.integer)),
            ])
          })),
      .init("spontaneous", .list(spontaneousRows)),
    ]
    return .mapping(members)
  }

  /// What happens without the tester: by state and event, where it may lead.
  private var spontaneousRows: [JSON] {
    let definition = cells.machine.definition
    return cells.machine.spontaneous.enumerated().flatMap { state, edges -> [JSON] in
      var rows: [(cause: String, targets: [Int])] = []
      for edge in edges {
        let cause = edge.event.map { definition.events[$0].name } ?? "after \(edge.latest)"
        let row = rows.firstIndex { $0.cause == cause } ?? rows.count
        if row == rows.count { rows.append((cause, [])) }
        if !rows[row].targets.contains(edge.target) { rows[row].targets.append(edge.target) }
      }
      return rows.map { row in
        .list([.integer(state), .text(row.cause), .list(row.targets.map(JSON.integer))])
      }
    }
  }
}

/// The visits of a run, by machine, in the order in which the machines first came.
struct CoverageCount {
  private(set) var coverage: [Coverage] = []

  mutating func add(_ cells: CellCoverage, of machine: MachineLibrary.Entry) {
    guard let index = coverage.firstIndex(where: { $0.machine == machine.label }) else {
      return coverage.append(Coverage(machine.label, cells))
    }
    var sum = coverage[index].cells
    sum.add(cells)
    coverage[index] = Coverage(machine.label, sum)
  }
}
