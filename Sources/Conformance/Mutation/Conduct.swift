import Automata
import Basics

/// What a machine does, in the numbers of a vocabulary: what a device needs that is nothing but a machine.
///
/// Written beside ``Specification``, not with it: each is the other's check.
struct Conduct: Sendable {
  /// Where a machine stands.
  struct Standing: Equatable, Sendable {
    /// The state.
    var state: Int
    /// The status last shown.
    var shown: Int
    /// When the state was entered.
    var since: Instant
    /// The circumstances that hold, as bits.
    var circumstances: UInt64 = 0
    /// What brings each circumstance about: a bit for each of its faults, the highest for its own name.
    var holders: [UInt64]
    /// The values of circumstances.
    var values: [Interval]
  }

  /// Something that can happen without the tester.
  struct Option: Equatable, Sendable {
    /// Its place among the spontaneous edges of the state.
    var number: Int
    /// From when on.
    var earliest: Instant
    /// By when, or never.
    var latest: Instant
  }

  /// What a row shows beside the new status.
  private struct Row: Sendable {
    var before: [Observation]
    var after: [Observation]
    var status: Int?
  }

  let machine: Machine
  private let rows: [Row]
  private let statuses: [Int]
  private let entries: [[Observation]]
  /// The circumstances that a status ends, and the names of the statuses.
  private let endings: [Int]
  private let names: [String]

  /// Prepares a machine; what the vocabulary does not have is shown as unknown.
  init(_ machine: Machine, _ vocabulary: Vocabulary, showsEffects: Bool) {
    self.machine = machine
    let definition = machine.definition
    func effects(_ names: [String]) -> [Observation] {
      showsEffects ? names.map { vocabulary.observation(ofEffect: $0) } : []
    }
    rows = definition.transitions.map { row in
      Row(
        before: effects(row.before), after: effects(row.after),
        status: row.shows.flatMap { vocabulary.status($0) })
    }
    statuses = definition.states.map { vocabulary.status($0.status) ?? -1 }
    entries = definition.states.map { effects($0.entry) }
    endings = definition.circumstances.indices.filter { !definition.circumstances[$0].until.isEmpty }
    names = vocabulary.statuses
  }

  /// Where a test starts.
  func start(_ number: Int) -> Standing {
    let state = machine.state(named: machine.definition.starts[number].state) ?? 0
    let count = machine.definition.circumstances.count
    return Standing(
      state: state, shown: statuses[state], since: .zero, holders: [UInt64](repeating: 0, count: count),
      values: [Interval](repeating: .zero, count: count))
  }

  /// The ways on which a stimulus leads; none is a refusal.
  func ways(on event: Int, from standing: Standing) -> [Machine.Edge] {
    machine.caused[standing.state * machine.eventCount + event].filter {
      $0.isEnabled(under: standing.circumstances)
    }
  }

  /// What can happen without the tester, now or later.
  func options(from standing: Standing) -> [Option] {
    var options: [Option] = []
    for (number, edge) in machine.spontaneous[standing.state].enumerated()
    where edge.isEnabled(under: standing.circumstances) {
      let limit = edge.plus.map { edge.latest + standing.values[$0] } ?? edge.latest
      options.append(
        Option(
          number: number, earliest: standing.since + edge.earliest,
          latest: edge.latest == .forever ? .never : standing.since + limit))
    }
    return options
  }

  /// Goes along an edge, and gives what is shown on the way.
  func take(_ edge: Machine.Edge, from standing: inout Standing, at now: Instant) -> [Observation] {
    let row = rows[edge.transition]
    var shows = row.before
    let status = row.status ?? (edge.enters ? statuses[edge.target] : standing.shown)
    if status != standing.shown {
      shows.append(.status(status))
      end(circumstancesWith: status, in: &standing)
    }
    shows += row.after
    standing.state = edge.target
    standing.shown = status
    if edge.enters {
      shows += entries[edge.target]
      standing.since = now
    }
    return shows
  }

  /// Lets a fault or a start setting have its effect on circumstances.
  func apply(_ fault: Fault, to standing: inout Standing) {
    for (number, item) in machine.definition.circumstances.enumerated() {
      let place = item.faults.firstIndex(of: fault.name) ?? (item.name == fault.name ? 63 : -1)
      guard place >= 0 else { continue }
      let holder: UInt64 = 1 << UInt64(min(place, 63))
      if !fault.value.isNothing {
        standing.holders[number] |= holder
      } else if item.until.isEmpty {
        standing.holders[number] &= ~holder
      }
      hold(number, standing.holders[number] != 0, in: &standing)
    }
  }

  /// Ends the circumstances that a status ends.
  private func end(circumstancesWith status: Int, in standing: inout Standing) {
    guard !endings.isEmpty, status >= 0 else { return }
    for number in endings where machine.definition.circumstances[number].until.contains(names[status]) {
      standing.holders[number] = 0
      hold(number, false, in: &standing)
    }
  }

  private func hold(_ number: Int, _ holds: Bool, in standing: inout Standing) {
    let bit: UInt64 = 1 << UInt64(number)
    standing.circumstances = holds ? standing.circumstances | bit : standing.circumstances & ~bit
  }

  /// Lets a stimulus that was obeyed set circumstances.
  func apply(_ stimulus: Stimulus, to standing: inout Standing) {
    guard !standing.values.isEmpty else { return }
    let name = machine.definition.events[stimulus.number].name
    for (number, item) in machine.definition.circumstances.enumerated() where item.stimuli.contains(name) {
      let value: Interval =
        switch stimulus.arguments.first?.value {
        case .duration(let interval): interval
        case .integer(let seconds): .seconds(Int64(clamping: seconds))
        default: .zero
        }
      standing.values[number] = value
      hold(number, value > .zero, in: &standing)
    }
  }
}
