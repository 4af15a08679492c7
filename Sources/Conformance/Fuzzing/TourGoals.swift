import Automata
import Basics

/// The goals of a tour in addition to the cells of the table. These are each row under each of its conditions, the
/// refusal where no row of a cell holds, and both ends of each timer.
struct TourGoals: Sendable {
  /// A row to be taken by a stimulus, under one condition that it requires, or under none; or the refusal of the
  /// stimulus where no row of the cell holds.
  struct Row: Hashable, Sendable {
    /// The cell of the row, as `state * events + event`.
    var cell: Int
    /// The guard of the row; for a refusal, the guards of all rows of the cell.
    var guards: [Guard]
    /// The conditions under which to try it, as bits; zero if it requires none.
    var conditions: UInt64
    /// Whether the stimulus must be refused.
    var isRefused = false

    /// Returns whether the row can be tried as required under some conditions.
    ///
    /// A refusal is tried under exactly its own conditions, among those that matter to the cell: another condition
    /// may be the reason for the refusal.
    func holds(under conditions: UInt64) -> Bool {
      let relevant = isRefused ? guards.reduce(0) { $0 | $1.conditions } : self.conditions
      return guards.contains { $0.holds(under: conditions) } != isRefused
        && conditions & relevant == self.conditions
    }
  }

  /// The progress towards a goal.
  enum Progress: Equatable, Sendable { case wanted, done, abandoned, tooLong }

  /// How far the tour has waited for a timer.
  struct Timer: Equatable, Sendable {
    /// The number of the timer's edge.
    var edge: Int
    /// Whether the tour waited up to the first end, and nothing happened.
    var isBegun = false
    var progress = Progress.wanted
    /// Whether the device shows nothing at the end: the tour waits for it, but cannot tell whether the timer has
    /// ended.
    var endsInvisibly = false
    /// The number of attempts to wait for the timer.
    var attempts = 0
  }

  /// The rows of cells that have several rows or conditions, in the order of the cells.
  private(set) var rows: [Row] = []
  private(set) var progress: [Progress] = []
  /// The positions of each state's rows in ``rows``.
  private var rowsOfState: [Range<Int>] = []
  private(set) var timers: [Timer] = []
  private var timerOfEdge: [Int] = []

  /// Makes an empty list of goals.
  init() {}

  /// - Parameters:
  ///   - map: the machine, and what can be done with the device.
  ///   - hasRows: whether to cover rows.
  ///   - longestTimer: the longest timer for which to wait; `nil` if the tour waits for none.
  ///   - isOpen: whether a cell can be tried.
  init(_ map: ModelMap, hasRows: Bool, longestTimer: Interval?, isOpen: (Int) -> Bool) {
    let machine = map.machine
    timerOfEdge = [Int](repeating: -1, count: map.edgeCount)
    for state in 0..<machine.stateCount {
      let first = rows.count
      for cell in state * machine.eventCount..<(state + 1) * machine.eventCount where hasRows && isOpen(cell)
      {
        let own = Self.rows(of: machine.caused[cell], in: cell)
        // A single row without conditions is covered by the visit of its cell.
        if own.count > 1 || own.contains(where: { $0.conditions != 0 || $0.isRefused }) { rows += own }
      }
      rowsOfState.append(first..<rows.count)
      guard let longestTimer, !map.isMomentary(state) else { continue }
      for edge in map.timers(in: state) {
        timerOfEdge[edge] = timers.count
        var timer = Timer(edge: edge)
        let end = map.edge(edge, from: state)
        if end.latest > longestTimer { timer.progress = .tooLong }
        timer.endsInvisibly = map.isInvisible(end, from: state)
        timers.append(timer)
      }
    }
    progress = rows.map { _ in .wanted }
  }

  private static func rows(of edges: [Machine.Edge], in cell: Int) -> [Row] {
    var rows: [Row] = []
    for edge in edges {
      var conditions: [UInt64] = []
      forEachBit(of: edge.guard.given) { conditions.append(1 << UInt64($0)) }
      for condition in conditions.isEmpty ? [0] : conditions {
        let row = Row(cell: cell, guards: [edge.guard], conditions: condition)
        if !rows.contains(row) { rows.append(row) }
      }
    }
    return rows + refusals(of: edges.map(\.guard), in: cell)
  }

  /// Returns the conditions under which a stimulus is refused although it has rows: none, one that keeps rows from
  /// holding, or two that do so only together.
  private static func refusals(of guards: [Guard], in cell: Int) -> [Row] {
    func isRefused(_ conditions: UInt64) -> Bool { !guards.contains { $0.holds(under: conditions) } }
    var single: [UInt64] = []
    forEachBit(of: guards.reduce(0) { $0 | $1.conditions }) { single.append(1 << UInt64($0)) }
    var found: [UInt64] = isRefused(0) ? [0] : []
    // A stimulus refused without conditions is also refused under a condition that no row excludes: that is not
    // another case.
    found += single.filter { one in
      isRefused(one) && (!isRefused(0) || guards.contains { $0.unless & one != 0 })
    }
    for (index, first) in single.enumerated() {
      for second in single[..<index] where isRefused(first | second) {
        // The second condition has to matter: neither one suffices, or one allows what the other forbids.
        let enough = [isRefused(first), isRefused(second)]
        if isRefused(0) ? enough.contains(false) : !enough.contains(true) { found.append(first | second) }
      }
    }
    return found.map { Row(cell: cell, guards: guards, conditions: $0, isRefused: true) }
  }
}

extension TourGoals {
  /// Returns the rows of a state still to be covered that can be taken under some conditions.
  func wantedRows(in state: Int, under conditions: UInt64) -> [Row] {
    guard !rows.isEmpty else { return [] }
    return rowsOfState[state].filter { progress[$0] == .wanted && rows[$0].holds(under: conditions) }.map {
      rows[$0]
    }
  }

  /// Records a stimulus: every row of its cell that holds is done.
  mutating func visit(_ cell: Int, in state: Int, under conditions: UInt64) {
    guard !rows.isEmpty else { return }
    for index in rowsOfState[state] where rows[index].cell == cell && rows[index].holds(under: conditions) {
      progress[index] = .done
    }
  }

  /// Abandons the rows that a state should allow under some conditions, but does not.
  mutating func giveUpRows(in state: Int, under conditions: UInt64) {
    guard !rows.isEmpty else { return }
    for index in rowsOfState[state] where progress[index] == .wanted && rows[index].holds(under: conditions) {
      progress[index] = .abandoned
    }
  }

  /// The rows that were not covered.
  var missingRows: [Row] { rows.indices.filter { progress[$0] != .done }.map { rows[$0] } }

  /// The edges of the timers that were not waited for, or whose end cannot be seen.
  var missingTimers: [Int] { timers.filter { $0.progress != .done || $0.endsInvisibly }.map(\.edge) }

  /// Whether the tour has to wait for another timer.
  var hasWantedTimers: Bool { timers.contains { $0.progress == .wanted } }

  /// Returns how far the tour has waited for a timer.
  func timer(_ edge: Int) -> Timer { timers[timerOfEdge[edge]] }

  /// A number that changes whenever a goal is reached, tried or abandoned.
  var count: Int {
    progress.count { $0 != .wanted }
      + timers.reduce(0) { $0 + $1.attempts + ($1.progress == .wanted ? 0 : 1) }
  }

  /// Returns whether the tour still has to wait for a timer.
  func isWanted(timer edge: Int) -> Bool {
    let index = timerOfEdge.isEmpty ? -1 : timerOfEdge[edge]
    return index >= 0 && timers[index].progress == .wanted
  }

  /// Records another attempt to wait for a timer. With the maximum number of attempts, the timer counts as abandoned
  /// unless the device ends it.
  mutating func begin(timer edge: Int, maximum: Int) {
    let index = timerOfEdge[edge]
    timers[index].attempts += 1
    timers[index].isBegun = false
    if timers[index].attempts >= maximum { timers[index].progress = .abandoned }
  }

  /// Abandons a timer.
  mutating func giveUp(timer edge: Int) {
    let index = timerOfEdge.isEmpty ? -1 : timerOfEdge[edge]
    if index >= 0 { timers[index].progress = .abandoned }
  }

  /// Records that the test has waited for a timer up to its first end.
  mutating func pass(timer edge: Int) {
    if timerOfEdge.isEmpty || timerOfEdge[edge] < 0 { return }
    timers[timerOfEdge[edge]].isBegun = true
  }

  /// Returns whether the test has waited for a timer up to its first end.
  func isBegun(timer edge: Int) -> Bool {
    !timerOfEdge.isEmpty && timerOfEdge[edge] >= 0 && timers[timerOfEdge[edge]].isBegun
  }

  /// Records that the device has ended these timers.
  mutating func end(timers edges: [Int]) {
    for edge in edges where !timerOfEdge.isEmpty && timerOfEdge[edge] >= 0 {
      timers[timerOfEdge[edge]].progress = .done
    }
  }
}
