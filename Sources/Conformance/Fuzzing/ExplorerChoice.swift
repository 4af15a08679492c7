import Basics

/// How the explorer makes a choice.
extension Explorer {
  mutating func choose(in explorationState: ExplorationState, slot: Int) -> Choice? {
    if let choice = resumed(in: explorationState) { return choice }
    if isEnduring {
      if let choice = repeated(in: explorationState) { return choice }
      isEnduring = false
    }
    if let choice = streakChoice(in: explorationState) { return choice }
    if hasReturned, wraps(in: explorationState) { return streakChoice(in: explorationState) }
    if edgeStage != .none, let choice = edged(in: explorationState) { return choice }
    var legal = explorationState.legal & offered
    // What a test leaves out is given only where nothing else is legal.
    if plan.omitted != 0, legal & ~plan.omitted != 0 { legal &= ~plan.omitted }
    if disturbed != 0, let choice = concerned(among: legal) { return choice }
    if hasData, let choice = probe(in: explorationState, among: legal) { return choice }
    if isPaced, !wasSilent, let choice = wanted(in: explorationState) { return choice }
    if settings.isHasty, let choice = followUpCommand(in: explorationState) { return choice }
    let settles =
      maySettle(in: explorationState)
      && (legal == 0 || chance(plan.waitingChance) && mayTakeTime(at: explorationState.position))
    if !wasSilent {
      if let event = refusal(in: explorationState, slot: slot, isSoon: !settles) {
        return Choice(event, variant: variant(of: event), isForbidden: true)
      }
      if settings.isSimulated, let choice = faultToggle(in: explorationState, slot: slot) { return choice }
      if let choice = waitOrDisturbance(in: explorationState) { return choice }
      if settings.isThrifty, uses(.resetting), let choice = repeatedSetting(in: explorationState) {
        return choice
      }
      if let choice = edge(in: explorationState, slot: slot) { return choice }
      if let choice = repeated(in: explorationState) { return choice }
      if let choice = newSelfLoop(legal & explorationState.idle, in: explorationState) { return choice }
    }
    if settles { return Choice(alphabet.settle) }
    let moving = legal & ~explorationState.idle
    if settings.isThrifty, let choice = doubt(in: explorationState) { return choice }
    // After a long silence, a stimulus that changes something in the model comes first.
    if !wasSilent || moving == 0,
      let choice = selfLoop(legal & explorationState.idle, in: explorationState, isOnly: moving == 0)
    {
      return choice
    }
    guard moving != 0 else { return passing(in: explorationState) }
    return decided(among: withoutDeferred(moving, in: explorationState), in: explorationState)
  }

  /// Returns a stimulus with a value next to one that has just changed: after a change, now and then, several in a row.
  private mutating func probe(in explorationState: ExplorationState, among legal: UInt64) -> Choice? {
    if explorationState.changed != 0, probing.left == 0, uses(.probing), chance(Self.probes) {
      probing.events = 0
      forEachBit(of: offered) { event in
        let act = alphabet.acts[event]
        if act.compared & explorationState.changed != 0, act.neighbours < act.variants.count {
          probing.events |= 1 << UInt64(event)
        }
      }
      probing.left = probing.events == 0 ? 0 : Self.probeLength
    }
    guard probing.left > 0 else { return nil }
    probing.left -= 1
    let events = probing.events & legal
    guard events != 0 else { return nil }
    let event = pick(events)
    return Choice(
      event,
      variant: leastTried(event, at: 0xDA7A, among: alphabet.acts[event].neighbours..<variantCounts[event]))
  }

  /// The share of changes of a variable after which values next to it are tried, and how many.
  private static let (probes, probeLength) = (0.5, 10)

  /// Returns, half of the time, one of the stimuli whose rows depend on the last disturbance.
  private mutating func concerned(among legal: UInt64) -> Choice? {
    let concerned = disturbed & legal
    disturbed = 0
    guard concerned != 0, chance(0.5) else { return nil }
    let event = pick(concerned)
    return Choice(event, variant: variant(of: event))
  }

  /// Returns a stimulus that changes something in the model.
  private mutating func decided(among moving: UInt64, in explorationState: ExplorationState) -> Choice {
    let event =
      moving & (moving &- 1) == 0 ? moving.trailingZeroBitCount : decide(among: moving, in: explorationState)
    return Choice(event, variant: variant(of: event))
  }

  /// Returns a stimulus that sets a condition of the model, while the device must act soon: it cancels a running
  /// timer or changes its duration. Otherwise `nil`.
  private mutating func repeatedSetting(in explorationState: ExplorationState) -> Choice? {
    let setting = explorationState.legal & alphabet.setting & offered
    guard explorationState.isAwaiting, explorationState.hasDeadline, setting != 0,
      chance(plan.cancelledEventWaits / 2)
    else { return nil }
    let event = pick(setting)
    // A stimulus that ends the timer needs no rest of the motor.
    let isEnded = isResting(event) && chance(Self.motorPreference) || chance(0.5)
    return Choice(event, variant: isEnded ? 0 : variant(of: event))
  }

  /// Returns a wait although the model awaits nothing, if time may show something. The device must not do what the
  /// last stimulus has cancelled; or it may do one thing or another.
  private mutating func doubt(in explorationState: ExplorationState) -> Choice? {
    guard !explorationState.isAwaiting || !explorationState.hasDeadline, mayTake(alphabet.wait),
      let lastChoice
    else { return nil }
    if settings.isSimulated, let choice = timer(behind: lastChoice, in: explorationState) { return choice }
    guard Int(lastChoice.act) < alphabet.eventCount, !lastChoice.isForbidden else { return nil }
    let isOpen = explorationState.node < 0 && moves >> UInt64(lastChoice.act) & 1 == 1
    let due: Interval = wasDue == .never ? .zero : wasDue - (.zero + time)
    let rest = max(due, isOpen ? explorationState.window : .zero)
    guard rest > .zero, isNew(lastChoice) || chance(plan.cancelledEventWaits),
      let variant = costs?.doubt(for: rest)
    else {
      return nil
    }
    return Choice(alphabet.wait, variant: variant)
  }

  /// Returns whether no test has waited here for what a stimulus has cancelled, if events are the only cost.
  private mutating func isNew(_ lastChoice: Choice) -> Bool {
    guard settings.isSimulated else { return false }
    let context = mix(origin ^ 0xD0B7)
    guard counts[context, Int(lastChoice.act)] == 0 else { return false }
    counts.add(context, Int(lastChoice.act))
    return true
  }

  /// Returns a wait for a timer of the device: past its end, or part of it, after which a stimulus may have to
  /// restart it.
  ///
  /// The effect of a disturbance may be that something no longer happens, so every test may wait after a disturbance.
  private mutating func timer(behind lastChoice: Choice, in explorationState: ExplorationState) -> Choice? {
    let isDisturbed = alphabet.disturbances.contains(Int(lastChoice.act))
    guard explorationState.hasDeadline, chance(isDisturbed ? 0.25 : plan.cancelledEventWaits) else {
      return nil
    }
    if isDisturbed, let choice = past(explorationState.deadline) { return choice }
    if chance(0.5) { return wait(in: explorationState) }
    return past(explorationState.deadline)
  }

  /// Returns the shortest wait that leads past a moment, if there is time for it.
  mutating func past(_ moment: Instant) -> Choice? {
    costs?.doubt(for: max(moment - (.zero + time), Interval.zero)).map { Choice(alphabet.wait, variant: $0) }
  }

  /// The stimuli that should come later: while the motor rests, those that would have to wait for it; while it is
  /// underused, those that move it only if the lock has a bug.
  private var deferredStimuli: UInt64 {
    if pace.motorRest > .zero { return alphabet.resting.events }
    return isUnderused ? alphabet.resting.events & ~alphabet.setting : 0
  }

  /// Returns a self-loop, now and then: of the stimuli that change nothing in the model, the one that was given least
  /// often here.
  ///
  /// Most states have many of them, such as requests and manual operation out of range of any client, and they lead
  /// nowhere.
  private mutating func selfLoop(
    _ idle: UInt64, in explorationState: ExplorationState, isOnly: Bool
  ) -> Choice? {
    let idle = idle & ~deferredStimuli
    guard idle != 0,
      chance(isOnly || hasMoved && uses(.selfLoops) ? 0.5 : plan.selfLoops)
    else { return nil }
    return leastTriedSelfLoop(among: idle, in: explorationState)
  }

  /// Returns a self-loop that was hardly given here. While it is new, it is as likely as any other stimulus; after a
  /// few times in a position it is rare.
  private mutating func newSelfLoop(_ idle: UInt64, in explorationState: ExplorationState) -> Choice? {
    guard isFree, idle != 0, uses(.selfLoops),
      Double(spent.asking) <= Self.selfLoopShare * Double(events + Self.eventOffset)
    else { return nil }
    let context = Self.asking(at: explorationState.position)
    var fresh: UInt64 = 0
    var rest = idle
    while rest != 0 {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      if counts[context, event] < Self.newSelfLoopCount { fresh |= 1 << UInt64(event) }
    }
    let legal = explorationState.legal & offered
    guard chance(Double(fresh.nonzeroBitCount) / Double(legal.nonzeroBitCount)) else { return nil }
    return leastTriedSelfLoop(among: fresh, in: explorationState)
  }

  /// Returns the stimulus among several self-loops that was given least often here.
  ///
  /// If events are the only cost, it is given twice in a row the second time, and four times in a row the third time.
  /// A device that counts self-loops would forget the count at the next change.
  private mutating func leastTriedSelfLoop(
    among idle: UInt64, in explorationState: ExplorationState
  ) -> Choice {
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
    if isFree, count < Self.newSelfLoopCount {
      let more = 1 << Int(count) - 1
      // A streak that does not fit into this test comes in the next one.
      guard test.choices.count + more < min(plan.length, plan.end) else { return choice }
      streak = (choice, explorationState.position, more, false)
      spent.asking += 1 + more
    }
    counts.add(context, best)
    return choice
  }

  /// Returns the stimulus to give again at once, while it has changed nothing; otherwise `nil`.
  private mutating func streakChoice(in explorationState: ExplorationState) -> Choice? {
    guard streak.left > 0 else { return nil }
    let act = UInt64(streak.choice.act)
    // If requests take time, timers end between them.
    let continues =
      streak.wraps
      ? explorationState.admits(streak.choice, alphabet)
      : streak.position == explorationState.position
    guard continues else {
      if streak.wraps, interruptedStreaks < Self.maximumInterruptedStreaks {
        wrapped[Int(act)].removeLast()
        interruptedStreaks += 1
      }
      streak.left = 0
      return nil
    }
    streak.left -= 1
    return streak.choice
  }

  /// The context that counts how often self-loops were given in a position.
  private static func asking(at position: UInt64) -> UInt64 { mix(position ^ 0xA51D) }

  /// Returns the next choice of a repetition; `nil` if none is in progress.
  private mutating func repeated(in explorationState: ExplorationState) -> Choice? {
    while let choice = cycles.nextOfRepetition {
      let maySettle = maySettle(in: explorationState) && mayTakeTime(at: explorationState.position)
      if Int(choice.act) == alphabet.settle, !maySettle {
        cycles.follow()
        continue
      }
      if explorationState.admits(choice, alphabet), !isSilence(choice) {
        // A cycle in which the motor must rest each time is not repeated for long.
        if Int(choice.act) < alphabet.eventCount, isResting(Int(choice.act)), chance(Self.abandonProbability)
        {
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

  /// Returns whether a choice is a wait that has a share of the time of its own; other strategies do not make it.
  private func isSilence(_ choice: Choice) -> Bool {
    Int(choice.act) == alphabet.wait && !settings.isSimulated && costs?.isSilence(Int(choice.variant)) == true
  }

  /// Returns the next choice of the rare test that this test begins like, skipping choices that are not allowed here.
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

  /// Returns a forbidden stimulus now and then: one that was never tried here, if there is one, or any.
  ///
  /// - Parameter isSoon: whether one that was never tried may come now.
  private mutating func refusal(in explorationState: ExplorationState, slot: Int, isSoon: Bool) -> Int? {
    let forbidden = explorationState.forbidden & offered
    guard forbidden != 0, settings.refusals > 0, uses(.refusals) else { return nil }
    let fresh = forbidden & ~positions.refused[slot]
    if fresh != 0, isSoon, uses(.firstRefusals), chance(freshShare(at: slot)) { return pick(fresh) }
    return chance(plan.refusals) ? pick(forbidden) : nil
  }

  /// Returns the probability of something that was never tried in a position: the more rarely tests are there, the
  /// higher.
  @inline(__always)
  mutating func freshShare(at slot: Int) -> Double {
    let usual = Double(events) / Double(max(positions.count, 1))
    let rarity = max(usual / Double(max(positions.visits[slot], 1)), 1)
    return min(Self.firstRefusalShare * rarity.squareRoot(), Self.maximumFirstRefusalShare)
  }

  /// Returns a wait or a disturbance, now and then.
  private mutating func waitOrDisturbance(in explorationState: ExplorationState) -> Choice? {
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
    var remainder = unit() * disturbanceWeight
    for act in alphabet.disturbances where mayTake(act) {
      remainder -= weights[act]
      if remainder < 0 { return leastTried(act, in: explorationState) }
    }
    return nil
  }

  /// Returns a wait if nothing is legal: time may change that.
  private mutating func passing(in explorationState: ExplorationState) -> Choice? {
    mayTake(alphabet.wait) ? wait(in: explorationState) : nil
  }

  /// Returns a wait; if time is the cost, one that its share allows.
  private mutating func wait(in explorationState: ExplorationState) -> Choice {
    leastTried(alphabet.wait, in: explorationState, among: costs?.waits(in: explorationState))
  }

  /// Returns a stimulus drawn by weight; soon after a repetition, the one that was chosen least often there.
  private mutating func decide(among all: UInt64, in explorationState: ExplorationState) -> Int {
    var legal = all
    if let event = cycles.nextPassAct {
      // One more pass is another repetition, and nothing new.
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
    var remainder = unit() * sum
    rest = legal
    while true {
      let event = rest.trailingZeroBitCount
      rest &= rest &- 1
      remainder -= share(of: event)
      if remainder < 0 || rest == 0 { return event }
    }
  }

  mutating func pick(_ events: UInt64) -> Int {
    var rest = events
    for _ in 0..<generator.below(rest.nonzeroBitCount) { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }

  /// Returns the variant of a stimulus that was chosen least often.
  mutating func variant(of act: Int) -> Int {
    let principal = principalCounts[act]
    if principal > 0 {
      let ranges = alphabet.acts[act]
      switch generator.below(8) {
      // Each row of the event is aimed at in each position.
      case 0...3 where ranges.aimed > principal:
        return leastTried(act, at: lastPosition, among: principal..<ranges.aimed)
      // Values that were compared before, and what is next to those that are compared, must not lead on.
      case 4 where ranges.neighbours > ranges.aimed:
        return ranges.aimed + generator.below(ranges.neighbours - ranges.aimed)
      case 5 where variantCounts[act] > ranges.neighbours:
        return ranges.neighbours + generator.below(variantCounts[act] - ranges.neighbours)
      default: return generator.below(principal)
      }
    }
    return variantCounts[act] > 1 ? leastTried(act, at: 0xA4C) : 0
  }

  /// Returns an act in the variant that was chosen least often in this position.
  private mutating func leastTried(
    _ act: Int, in explorationState: ExplorationState, among variants: Range<Int>? = nil
  ) -> Choice {
    Choice(act, variant: leastTried(act, at: explorationState.position, among: variants))
  }

  /// Returns the variant of an act that was chosen least often in a context.
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

  /// Whether the test is long enough to show the effect of a long silence.
  private var mayBeSilent: Bool { mayTake(alphabet.wait) && plan.length - test.choices.count > 4 }

  private func mayTake(_ act: Int) -> Bool { variantCounts[act] > 0 }

  /// Returns whether the device must act, and was not just let settle without any change.
  private mutating func maySettle(in explorationState: ExplorationState) -> Bool {
    guard explorationState.isAwaiting, explorationState.hasDeadline, mayTake(alphabet.settle) else {
      return false
    }
    guard let lastChoice, Int(lastChoice.act) == alphabet.settle else { return true }
    return settledAt != explorationState.position
  }
}
