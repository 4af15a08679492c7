import Automata
import Basics

/// Executes a machine definition, with the numbers of a vocabulary: everything that a ``MachineDevice`` needs.
///
/// It works on the definition row by row, and uses no data derived from it: none of the model's tables, guards or
/// environment. The interpreter and the model therefore check each other.
struct ReferenceInterpreter: Sendable {
  /// The configuration of a machine.
  struct Configuration: Hashable, Sendable {
    /// The state.
    var state: Int
    /// The status last shown.
    var shown: Int
    /// When the state was entered.
    var since: Instant
    /// The conditions that hold, as bits.
    var holds: UInt64 = 0
    /// What holds each condition.
    var reasons: [Reason]
    /// The faults that end by themselves, with the time of the end.
    var ends: [End] = []
    /// The device's permanent choices: one option of each choice, as bits.
    var options: UInt64
    /// The values, at the entry of the state, of the conditions that count from then.
    var entry = Entry()
    /// The values of the variables; `nil` in a machine without data.
    var data: InterpretedData?
  }

  /// The conditions that held when a state was entered, as bits, and the value of each; only those that count from
  /// then.
  struct Entry: Hashable, Sendable {
    var holds: UInt64 = 0
    var values: [Interval] = []
  }

  /// What holds a condition.
  struct Reason: Hashable, Sendable {
    /// The faults that hold it: one bit for each in the order of the definition, the highest for the condition's
    /// own name.
    var faults: UInt64 = 0
    /// The value that a stimulus has set.
    var value = Interval.zero
  }

  /// A fault that ends by itself.
  struct End: Hashable, Sendable {
    var fault: String
    var time: Instant
  }

  /// One branch of a row: the row with one of its targets.
  struct Branch: Equatable, Sendable {
    /// The row of the definition.
    var row: Int32
    /// The state in which it ends.
    var target: Int32
  }

  /// An event that can happen without the tester.
  struct Option: Equatable, Sendable {
    /// Its index among the spontaneous branches of the state.
    var number: Int
    /// The earliest time.
    var earliest: Instant
    /// The latest time, or never.
    var latest: Instant
  }

  /// A row with numbers for names, or -1 for none. It fits one cache line, since a large machine has many rows.
  private struct Row: Sendable {
    /// Conditions, as bits.
    var given: UInt64
    var unless: UInt64
    /// The options with which a device has the row, as bits; zero if every device has it.
    var options: UInt64
    var earliest: Interval
    var latest: Interval
    /// The effects shown before and after the new status, and the status shown in place of the target's.
    var before: [Observation]
    var after: [Observation]
    var status: Int32
    /// The condition whose value is added to ``earliest`` and to ``latest``.
    var plus: Int16
    var enters: Bool
    /// Whether it has data.
    var hasData = false
    /// Whether the event of another row excludes it; see ``isFirst(_:of:in:at:)``.
    var event: Int32 = -1
  }

  private let definition: MachineDefinition
  private let data: MachineData?
  /// The names of the readings, for observations in place of effects.
  private let readings: [String]
  private let eventCount: Int
  private let rows: [Row]
  /// The branches that the tester causes, in the order of the rows, and where those of `state * events + event`
  /// begin.
  private let caused: [Branch]
  private let causedStart: [Int32]
  /// The spontaneous branches, in the order of the rows, and where those of a state begin.
  private let free: [Branch]
  private let freeStart: [Int32]
  private let startStates: [Int]
  private let statuses: [Int]
  private let statusNames: [String]
  private let entries: [[Observation]]
  /// The conditions that count from the entry of a state, as bits, and those of them with a value.
  private let fromEntry: UInt64
  private let valuedFromEntry: UInt64

  /// Prepares a definition; effects that the vocabulary lacks are shown as unknown.
  init(
    _ definition: MachineDefinition, _ vocabulary: Vocabulary, showsEffects: Bool, data: MachineData? = nil
  ) {
    self.definition = definition
    self.data = data
    readings = definition.readings.map(\.name)
    let shown = definition.shownReadings
    let states = Self.numbers(definition.states.map(\.name))
    let events = Self.numbers(definition.events.map(\.name))
    let eventCount = definition.events.count
    self.eventCount = eventCount
    let known = Self.numbers(vocabulary.statuses)
    let effectNumbers = Self.numbers(vocabulary.effects)
    let conditions = Self.numbers(definition.conditions.map(\.name))
    func effects(_ names: [String]) -> [Observation] {
      names.compactMap { name in
        // The value is that of the moment; see `take`.
        if shown.contains(name) { return .reading(Reading(name, .unknown)) }
        guard showsEffects else { return nil }
        return effectNumbers[name].map { .effect($0) } ?? .unknown(name)
      }
    }
    let options = Self.numbers(definition.choices.flatMap(\.options))
    func optionBits(_ names: [String]) -> UInt64 {
      names.reduce(into: 0) { bits, name in options[name].map { bits.set($0, true) } }
    }
    func bits(_ names: [String]) -> UInt64 {
      names.reduce(into: 0) { bits, name in conditions[name].map { bits.set($0, true) } }
    }
    var rows: [Row] = []
    var causedBranches = [[Branch]](repeating: [], count: definition.states.count * eventCount)
    var freeBranches = [[Branch]](repeating: [], count: definition.states.count)
    let named = Self.statesWithRows(of: definition)
    for (number, row) in definition.transitions.enumerated() {
      var event: String?
      if case .event(let name) = row.trigger { event = name }
      var enters = false
      if case .states = row.to { enters = true }
      rows.append(
        Row(
          given: bits(row.given), unless: bits(row.unless), options: optionBits(row.options),
          earliest: row.window.earliest, latest: row.window.latest, before: effects(row.before),
          after: effects(row.after),
          status: Int32(row.shows.flatMap { known[$0] } ?? -1),
          plus: Int16(row.window.plus.flatMap { conditions[$0] } ?? -1), enters: enters,
          hasData: !row.data.isEmpty, event: event.flatMap { events[$0] }.map { Int32($0) } ?? -1))
      let eventNumber = event.flatMap { events[$0] }
      let kind = eventNumber.map { definition.events[$0].kind }
      let isTesters = kind == .stimulus || kind == .both && row.window == .any
      let sources: [String] =
        switch row.from {
        case .states(let names): names
        // A row from any state applies to the states that no other row of its event names.
        case .wildcard:
          event.map { event in
            definition.states.map(\.name).filter { named[event]?.contains($0) != true }
          } ?? []
        }
      for source in sources {
        guard let state = states[source] else { continue }
        let targets: [Int] =
          switch row.to {
          case .states(let names), .shift(let names): names.compactMap { states[$0] }
          case .stay: [state]
          }
        let branches = targets.map { Branch(row: Int32(number), target: Int32($0)) }
        if isTesters, let eventNumber {
          causedBranches[state * eventCount + eventNumber] += branches
        } else {
          freeBranches[state] += branches
        }
      }
    }
    self.rows = rows
    (causedStart, caused) = flatten(causedBranches)
    (freeStart, free) = flatten(freeBranches)
    startStates = definition.starts.map { states[$0.state] ?? 0 }
    statuses = definition.states.map { known[$0.status] ?? -1 }
    statusNames = vocabulary.statuses
    entries = definition.states.map { effects($0.entry) }
    fromEntry = bits(definition.conditions.filter(\.countsFromEntry).map(\.name))
    valuedFromEntry = bits(
      definition.conditions.filter { $0.countsFromEntry && $0.stimuli != [] }.map(\.name))
  }

  private static func numbers(_ names: [String]) -> [String: Int] {
    Dictionary(zip(names, names.indices)) { first, _ in first }
  }

  /// Returns the states that the rows of each event name as their origin.
  private static func statesWithRows(of definition: MachineDefinition) -> [String: Set<String>] {
    var named: [String: Set<String>] = [:]
    for row in definition.transitions {
      guard case .event(let event) = row.trigger, case .states(let names) = row.from else { continue }
      named[event, default: []].formUnion(names)
    }
    return named
  }

  /// The number of spontaneous branches of a state.
  func freeBranchCount(of state: Int) -> Int { freeBranches(of: state).count }

  /// A spontaneous branch of a state; see ``Option/number``.
  func freeBranch(_ number: Int, of state: Int) -> Branch { free[Int(freeStart[state]) + number] }

  private func freeBranches(of state: Int) -> ArraySlice<Branch> {
    free[Int(freeStart[state])..<Int(freeStart[state + 1])]
  }

  /// Returns the configuration at the start of a test, for a device with some options.
  func start(_ number: Int, _ options: UInt64) -> Configuration {
    var configuration = Configuration(
      state: startStates[number], shown: statuses[startStates[number]], since: .zero,
      reasons: [Reason](repeating: Reason(), count: definition.conditions.count), options: options)
    enter(&configuration)
    configuration.data = data.map { InterpretedData($0, start: number) }
    return configuration
  }

  /// Returns the branches of a stimulus in a machine with data; empty if the machine refuses it.
  ///
  /// Of the rows with the same conditions and options, it takes the first whose `when` is true.
  func branches(
    on stimulus: Stimulus, from configuration: inout Configuration, at now: Instant
  ) -> [Branch] {
    let branches = branches(on: stimulus.number, from: configuration)
    guard configuration.data != nil else { return branches }
    configuration.data?.write(stimulus)
    return branches.filter { isFirst($0, of: branches, in: &configuration, at: now) }
  }

  /// Returns whether the `when` of a branch is true, and that of no branch before it with the same event, conditions and
  /// options.
  private func isFirst(
    _ branch: Branch, of branches: some Sequence<Branch>, in configuration: inout Configuration,
    at now: Instant
  ) -> Bool {
    func allows(_ number: Int32) -> Bool {
      configuration.data?.allows(Int(number), at: now, since: configuration.since) ?? true
    }
    let row = rows[Int(branch.row)]
    guard allows(branch.row) else { return false }
    guard row.event >= 0 else { return true }
    for other in branches where other.row < branch.row {
      let earlier = rows[Int(other.row)]
      if earlier.event == row.event, earlier.given == row.given, earlier.unless == row.unless,
        earlier.options == row.options, allows(other.row)
      {
        return false
      }
    }
    return true
  }

  /// Returns the branches of a stimulus; empty if the machine refuses it.
  func branches(on event: Int, from configuration: Configuration) -> [Branch] {
    let cell = configuration.state * eventCount + event
    return caused[Int(causedStart[cell])..<Int(causedStart[cell + 1])].filter {
      canBeTaken(rows[Int($0.row)], under: configuration.holds, options: configuration.options)
    }
  }

  /// Returns the events that can happen without the tester, now or later.
  func options(from configuration: Configuration) -> [Option] {
    var copy = configuration
    return options(from: &copy, at: configuration.since)
  }

  /// The same; evaluates expressions at a moment.
  func options(from configuration: inout Configuration, at now: Instant) -> [Option] {
    var options: [Option] = []
    let holds = configuration.holds & ~fromEntry | configuration.entry.holds
    for (number, branch) in freeBranches(of: configuration.state).enumerated() {
      let row = rows[Int(branch.row)]
      guard canBeTaken(row, under: holds, options: configuration.options) else { continue }
      if data != nil {
        if let option = self.option(number, branch, in: &configuration, at: now) { options.append(option) }
        continue
      }
      let longer = row.plus < 0 ? .zero : value(of: Int(row.plus), in: configuration)
      options.append(
        Option(
          number: number, earliest: configuration.since + max(.zero, row.earliest + longer),
          latest: row.latest == .forever ? .never : configuration.since + row.latest + longer))
    }
    return options
  }

  /// The event of a branch in a machine with data; `nil` if its data do not allow it.
  private func option(
    _ number: Int, _ branch: Branch, in configuration: inout Configuration, at now: Instant
  ) -> Option? {
    let row = rows[Int(branch.row)]
    let others = freeBranches(of: configuration.state).filter {
      canBeTaken(rows[Int($0.row)], under: configuration.holds, options: configuration.options)
    }
    guard isFirst(branch, of: others, in: &configuration, at: now),
      let since = configuration.data?.origin(of: Int(branch.row), since: configuration.since)
    else { return nil }
    let times = configuration.data?.times(of: Int(branch.row), since: configuration.since)
    let longer = row.plus < 0 ? .zero : value(of: Int(row.plus), in: configuration)
    let latest = times?.latest ?? row.latest
    return Option(
      number: number, earliest: since + max(.zero, (times?.earliest ?? row.earliest) + longer),
      latest: latest == .forever ? .never : since + latest + longer)
  }

  private func canBeTaken(_ row: Row, under holds: UInt64, options: UInt64) -> Bool {
    row.unless & holds == 0 && (row.given == 0 || row.given & holds != 0)
      && (row.options == 0 || row.options & options != 0)
  }

  /// Returns the time that a condition adds to a row.
  private func value(of condition: Int, in configuration: Configuration) -> Interval {
    valuedFromEntry >> UInt64(condition) & 1 == 1
      ? configuration.entry.values[condition] : configuration.reasons[condition].value
  }

  /// Records the current conditions as those at the entry of the state.
  func enter(_ configuration: inout Configuration) {
    configuration.entry.holds = configuration.holds & fromEntry
    guard valuedFromEntry != 0 else { return }
    configuration.entry.values = configuration.reasons.enumerated().map { number, reason in
      valuedFromEntry >> UInt64(number) & 1 == 1 ? reason.value : .zero
    }
  }

  /// Takes a branch, and returns its observations.
  func take(_ branch: Branch, from configuration: inout Configuration, at now: Instant) -> [Observation] {
    let row = rows[Int(branch.row)]
    let target = Int(branch.target)
    var shows = row.before
    let status = row.status >= 0 ? Int(row.status) : row.enters ? statuses[target] : configuration.shown
    if status != configuration.shown {
      shows.append(.status(status))
      end(conditionsWith: status, in: &configuration)
    }
    shows += row.after
    if row.hasData {
      for (reading, value) in configuration.data?.take(Int(branch.row), at: now, since: configuration.since)
        ?? []
      {
        let index = shows.firstIndex { observation in
          if case .reading(let shown) = observation { shown.name == readings[reading] } else { false }
        }
        if let index { shows[index] = .reading(Reading(readings[reading], value)) }
      }
    }
    configuration.state = target
    configuration.shown = status
    if row.enters {
      shows += entries[target]
      configuration.since = now
      enter(&configuration)
    }
    return shows
  }

  /// Applies a fault or a start setting to the conditions. A momentary fault has no effect.
  func apply(_ fault: Fault, to configuration: inout Configuration, at now: Instant) {
    let isOn = !fault.value.isNothing
    for (number, item) in definition.conditions.enumerated()
    where item.name == fault.name || item.faults.contains(fault.name) && !item.moments.contains(fault.name) {
      if !isOn, !item.until.isEmpty { continue }
      let own = item.name == fault.name ? 63 : item.faults.firstIndex(of: fault.name) ?? 63
      configuration.reasons[number].faults.set(own, isOn)
      configuration.holds.set(number, configuration.reasons[number].faults != 0)
      guard item.name != fault.name, item.until.isEmpty else { continue }
      configuration.ends.removeAll { $0.fault == fault.name }
      if isOn, case .duration(let interval) = fault.value {
        configuration.ends.append(End(fault: fault.name, time: now + interval))
      }
    }
  }

  /// Ends the first fault whose time has come, and returns whether there was one.
  func expire(_ configuration: inout Configuration, at now: Instant) -> Bool {
    guard let end = configuration.ends.first(where: { $0.time <= now }) else { return false }
    configuration.ends.removeAll { $0 == end }
    apply(Fault(end.fault, .flag(false)), to: &configuration, at: end.time)
    return true
  }

  /// Ends the conditions that a status ends.
  private func end(conditionsWith status: Int, in configuration: inout Configuration) {
    guard statusNames.indices.contains(status) else { return }
    for (number, item) in definition.conditions.enumerated() where item.until.contains(statusNames[status]) {
      configuration.reasons[number].faults = 0
      configuration.holds.set(number, false)
    }
  }

  /// Sets conditions by a stimulus that the device obeyed.
  func apply(_ stimulus: Stimulus, to configuration: inout Configuration) {
    guard !definition.conditions.isEmpty else { return }
    let name = definition.events[stimulus.number].name
    for (number, item) in definition.conditions.enumerated() where item.stimuli.contains(name) {
      let value: Interval =
        switch stimulus.arguments.first?.value {
        case .duration(let interval): interval
        case .integer(let seconds): .seconds(Int64(clamping: seconds))
        default: .zero
        }
      configuration.reasons[number].value = value
      configuration.holds.set(number, value > .zero)
    }
  }
}

extension UInt64 {
  fileprivate mutating func set(_ bit: Int, _ isOn: Bool) {
    self = isOn ? self | 1 << UInt64(bit) : self & ~(1 << UInt64(bit))
  }
}
