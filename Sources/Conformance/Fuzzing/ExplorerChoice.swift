import Basics

/// How a choice is made.
extension Explorer {
  mutating func choose(in explorationState: ExplorationState, slot: Int) -> Choice? {
    if let choice = resumed(in: explorationState) { return choice }
    if isEnduring {
      if let choice = repeated(in: explorationState) { return choice }
      isEnduring = false
    }
    if let choice = insisted(in: explorationState) { return choice }
    if hasReturned, wraps(in: explorationState) { return insisted(in: explorationState) }
    if edgeStage != .none, let choice = edged(in: explorationState) { return choice }
    let legal = explorationState.legal & offered
    if disturbed != 0, let choice = concerned(among: legal) { return choice }
    if isPaced, !wasSilent, let choice = wanted(in: explorationState) { return choice }
    if settings.isHasty, let choice = hasty(in: explorationState) { return choice }
    let settles =
      maySettle(in: explorationState)
      && (legal == 0 || chance(plan.waitingChance) && mayTakeTime(at: explorationState.position))
    if !wasSilent {
      if let event = refusal(in: explorationState, slot: slot, isSoon: !settles) {
        return Choice(event, variant: variant(of: event), isForbidden: true)
      }
      if settings.isSimulated, let choice = turn(in: explorationState, slot: slot) { return choice }
      if let choice = sprinkled(in: explorationState) { return choice }
      if settings.isThrifty, uses(.resetting), let choice = setOtherwise(in: explorationState) {
        return choice
      }
      if let choice = edge(in: explorationState, slot: slot) { return choice }
      if let choice = repeated(in: explorationState) { return choice }
      if let choice = unasked(legal & explorationState.idle, in: explorationState) { return choice }
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
    return decided(among: timely(moving, in: explorationState), in: explorationState)
  }

  /// Now and then, of what has rows that depend on what was disturbed just now, whichever it is.
  private mutating func concerned(among legal: UInt64) -> Choice? {
    let concerned = disturbed & legal
    disturbed = 0
    guard concerned != 0, chance(0.5) else { return nil }
    let event = pick(concerned)
    return Choice(event, variant: variant(of: event))
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
    // What ends the count needs no rest of the motor.
    let isEnded = isResting(event) && chance(Self.eagerness) || chance(0.5)
    return Choice(event, variant: isEnded ? 0 : variant(of: event))
  }

  /// A wait where the model awaits nothing, and yet time may tell something: after a stimulus that has called off what the
  /// device had to do, which it must not do all the same, and where it may do one thing or another.
  private mutating func doubt(in explorationState: ExplorationState) -> Choice? {
    guard !explorationState.isAwaiting || !explorationState.hasDeadline, mayTake(alphabet.wait),
      let lastChoice
    else { return nil }
    if settings.isSimulated, let choice = timer(behind: lastChoice, in: explorationState) { return choice }
    guard Int(lastChoice.act) < alphabet.eventCount, !lastChoice.isForbidden else { return nil }
    let isOpen = explorationState.node < 0 && moves >> UInt64(lastChoice.act) & 1 == 1
    let due: Interval = wasDue == .never ? .zero : wasDue - (.zero + time)
    let rest = max(due, isOpen ? explorationState.window : .zero)
    guard rest > .zero, isNew(lastChoice) || chance(plan.doubts), let variant = costs?.doubt(for: rest) else {
      return nil
    }
    return Choice(alphabet.wait, variant: variant)
  }

  /// Whether what a stimulus has called off where it was given last was not waited for, where events alone are spent.
  private mutating func isNew(_ lastChoice: Choice) -> Bool {
    guard settings.isSimulated else { return false }
    let context = mix(origin ^ 0xD0B7)
    guard counts[context, Int(lastChoice.act)] == 0 else { return false }
    counts.add(context, Int(lastChoice.act))
    return true
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
  mutating func past(_ moment: Instant) -> Choice? {
    costs?.doubt(for: max(moment - (.zero + time), Interval.zero)).map { Choice(alphabet.wait, variant: $0) }
  }

  /// The stimuli that have their turn later: while a motor rests what it would rest before, and once it was spared for long what
  /// moves it only where a lock has a bug.
  private var waiting: UInt64 {
    if pace.motorRest > .zero { return alphabet.resting.events }
    return isUnderused ? alphabet.resting.events & ~alphabet.setting : 0
  }

  /// A stimulus that changes nothing, by what the model says: now and then, and the one that was given least often here.
  ///
  /// There are many of them in most states, such as requests and a hand far from any client, and they lead nowhere.
  private mutating func selfLoop(
    _ idle: UInt64, in explorationState: ExplorationState, isOnly: Bool
  ) -> Choice? {
    let idle = idle & ~waiting
    guard idle != 0,
      chance(isOnly || hasMoved && uses(.selfLoops) ? 0.5 : plan.selfLoops)
    else { return nil }
    return asked(among: idle, in: explorationState)
  }

  /// A stimulus that changes nothing, by what the model says, and that was hardly given here: it is as new as each other one,
  /// and as likely. Once it was given some times in a position it is given seldom.
  private mutating func unasked(_ idle: UInt64, in explorationState: ExplorationState) -> Choice? {
    guard isFree, idle != 0, uses(.selfLoops),
      Double(spent.asking) <= Self.asked * Double(events + Self.shallowest)
    else { return nil }
    let context = Self.asking(at: explorationState.position)
    var fresh: UInt64 = 0
    var rest = idle
    while rest != 0 {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      if counts[context, event] < Self.insisting { fresh |= 1 << UInt64(event) }
    }
    let legal = explorationState.legal & offered
    guard chance(Double(fresh.nonzeroBitCount) / Double(legal.nonzeroBitCount)) else { return nil }
    return asked(among: fresh, in: explorationState)
  }

  /// That of some stimuli that was given least often here.
  ///
  /// Where events are what is spent, it is given twice at once the second time, and four times the third: a device that
  /// counts what changes nothing forgets that over what changes something.
  private mutating func asked(among idle: UInt64, in explorationState: ExplorationState) -> Choice {
    let context = Self.asking(at: explorationState.position)
    var best = idle.trailingZeroBitCount
    var minimum = Double.infinity
    var rest = idle
    while rest != 0 {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      let count = (Double(counts[context, event]) + unit()) / weights[event]
      if count < minimum { (best, minimum) = (event, count) }
    }
    let choice = Choice(best, variant: variant(of: best))
    let count = counts[context, best]
    if isFree, count < Self.insisting {
      let more = 1 << Int(count) - 1
      // What the test has no room for has its turn in the next one.
      guard test.choices.count + more < min(plan.length, plan.end) else { return choice }
      insistence = (choice, explorationState.position, more, false)
      spent.asking += 1 + more
    }
    counts.add(context, best)
    return choice
  }

  /// What is given once more at once, while it has changed nothing.
  private mutating func insisted(in explorationState: ExplorationState) -> Choice? {
    guard insistence.left > 0 else { return nil }
    let act = UInt64(insistence.choice.act)
    // Where requests take time, timers end between them.
    let goesOn =
      insistence.wraps
      ? explorationState.admits(insistence.choice, alphabet)
      : insistence.position == explorationState.position
    guard goesOn else {
      if insistence.wraps, unwrapped < Self.longestUnwrapped {
        wrapped[Int(act)].removeLast()
        unwrapped += 1
      }
      insistence.left = 0
      return nil
    }
    insistence.left -= 1
    return insistence.choice
  }

  /// The context in which it is counted how often what changes nothing was given.
  private static func asking(at position: UInt64) -> UInt64 { mix(position ^ 0xA51D) }

  /// The next choice of a repetition.
  private mutating func repeated(in explorationState: ExplorationState) -> Choice? {
    while let choice = cycles.nextOfRepetition {
      let maySettle = maySettle(in: explorationState) && mayTakeTime(at: explorationState.position)
      if Int(choice.act) == alphabet.settle, !maySettle {
        cycles.follow()
        continue
      }
      if explorationState.admits(choice, alphabet), !isSilence(choice) {
        // A motor that has to rest on each way around is not gone around with for long.
        if Int(choice.act) < alphabet.eventCount, isResting(Int(choice.act)), chance(Self.weariness) {
          cycles.abandon()
          continue
        }
        cycles.follow()
        return choice
      }
      if maySettle { return Choice(alphabet.settle) }
      cycles.abandon()
    }
    return nil
  }

  /// Whether a choice is a wait that has a share of its own of the time, and is not taken from elsewhere.
  private func isSilence(_ choice: Choice) -> Bool {
    Int(choice.act) == alphabet.wait && !settings.isSimulated && costs?.isSilence(Int(choice.variant)) == true
  }

  /// The next choice of the rare test that this one repeats; choices that are no longer allowed are skipped.
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
    if fresh != 0, isSoon, uses(.firstRefusals), chance(freshShare(at: slot)) { return pick(fresh) }
    return chance(plan.refusals) ? pick(forbidden) : nil
  }

  /// How often a forbidden stimulus is given that was never tried in a position: the oftener, the seldomer a test is there.
  @inline(__always)
  mutating func freshShare(at slot: Int) -> Double {
    let usual = Double(events) / Double(max(positions.count, 1))
    let rarity = max(usual / Double(max(positions.visits[slot], 1)), 1)
    return min(Self.fresh * rarity.squareRoot(), Self.freshest)
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

  mutating func pick(_ events: UInt64) -> Int {
    var rest = events
    for _ in 0..<generator.below(rest.nonzeroBitCount) { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }

  /// A variant of a stimulus: each as often as any other.
  mutating func variant(of act: Int) -> Int {
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
