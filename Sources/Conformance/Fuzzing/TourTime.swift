import Automata
import Basics

/// How a tour lets time pass.
extension Tour {
  /// Lets time pass until a move happens, in steps fine enough not to miss it.
  mutating func letTimePass(for move: ModelMap.Move, _ explorationState: ExplorationState) -> Choice? {
    let edge = map.edge(move.edge, from: origin)
    if let faultAction = faultAction(for: edge, failures: failures[move.edge]) { return faultAction }
    waits += 1
    if waits == 1, isAttempted, let choice = passFirstEnd() { return choice }
    let end = plan.prefix { $0.choice == nil }.last ?? move
    if isRestless(end.target) { return fineWait(failures: failures[move.edge]) }
    if explorationState.isAwaiting, explorationState.hasDeadline, waits <= 2 {
      return isAwaiting(end.target) ? map.alphabet.choice(of: .next) : settle()
    }
    if explorationState.hasDeadline, waits <= 4 { return passDeadline() }
    return coarseWait(waits)
  }

  /// Returns a fault for the conditions of an edge that failed although they hold: each such fault in turn.
  private mutating func faultAction(for edge: Machine.Edge, failures: Int) -> Choice? {
    guard edge.guard.given & conditions != 0, !hasActed, failures > 0 else { return nil }
    hasActed = true
    let faultActions = map.faultActions(for: edge.guard.given).filter {
      map.conditions(conditions, after: $0) == conditions
    }
    return faultActions.isEmpty ? nil : faultActions[(failures - 1) % faultActions.count]
  }

  /// Returns whether a timer of a place may end at any moment, so that settling would wait for it, too.
  private func isAwaiting(_ place: ModelMap.Place) -> Bool {
    map.timers(in: place).contains { map.edge($0.edge, from: place.state).earliest == .zero }
  }

  /// Returns whether the device leaves a state by itself, and soon.
  private func isRestless(_ place: ModelMap.Place) -> Bool {
    map.machine.spontaneous[place.state].contains { edge in
      edge.event != nil && edge.guard.holds(under: place.conditions) && edge.target != place.state
        && edge.latest < .seconds(60) && edge.plus == nil
    }
  }

  /// Returns a short wait for something that does not last: in every other attempt, a still shorter one.
  private func fineWait(failures: Int) -> Choice? {
    if failures % 2 == 1 { return wait(waits <= 40 ? .milliseconds(1) : .milliseconds(20)) }
    return wait(waits <= 40 ? .milliseconds(20) : .milliseconds(150))
  }

  private func coarseWait(_ count: Int) -> Choice? {
    let lengths: [Interval] = [.milliseconds(150), .seconds(1), .seconds(4), .seconds(12), .seconds(60)]
    return wait(lengths[min(count / 2, lengths.count - 1)])
  }

  /// Determines the state of the device: lets pending events happen, then gives stimuli that every possible state
  /// allows.
  mutating func homing(in explorationState: ExplorationState) -> Choice? {
    unknownStateCount += 1
    guard unknownStateCount <= Self.maximumUnknownStates else { return nil }
    let count = unknownStateVisits[explorationState.position, default: 0]
    unknownStateVisits[explorationState.position] = count + 1
    if explorationState.isAwaiting, explorationState.hasDeadline, count < 2 { return settle() }
    if explorationState.hasDeadline, count < 3 { return passDeadline() }
    if explorationState.isAwaiting, count < 10 { return coarseWait(count) }
    let stimuli = (0..<map.machine.eventCount).compactMap { event in
      explorationState.legal >> UInt64(event) & 1 == 1
        ? map.choices(of: event, under: conditions).first : nil as Choice?
    }
    let turn = count % (stimuli.count + 1)
    return turn < stimuli.count ? stimuli[turn] : coarseWait(count)
  }

  /// Returns a wait up to just before the earliest end of a timer: no event may come by then.
  private func passFirstEnd() -> Choice? {
    map.alphabet.choice(of: .edge(TimerEdge(.opening, .milliseconds(-1))))
      ?? map.alphabet.choice(of: .edge(TimerEdge(.closing, .milliseconds(-1))))
  }

  /// Returns a wait that is longer than any change of conditions takes to have an effect.
  func waitForEffect() -> Choice? {
    let delay = map.machine.definition.conditions.map(\.delay).max() ?? .zero
    let waits = map.alphabet.acts[map.alphabet.wait].variants
    let variant = waits.firstIndex { if case .wait(let length) = $0 { length > delay } else { false } }
    return variant.map { Choice(map.alphabet.wait, variant: $0) }
  }

  func wait(_ length: Interval) -> Choice? { map.alphabet.choice(of: TestAction.wait(length)) }
  private func settle() -> Choice? { map.alphabet.choice(of: TestAction.settle) }
  private func passDeadline() -> Choice? { map.alphabet.choice(of: TestAction.edge(.past)) }
}
