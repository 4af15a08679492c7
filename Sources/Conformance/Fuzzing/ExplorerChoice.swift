import Basics

/// How a choice is made.
extension Explorer {
  mutating func choose(in explorationState: ExplorationState, slot: Int) -> Choice? {
    if let choice = resumed(in: explorationState) { return choice }
    if isEnduring {
      if let choice = repeated(in: explorationState) { return choice }
      isEnduring = false
    }
    let legal = explorationState.legal & offered
    let settles = maySettle(in: explorationState) && (legal == 0 || chance(plan.patience))
    if !wasSilent {
      if let event = refusal(in: explorationState, slot: slot, isSoon: !settles) {
        return Choice(event, variant: variant(of: event), isForbidden: true)
      }
      if let choice = sprinkled(in: explorationState) { return choice }
      if settings.isThrifty, uses(.resetting), let choice = setOtherwise(in: explorationState) {
        return choice
      }
      if let choice = repeated(in: explorationState) { return choice }
    }
    if settles { return Choice(alphabet.settle) }
    let moving = legal & ~explorationState.idle
    if settings.isThrifty, let choice = doubt(in: explorationState) { return choice }
    // After a long silence the device itself is asked.
    if !wasSilent || moving == 0,
      let choice = selfLoop(legal & explorationState.idle, in: explorationState, isOnly: moving == 0)
    {
      return choice
    }
    guard moving != 0 else { return passing(in: explorationState) }
    return decided(among: moving, in: explorationState)
  }

  /// A stimulus that the model moves with.
  private mutating func decided(among moving: UInt64, in explorationState: ExplorationState) -> Choice {
    let event =
      moving & (moving &- 1) == 0 ? moving.trailingZeroBitCount : decide(among: moving, in: explorationState)
    return Choice(event, variant: variant(of: event))
  }

  /// What sets a condition of the model, given once more while the device has something to do: a count that has begun
  /// is called off, or made another one.
  private mutating func setOtherwise(in explorationState: ExplorationState) -> Choice? {
    let setting = explorationState.legal & alphabet.setting & offered
    guard explorationState.isAwaiting, explorationState.hasDeadline, setting != 0, chance(plan.doubts / 2)
    else { return nil }
    let event = pick(setting)
    return Choice(event, variant: chance(0.5) ? 0 : variant(of: event))
  }

  /// A wait where the model awaits nothing, and yet time may tell something: after a stimulus that has called off what the
  /// device had to do, which it must not do all the same, and where it may do one thing or another.
  private mutating func doubt(in explorationState: ExplorationState) -> Choice? {
    guard !explorationState.isAwaiting || !explorationState.hasDeadline, mayTake(alphabet.wait),
      let lastChoice
    else { return nil }
    if settings.isPlayed, let choice = timer(behind: lastChoice, in: explorationState) { return choice }
    guard Int(lastChoice.act) < alphabet.eventCount, !lastChoice.isForbidden else { return nil }
    let isOpen = explorationState.node < 0 && moves >> UInt64(lastChoice.act) & 1 == 1
    let due: Interval = wasDue == .never ? .zero : wasDue - (.zero + time)
    let rest = max(due, isOpen ? explorationState.window : .zero)
    guard rest > .zero, chance(plan.doubts), let variant = costs?.doubt(for: rest) else { return nil }
    return Choice(alphabet.wait, variant: variant)
  }

  /// A wait for a timer of the device: past its end, or a part of the way, after which a stimulus may have to restart it.
  ///
  /// What was disturbed shows by what does not happen any more, so that behind a disturbance it is waited for in every test.
  private mutating func timer(behind lastChoice: Choice, in explorationState: ExplorationState) -> Choice? {
    let isDisturbed = alphabet.disturbances.contains(Int(lastChoice.act))
    guard explorationState.hasDeadline, chance(isDisturbed ? 0.25 : plan.doubts) else { return nil }
    if isDisturbed, let choice = past(explorationState.deadline) { return choice }
    if chance(0.5) { return wait(in: explorationState) }
    return past(explorationState.deadline)
  }

  /// The shortest wait that leads past a moment.
  private mutating func past(_ moment: Instant) -> Choice? {
    costs?.doubt(for: max(moment - (.zero + time), Interval.zero)).map { Choice(alphabet.wait, variant: $0) }
  }

  /// A stimulus that changes nothing, by what the model says: now and then, and the one that was given least often here.
  ///
  /// There are many of them in most states, such as requests and a hand far from any client, and they lead nowhere.
  private mutating func selfLoop(
    _ idle: UInt64, in explorationState: ExplorationState, isOnly: Bool
  ) -> Choice? {
    guard idle != 0,
      chance(isOnly || hasMoved && uses(.selfLoops) ? 0.5 : selfLoopShare(idle, in: explorationState))
    else { return nil }
    let context = mix(explorationState.position ^ 0xA51D)
    var best = idle.trailingZeroBitCount
    var minimum = Double.infinity
    var rest = idle
    while rest != 0 {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      let count = (Double(counts[context, event]) + unit()) / weights[event]
      if count < minimum { (best, minimum) = (event, count) }
    }
    counts.add(context, best)
    return Choice(best, variant: variant(of: best))
  }

  /// How often a stimulus is given that changes nothing: in some tests as often as each other one, so that none that a device
  /// could answer by something new is passed over, and in some hardly ever, so that the ways through the model stay whole.
  private func selfLoopShare(_ idle: UInt64, in explorationState: ExplorationState) -> Double {
    guard plan.selfLoops == 1 else { return plan.selfLoops }
    return Double(idle.nonzeroBitCount) / Double((explorationState.legal & offered).nonzeroBitCount)
  }

  /// The next choice of a repetition.
  private mutating func repeated(in explorationState: ExplorationState) -> Choice? {
    while let choice = cycles.nextOfRepetition {
      if Int(choice.act) == alphabet.settle, !maySettle(in: explorationState) {
        cycles.follow()
        continue
      }
      if explorationState.admits(choice, alphabet), !isSilence(choice) {
        cycles.follow()
        return choice
      }
      if maySettle(in: explorationState) { return Choice(alphabet.settle) }
      cycles.abandon()
    }
    return nil
  }

  /// Whether a choice is a wait that has a share of its own of the time, and is not taken from elsewhere.
  private func isSilence(_ choice: Choice) -> Bool {
    Int(choice.act) == alphabet.wait && !settings.isPlayed && costs?.isSilence(Int(choice.variant)) == true
  }

  /// The next choice of the rare test that this one begins like; what is not allowed any more is left out.
  private mutating func resumed(in explorationState: ExplorationState) -> Choice? {
    while prefixIndex < prefix.count {
      let choice = prefix[prefixIndex]
      prefixIndex += 1
      if alphabet.action(of: choice) != nil, explorationState.admits(choice, alphabet), !isSilence(choice) {
        return choice
      }
    }
    return nil
  }

  /// A forbidden stimulus: one that was never tried here while there is one, or any.
  ///
  /// - Parameter isSoon: whether one that was never tried is wanted now.
  private mutating func refusal(in explorationState: ExplorationState, slot: Int, isSoon: Bool) -> Int? {
    let forbidden = explorationState.forbidden & offered
    guard forbidden != 0, settings.refusals > 0, uses(.refusals) else { return nil }
    let fresh = forbidden & ~positions.refused[slot]
    if fresh != 0, isSoon, uses(.firstRefusals), chance(Self.fresh) { return pick(fresh) }
    return chance(plan.refusals) ? pick(forbidden) : nil
  }

  /// A wait, or a disturbance.
  private mutating func sprinkled(in explorationState: ExplorationState) -> Choice? {
    if chance(plan.waits), mayTake(alphabet.wait) { return wait(in: explorationState) }
    if settings.isThrifty, uses(.silences), mayBeSilent, let variant = costs?.silence(in: explorationState),
      chance(0.25)
    {
      costs?.beginSilence()
      wasSilent = true
      return Choice(alphabet.wait, variant: variant)
    }
    if chance(plan.probes), mayProbe(in: explorationState),
      let choice = disturbance(excusing: false, at: explorationState.position)
    {
      return choice
    }
    guard disturbanceWeight > 0, chance(plan.disturbances) else { return nil }
    if settings.isThrifty { return disturbance(excusing: true, at: explorationState.position) }
    var place = unit() * disturbanceWeight
    for act in alphabet.disturbances where mayTake(act) {
      place -= weights[act]
      if place < 0 { return leastTried(act, in: explorationState) }
    }
    return nil
  }

  /// Nothing is legal: time may change that.
  private mutating func passing(in explorationState: ExplorationState) -> Choice? {
    mayTake(alphabet.wait) ? wait(in: explorationState) : nil
  }

  /// A wait: where time is what is spent, one that its share is enough for.
  private mutating func wait(in explorationState: ExplorationState) -> Choice {
    leastTried(alphabet.wait, in: explorationState, among: costs?.waits(in: explorationState))
  }

  /// A stimulus by its weight; soon after a repetition the one that was taken least often there.
  private mutating func decide(among all: UInt64, in explorationState: ExplorationState) -> Int {
    var legal = all
    if let event = cycles.wayOn {
      // To go around once more is another repetition, and no news.
      let others = legal & ~(1 << UInt64(event))
      if others != 0 { legal = others }
    }
    guard let repetition = cycles.context else { return draw(among: legal) }
    let context = mix(repetition &+ decisions.hash(cycles.decisionsSince))
    var best = legal.trailingZeroBitCount
    var minimum = Double.infinity
    while legal != 0 {
      let event = legal.trailingZeroBitCount
      legal &= legal &- 1
      let count = (Double(counts[context, event]) + unit()) / weights[event]
      if count < minimum { (best, minimum) = (event, count) }
    }
    counts.add(context, best)
    return best
  }

  private mutating func draw(among legal: UInt64) -> Int {
    var sum = 0.0
    var rest = legal
    while rest != 0 {
      sum += share(of: rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    var place = unit() * sum
    rest = legal
    while true {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      place -= share(of: event)
      if place < 0 || rest == 0 { return event }
    }
  }

  private mutating func pick(_ events: UInt64) -> Int {
    var rest = events
    for _ in 0..<generator.below(rest.nonzeroBitCount) { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }

  /// A variant of a stimulus: each as often as any other.
  private mutating func variant(of act: Int) -> Int {
    variantCounts[act] > 1 ? leastTried(act, at: 0xA4C) : 0
  }

  /// The variant of an act that was chosen least often at this position.
  private mutating func leastTried(
    _ act: Int, in explorationState: ExplorationState, among variants: Range<Int>? = nil
  ) -> Choice {
    Choice(act, variant: leastTried(act, at: explorationState.position, among: variants))
  }

  /// The variant of an act that was chosen least often in a context.
  mutating func leastTried(_ act: Int, at context: UInt64, among variants: Range<Int>? = nil) -> Int {
    let context = mix(context ^ UInt64(act) << 32)
    let variants = variants ?? 0..<variantCounts[act]
    var best = variants.lowerBound
    var minimum = UInt32.max
    let first = generator.below(variants.count)
    for step in 0..<variants.count {
      let variant = variants.lowerBound + (first + step) % variants.count
      let tried = counts[context, variant]
      if tried < minimum { (best, minimum) = (variant, tried) }
    }
    counts.add(context, best)
    return best
  }

  /// Whether what comes of a long silence can still be looked at in this test.
  private var mayBeSilent: Bool { mayTake(alphabet.wait) && plan.length - test.choices.count > 4 }

  private func mayTake(_ act: Int) -> Bool { variantCounts[act] > 0 }

  /// Whether the device has something to do, and was not let do it just now without any change.
  private mutating func maySettle(in explorationState: ExplorationState) -> Bool {
    guard explorationState.isAwaiting, explorationState.hasDeadline, mayTake(alphabet.settle) else {
      return false
    }
    guard let lastChoice, Int(lastChoice.act) == alphabet.settle else { return true }
    return settledAt != explorationState.position
  }
}
