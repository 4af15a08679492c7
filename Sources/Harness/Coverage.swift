import Automata
import Conformance

/// Which cells of a machine's table a run has visited.
public struct Coverage: Equatable, Sendable {
  /// The machine, as reports call it.
  public let machine: String
  /// The cells in which a stimulus is allowed: visited, and there are.
  public private(set) var legal = (visited: 0, count: 0)
  /// The cells in which a stimulus is refused: visited, and there are.
  public private(set) var empty = (visited: 0, count: 0)
  /// Which of the legal cells and of the empty ones were visited, four cells a hexadecimal digit: so that coverages can
  /// be added by who knows no machine.
  public var digits: (legal: String, empty: String) {
    (Self.digits(isVisited.legal), Self.digits(isVisited.empty))
  }
  private var isVisited: (legal: [Bool], empty: [Bool]) = ([], [])
  /// The legal cells that were not visited, as `state, stimulus`.
  public private(set) var missing: [String] = []

  /// Counts the cells of a machine, of which some were visited: `visits[state * events + event]` times.
  public init(_ machine: MachineLibrary.Entry, visits: [UInt64]) {
    self.machine = machine.label
    let definition = machine.machine.definition
    let cells = machine.machine.caused
    for (event, item) in definition.events.enumerated() where item.kind != .spontaneous {
      for (state, place) in definition.states.enumerated() {
        let cell = state * definition.events.count + event
        if cells[cell].isEmpty {
          empty.count += 1
          isVisited.empty.append(visits[cell] > 0)
          empty.visited += visits[cell] > 0 ? 1 : 0
        } else {
          legal.count += 1
          isVisited.legal.append(visits[cell] > 0)
          legal.visited += visits[cell] > 0 ? 1 : 0
          if visits[cell] == 0 { missing.append("\(place.name), \(item.name)") }
        }
      }
    }
  }

  public static func == (left: Coverage, right: Coverage) -> Bool {
    left.machine == right.machine && left.legal == right.legal && left.empty == right.empty
      && left.missing == right.missing && left.isVisited == right.isVisited
  }

  private static func digits(_ bits: [Bool]) -> String {
    stride(from: 0, to: bits.count, by: 4).map { start in
      let digit = (start..<start + 4).reduce(0) { $0 << 1 | ($1 < bits.count && bits[$1] ? 1 : 0) }
      return String(digit, radix: 16)
    }.joined()
  }

  /// The figures in words: `31 of 31 legal, 12 of 177 empty`.
  public var summary: String {
    "\(legal.visited) of \(legal.count) legal, \(empty.visited) of \(empty.count) empty"
  }
}

/// The visits of a run, by machine, in the order in which the machines first came.
struct CoverageCount {
  private var machines: [MachineLibrary.Entry] = []
  private var visits: [[UInt64]] = []

  mutating func add(_ more: [UInt32], of machine: MachineLibrary.Entry) {
    let index = machines.firstIndex { $0.label == machine.label } ?? machines.count
    if index == machines.count {
      machines.append(machine)
      visits.append([UInt64](repeating: 0, count: more.count))
    }
    for cell in more.indices { visits[index][cell] += UInt64(more[cell]) }
  }

  var coverage: [Coverage] { zip(machines, visits).map { Coverage($0, visits: $1) } }
}
