import Basics

// How tests are drawn if time and wear are the cost. The budgets are in ExplorerCosts.swift.

extension Explorer {
  /// Draws how a test spends time and wear.
  ///
  /// Most tests spare the motor and fill the time with choices that cause no wear: requests, refusals and
  /// disturbances.
  mutating func drawThriftyPlan() {
    plan.held = 0
    if settings.isSimulated { return drawSimulatedPlan() }
    plan.motor = chance(0.85) ? 1 / Self.sparing : 1
    plan.cancelledEventWaits = [0, 0.2, 0.6][generator.below(3)]
    // The device takes seconds for its actions, and a test can send many requests meanwhile.
    plan.waitingChance = [1, 0.8, 0.5, 0.3][generator.below(4)]
    plan.selfLoops = [0.1, 0.3, 0.5][generator.below(3)]
    plan.followUpChance = settings.isHasty && chance(0.5) ? 0.5 : 0
    // Disturbances that permit no deviation cost next to nothing; a quarter of the tests shows the device without
    // them.
    plan.probes = chance(0.75) ? 0.2 : 0
    // Disturbances that permit deviations come in every second test, and often there: several faults need one twice.
    plan.disturbances = 0
    guard disturbanceWeight > 0, chance(0.5) else { return }
    plan.disturbances = 5 * settings.disturbances
    // The effect of a disturbance shows when the bolt moves, and when it must not.
    plan.motor = chance(0.3) ? 1 / Self.sparing : 1
    if uses(.kinds) { drawKinds() }
    plan.cancelledEventWaits = 0.8
  }

  /// Draws how a test spends events, the only cost if a program emulates the device.
  private mutating func drawSimulatedPlan() {
    plan.cancelledEventWaits = [0, 0.2, 0.6][generator.below(3)]
    plan.probes = chance(0.75) ? 0.2 : 0
    plan.disturbances = disturbanceWeight > 0 && chance(0.5) ? 5 * settings.disturbances : 0
    plan.togglesFaults = chance(0.75)
    if plan.disturbances > 0, uses(.kinds) { drawKinds() }
  }

  /// Returns a fault that rows of the machine depend on, to begin or end it in a position where no test has done so;
  /// otherwise `nil`. Such faults are as much a part of the machine as the requests.
  mutating func faultToggle(in explorationState: ExplorationState, slot: Int) -> Choice? {
    guard plan.togglesFaults, disturbanceWeight > 0, chance(freshShare(at: slot)) else { return nil }
    let context = mix(explorationState.position ^ 0x7042)
    var fresh: Choice?
    var seen = 0
    for act in alphabet.disturbances {
      let index = act - alphabet.disturbances.lowerBound
      guard alphabet.concerned[index] != 0, variantCounts[act] > 0 else { continue }
      let bit: UInt64 = 1 << UInt64(index)
      // A fault that was not begun cannot be ended.
      let isBegun = alphabet.ending & ~plan.held & bit == 0
      for variant in 0..<(isBegun ? variantCounts[act] : variantCounts[act] - 1) {
        guard counts[mix(context ^ UInt64(act)), variant] == 0 else { continue }
        seen += 1
        if generator.below(seen) == 0 { fresh = Choice(act, variant: variant) }
      }
    }
    if let fresh { counts.add(mix(context ^ UInt64(fresh.act)), Int(fresh.variant)) }
    return fresh
  }

  /// Draws which disturbances that permit deviations a test may contain: one kind, and sometimes a second one.
  private mutating func drawKinds() {
    plan.kinds = ~0
    var kinds: UInt64 = 0
    for _ in 0...(chance(0.3) ? 1 : 0) {
      guard let drawn = disturbance(excusing: true) else { continue }
      kinds |= 1 << UInt64(Int(drawn.act) - alphabet.disturbances.lowerBound)
      // A disturbance of the device's environment shows only when the device moves.
      if alphabet.acts[Int(drawn.act)].level == .events, chance(0.6) { plan.motor = 1 }
    }
    plan.kinds = kinds
  }

  /// Returns a second command during the motion of the last one, or right after it: a motor that needs no rest must
  /// accept both. Otherwise `nil`.
  mutating func followUpCommand(in explorationState: ExplorationState) -> Choice? {
    guard plan.followUpChance > 0, let lastChoice else { return nil }
    let commands = explorationState.legal & moves & offered
    if isHurrying {
      isHurrying = false
      return command(among: commands)
    }
    guard alphabet.moves(lastChoice), commands != 0, chance(plan.followUpChance) else { return nil }
    if chance(0.5), variantCounts[alphabet.settle] > 0, explorationState.isAwaiting,
      explorationState.hasDeadline
    {
      isHurrying = true
      return Choice(alphabet.settle)
    }
    return command(among: commands)
  }

  /// Draws one of several stimuli; `nil` if there are none.
  private mutating func command(among events: UInt64) -> Choice? {
    guard events != 0 else { return nil }
    let event = pick(events)
    return Choice(event, variant: variant(of: event))
  }

  /// Returns whether the test may let the device settle here: settling that takes long has a share of the time.
  func mayTakeTime(at position: UInt64) -> Bool {
    guard isPaced, settings.isThrifty, !settings.isSimulated, uses(.shares) else { return true }
    return costs?.maySettle(at: position) ?? true
  }

  /// Returns whether an event would have to wait for the motor's rest now.
  @inline(__always)
  func isResting(_ event: Int) -> Bool {
    pace.motorRest > .zero && alphabet.resting.events >> UInt64(event) & 1 == 1
  }

  /// Returns a stimulus that moves an underused motor, or leads towards a state in which one can; `nil` if none is
  /// legal, and sometimes otherwise.
  mutating func wanted(in explorationState: ExplorationState) -> Choice? {
    guard isUnderused, pace.motorRest == .zero, uses(.sparing) else { return nil }
    let able = explorationState.legal & ~explorationState.idle & offered
    if able & moves != 0 { return chance(Self.motorPreference) ? command(among: able & moves) : nil }
    guard explorationState.node >= 0, !alphabet.approaches.isEmpty else { return nil }
    let nearer = able & alphabet.approaches[explorationState.node].nearer
    return nearer != 0 && chance(Self.motorPreference) ? command(among: nearer) : nil
  }

  /// Mostly removes from some stimuli those that should come later, if others are left. While the motor rests, these
  /// are the ones that would have to wait for it. While it is underused, they are the ones that lead away from states
  /// in which it can move.
  mutating func withoutDeferred(_ events: UInt64, in explorationState: ExplorationState) -> UInt64 {
    guard isPaced, uses(.sparing) else { return events }
    var later: UInt64 = 0
    if pace.motorRest > .zero {
      later = alphabet.resting.events
    } else if isUnderused, explorationState.node >= 0, !alphabet.approaches.isEmpty {
      later = alphabet.approaches[explorationState.node].farther
    }
    let others = events & ~later
    return others != 0 && others != events && chance(Self.motorPreference) ? others : events
  }

  /// Whether the motor was spared for so long that tests should use it, if it has enough movements left. Some faults
  /// show only when it moves.
  var isUnderused: Bool {
    isPaced && sinceMovement > Self.longestSparing && pace.movementsLeft.map { $0 > Self.reserve } ?? true
  }

  /// Records what was due at a choice, and what it changes: the disturbances in effect, and whether the motor moved.
  @inline(never)
  mutating func noteCosts(of choice: Choice, in explorationState: ExplorationState) {
    wasDue = explorationState.isAwaiting || settings.isSimulated ? explorationState.deadline : .never
    let act = Int(choice.act)
    if alphabet.disturbances.contains(act) {
      if settings.isSimulated { disturbed = alphabet.concerned[act - alphabet.disturbances.lowerBound] }
      let bit: UInt64 = 1 << UInt64(act - alphabet.disturbances.lowerBound)
      let ends = alphabet.ending & bit != 0 && Int(choice.variant) == variantCounts[act] - 1
      plan.held = ends ? plan.held & ~bit : plan.held | bit
    }
    guard act < alphabet.eventCount else { return }
    hasMoved = alphabet.moves(choice) && moves != 0
    wasSilent = false
  }

  /// Returns whether the effect of a disturbance would show: mostly if nearly all stimuli are legal.
  mutating func mayProbe(in explorationState: ExplorationState) -> Bool {
    settings.isSimulated || costs?.isRich(explorationState) == true || chance(0.2)
  }

  /// Returns a disturbance that permits deviations, or one that does not: the one injected least often, relative to
  /// its weight and its variants. Disturbances of the device's environment count more than those of the transport.
  ///
  /// If events are the only cost, each position has a count of its own, so that rare positions are not neglected.
  mutating func disturbance(excusing: Bool, at position: UInt64 = 0) -> Choice? {
    let context = (excusing ? 0xD157 : 0x9408) ^ (settings.isSimulated ? position : 0)
    let included = excusing ? alphabet.excusing & plan.kinds : ~alphabet.excusing
    var best: Int?
    var minimum = Double.infinity
    for act in alphabet.disturbances {
      let bit: UInt64 = 1 << UInt64(act - alphabet.disturbances.lowerBound)
      guard included & bit != 0, variantCounts[act] > 0 else { continue }
      // Disturbances that must wait for the motor's rest come once it has rested, and after stimuli that surely move
      // it.
      if pace.motorRest > .zero || isUnderused, alphabet.resting.disturbances & bit != 0 { continue }
      let level = alphabet.acts[act].level == .events ? Self.environmentFactor : 1
      let weight = weights[act] * Double(variantCounts[act]).squareRoot() * level
      let count = (Double(counts[context, act]) + unit()) / weight
      if count < minimum { (best, minimum) = (act, count) }
    }
    guard let best else { return nil }
    counts.add(context, best)
    // A disturbance that was not begun cannot be ended.
    let bit: UInt64 = 1 << UInt64(best - alphabet.disturbances.lowerBound)
    let count = alphabet.ending & ~plan.held & bit == 0 ? variantCounts[best] : variantCounts[best] - 1
    return Choice(best, variant: leastTried(best, at: context, among: 0..<count))
  }

  /// Returns the relative probability of a stimulus. By default this is its weight. A test that spares the motor
  /// makes stimuli that move it rarer; after a long silence all others are rarer, since a motion may show what the
  /// silence has done.
  ///
  /// Mutating, because it runs for every event, and a nonmutating member would copy the explorer.
  @inline(__always)
  mutating func share(of event: Int) -> Double {
    guard settings.isThrifty else { return weights[event] }
    if settings.isSimulated { return weights[event] * novelty(of: event) }
    let isMoving = moves >> UInt64(event) & 1 == 1
    if isResting(event), uses(.sparing) { return weights[event] / Self.restingFactor }
    if wasSilent { return isMoving ? weights[event] : weights[event] / Self.sparing }
    return isMoving ? weights[event] * plan.motor : weights[event]
  }

  /// Returns how rarely tests reached the position to which a stimulus leads from here. It is used if events are the
  /// only cost: a machine that can be left from everywhere would otherwise be left long before the test is deep in a
  /// session.
  private func novelty(of event: Int) -> Double {
    guard let slot = successors.slot(after: event, at: lastPosition) else { return 1 }
    return 1 / Double(max(positions.visits[slot], 1)).squareRoot()
  }

  /// The factor by which stimuli that move the motor are rarer in a test that spares it. If three of ten legal
  /// stimuli do, they are then one choice in twenty.
  private static var sparing: Double { 8 }
  /// The factor by which a stimulus is rarer while the motor would have to rest before it.
  private static var restingFactor: Double { 100 }
  /// The time without a command after which a motor with enough movements left counts as underused.
  private static var longestSparing: Interval { .seconds(6) }
  /// The probability that a test then prefers the motor to anything else.
  static var motorPreference: Double { 0.75 }
  /// The probability that a test abandons a cycle in which the motor would have to rest.
  static var abandonProbability: Double { 0.25 }
  /// The number of movements that a motor must have left to count as underused.
  private static var reserve: Int { 50 }
  /// The factor by which disturbances of the device's environment are more likely than those of the transport.
  private static var environmentFactor: Double { 3 }
}
