import Automata
import Basics

/// The cells of a machine's table for counting: which are legal, where they lead, and to which region of the machine
/// they belong.
///
/// A class, because the table never changes and all counters share it.
final class CellTable: Sendable {
  let machine: Machine
  /// The number of each legal cell among the legal ones, by `state * events + event`. It is -1 if the cell is empty,
  /// if its state is momentary, or if the tester does not cause the event.
  let legalNumber: [Int32]
  /// The legal cells, by their numbers.
  let legalCells: [Int]
  /// The index in ``outcomes`` of the first state to which each legal cell can lead, by the number of the cell.
  let outcomeStart: [Int]
  /// The states to which the legal cells can lead.
  let outcomes: [Int]
  /// Whether each legal cell can lead to more than one state, by the number of the cell.
  let isOpen: [Bool]
  /// Whether each state is excluded from counting. Either it is left at once under all conditions, so that nothing
  /// can be tried in it; or only devices with an unusual option reach it.
  let isMomentary: [Bool]
  /// The names of the regions; a machine without regions has a single one with an empty name.
  let regions: [String]
  /// The region of each state.
  let region: [Int]

  /// The maximum number of legal cells of a machine whose pairs are counted; more pairs would need too much memory.
  static let pairLimit = 4096

  /// Whether pairs of legal cells are counted.
  var countsPairs: Bool { legalCells.count <= Self.pairLimit }

  /// Returns the range in ``outcomes`` of the states to which a legal cell can lead.
  func outcomeRange(of number: Int) -> Range<Int> { outcomeStart[number]..<outcomeStart[number + 1] }

  init(_ machine: Machine) {
    self.machine = machine
    let eventCount = machine.eventCount
    let isUsual = machine.usualStates
    let isMomentary = zip(machine.spontaneous, isUsual).map { Self.isMomentary($0) || !$1 }
    self.isMomentary = isMomentary
    var legalNumber = [Int32](repeating: -1, count: machine.stateCount * eventCount)
    var legalCells: [Int] = []
    var outcomeStart = [0]
    var outcomes: [Int] = []
    for cell in legalNumber.indices where machine.isStimulus(cell % eventCount) {
      guard !machine.caused[cell].isEmpty, !isMomentary[cell / eventCount] else { continue }
      legalNumber[cell] = Int32(legalCells.count)
      legalCells.append(cell)
      for edge in machine.caused[cell]
      where isUsual[edge.target]
        && !outcomes[outcomeStart[legalCells.count - 1]...].contains(edge.target)
      {
        outcomes.append(edge.target)
      }
      outcomeStart.append(outcomes.count)
    }
    self.legalNumber = legalNumber
    self.legalCells = legalCells
    self.outcomeStart = outcomeStart
    self.outcomes = outcomes
    isOpen = legalCells.indices.map { outcomeStart[$0 + 1] - outcomeStart[$0] > 1 }
    (regions, region) = Self.regions(of: machine)
  }

  /// Returns the regions of a machine, in the order in which its states name them, and the region of each state.
  ///
  /// A state without a region, such as a motion, belongs to the region from which it is entered.
  private static func regions(of machine: Machine) -> (names: [String], region: [Int]) {
    let states = machine.definition.states
    var names: [String] = []
    for state in states where !state.region.isEmpty && !names.contains(state.region) {
      names.append(state.region)
    }
    guard !names.isEmpty else { return ([""], [Int](repeating: 0, count: states.count)) }
    var region = states.map { names.firstIndex(of: $0.region) ?? -1 }
    var open = states.indices.filter { region[$0] >= 0 }
    var next = 0
    while next < open.count {
      let state = open[next]
      next += 1
      for target in machine.successors(of: state) where region[target] < 0 {
        region[target] = region[state]
        open.append(target)
      }
    }
    if region.contains(-1) {
      names.append("elsewhere")
      region = region.map { $0 < 0 ? names.count - 1 : $0 }
    }
    return (names, region)
  }

  /// Returns whether some edge leaves a state at once, whatever conditions hold.
  private static func isMomentary(_ edges: [Machine.Edge]) -> Bool {
    let edges = edges.filter { $0.latest == .zero && $0.plus == nil }
    let mask = edges.reduce(0) { $0 | $1.guard.conditions }
    guard !edges.isEmpty, mask.nonzeroBitCount <= 10 else { return false }
    return !Guard.mayAllFail(edges.map(\.guard), under: 0, open: .max)
  }

  /// Returns the number of possible pairs of legal cells, by the region of the first. In a pair, the second cell is
  /// legal, under some conditions, after the first and any spontaneous events.
  func possiblePairs() -> [Int] {
    var count = [Int](repeating: 0, count: regions.count)
    guard countsPairs else { return count }
    let eventCount = machine.eventCount
    let legalInState = (0..<machine.stateCount).map { state in
      (0..<eventCount).filter { legalNumber[state * eventCount + $0] >= 0 }.count
    }
    for (number, cell) in legalCells.enumerated() {
      var isReached = [Bool](repeating: false, count: machine.stateCount)
      var open = Array(outcomes[outcomeStart[number]..<outcomeStart[number + 1]])
      while let state = open.popLast() {
        if isReached[state] { continue }
        isReached[state] = true
        count[region[cell / eventCount]] += legalInState[state]
        open += machine.spontaneous[state].map(\.target)
      }
    }
    return count
  }
}
