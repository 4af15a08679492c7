import Simulation

extension MachineDefinition {
  /// Everything that is wrong with the definition, in its order; empty when it can become a ``Machine``.
  public func faults() -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    if name.isEmpty { faults.append(.emptyMachineName) }
    faults += sizeFaults()
    faults += nameFaults()
    faults += startFaults()
    let names = Names(self)
    for transition in transitions { faults += names.faults(of: transition) }
    faults += rowFaults()
    for circumstance in circumstances {
      faults += circumstance.stimuli.filter { !names.events.contains($0) }
        .map { .setterNotDefined(circumstance: circumstance.name, stimulus: $0) }
    }
    return faults
  }

  private func sizeFaults() -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    if states.isEmpty { faults.append(.noStates) }
    if events.isEmpty { faults.append(.noEvents) }
    for (what, count, limit) in [
      ("states", states.count, Machine.limit), ("events", events.count, Machine.limit),
      ("rows", transitions.count, 100 * Machine.limit), ("circumstances", circumstances.count, 64),
    ] where count > limit {
      faults.append(.tooLarge(what: what, count: count, limit: limit))
    }
    let cells = states.count.multipliedReportingOverflow(by: events.count)
    if cells.overflow || cells.partialValue > 10_000_000 {
      faults.append(.tooLarge(what: "cells", count: cells.partialValue, limit: 10_000_000))
    }
    return faults
  }

  private func nameFaults() -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    if states.contains(where: { $0.name.isEmpty }) { faults.append(.emptyStateName) }
    faults += repeated(states.map(\.name)).map { .duplicateState($0) }
    if events.contains(where: { $0.name.isEmpty }) { faults.append(.emptyEventName) }
    faults += repeated(events.map(\.name)).map { .duplicateEvent($0) }
    faults += repeated(circumstances.map(\.name)).map { .duplicateCircumstance($0) }
    return faults
  }

  private func startFaults() -> [DefinitionFault] {
    if starts.isEmpty { return [.noStart] }
    let known = Set(states.map(\.name))
    return starts.filter { !known.contains($0.state) }.map { .startNotDefined($0.state) }
  }

  /// Faults that only several rows together show.
  private func rowFaults() -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    var seen = Set<RowKey>()
    var wildcards = Set<String>()
    var used = Set<String>()
    for transition in transitions {
      guard case .event(let event) = transition.trigger else { continue }
      used.insert(event)
      switch transition.from {
      case .wildcard:
        if !wildcards.insert(event).inserted { faults.append(.severalWildcards(event: event)) }
      case .states(let names):
        for name in names {
          let key = RowKey(
            event: event, state: name, given: transition.given, unless: transition.unless,
            timed: transition.window != .any)
          if !seen.insert(key).inserted { faults.append(.duplicateFrom(event: event, state: name)) }
        }
      }
    }
    for event in events where !used.contains(event.name) && !event.name.isEmpty {
      faults.append(.noTransitions(event: event.name))
    }
    return faults
  }

  private func repeated(_ names: [String]) -> [String] {
    var seen = Set<String>()
    return names.filter { !$0.isEmpty && !seen.insert($0).inserted }
  }
}

private struct RowKey: Hashable {
  var event: String
  var state: String
  var given: [String]
  var unless: [String]
  var timed: Bool
}

/// The names that a row may use.
private struct Names {
  let states: Set<String>
  let events: Set<String>
  let stimuli: Set<String>
  let circumstances: Set<String>

  init(_ definition: MachineDefinition) {
    states = Set(definition.states.map(\.name))
    events = Set(definition.events.map(\.name))
    stimuli = Set(definition.events.filter { $0.kind == .stimulus }.map(\.name))
    circumstances = Set(definition.circumstances.map(\.name))
  }

  func faults(of transition: Transition) -> [DefinitionFault] {
    var faults: [DefinitionFault] = []
    let label: String
    switch transition.trigger {
    case .event(let name):
      label = name
      if !events.contains(name) { faults.append(.eventNotDefined(name)) }
      if stimuli.contains(name), transition.window != .any { faults.append(.windowOnStimulus(event: name)) }
    case .timer:
      label = "after \(transition.window.earliest)"
      if transition.from == .wildcard { faults.append(.wildcardTimer) }
    }
    var sources = "any state"
    if case .states(let names) = transition.from {
      if names.isEmpty { faults.append(.emptyFrom(event: label)) }
      sources = names.joined(separator: "/")
      faults += names.filter { !states.contains($0) }.map { .fromNotDefined(event: label, state: $0) }
    }
    if case .states(let names) = transition.to {
      if names.isEmpty { faults.append(.emptyTo(event: label, from: sources)) }
      faults += names.filter { !states.contains($0) }.map { .toNotDefined(event: label, state: $0) }
    }
    if transition.window.latest < transition.window.earliest { faults.append(.emptyWindow(event: label)) }
    let needed = transition.given + transition.unless + (transition.window.plus.map { [$0] } ?? [])
    faults += needed.filter { !circumstances.contains($0) }
      .map { .circumstanceNotDefined(event: label, circumstance: $0) }
    return faults
  }
}
