import Basics
import Journal

/// A machine with its visits, prepared for drawing.
struct MachineVisits {
  /// The state of a cell of the table.
  enum Cell {
    /// The stimulus is allowed, and was sent.
    case visited
    /// The stimulus is allowed, and was never sent.
    case missing
    /// The stimulus is refused, and was tried.
    case refused
    /// The stimulus is refused, and was never tried.
    case untried
    /// The stimulus is allowed; the journal lacks whether it was sent.
    case unknown
  }

  /// The transition of a legal cell, and whether it was visited.
  struct Edge: Hashable {
    var from: Int
    var to: Int
    var name: String
    /// `nil` for a spontaneous transition, which is not counted.
    var isVisited: Bool?
  }

  let machine: Record.Machine
  let coverage: Record.Coverage?
  /// By state and stimulus; empty for a machine that is too large to be shown.
  private(set) var cells: [[Cell]]
  private(set) var edges: [Edge] = []

  /// The maximum number of cells in a useful table.
  private static let maximumCells = 20_000

  var isTooLarge: Bool { cells.isEmpty && !machine.states.isEmpty }

  /// Takes a machine and its coverage, which may be missing or lack the visited cells.
  init(_ machine: Record.Machine, _ coverage: Record.Coverage?) {
    self.machine = machine
    self.coverage = coverage
    guard machine.states.count * machine.stimuli.count <= Self.maximumCells else {
      cells = []
      return
    }
    let row = [Cell](repeating: .untried, count: machine.stimuli.count)
    cells = [[Cell]](repeating: row, count: machine.states.count)
    let digits = coverage?.visited ?? []
    let legal = Bits(digits, 0, count: machine.cells.count)
    let outcomes = Bits(digits, 2, count: machine.cells.reduce(0) { $0 + $1.next.count })
    var outcome = 0
    for (number, cell) in machine.cells.enumerated() {
      cells[cell.state][cell.stimulus] = legal.map { $0[number] ? .visited : .missing } ?? .unknown
      for next in cell.next {
        let isVisited = outcomes.map { $0[outcome] } ?? false
        edges.append(
          Edge(from: cell.state, to: next, name: machine.stimuli[cell.stimulus], isVisited: isVisited))
        outcome += 1
      }
    }
    markRefused(digits)
    for spontaneous in machine.spontaneous {
      for next in spontaneous.next {
        edges.append(Edge(from: spontaneous.state, to: next, name: spontaneous.event, isVisited: nil))
      }
    }
  }

  /// Marks the illegal cells, which the digits have by stimulus and state.
  private mutating func markRefused(_ digits: [String]) {
    let count = machine.states.count * machine.stimuli.count - machine.cells.count
    guard let bits = Bits(digits, 1, count: count) else { return }
    var number = 0
    for stimulus in machine.stimuli.indices {
      for state in machine.states.indices where cells[state][stimulus] == .untried {
        if number < count, bits[number] { cells[state][stimulus] = .refused }
        number += 1
      }
    }
  }

  /// The visited transitions of legal cells, for a journal that does not contain their number.
  var transitions: Record.Coverage.Share {
    let counted = edges.filter { $0.isVisited != nil }
    return Record.Coverage.Share(counted.count { $0.isVisited == true }, of: counted.count)
  }

  /// The states by region, in the order of first occurrence.
  var regions: [(name: String, states: [Int])] {
    guard machine.regions.count == machine.states.count else { return [("", Array(machine.states.indices))] }
    var regions: [(name: String, states: [Int])] = []
    var numbers: [String: Int] = [:]
    for (state, name) in machine.regions.enumerated() {
      let number = numbers[name] ?? regions.count
      if number == regions.count { regions.append((name, [])) }
      numbers[name] = number
      regions[number].states.append(state)
    }
    return regions
  }

  /// The legal cells that were not visited.
  var missing: [(state: String, stimuli: [String])] {
    cells.indices.compactMap { state in
      let stimuli = machine.stimuli.indices.filter { cells[state][$0] == .missing }
      return stimuli.isEmpty ? nil : (machine.states[state], stimuli.map { machine.stimuli[$0] })
    }
  }
}

/// The bits in coverage digits, four to a hexadecimal digit.
private struct Bits {
  private let digits: [UInt8]

  /// `nil` if the text is missing or too short.
  init?(_ texts: [String], _ index: Int, count: Int) {
    guard index < texts.count else { return nil }
    let digits = texts[index].utf8.compactMap(hexValue)
    guard digits.count == texts[index].utf8.count, digits.count == (count + 3) / 4 else { return nil }
    self.digits = digits
  }

  subscript(index: Int) -> Bool { digits[index / 4] & (8 >> UInt8(index % 4)) != 0 }
}
