import Basics

extension RegionMachine {
  /// The maximum number of states of all regions together.
  public static let stateLimit = 10_000
  /// The maximum number of rows of all regions together.
  static let rowLimit = 200_000

  /// Returns all faults; empty if ``product()`` is a machine.
  public func findings() -> [RegionFinding] { expanded().findings }

  /// Returns the machine of all regions together, or `nil` if they have faults.
  public func product() -> RegionProduct? { expanded().product }

  /// Returns the machine of all regions together, or the faults of the regions.
  func expanded() -> (product: RegionProduct?, findings: [RegionFinding]) {
    let findings = ownFindings()
    guard findings.isEmpty else { return (nil, findings) }
    var expansion = RegionExpansion(self)
    expansion.run()
    guard expansion.findings.isEmpty else { return (nil, expansion.findings) }
    let product = expansion.product
    let rest = product.definition.findings().map { finding in
      RegionFinding(
        fault: finding.fault, place: place(of: finding.place, in: product),
        hint: product.definition.hint(for: finding.fault))
    }
    var unique: [RegionFinding] = []
    for finding in rest where !unique.contains(finding) { unique.append(finding) }
    return unique.isEmpty ? (product, []) : (nil, unique)
  }

  /// Returns the part of the regions that a part of the product stands for.
  func place(of place: DefinitionFinding.Place, in product: RegionProduct) -> RegionPlace {
    switch place {
    case .machine: return .machine
    case .state(let number):
      let vector = product.states[number]
      let shown = product.shownRegion(ofState: number, of: self)
      return .state(region: shown, vector[shown])
    case .event(let number): return .event(number)
    case .condition(let number): return .condition(number)
    case .choice(let number): return .choice(number)
    case .variable(let number): return .variable(number)
    case .start(let number): return starts.isEmpty ? .regions : .start(number)
    case .row(let number):
      let rows = product.rows[number]
      let region = rows.firstIndex { $0 >= 0 } ?? 0
      return .row(region: region, rows[region])
    }
  }
}

extension RegionProduct {
  /// Returns the first region whose state shows a status.
  fileprivate func shownRegion(ofState number: Int, of machine: RegionMachine) -> Int {
    zip(states[number], machine.regions).enumerated().first { _, side in
      !side.1.transparent.contains(side.1.states[side.0].name)
    }?.offset ?? 0
  }
}

/// The expansion of regions to one machine: all states that the regions reach together, with their rows.
private struct RegionExpansion {
  /// A row of a region that takes part in a step.
  private struct Part {
    var region: Int
    var row: Int
  }

  /// What distinguishes rows of the product that differ in more than their source.
  private struct Key: Hashable {
    /// The row of each region; a region that stays comes last.
    var rows: [Int]
    var cell: RegionCell
    var target: Target
    var start: [String]
    var stop: [String]
  }

  private enum Target: Hashable {
    case stay
    case shift([[Int]])
    case states([[Int]])
  }

  private let table: RegionTable
  private let machine: RegionMachine
  private var rows: [[Int]: [Key]] = [:]
  private var open: [[Int]] = []
  private var starts: [[Int]] = []
  private var rowCount = 0
  private(set) var findings: [RegionFinding] = []

  init(_ machine: RegionMachine) {
    self.machine = machine
    table = RegionTable(machine)
    let usual = table.sides.map(\.start)
    starts = machine.starts.map { start in
      var vector = usual
      for (name, state) in start.states {
        guard let region = machine.regions.firstIndex(where: { $0.name == name }) else { continue }
        vector[region] = machine.regions[region].states.firstIndex { $0.name == state } ?? 0
      }
      return vector
    }
    if starts.isEmpty { starts = [usual] }
  }

  mutating func run() {
    for start in starts { reach(start) }
    var next = 0
    while next < open.count {
      guard open.count <= RegionMachine.stateLimit else {
        return report(.tooManyStates(limit: RegionMachine.stateLimit), at: .regions)
      }
      guard rowCount <= RegionMachine.rowLimit else {
        let fault = DefinitionFault.tooLarge(what: "rows", count: rowCount, limit: RegionMachine.rowLimit)
        findings.append(RegionFinding(fault: fault, place: .regions, hint: nil))
        return
      }
      expand(open[next])
      next += 1
    }
  }

  private mutating func reach(_ vector: [Int]) {
    guard rows[vector] == nil else { return }
    rows[vector] = []
    open.append(vector)
    if table.sides.indices.allSatisfy({ table.sides[$0].statuses[vector[$0]] == nil }),
      let last = vector.indices.last
    {
      let names = vector.indices.map { table.sides[$0].states[vector[$0]].name }
      report(.noStatus(state: names.joined(separator: ", ")), at: .state(region: last, vector[last]))
    }
  }

  private mutating func report(_ fault: RegionFault, at place: RegionPlace) {
    let finding = RegionFinding(fault, at: place)
    if !findings.contains(finding) { findings.append(finding) }
  }

  // MARK: The rows of a state

  private mutating func expand(_ vector: [Int]) {
    for event in machine.shared.events.indices {
      for isCaused in [true, false] {
        let lists = table.sides.indices.map {
          table.rows(of: $0, event: event, isCaused: isCaused, at: vector)
        }
        let active = lists.indices.filter { !lists[$0].isEmpty }
        if active.count < 2 {
          addAlone(lists, at: vector)
        } else if !isCaused, let timed = firstTimed(lists) {
          report(.severalTimes(event: name(event), regions: names(active)), at: timed)
        } else {
          join(lists, event: event, at: vector)
        }
      }
    }
    addAlone(
      table.sides.indices.map { table.rows(of: $0, event: nil, isCaused: false, at: vector) }, at: vector)
  }

  private func name(_ event: Int) -> String { machine.shared.events[event].name }

  private func names(_ regions: [Int]) -> [String] { regions.prefix(2).map { table.sides[$0].name } }

  private func firstTimed(_ lists: [[Int]]) -> RegionPlace? {
    for (region, list) in lists.enumerated() {
      if let row = list.first(where: { table.sides[region].rows[$0].isTimed }) {
        return .row(region: region, row)
      }
    }
    return nil
  }

  /// Adds rows in which one region moves and the others stay.
  private mutating func addAlone(_ lists: [[Int]], at vector: [Int]) {
    for (region, list) in lists.enumerated() {
      for row in list {
        let transition = table.sides[region].rows[row].transition
        let cell = RegionCell(
          given: transition.given, unless: transition.unless, options: transition.options)
        add([Part(region: region, row: row)], in: cell, at: vector)
      }
    }
  }

  /// Adds the rows of an event for which several regions have rows: each combination of rows, and of staying, that can
  /// occur. They form a list in which the first is taken whose `when` is true, as in each region.
  private mutating func join(_ lists: [[Int]], event: Int, at vector: [Int]) {
    let active = lists.indices.filter { !lists[$0].isEmpty }
    let rows = active.flatMap { region in lists[region].map { table.sides[region].rows[$0].transition } }
    guard let cells = RegionCell.cells(of: rows, in: machine.shared) else {
      return report(.choices(event: name(event)), at: .row(region: active[1], lists[active[1]][0]))
    }
    for cell in cells {
      var applicable = lists
      for region in active {
        applicable[region].removeAll { !cell.fulfils(table.sides[region].rows[$0].transition) }
        let groups = applicable[region].map { table.sides[region].rows[$0].group }
        if let other = groups.firstIndex(where: { $0 != groups[0] }) {
          let fault = RegionFault.alternatives(event: name(event), regions: names(active))
          return report(fault, at: .row(region: region, applicable[region][other]))
        }
      }
      guard let first = applicable.firstIndex(where: { !$0.isEmpty }) else { continue }
      guard let cell = cell.joined else {
        let fault = RegionFault.conditions(event: name(event), regions: names(active))
        return report(fault, at: .row(region: first, applicable[first][0]))
      }
      for parts in combinations(of: applicable) where !parts.isEmpty { add(parts, in: cell, at: vector) }
    }
  }

  /// Returns the combinations of rows, in the order of the regions. A region whose rows all have a `when` may also stay.
  private func combinations(of lists: [[Int]]) -> [[Part]] {
    lists.enumerated().reduce([[]]) { combinations, side in
      let (region, list) = side
      var members = list.map { [Part(region: region, row: $0)] }
      let mayStay = list.last.map { table.sides[region].rows[$0].transition.data.when != nil } ?? true
      if mayStay { members.append([]) }
      return combinations.flatMap { parts in members.map { parts + $0 } }
    }
  }

  /// Adds a row in which some regions move, each by a row of its own.
  private mutating func add(_ parts: [Part], in cell: RegionCell, at vector: [Int]) {
    checkConflicts(of: parts)
    var targets = vector.map { [$0] }
    var start: [String] = []
    var stop: [String] = []
    var numbers = [Int](repeating: .max, count: vector.count)
    var (enters, moves) = (false, false)
    for part in parts {
      let side = table.sides[part.region]
      let row = side.rows[part.row]
      numbers[part.region] = part.row
      start += row.transition.data.start
      stop += row.transition.data.stop
      if !row.targets.isEmpty {
        targets[part.region] = row.targets
        moves = true
      }
      guard row.enters else { continue }
      enters = true
      if row.targets.contains(where: { side.needsClock[$0] }) {
        start.append(side.name)
      } else if side.mayRunClock[vector[part.region]], !row.usesClock {
        stop.append(side.name)
      }
      if row.targets.contains(where: { side.states[$0].entry != side.states[row.targets[0]].entry }) {
        report(
          .severalEntries(event: RowLabel(row.transition).description),
          at: .row(region: part.region, part.row))
      }
    }
    let vectors = targets.reduce([[]]) { vectors, states in
      vectors.flatMap { vector in states.map { vector + [$0] } }
    }
    for vector in vectors { reach(vector) }
    let target = enters ? Target.states(vectors) : moves ? .shift(vectors) : .stay
    rows[vector]?.append(Key(rows: numbers, cell: cell, target: target, start: start, stop: stop))
    rowCount += 1
  }

  /// Reports what two regions would do at once.
  private mutating func checkConflicts(of parts: [Part]) {
    guard parts.count > 1 else { return }
    var seen: [String: Int] = [:]
    for part in parts {
      let row = table.sides[part.region].rows[part.row].transition
      let event = RowLabel(row).description
      let timers = row.data.start + row.data.stop + (row.data.timer.map { [$0] } ?? [])
      let changes =
        row.data.set.map { "'\($0.variable)'" } + Set(timers).sorted().map { "timer '\($0)'" }
        + row.data.due.map { "reading '\($0.reading)'" } + (row.shows == nil ? [] : [""])
      for change in changes {
        guard let other = seen.updateValue(part.region, forKey: change), other != part.region else {
          continue
        }
        let regions = names([other, part.region])
        report(
          change.isEmpty
            ? .severalOutputs(event: event, regions: regions)
            : .conflict(event: event, what: change, regions: regions),
          at: .row(region: part.region, part.row))
      }
    }
  }
}

// MARK: - The product

extension RegionExpansion {
  /// The machine of the rows that were added.
  var product: RegionProduct {
    let vectors = rows.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let names = RegionNames(table)
    var definition = machine.shared
    definition.states = vectors.map { vector in
      let shown = names.shown(vector)
      let state = table.sides[shown].states[vector[shown]]
      return State(
        names.name(vector), status: state.status,
        region: table.sides.count > 1 ? table.sides[shown].name : "")
    }
    let settings = machine.starts.isEmpty ? [RegionStart()] : machine.starts
    definition.starts = zip(starts, settings).map { vector, start in
      let clocks = table.sides.indices.filter { table.sides[$0].needsClock[vector[$0]] }
      return Start(
        names.name(vector), when: start.conditions, set: start.set,
        start: start.start + clocks.map { table.sides[$0].name })
    }
    var sources: [Key: [String]] = [:]
    var keys: [Key] = []
    for vector in vectors {
      for key in rows[vector] ?? [] {
        if sources[key] == nil { keys.append(key) }
        sources[key, default: []].append(names.name(vector))
      }
    }
    // The order in which the rows of each region stand; of equal ones, that of their sources.
    let sorted = keys.enumerated().sorted { left, right in
      left.element.rows == right.element.rows
        ? left.offset < right.offset : left.element.rows.lexicographicallyPrecedes(right.element.rows)
    }.map(\.element)
    definition.transitions = sorted.map { row($0, from: sources[$0] ?? [], names) }
    return RegionProduct(
      definition: definition, states: vectors,
      rows: sorted.map { key in key.rows.map { $0 == .max ? -1 : $0 } })
  }

  private func row(_ key: Key, from sources: [String], _ names: RegionNames) -> Transition {
    let parts = key.rows.indices.filter { key.rows[$0] != .max }.map {
      (side: table.sides[$0], row: table.sides[$0].rows[key.rows[$0]])
    }
    let rows = parts.map(\.row.transition)
    let target: Transition.Target =
      switch key.target {
      case .stay: .stay
      case .shift(let vectors): .shift(vectors.map(names.name))
      case .states(let vectors): .states(vectors.map(names.name))
      }
    let timed = rows.first { $0.isTimed }
    let guards = rows.compactMap(\.data.when)
    let clock = parts.first(where: \.row.usesClock)
    var data = RowData(
      when: guards.count < 2 ? guards.first : guards.map { "(\($0))" }.joined(separator: " && "),
      set: rows.flatMap(\.data.set), due: rows.flatMap(\.data.due), start: key.start, stop: key.stop,
      timer: clock?.side.name ?? rows.compactMap(\.data.timer).first,
      keepsTimer: clock.map { !$0.row.enters } ?? rows.contains(where: \.data.keepsTimer))
    data.earliest = timed?.data.earliest
    data.latest = timed?.data.latest
    return Transition(
      rows[0].trigger, from: .states(sources), to: target, window: timed?.window ?? .any,
      before: rows.flatMap(\.before),
      after: parts.flatMap { side, row in
        row.transition.after + (row.enters ? side.states[row.targets[0]].entry : [])
      },
      shows: rows.compactMap(\.shows).first, given: key.cell.given, unless: key.cell.unless,
      options: key.cell.options, data: data, origin: rows.contains { $0.origin == .ours } ? .ours : .seed)
  }
}

/// The names of the states of all regions together.
private struct RegionNames {
  private let table: RegionTable
  /// Whether no two regions have states of one name.
  private let areDistinct: Bool

  init(_ table: RegionTable) {
    self.table = table
    let names = table.sides.flatMap { $0.states.map(\.name) }
    areDistinct = Set(names).count == names.count
  }

  /// The first region that shows a status.
  func shown(_ vector: [Int]) -> Int {
    table.sides.indices.first { table.sides[$0].statuses[vector[$0]] != nil } ?? 0
  }

  /// Returns the state that is shown, and then the others: `locked (connected)`.
  func name(_ vector: [Int]) -> String {
    let shown = shown(vector)
    let name = table.sides[shown].states[vector[shown]].name
    guard table.sides.count > 1 else { return name }
    let base = State.status(of: name)
    guard areDistinct else {
      let all = table.sides.indices.map {
        "\(table.sides[$0].name): \(table.sides[$0].states[vector[$0]].name)"
      }
      return "\(base) (\(all.joined(separator: ", ")))"
    }
    let own = base == name ? [] : [String(name.dropFirst(base.count + 2).dropLast())]
    let others = table.sides.indices.filter { $0 != shown }.map { table.sides[$0].states[vector[$0]].name }
    return "\(base) (\((own + others).joined(separator: ", ")))"
  }
}
