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
  /// The legal cells that were not visited, as `state, stimulus`.
  public private(set) var missing: [String] = []

  /// Counts the cells of a machine, of which some were visited.
  init(_ machine: MachineLibrary.Entry, visits: [UInt64]) {
    self.machine = machine.label
    let table = machine.machine
    for state in 0..<table.stateCount {
      for event in 0..<table.eventCount where table.isStimulus(event) {
        let isVisited = visits[state * table.eventCount + event] > 0
        if table.edges(from: state, on: event).isEmpty {
          empty.count += 1
          empty.visited += isVisited ? 1 : 0
        } else {
          legal.count += 1
          legal.visited += isVisited ? 1 : 0
          if !isVisited {
            let definition = table.definition
            missing.append("\(definition.states[state].name), \(definition.events[event].name)")
          }
        }
      }
    }
  }

  public static func == (left: Coverage, right: Coverage) -> Bool {
    left.machine == right.machine && left.legal == right.legal && left.empty == right.empty
      && left.missing == right.missing
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
