import Basics
import Documents
import Expressions

/// The regions of a machine without faults of its own, with numbers for names.
struct RegionTable {
  /// A row of a region.
  struct Row {
    var transition: Transition
    /// The number of the event, or `nil` for a timer.
    var event: Int?
    var isCaused: Bool
    /// The states to which it leads; empty if it stays.
    var targets: [Int]
    /// Whether its times count from the entry of the region's state.
    var usesClock: Bool
    /// The states in which other regions must be.
    var inside: [(region: Int, states: Set<Int>)]

    /// Whether it can only happen at certain times.
    var isTimed: Bool { transition.isTimed || transition.data.timer != nil }
    var enters: Bool { transition.to.enters }
    var group: RowGroup { RowGroup(transition) }
  }

  /// What the rows have in common of which the first is taken whose `when` is true.
  struct RowGroup: Hashable {
    var given: Set<String>
    var unless: Set<String>
    var options: Set<String>

    init(_ row: Transition) {
      given = Set(row.given)
      unless = Set(row.unless)
      options = Set(row.options)
    }
  }

  /// A region.
  struct Side {
    var name: String
    var states: [State]
    /// The status that each state shows, or `nil` if it is transparent.
    var statuses: [String?]
    var rows: [Row] = []
    /// For each state, the rows that lead from it.
    var rowsFrom: [[Int]]
    /// The states in which the clock of the region must run: its rows with a time count from their entry.
    var needsClock: [Bool] = []
    /// The states in which the clock may run.
    var mayRunClock: [Bool] = []
    var start: Int
  }

  let machine: RegionMachine
  private(set) var sides: [Side] = []

  init(_ machine: RegionMachine) {
    self.machine = machine
    let events = Dictionary(
      machine.shared.events.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { $1 })
    for (number, region) in machine.regions.enumerated() {
      let wildcards = Wildcards(machine.alone(number))
      var side = Side(
        name: region.name, states: region.states,
        statuses: region.states.map { region.transparent.contains($0.name) ? nil : $0.status },
        rowsFrom: [[Int]](repeating: [], count: region.states.count), start: 0)
      side.start = side.number(of: region.start)
      for row in region.rows {
        for state in wildcards.sources(of: row.transition) {
          side.rowsFrom[side.number(of: state)].append(side.rows.count)
        }
        var event: Int?
        if case .event(let name) = row.transition.trigger { event = events[name] }
        let kind = event.map { machine.shared.events[$0].kind }
        side.rows.append(
          Row(
            transition: row.transition, event: event,
            isCaused: kind.map { row.transition.isCausedByTester($0) } ?? false,
            targets: row.transition.targets.map { side.number(of: $0) },
            usesClock: row.transition.isTimed && row.transition.data.timer == nil,
            inside: row.inside.map { machine.numbers(of: $0) }))
      }
      side.findClock()
      sides.append(side)
    }
  }

  /// Returns the rows of an event, or the timers, in which a region can take part.
  func rows(of region: Int, event: Int?, isCaused: Bool, at vector: [Int]) -> [Int] {
    var open: [RowGroup: Bool] = [:]
    return sides[region].rowsFrom[vector[region]].filter { number in
      let row = sides[region].rows[number]
      guard row.event == event, row.isCaused == isCaused,
        row.inside.allSatisfy({ $0.states.contains(vector[$0.region]) })
      else { return false }
      guard event != nil else { return true }
      // The rows after one without `when` are never taken.
      guard open[row.group] != false else { return false }
      open[row.group] = row.transition.data.when != nil
      return true
    }
  }
}

extension RegionTable.Side {
  fileprivate func number(of name: String) -> Int { states.firstIndex { $0.name == name } ?? 0 }

  /// Finds the states in which the clock runs.
  fileprivate mutating func findClock() {
    needsClock = rowsFrom.map { $0.contains { rows[$0].usesClock } }
    // The time of a state that shifts continues in the next one.
    spread(&needsClock) { source, row, marks in
      !row.enters && row.targets.contains { marks[$0] } ? [source] : []
    }
    mayRunClock = needsClock
    spread(&mayRunClock) { source, row, marks in
      let runs = row.enters ? row.targets.contains { needsClock[$0] } : marks[source]
      return runs ? row.targets : []
    }
  }

  private func spread(
    _ marks: inout [Bool], _ targets: (Int, RegionTable.Row, [Bool]) -> [Int]
  ) {
    var changed = true
    while changed {
      changed = false
      for source in states.indices {
        for number in rowsFrom[source] {
          for target in targets(source, rows[number], marks) where !marks[target] {
            marks[target] = true
            changed = true
          }
        }
      }
    }
  }
}

extension RegionMachine {
  fileprivate func numbers(of requirement: Region.Requirement) -> (region: Int, states: Set<Int>) {
    let number = regions.firstIndex { $0.name == requirement.region } ?? 0
    let states = regions[number].states.indices.filter {
      requirement.states.contains(regions[number].states[$0].name)
    }
    return (number, Set(states))
  }

  /// Returns one region as a machine, for checks. A row with `in` is conditional.
  func alone(_ number: Int) -> MachineDefinition {
    let region = regions[number]
    var definition = shared
    definition.states = region.states
    for index in definition.states.indices where region.transparent.contains(definition.states[index].name) {
      definition.states[index].status = ""
    }
    definition.starts = [Start(region.start)]
    if number == 0, !starts.isEmpty {
      definition.starts = starts.map { Start(region.start, when: $0.conditions, set: $0.set) }
    }
    definition.transitions = region.rows.map { row in
      var transition = row.transition
      if !row.inside.isEmpty, transition.data.when == nil { transition.data.when = "true" }
      return transition
    }
    return definition
  }
}

extension Transition {
  fileprivate var targets: [String] {
    switch to {
    case .states(let names), .shift(let names): names
    case .stay: []
    }
  }
}

// MARK: - Faults of the regions one by one

extension RegionMachine {
  /// Returns the faults that each region has alone, and those of names.
  func ownFindings() -> [RegionFinding] {
    var findings: [RegionFinding] = []
    var names = Set<String>()
    let timers = regions.flatMap { $0.rows.flatMap(\.transition.data.start) } + starts.flatMap(\.start)
    for (number, region) in regions.enumerated() {
      if !names.insert(region.name).inserted {
        findings.append(.init(.duplicateRegion(region.name), at: .region(number)))
      }
      let alone = alone(number)
      for finding in alone.findings() {
        guard let place = place(of: finding, region: number) else { continue }
        let found = RegionFinding(
          fault: finding.fault, place: place, hint: alone.hint(for: finding.fault))
        if !findings.contains(found) { findings.append(found) }
      }
      for (index, row) in region.rows.enumerated() {
        findings += self.findings(of: row, region: number, timers: timers).map {
          RegionFinding(fault: $0, place: .row(region: number, index), hint: hint(for: $0, timers: timers))
        }
      }
    }
    if regions.isEmpty { findings.append(RegionFinding(fault: .noStates, place: .regions)) }
    for (number, start) in starts.enumerated() {
      for (name, state) in start.states {
        findings += faults(ofState: state, region: name).map {
          RegionFinding(fault: $0, place: .start(number), hint: hint(for: $0, timers: timers))
        }
      }
    }
    return findings
  }

  /// Returns the place of a fault of a region alone, or `nil` if other regions decide whether it is one.
  private func place(of finding: DefinitionFinding, region: Int) -> RegionPlace? {
    switch finding.fault {
    case .noTransitions, .statusNotDefined, .timerNotStarted: return nil
    case .startNotDefined: return .region(region)
    default: break
    }
    return switch finding.place {
    case .machine: .machine
    case .state(let number): .state(region: region, number)
    case .event(let number): .event(number)
    case .condition(let number): .condition(number)
    case .choice(let number): .choice(number)
    case .variable(let number): .variable(number)
    case .start(let number): region == 0 && !starts.isEmpty ? .start(number) : .region(region)
    case .row(let number): .row(region: region, number)
    }
  }

  private func faults(ofState state: String, region name: String) -> [DefinitionFault] {
    guard let region = regions.first(where: { $0.name == name }) else { return [.region(.notDefined(name))] }
    return region.states.contains { $0.name == state }
      ? [] : [.region(.stateNotDefined(region: name, state: state))]
  }

  private func findings(of row: Region.Row, region: Int, timers: [String]) -> [DefinitionFault] {
    let transition = row.transition
    let data = transition.data
    let label = RowLabel(transition).description
    var faults: [DefinitionFault] = []
    for requirement in row.inside {
      if requirement.region == regions[region].name {
        faults.append(.region(.ownState(region: requirement.region)))
      } else if requirement.states.isEmpty {
        faults += self.faults(ofState: "", region: requirement.region)
      }
      for state in requirement.states { faults += self.faults(ofState: state, region: requirement.region) }
    }
    let named = data.start + data.stop + (data.timer.map { [$0] } ?? [])
    faults += named.filter { name in regions.contains { $0.name == name } }.map { .region(.timerName($0)) }
    faults += named.filter { !timers.contains($0) }.map { .timerNotStarted($0) }
    let texts =
      [data.when, data.earliest, data.latest].compactMap { $0 } + data.set.map(\.value)
      + data.due.compactMap(\.value)
    if texts.contains(where: { (try? Syntax(parsing: $0))?.names.contains("elapsed") == true }) {
      faults.append(.region(.elapsed(event: label)))
    }
    var kind = Event.Kind.spontaneous
    if case .event(let name) = transition.trigger {
      kind = shared.events.first { $0.name == name }?.kind ?? kind
    }
    if !transition.isCausedByTester(kind) {
      let used = transition.given + transition.unless + (transition.window.plus.map { [$0] } ?? [])
      let counting = Set(shared.conditions.filter(\.countsFromEntry).map(\.name))
      faults += used.filter(counting.contains).map { .region(.fromEntry(event: label, condition: $0)) }
    }
    // A region alone does not tell this of a row with `in`.
    if !row.inside.isEmpty, transition.to == .stay, transition.window.latest != .forever,
      transition.given.isEmpty, transition.unless.isEmpty, data.isEmpty
    {
      faults.append(.repeatedDeadline(event: label))
    }
    return faults
  }

  private func hint(for fault: DefinitionFault, timers: [String]) -> Advice? {
    switch fault {
    case .region(.notDefined(let name)): return .nearest(to: name, of: regions.map(\.name))
    case .region(.stateNotDefined(let region, let state)):
      let states = regions.first { $0.name == region }?.states ?? []
      return .nearest(to: state, of: states.map(\.name))
    case .region(let fault): return fault.advice.map { .words($0) }
    case .timerNotStarted(let name): return .nearest(to: name, of: timers)
    default: return nil
    }
  }
}

extension RegionFinding {
  /// Makes a finding of a fault of regions.
  init(_ fault: RegionFault, at place: RegionPlace) {
    self.init(fault: .region(fault), place: place, hint: fault.advice.map { .words($0) })
  }
}
