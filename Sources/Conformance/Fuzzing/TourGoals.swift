import Automata
import Basics

/// What a tour is for beside the cells of the table: each row under each of its conditions, the refusal where none of a cell's rows
/// holds, and each timer at both of its ends.
struct TourGoals: Sendable {
  /// A row that a stimulus sets off, under one condition that it asks for, or under none; or that the stimulus is refused, since the
  /// conditions of all rows are missing.
  struct Row: Hashable, Sendable {
    /// Its cell, as `state * events + event`.
    var cell: Int
    /// What the row asks for; where the stimulus is refused, what each row of the cell does.
    var guards: [Guard]
    /// The conditions under which it is to be taken, as bits; none where it asks for none.
    var conditions: UInt64
    /// Whether the stimulus is to be refused.
    var isRefused = false

    /// Whether it can be tried as required under some conditions.
    ///
    /// A refusal is tried under exactly its own conditions, of those that matter: other conditions may be the reason
    /// for the refusal.
    func holds(under conditions: UInt64) -> Bool {
      let relevant = isRefused ? guards.reduce(0) { $0 | $1.conditions } : self.conditions
      return guards.contains { $0.holds(under: conditions) } != isRefused
        && conditions & relevant == self.conditions
    }
  }

  /// How far something has come.
  enum Progress: Equatable, Sendable { case wanted, done, abandoned, tooLong }

  /// How far a timer was waited for.
  struct Timer: Equatable, Sendable {
    /// The number of its edge.
    var edge: Int
    /// Whether it was waited for up to its first end, and nothing came.
    var isBegun = false
    var progress = Progress.wanted
    /// Whether nothing is shown when it ends: it is waited for, and whether it has ended cannot be told.
    var isUnseen = false
    /// How often it was begun to be waited for.
    var attempts = 0
  }

  /// The rows of cells that have several, in the order of the cells.
  private(set) var rows: [Row] = []
  private(set) var progress: [Progress] = []
  /// The places of the rows of each state.
  private var rowsOfState: [Range<Int>] = []
  private(set) var timers: [Timer] = []
  private var timerOfEdge: [Int] = []

  /// Nothing.
  init() {}

  /// - Parameters:
  ///   - map: the machine, and what can be done with the device.
  ///   - isOpen: whether a cell can be tried.
  ///   - hasTimers: whether timers are waited for; with a device whose time is the clock's, those that are worth it.
  init(_ map: ModelMap, hasRows: Bool, longestTimer: Interval?, isOpen: (Int) -> Bool) {
    let machine = map.machine
    timerOfEdge = [Int](repeating: -1, count: map.edgeCount)
    for state in 0..<machine.stateCount {
      let first = rows.count
      for cell in state * machine.eventCount..<(state + 1) * machine.eventCount where hasRows && isOpen(cell)
      {
        let own = Self.rows(of: machine.caused[cell], in: cell)
        // What a cell has but one of is its own visit.
        if own.count > 1 || own.contains(where: { $0.conditions != 0 || $0.isRefused }) { rows += own }
      }
      rowsOfState.append(first..<rows.count)
      guard let longestTimer, !map.isMomentary(state) else { continue }
      for edge in map.timers(in: state) {
        timerOfEdge[edge] = timers.count
        var timer = Timer(edge: edge)
        let end = map.edge(edge, from: state)
        if end.latest > longestTimer { timer.progress = .tooLong }
        timer.isUnseen = map.isUnseen(end, from: state)
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

  /// Under which conditions a stimulus is refused that has rows, each of which asks for some: without any, under one that keeps rows
  /// from holding, or under two that do so only together.
  private static func refusals(of guards: [Guard], in cell: Int) -> [Row] {
    func isRefused(_ conditions: UInt64) -> Bool { !guards.contains { $0.holds(under: conditions) } }
    var single: [UInt64] = []
    forEachBit(of: guards.reduce(0) { $0 | $1.conditions }) { single.append(1 << UInt64($0)) }
    var found: [UInt64] = isRefused(0) ? [0] : []
    // What is refused without a condition is refused under one that no row is kept from by, too: that is no other case.
    found += single.filter { one in
      isRefused(one) && (!isRefused(0) || guards.contains { $0.unless & one != 0 })
    }
    for (index, first) in single.enumerated() {
      for second in single[..<index] where isRefused(first | second) {
        // Of two the second has to matter: neither is enough, or what one allows the other forbids.
        let enough = [isRefused(first), isRefused(second)]
        if isRefused(0) ? enough.contains(false) : !enough.contains(true) { found.append(first | second) }
      }
    }
    return found.map { Row(cell: cell, guards: guards, conditions: $0, isRefused: true) }
  }
}

extension TourGoals {
  /// The rows that are wanted in a state and can be taken under some conditions.
  func wantedRows(in state: Int, under conditions: UInt64) -> [Row] {
    guard !rows.isEmpty else { return [] }
    return rowsOfState[state].filter { progress[$0] == .wanted && rows[$0].holds(under: conditions) }.map {
      rows[$0]
    }
  }

  /// A stimulus is given: every row of its cell that holds is done.
  mutating func visit(_ cell: Int, in state: Int, under conditions: UInt64) {
    guard !rows.isEmpty else { return }
    for place in rowsOfState[state] where rows[place].cell == cell && rows[place].holds(under: conditions) {
      progress[place] = .done
    }
  }

  /// What a state should allow under some conditions, and does not.
  mutating func giveUpRows(in state: Int, under conditions: UInt64) {
    guard !rows.isEmpty else { return }
    for place in rowsOfState[state] where progress[place] == .wanted && rows[place].holds(under: conditions) {
      progress[place] = .abandoned
    }
  }

  /// The rows that were not taken so.
  var missingRows: [Row] { rows.indices.filter { progress[$0] != .done }.map { rows[$0] } }

  /// The edges of the timers that were not waited for, and of those whose end cannot be told.
  var missingTimers: [Int] { timers.filter { $0.progress != .done || $0.isUnseen }.map(\.edge) }

  /// Whether a timer is still to be waited for.
  var hasWantedTimers: Bool { timers.contains { $0.progress == .wanted } }

  /// How far a timer was waited for.
  func timer(_ edge: Int) -> Timer { timers[timerOfEdge[edge]] }

  /// A number that everything which is done changes.
  var count: Int {
    progress.count { $0 != .wanted }
      + timers.reduce(0) { $0 + $1.attempts + ($1.progress == .wanted ? 0 : 1) }
  }

  /// Whether a timer is to be waited for.
  func isWanted(timer edge: Int) -> Bool {
    let place = timerOfEdge.isEmpty ? -1 : timerOfEdge[edge]
    return place >= 0 && timers[place].progress == .wanted
  }

  /// A timer is waited for, for the last time where it was so often in vain.
  mutating func begin(timer edge: Int, maximum: Int) {
    let place = timerOfEdge[edge]
    timers[place].attempts += 1
    timers[place].isBegun = false
    if timers[place].attempts >= maximum { timers[place].progress = .abandoned }
  }

  /// A timer is waited for no more.
  mutating func giveUp(timer edge: Int) {
    let place = timerOfEdge.isEmpty ? -1 : timerOfEdge[edge]
    if place >= 0 { timers[place].progress = .abandoned }
  }

  /// A timer was waited for up to its first end.
  mutating func pass(timer edge: Int) {
    if timerOfEdge.isEmpty || timerOfEdge[edge] < 0 { return }
    timers[timerOfEdge[edge]].isBegun = true
  }

  /// Whether a timer was.
  func isBegun(timer edge: Int) -> Bool {
    !timerOfEdge.isEmpty && timerOfEdge[edge] >= 0 && timers[timerOfEdge[edge]].isBegun
  }

  /// The device has ended a timer, as all that end no later.
  mutating func end(timers edges: [Int]) {
    for edge in edges where !timerOfEdge.isEmpty && timerOfEdge[edge] >= 0 {
      timers[timerOfEdge[edge]].progress = .done
    }
  }
}
