import Automata
import Basics

/// The values of the variables of random machines.
struct RegionValues: Hashable {
  var a = 0
  var b = 0
  var f = false
  /// The argument of the event; zero for a timer.
  var n = 0
}

/// The expressions of random machines, each with its meaning.
enum RegionExpressions {
  static let guards: [(text: String, isTrue: @Sendable (RegionValues) -> Bool)] = [
    ("a < 2", { $0.a < 2 }), ("a == b", { $0.a == $0.b }), ("f", { $0.f }),
    ("!f || a > 1", { !$0.f || $0.a > 1 }),
    ("b > 0 && !f", { $0.b > 0 && !$0.f }), ("n == a", { $0.n == $0.a }),
    ("n > 0 || f", { $0.n > 0 || $0.f }),
  ]
  static let changes:
    [(variable: String, text: String, apply: @Sendable (RegionValues, inout RegionValues) -> Void)] = [
      ("a", "b", { $1.a = $0.b }), ("b", "a", { $1.b = $0.a }), ("f", "!f", { $1.f = !$0.f }),
      ("a", "a + 1", { $1.a = min(3, $0.a + 1) }),
      ("b", "f ? 0 : b + 1", { $1.b = $0.f ? 0 : min(3, $0.b + 1) }),
      ("f", "a == b", { $1.f = $0.a == $0.b }), ("b", "n", { $1.b = $0.n }),
    ]

  /// Returns whether a guard is true: an expression of the list, or several that are joined.
  static func isTrue(_ text: String?, _ values: RegionValues) -> Bool {
    guard var text else { return true }
    if text.hasPrefix("(") { text = String(text.dropFirst().dropLast()) }
    return text.split(separator: ") && (").allSatisfy { part in
      guards.first { $0.text == part }.map { $0.isTrue(values) } ?? false
    }
  }

  static func apply(_ assignments: [Assignment], _ old: RegionValues, to new: inout RegionValues) {
    for assignment in assignments {
      changes.first { $0.variable == assignment.variable && $0.text == assignment.value }?.apply(old, &new)
    }
  }
}

/// What an observer, and the author of the machine, can tell about the end of a step.
struct RegionOutcome: Hashable {
  var shows: [String]
  var status: String
  /// The state of each region.
  var states: [String]
  var values: RegionValues
  /// The named timers that run, and the clocks of the regions that count for some row.
  var timers: [String: Instant]
}

/// What happens around a machine.
struct RegionSurroundings {
  var conditions: Set<String> = []
  var option = "o1"
  var now = Instant.zero
}

/// A machine of regions as the page *Machine files* describes it, without the product.
struct RegionInterpreter: Hashable {
  let machine: RegionMachine
  var states: [String]
  var entered: [Instant]
  var timers: [String: Instant] = [:]
  var values = RegionValues()
  var status = ""

  static func == (left: Self, right: Self) -> Bool {
    left.states == right.states && left.entered == right.entered && left.timers == right.timers
      && left.values == right.values && left.status == right.status && left.shows == right.shows
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(states)
    hasher.combine(values)
  }

  init(_ machine: RegionMachine) {
    self.machine = machine
    states = machine.regions.map(\.start)
    entered = states.map { _ in .zero }
    status = seen
  }

  /// The status of the first region whose state is not transparent.
  private var seen: String {
    for (region, state) in zip(machine.regions, states) where !region.transparent.contains(state) {
      return region.states.first { $0.name == state }?.status ?? ""
    }
    return ""
  }

  /// The rows of a region that lead from its state, with `in` and conditions that hold.
  private func rows(
    _ region: Region, _ number: Int, _ trigger: Transition.Trigger, _ around: RegionSurroundings
  ) -> [Transition] {
    let own = Set(
      region.rows.filter { $0.transition.trigger == trigger }.flatMap { row -> [String] in
        if case .states(let names) = row.transition.from { names } else { [] }
      })
    return region.rows.filter { row in
      guard row.transition.trigger == trigger else { return false }
      switch row.transition.from {
      case .states(let names): if !names.contains(states[number]) { return false }
      case .wildcard: if own.contains(states[number]) { return false }
      }
      return row.inside.allSatisfy { required in
        zip(machine.regions, states).contains { $0.name == required.region && required.states.contains($1) }
      }
    }.map(\.transition).filter {
      ($0.given.isEmpty || !around.conditions.isDisjoint(with: $0.given))
        && around.conditions.isDisjoint(with: $0.unless)
        && ($0.options.isEmpty || $0.options.contains(around.option))
    }
  }

  /// Of the rows with the same conditions, the first whose `when` is true.
  private func first(of rows: [Transition], _ values: RegionValues) -> [Transition] {
    var seen: [[Set<String>]] = []
    return rows.filter { row in
      let group = [Set(row.given), Set(row.unless), Set(row.options)]
      guard RegionExpressions.isTrue(row.data.when, values), !seen.contains(group) else { return false }
      seen.append(group)
      return true
    }
  }

  /// When a row may happen without the tester; `nil` if its timer does not run.
  private func times(of row: Transition, _ number: Int) -> ClosedRange<Instant>? {
    let origin = row.data.timer.map { timers[$0] } ?? entered[number]
    guard let origin else { return nil }
    let latest = row.window.latest == .forever ? Instant.never : origin + row.window.latest
    return origin + row.window.earliest...max(latest, origin + row.window.earliest)
  }

  private func isTesters(_ row: Transition) -> Bool {
    guard case .event(let name) = row.trigger else { return false }
    switch machine.shared.events.first(where: { $0.name == name })?.kind {
    case .stimulus: return true
    case .both: return row.window == .any
    default: return false
    }
  }

  /// What may follow a stimulus; empty if the device must refuse it.
  func outcomes(of event: String, _ n: Int, _ around: RegionSurroundings) -> [Self] {
    var values = values
    values.n = n
    return step(values, around) { number in
      first(of: rows(machine.regions[number], number, .event(event), around).filter(isTesters), values)
    }
  }

  /// What may happen now without the tester.
  func free(_ around: RegionSurroundings) -> [Self] {
    var all: [Self] = []
    for event in machine.shared.events where event.kind != .stimulus {
      all += step(values, around) { number in
        let rows = rows(machine.regions[number], number, .event(event.name), around).filter { !isTesters($0) }
        return first(of: rows, values).filter {
          times(of: $0, number).map { $0.lowerBound <= around.now } ?? false
        }
      }
    }
    for number in states.indices {
      for row in rows(machine.regions[number], number, .timer, around)
      where RegionExpressions.isTrue(row.data.when, values) {
        guard let times = times(of: row, number), times.lowerBound <= around.now else { continue }
        all += step(values, around) { $0 == number ? [row] : [] }
      }
    }
    return all
  }

  /// When something must have happened.
  func deadline(_ around: RegionSurroundings) -> Instant {
    var deadline = Instant.never
    for number in states.indices {
      let triggers = [Transition.Trigger.timer] + machine.shared.events.map { .event($0.name) }
      for trigger in triggers {
        let rows = rows(machine.regions[number], number, trigger, around).filter { !isTesters($0) }
        let possible =
          trigger == .timer
          ? rows.filter { RegionExpressions.isTrue($0.data.when, values) } : first(of: rows, values)
        for row in possible {
          if let times = times(of: row, number) { deadline = min(deadline, times.upperBound) }
        }
      }
    }
    return deadline
  }

  /// Moves all regions at once, each by one of its rows, if it has any.
  private func step(
    _ values: RegionValues, _ around: RegionSurroundings, _ rows: (Int) -> [Transition]
  ) -> [Self] {
    var choices: [[(row: Transition, target: String)?]] = [[]]
    var moves = false
    for number in states.indices {
      var own: [(Transition, String)?] = []
      for row in rows(number) {
        switch row.to {
        case .stay: own.append((row, states[number]))
        case .states(let names), .shift(let names): own += names.map { (row, $0) }
        }
      }
      if own.isEmpty { own = [nil] } else { moves = true }
      choices = choices.flatMap { choice in own.map { choice + [$0] } }
    }
    return moves ? choices.map { move(by: $0, values, around) } : []
  }

  /// What the last step showed, the status included.
  var shows: [String] = []

  private func move(
    by choice: [(row: Transition, target: String)?], _ old: RegionValues, _ around: RegionSurroundings
  ) -> Self {
    var next = self
    next.shows = choice.flatMap { $0?.row.before ?? [] }
    var after: [String] = []
    var output: String?
    var isEntry = false
    for (number, step) in choice.enumerated() {
      guard let (row, target) = step else { continue }
      RegionExpressions.apply(row.data.set, old, to: &next.values)
      if let timer = row.data.timer, !row.data.keepsTimer { next.timers[timer] = nil }
      for timer in row.data.stop { next.timers[timer] = nil }
      for timer in row.data.start { next.timers[timer] = around.now }
      next.states[number] = target
      after += row.after
      output = output ?? row.shows
      guard case .states = row.to else { continue }
      isEntry = true
      next.entered[number] = around.now
      after += machine.regions[number].states.first { $0.name == target }?.entry ?? []
    }
    let status = output ?? (isEntry ? next.seen : self.status)
    if status != self.status { next.shows.append("= " + status) }
    next.status = status
    next.shows += after
    return next
  }

  /// What can be told of it. A clock counts in states that have rows with a time from their entry.
  var outcome: RegionOutcome {
    var all = timers
    for (number, region) in machine.regions.enumerated() {
      let counts = region.rows.contains { row in
        guard case .states(let names) = row.transition.from else { return false }
        return names.contains(states[number]) && row.transition.window != .any
          && row.transition.data.timer == nil
      }
      if counts { all[region.name] = entered[number] }
    }
    return RegionOutcome(shows: shows, status: status, states: states, values: values, timers: all)
  }
}

/// The product of regions, interpreted row by row.
struct ProductInterpreter {
  let product: RegionProduct
  let machine: RegionMachine
  var state: String
  var timers: [String: Instant] = [:]
  var values = RegionValues()
  var status: String
  var shows: [String] = []

  init(_ product: RegionProduct, of machine: RegionMachine) {
    self.product = product
    self.machine = machine
    let start = product.definition.starts[0]
    state = start.state
    status = product.definition.states.first { $0.name == start.state }?.status ?? ""
    for timer in start.start { timers[timer] = .zero }
  }

  private func rows(_ trigger: Transition.Trigger, _ around: RegionSurroundings) -> [Transition] {
    product.definition.transitions.filter {
      $0.trigger == trigger && $0.from.contains(state)
        && ($0.given.isEmpty || !around.conditions.isDisjoint(with: $0.given))
        && around.conditions.isDisjoint(with: $0.unless)
        && ($0.options.isEmpty || $0.options.contains(around.option))
    }
  }

  private func first(of rows: [Transition], _ values: RegionValues) -> [Transition] {
    var seen: [[Set<String>]] = []
    return rows.filter { row in
      let group = [Set(row.given), Set(row.unless), Set(row.options)]
      guard RegionExpressions.isTrue(row.data.when, values), !seen.contains(group) else { return false }
      seen.append(group)
      return true
    }
  }

  private func isTesters(_ row: Transition) -> Bool {
    guard case .event(let name) = row.trigger else { return false }
    let kind = product.definition.events.first { $0.name == name }?.kind
    return kind == .stimulus || kind == .both && row.window == .any
  }

  private func origin(_ row: Transition) -> Instant? { row.data.timer.map { timers[$0] } ?? .zero }

  private func free(_ around: RegionSurroundings) -> [Transition] {
    let rows = rows(.timer, around).filter { RegionExpressions.isTrue($0.data.when, values) }
    return product.definition.events.reduce(rows) {
      $0 + first(of: self.rows(.event($1.name), around).filter { !isTesters($0) }, values)
    }
  }

  func outcomes(of event: String, _ n: Int, _ around: RegionSurroundings) -> [Self] {
    var values = values
    values.n = n
    return first(of: rows(.event(event), around).filter(isTesters), values).flatMap {
      take($0, values, around)
    }
  }

  func outcomes(_ around: RegionSurroundings) -> [Self] {
    free(around).filter { row in origin(row).map { $0 + row.window.earliest <= around.now } ?? false }
      .flatMap { take($0, values, around) }
  }

  func deadline(_ around: RegionSurroundings) -> Instant {
    free(around).reduce(.never) { deadline, row in
      guard row.window.latest != .forever, let origin = origin(row) else { return deadline }
      return min(deadline, origin + row.window.latest)
    }
  }

  private func take(_ row: Transition, _ old: RegionValues, _ around: RegionSurroundings) -> [Self] {
    var (targets, isEntry) = ([state], false)
    switch row.to {
    case .stay: break
    case .shift(let names): targets = names
    case .states(let names): (targets, isEntry) = (names, true)
    }
    return targets.map { target in
      var next = self
      next.state = target
      RegionExpressions.apply(row.data.set, old, to: &next.values)
      if let timer = row.data.timer, !row.data.keepsTimer { next.timers[timer] = nil }
      for timer in row.data.stop { next.timers[timer] = nil }
      for timer in row.data.start { next.timers[timer] = around.now }
      let seen = product.definition.states.first { $0.name == target }
      let status = row.shows ?? (isEntry ? seen?.status ?? "" : self.status)
      next.shows = row.before + (status == self.status ? [] : ["= " + status]) + row.after
      if isEntry { next.shows += seen?.entry ?? [] }
      next.status = status
      return next
    }
  }

  var outcome: RegionOutcome {
    let number = product.definition.states.firstIndex { $0.name == state } ?? 0
    let states = zip(product.states[number], machine.regions).map { $1.states[$0].name }
    var all = timers
    // A clock that no row of the state counts from may run.
    for (region, state) in zip(machine.regions, states) {
      let counts = region.rows.contains { row in
        guard case .states(let names) = row.transition.from else { return false }
        return names.contains(state) && row.transition.window != .any && row.transition.data.timer == nil
      }
      if !counts { all[region.name] = nil }
    }
    return RegionOutcome(shows: shows, status: status, states: states, values: values, timers: all)
  }
}

extension Transition.Source {
  fileprivate func contains(_ name: String) -> Bool {
    if case .states(let names) = self { names.contains(name) } else { false }
  }
}
