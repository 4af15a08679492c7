import Basics

extension MachineDefinition {
  /// Returns every fault of the definition, in its order; empty if it can become a ``Machine``.
  public func faults() -> [DefinitionFault] {
    findings().map(\.fault)
  }

  /// Returns every fault of the definition, with the part that has it.
  public func findings() -> [DefinitionFinding] {
    var findings: [DefinitionFinding] = []
    if name.isEmpty { findings.append(DefinitionFinding(.emptyMachineName, at: .machine)) }
    findings += sizeFindings()
    findings += nameFindings()
    findings += choiceFindings()
    findings += startFindings()
    let names = Names(self)
    for (row, transition) in transitions.enumerated() {
      findings += names.faults(of: transition).map { DefinitionFinding($0, at: .row(row)) }
    }
    findings += rowFindings()
    findings += timerFindings()
    if hasData { findings += compiledData().findings }
    for (number, condition) in conditions.enumerated() {
      if condition.delay < .zero {
        findings.append(
          DefinitionFinding(.negativeDelay(condition: condition.name), at: .condition(number)))
      }
      for stimulus in condition.stimuli + condition.events where !names.events.contains(stimulus) {
        let fault = DefinitionFault.setterNotDefined(condition: condition.name, stimulus: stimulus)
        findings.append(DefinitionFinding(fault, at: .condition(number)))
      }
      let statuses = Set(self.statuses)
      for status in condition.until where !statuses.contains(status) {
        let fault = DefinitionFault.statusNotDefined(condition: condition.name, status: status)
        findings.append(DefinitionFinding(fault, at: .condition(number)))
      }
      for other in condition.unsure where !names.conditions.contains(other) {
        let fault = DefinitionFault.conditionNotDefined(event: condition.name, condition: other)
        findings.append(DefinitionFinding(fault, at: .condition(number)))
      }
    }
    return findings
  }

  /// What the machine can show: the statuses of its states, and the outputs of its rows.
  var statuses: [String] { states.map(\.status) + transitions.compactMap(\.shows) }

  private func sizeFindings() -> [DefinitionFinding] {
    var faults: [DefinitionFault] = []
    if states.isEmpty { faults.append(.noStates) }
    if events.isEmpty { faults.append(.noEvents) }
    let cells = states.count.multipliedReportingOverflow(by: events.count).partialValue
    for (what, count, limit) in [
      ("states", states.count, Machine.limit), ("events", events.count, Machine.limit),
      ("conditions", conditions.count, 64),
      ("options of choices", choices.reduce(0) { $0 + $1.options.count }, Machine.optionLimit),
      ("faults of a condition", conditions.map(\.faults.count).max() ?? 0, 63),
      ("cells", cells, 10_000_000),
      ("edges", edgeCount, Machine.edgeLimit),
    ] where count > limit {
      faults.append(.tooLarge(what: what, count: count, limit: limit))
    }
    return faults.map { DefinitionFinding($0, at: .machine) }
  }

  /// The maximum number of edges of the rows.
  private var edgeCount: Int {
    transitions.reduce(0) { sum, transition in
      let sources =
        switch transition.from {
        case .states(let names): names.count
        case .wildcard: states.count
        }
      let targets =
        switch transition.to {
        case .states(let names), .shift(let names): names.count
        case .stay: 1
        }
      let (edges, overflow) = sources.multipliedReportingOverflow(by: targets)
      return overflow ? .max : Int(clamping: UInt(sum) &+ UInt(edges))
    }
  }

  private func nameFindings() -> [DefinitionFinding] {
    let states = states.map(\.name)
    let events = events.map(\.name)
    var findings: [DefinitionFinding] = []
    for number in states.indices where states[number].isEmpty {
      findings.append(DefinitionFinding(.emptyStateName, at: .state(number)))
    }
    findings += repeated(states).map { DefinitionFinding(.duplicateState(states[$0]), at: .state($0)) }
    for number in events.indices where events[number].isEmpty {
      findings.append(DefinitionFinding(.emptyEventName, at: .event(number)))
    }
    findings += repeated(events).map { DefinitionFinding(.duplicateEvent(events[$0]), at: .event($0)) }
    let conditions = conditions.map(\.name)
    findings += repeated(conditions).map {
      DefinitionFinding(.duplicateCondition(conditions[$0]), at: .condition($0))
    }
    return findings
  }

  private func choiceFindings() -> [DefinitionFinding] {
    var findings = repeated(choices.map(\.name)).map {
      DefinitionFinding(.duplicateChoice(choices[$0].name), at: .choice($0))
    }
    var seen = Set<String>()
    for (number, choice) in choices.enumerated() {
      if choice.options.count < 2 {
        findings.append(DefinitionFinding(.tooFewOptions(choice: choice.name), at: .choice(number)))
      }
      for option in choice.options where !seen.insert(option).inserted {
        let fault = DefinitionFault.duplicateOption(choice: choice.name, option: option)
        findings.append(DefinitionFinding(fault, at: .choice(number)))
      }
    }
    return findings
  }

  private func startFindings() -> [DefinitionFinding] {
    if starts.isEmpty { return [DefinitionFinding(.noStart, at: .machine)] }
    let known = Set(states.map(\.name))
    var findings: [DefinitionFinding] = []
    for (number, start) in starts.enumerated() {
      let settings = start.conditions.map(\.name)
      var faults = repeated(settings).map { position in
        DefinitionFault.duplicateSetting(state: start.state, setting: settings[position])
      }
      if !known.contains(start.state) { faults.append(.startNotDefined(start.state)) }
      findings += faults.map { DefinitionFinding($0, at: .start(number)) }
    }
    return findings
  }

  /// Returns the faults that only several rows together show.
  private func rowFindings() -> [DefinitionFinding] {
    var findings: [DefinitionFinding] = []
    var seen = Set<RowKey>()
    var wildcards = Set<String>()
    // An event that only begins a condition needs no row.
    var used = Set(conditions.flatMap { $0.events + $0.moments })
    for (row, transition) in transitions.enumerated() {
      guard case .event(let event) = transition.trigger else { continue }
      used.insert(event)
      switch transition.from {
      case .wildcard:
        // Those with a `when` form a list, as other rows do.
        if wildcards.contains(event) {
          findings.append(DefinitionFinding(.severalWildcards(event: event), at: .row(row)))
        } else if transition.data.when == nil {
          wildcards.insert(event)
        }
      case .states(let names):
        for name in names {
          let key = RowKey(transition, event: event, state: name)
          if seen.contains(key) {
            findings.append(DefinitionFinding(.duplicateFrom(event: event, state: name), at: .row(row)))
          } else if transition.data.when == nil {
            seen.insert(key)
          }
        }
      }
    }
    for (number, event) in events.enumerated() where !used.contains(event.name) && !event.name.isEmpty {
      findings.append(DefinitionFinding(.noTransitions(event: event.name), at: .event(number)))
    }
    return findings
  }

  /// Returns the rows that must be taken at once and form a cycle: the machine would never come to rest.
  private func timerFindings() -> [DefinitionFinding] {
    var forced: [String: (target: String, row: Int)] = [:]
    for (row, transition) in transitions.enumerated()
    where transition.window.latest <= .zero && transition.window.plus == nil
      && transition.given.isEmpty && transition.unless.isEmpty && transition.options.isEmpty
      && transition.data.when == nil && transition.data.timer == nil
    {
      guard case .states(let sources) = transition.from else { continue }
      let targets: [String] =
        switch transition.to {
        case .states(let names), .shift(let names): names
        case .stay: []
        }
      guard targets.count == 1 else { continue }
      for source in sources where forced[source] == nil { forced[source] = (targets[0], row) }
    }
    var settled = Set<String>()
    var findings: [DefinitionFinding] = []
    for state in states.map(\.name) {
      var path = Set<String>()
      var current = state
      while let next = forced[current], !settled.contains(current) {
        if !path.insert(current).inserted {
          findings.append(DefinitionFinding(.endlessTimers(state: current), at: .row(next.row)))
          break
        }
        current = next.target
      }
      settled.formUnion(path)
    }
    return findings
  }

  /// Returns the positions of names that already occurred in the list.
  private func repeated(_ names: [String]) -> [Int] {
    var seen = Set<String>()
    return names.indices.filter { !names[$0].isEmpty && !seen.insert(names[$0]).inserted }
  }
}

private struct RowKey: Hashable {
  var event: String
  var state: String
  var given: Set<String>
  var unless: Set<String>
  var options: Set<String>
  var timed: Bool

  init(_ transition: Transition, event: String, state: String) {
    self.event = event
    self.state = state
    given = Set(transition.given)
    unless = Set(transition.unless)
    options = Set(transition.options)
    timed = transition.isTimed
  }
}

/// The names that a row may use.
private struct Names {
  let states: Set<String>
  let events: Set<String>
  let stimuli: Set<String>
  let conditions: Set<String>
  /// The number of the choice of each option.
  let options: [String: Int]
  let statuses: [String: String]

  init(_ definition: MachineDefinition) {
    states = Set(definition.states.map(\.name))
    events = Set(definition.events.map(\.name))
    stimuli = Set(definition.events.filter { $0.kind == .stimulus }.map(\.name))
    conditions = Set(definition.conditions.map(\.name))
    options = Dictionary(
      definition.choices.enumerated().flatMap { number, choice in choice.options.map { ($0, number) } }
    ) { first, _ in first }
    statuses = Dictionary(definition.states.map { ($0.name, $0.status) }) { first, _ in first }
  }

  func faults(of transition: Transition) -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    let label: String
    switch transition.trigger {
    case .event(let name):
      label = name
      if !events.contains(name) { faults.append(.eventNotDefined(name)) }
      if stimuli.contains(name), transition.isTimed { faults.append(.windowOnStimulus(event: name)) }
    case .timer:
      label = transition.window.description
      if transition.from == .wildcard { faults.append(.wildcardTimer) }
    }
    var sources = "any state"
    if case .states(let names) = transition.from {
      if names.isEmpty { faults.append(.emptyFrom(event: label)) }
      sources = names.joined(separator: "/")
      faults += names.filter { !states.contains($0) }.map { .fromNotDefined(event: label, state: $0) }
    }
    switch transition.to {
    case .stay: break
    case .states(let names), .shift(let names):
      faults += self.faults(ofTargets: names, event: label, from: sources)
    }
    if case .shift(let targets) = transition.to, case .states(let names) = transition.from {
      for name in names {
        faults += targets.filter { statuses[$0] != nil && statuses[$0] != statuses[name] }
          .map { .shiftChangesStatus(event: label, from: name, to: $0) }
      }
    }
    let least = transition.window.plus == nil ? transition.window.earliest : transition.window.latest
    if least < .zero { faults.append(.negativeWindow(event: label)) }
    if transition.window.latest < transition.window.earliest { faults.append(.emptyWindow(event: label)) }
    let isConditional = !(transition.given.isEmpty && transition.unless.isEmpty)
    faults += transition.options.filter { options[$0] == nil }
      .map { .optionNotDefined(event: label, option: $0) }
    if Set(transition.options.compactMap { options[$0] }).count > 1 {
      faults.append(.severalChoices(event: label))
    }
    if transition.to == .stay, transition.window.latest != .forever, !isConditional, transition.data.isEmpty {
      faults.append(.repeatedDeadline(event: label))
    }
    let needed = transition.given + transition.unless + (transition.window.plus.map { [$0] } ?? [])
    faults += needed.filter { !conditions.contains($0) }
      .map { .conditionNotDefined(event: label, condition: $0) }
    return faults
  }

  private func faults(ofTargets names: [String], event: String, from: String) -> [DefinitionFault] {
    if names.isEmpty { return [.emptyTo(event: event, from: from)] }
    var seen = Set<String>()
    return names.compactMap { name in
      if !states.contains(name) { return .toNotDefined(event: event, state: name) }
      return seen.insert(name).inserted ? nil : .duplicateTo(event: event, from: from, state: name)
    }
  }
}
