import Basics

// How tests are drawn where time and wear are what is spent, and not events. How much of both there is to spend stands
// in ExplorerCosts.swift.

extension Explorer {
  /// Draws how a test spends time and wear.
  ///
  /// Most tests spare the motor and fill the time with what costs it nothing: requests, refusals, and disturbances.
  mutating func drawThriftyPlan() {
    plan.held = 0
    if settings.isSimulated { return drawSimulatedPlan() }
    plan.motor = chance(0.85) ? 1 / Self.sparing : 1
    plan.doubts = [0, 0.2, 0.6][generator.below(3)]
    // What the device does takes seconds in which much can be asked.
    plan.waitingChance = [1, 0.8, 0.5, 0.3][generator.below(4)]
    plan.selfLoops = [0.1, 0.3, 0.5][generator.below(3)]
    plan.haste = settings.isHasty && chance(0.5) ? 0.5 : 0
    // What excuses nothing costs next to nothing; a quarter of the tests shows what the device does without.
    plan.probes = chance(0.75) ? 0.2 : 0
    // What excuses something comes in every second test, and there often: several faults need it twice.
    plan.disturbances = 0
    guard disturbanceWeight > 0, chance(0.5) else { return }
    plan.disturbances = 5 * settings.disturbances
    // What is disturbed shows when the bolt moves, and when it must not.
    plan.motor = chance(0.3) ? 1 / Self.sparing : 1
    if uses(.kinds) { drawKinds() }
    plan.doubts = 0.8
  }

  /// Draws how a test spends events, the only cost of a device that a program emulates.
  private mutating func drawSimulatedPlan() {
    plan.doubts = [0, 0.2, 0.6][generator.below(3)]
    plan.probes = chance(0.75) ? 0.2 : 0
    plan.disturbances = disturbanceWeight > 0 && chance(0.5) ? 5 * settings.disturbances : 0
    plan.turns = chance(0.75)
    if plan.disturbances > 0, uses(.kinds) { drawKinds() }
  }

  /// A fault that rows of the machine depend on, brought about or ended where that was never done: it is as much a part of the device
  /// as what it is asked for.
  mutating func turn(in explorationState: ExplorationState, slot: Int) -> Choice? {
    guard plan.turns, disturbanceWeight > 0, chance(freshShare(at: slot)) else { return nil }
    let context = mix(explorationState.position ^ 0x7042)
    var fresh: Choice?
    var seen = 0
    for act in alphabet.disturbances {
      let place = act - alphabet.disturbances.lowerBound
      guard alphabet.concerned[place] != 0, variantCounts[act] > 0 else { continue }
      let bit: UInt64 = 1 << UInt64(place)
      // What was not begun is not ended.
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

  /// Draws which disturbances a test has of those that excuse something: one kind, and sometimes a second.
  private mutating func drawKinds() {
    plan.kinds = ~0
    var kinds: UInt64 = 0
    for _ in 0...(chance(0.3) ? 1 : 0) {
      guard let drawn = disturbance(excusing: true) else { continue }
      kinds |= 1 << UInt64(Int(drawn.act) - alphabet.disturbances.lowerBound)
      // What happens around the device shows only when it moves.
      if alphabet.acts[Int(drawn.act)].level == .events, chance(0.6) { plan.motor = 1 }
    }
    plan.kinds = kinds
  }

  /// A second command in the motion of the last one, or right after it: a motor that needs no rest has to bear both.
  mutating func hasty(in explorationState: ExplorationState) -> Choice? {
    guard plan.haste > 0, let lastChoice else { return nil }
    let commands = explorationState.legal & moves & offered
    if isHurrying {
      isHurrying = false
      return command(among: commands)
    }
    guard alphabet.moves(lastChoice), commands != 0, chance(plan.haste) else { return nil }
    if chance(0.5), variantCounts[alphabet.settle] > 0, explorationState.isAwaiting,
      explorationState.hasDeadline
    {
      isHurrying = true
      return Choice(alphabet.settle)
    }
    return command(among: commands)
  }

  /// One of several stimuli; `nil` if there are none.
  private mutating func command(among events: UInt64) -> Choice? {
    guard events != 0 else { return nil }
    let event = pick(events)
    return Choice(event, variant: variant(of: event))
  }

  /// Whether the device may be let settle here: what takes long has a share of the time, and no more.
  func mayTakeTime(at position: UInt64) -> Bool {
    guard isPaced, settings.isThrifty, !settings.isSimulated, uses(.shares) else { return true }
    return costs?.maySettle(at: position) ?? true
  }

  /// Whether an event would wait for the motor's rest now.
  @inline(__always)
  func isResting(_ event: Int) -> Bool {
    pace.motorRest > .zero && alphabet.resting.events >> UInt64(event) & 1 == 1
  }

  /// What moves a motor that was spared for long, or leads to where it can be moved, mostly; `nil` where neither is legal.
  mutating func wanted(in explorationState: ExplorationState) -> Choice? {
    guard isUnderused, pace.motorRest == .zero, uses(.sparing) else { return nil }
    let able = explorationState.legal & ~explorationState.idle & offered
    if able & moves != 0 { return chance(Self.eagerness) ? command(among: able & moves) : nil }
    guard explorationState.node >= 0, !alphabet.approaches.isEmpty else { return nil }
    let nearer = able & alphabet.approaches[explorationState.node].nearer
    return nearer != 0 && chance(Self.eagerness) ? command(among: nearer) : nil
  }

  /// Some stimuli without those that have their turn later, mostly, and where others are left: what the motor would rest before, or
  /// what leads away from where one can be moved that was spared for long.
  mutating func timely(_ events: UInt64, in explorationState: ExplorationState) -> UInt64 {
    guard isPaced, uses(.sparing) else { return events }
    var later: UInt64 = 0
    if pace.motorRest > .zero {
      later = alphabet.resting.events
    } else if isUnderused, explorationState.node >= 0, !alphabet.approaches.isEmpty {
      later = alphabet.approaches[explorationState.node].farther
    }
    let others = events & ~later
    return others != 0 && others != events && chance(Self.eagerness) ? others : events
  }

  /// Whether the motor was spared for so long that it is wanted, where it may move often enough: what it would show waits for
  /// it in every test.
  var isUnderused: Bool {
    isPaced && sinceMovement > Self.longestSparing && pace.movementsLeft.map { $0 > Self.reserve } ?? true
  }

  /// Keeps what was chosen, and where.
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

  /// Whether what a disturbance may have broken would show: mostly where nearly all is legal.
  mutating func mayProbe(in explorationState: ExplorationState) -> Bool {
    settings.isSimulated || costs?.isRich(explorationState) == true || chance(0.2)
  }

  /// A disturbance, excusing or not: the one injected least often, relative to its weight and its variants.
  /// Disturbances of the device's environment count more than those of the transport.
  ///
  /// If neither time nor wear counts as cost, each state has a count of its own, so that rare states are not
  /// neglected.
  mutating func disturbance(excusing: Bool, at position: UInt64 = 0) -> Choice? {
    let context = (excusing ? 0xD157 : 0x9408) ^ (settings.isSimulated ? position : 0)
    let included = excusing ? alphabet.excusing & plan.kinds : ~alphabet.excusing
    var best: Int?
    var minimum = Double.infinity
    for act in alphabet.disturbances {
      let bit: UInt64 = 1 << UInt64(act - alphabet.disturbances.lowerBound)
      guard included & bit != 0, variantCounts[act] > 0 else { continue }
      // What a motor rests before has its turn once it has rested, and after what moves it for sure.
      if pace.motorRest > .zero || isUnderused, alphabet.resting.disturbances & bit != 0 { continue }
      let level = alphabet.acts[act].level == .events ? Self.around : 1
      let weight = weights[act] * Double(variantCounts[act]).squareRoot() * level
      let count = (Double(counts[context, act]) + unit()) / weight
      if count < minimum { (best, minimum) = (act, count) }
    }
    guard let best else { return nil }
    counts.add(context, best)
    // What was not begun is not ended.
    let bit: UInt64 = 1 << UInt64(best - alphabet.disturbances.lowerBound)
    let count = alphabet.ending & ~plan.held & bit == 0 ? variantCounts[best] : variantCounts[best] - 1
    return Choice(best, variant: leastTried(best, at: context, among: 0..<count))
  }

  /// How likely a stimulus is, beside others: its weight, but that the motor is used where that is what a test is for,
  /// and after a long silence, of which it may show what that has done.
  ///
  /// Mutating, because it is on the path of every event, and what only reads would be handed a copy.
  @inline(__always)
  mutating func share(of event: Int) -> Double {
    guard settings.isThrifty else { return weights[event] }
    if settings.isSimulated { return weights[event] * novelty(of: event) }
    let isMoving = moves >> UInt64(event) & 1 == 1
    if isResting(event), uses(.sparing) { return weights[event] / Self.untimely }
    if wasSilent { return isMoving ? weights[event] : weights[event] / Self.sparing }
    return isMoving ? weights[event] * plan.motor : weights[event]
  }

  /// How seldom a test was where a stimulus leads from here: where nothing but events is spent, a machine that can be left from
  /// everywhere would else be left long before it is deep in a session.
  private func novelty(of event: Int) -> Double {
    guard let slot = successors.slot(after: event, at: lastPosition) else { return 1 }
    return 1 / Double(max(positions.visits[slot], 1)).squareRoot()
  }

  /// How much dearer what moves is in a test that spares the motor: of ten things that are legal three move it, and they are
  /// then one choice in twenty.
  private static var sparing: Double { 8 }
  /// How much seldomer something is asked for while the motor would have to rest before it.
  private static var untimely: Double { 100 }
  /// After how long a motor that may move often is not spared any more.
  private static var longestSparing: Interval { .seconds(6) }
  /// How often such a motor is seen to, and not something else.
  static var eagerness: Double { 0.75 }
  /// How often a way around is left where the motor would have to rest.
  static var weariness: Double { 0.25 }
  /// How many movements a motor has to have left for that.
  private static var reserve: Int { 50 }
  /// How much more often than the way there is what is around the device disturbed.
  private static var around: Double { 3 }
}
