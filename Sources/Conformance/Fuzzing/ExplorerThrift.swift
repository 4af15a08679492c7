import Basics

// How tests are drawn where time and wear are what is spent, and not events: what a test is about, what is dear in it,
// and what is given in passing. How much of both there is to spend stands in ExplorerCosts.swift.

extension Explorer {
  /// Draws what a test is about where time and wear count.
  ///
  /// Most tests spare the motor and fill the time with what costs it nothing: requests, refusals, and disturbances. Of
  /// those that excuse something a test has one kind or two, since those of many kinds excuse each other; those that
  /// excuse nothing are strewn over all tests.
  mutating func drawThriftyPlan() {
    plan.rests = isWorn || chance(0.85)
    plan.dwells = chance(0.7)
    plan.doubts = [0, 0.2, 0.6][generator.below(3)]
    plan.listens = [0, 0.15, 0.3][generator.below(3)]
    plan.patience = [1, 0.8, 0.5, 0.3][generator.below(4)]
    if variantCounts[alphabet.settle] > 0 { plan.halts = [0, 0.3, 0.6, 0.9][generator.below(4)] }
    plan.asides = [0.1, 0.3, 0.5][generator.below(3)]
    drawTheme()
    for act in 0..<eventCount {
      let isFixed = variantCounts[act] > 1 && chance(palette.movers == 0 ? 0.5 : 0.4)
      palette.variants[act] = isFixed ? leastTried(act, at: Self.drawing) : -1
    }
    plan.probes = chance(0.75) ? 0.2 : 0
    drawDisturbances()
  }

  private mutating func drawDisturbances() {
    palette.disturbances.removeAll(keepingCapacity: true)
    palette.held = 0
    plan.disturbances = 0
    guard disturbanceWeight > 0, chance(0.5) else { return }
    plan.disturbances = 5 * settings.disturbances
    plan.rests = isWorn || chance(0.6)
    plan.doubts = 0.8
    for _ in 0...(chance(0.3) ? 1 : 0) {
      guard let act = leastDrawn(in: Self.drawing, among: alphabet.excusing) else { return }
      // What happens around the device shows when it moves.
      if alphabet.acts[act].level == .events {
        plan.rests = isWorn && chance(0.5) || chance(0.3)
        if chance(0.6) { palette.movers = moves }
      }
      let variant = chance(0.2) ? 0 : leastTried(act, at: Self.drawing, among: openVariants(of: act))
      palette.disturbances.append((act, chance(0.5) ? variant : nil))
    }
  }

  /// The variants of a disturbance that do something: what was not begun is not ended.
  func openVariants(of act: Int) -> Range<Int>? {
    let bit: UInt64 = 1 << UInt64(act - alphabet.disturbances.lowerBound)
    return alphabet.ending & ~palette.held & bit != 0 ? 0..<variantCounts[act] - 1 : nil
  }

  /// What a test is about: two stimuli that tell something and one that moves something, by turns; or a few stimuli.
  private mutating func drawTheme() {
    palette.theme = 0
    palette.movers = 0
    let telling = idle & ~moves
    if moves != 0, telling != 0, chance(0.6) {
      let pair = leastTried(telling.nonzeroBitCount * moves.nonzeroBitCount)
      palette.theme = bit(pair % telling.nonzeroBitCount, of: telling)
      palette.theme |= bit(generator.below(telling.nonzeroBitCount), of: telling)
      palette.movers = bit(pair / telling.nonzeroBitCount, of: moves)
      plan.dwells = true
      plan.asides = 0.5
      plan.rests = true
    } else if chance(0.5) {
      for _ in 0...generator.below(2) { palette.theme |= 1 << UInt64(leastDrawnStimulus()) & ~moves }
    }
  }

  /// Keeps what was chosen, and where.
  @inline(never)
  mutating func noteCosts(of choice: Choice, isIdle: Bool, in situation: Situation) {
    let act = Int(choice.act)
    wasDue = situation.isAwaiting ? situation.deadline : .never
    if act < alphabet.eventCount {
      hasMoved = alphabet.moves(choice) && moves != 0
      if hasMoved {
        let isPlanned = palette.movers >> UInt64(act) & 1 == 1 || isNews(act, at: situation.position)
        costs?.move(isPlanned: isPlanned)
        counts.add(moving(at: situation.position), act)
      }
      lastStimulus = choice.isForbidden ? lastStimulus : act
      isCurious = wasSilent && !choice.isForbidden
      wasSilent = false
    }
    if act > alphabet.edge {
      let bit: UInt64 = 1 << UInt64(act - alphabet.edge - 1)
      let ends = alphabet.ending & bit != 0 && Int(choice.variant) == variantCounts[act] - 1
      palette.held = ends ? palette.held & ~bit : palette.held | bit
    }
    let isProbe = act > alphabet.edge && alphabet.excusing >> UInt64(act - alphabet.edge - 1) & 1 == 0
    echo = isIdle ? .answer : isProbe ? .aftermath : nil
  }

  /// Learns how much can still be done once the device has done what the last stimulus asked for, and what changes
  /// nothing where much can be done.
  mutating func learn(from situation: Situation) {
    guard !situation.isAwaiting, lastStimulus >= 0 else { return }
    let legal = Double(situation.legal.nonzeroBitCount)
    mostLegal = max(mostLegal, legal)
    liberty[lastStimulus] += (legal - liberty[lastStimulus]) / 8
    lastStimulus = -1
    if isRich(situation) { idle |= situation.idle & offered }
  }

  /// Whether nearly all is legal that ever is, so that what was broken would show.
  private func isRich(_ situation: Situation) -> Bool {
    4 * Double(situation.legal.nonzeroBitCount) >= 3 * mostLegal
  }

  /// A disturbance that excuses nothing, mostly where much is legal: the one that was given least often there.
  mutating func probe(in situation: Situation) -> Choice? {
    let isRich = isRich(situation)
    guard isRich || chance(0.2) else { return nil }
    let context: UInt64 = isRich ? 0x9408 : 0x9409
    guard let act = leastDrawn(in: context, among: ~alphabet.excusing) else { return nil }
    // Where there are many, those that come first tell most.
    let first = variantCounts[act] > 2 * Self.telling && chance(0.5) ? 0..<Self.telling : nil
    return Choice(act, variant: leastTried(act, at: context, among: first))
  }

  /// A wait for the answer to a request, or for the end of what a disturbance excuses: what comes next would else come
  /// before them.
  mutating func listen() -> Choice? {
    guard let echo, variantCounts[alphabet.wait] > 0, chance(plan.listens) else { return nil }
    if echo == .answer {
      guard let variants = costs?.answers() else { return nil }
      return Choice(alphabet.wait, variant: variants.lowerBound + generator.below(variants.count))
    }
    return costs?.aftermath(of: alphabet.aftermath).map { Choice(alphabet.wait, variant: $0) }
  }

  /// A wait for all that comes of the first stimulus after a long silence: that is seldom, and worth hearing to the end.
  mutating func hearOut() -> Choice? {
    isCurious = false
    return costs?.reply().map { Choice(alphabet.wait, variant: $0) }
  }

  /// How much dearer a stimulus is than others: the motor is used where that is what a test is for, and where what a
  /// repetition has led to shows; and a test that dwells seldom does what leaves it little to do.
  ///
  /// Mutating, because it is on the path of every event, and what only reads would be handed a copy.
  @inline(__always)
  mutating func price(of event: Int, at position: UInt64) -> Double {
    settings.isThrifty ? dearness(of: event, at: position) : 1
  }

  @inline(never)
  private mutating func dearness(of event: Int, at position: UInt64) -> Double {
    let isMoving = moves >> UInt64(event) & 1 == 1
    if isMoving, isNews(event, at: position), costs?.isWorn(isPlanned: true) == false { return 1 }
    let way = max(mostLegal / max(liberty[event], 1), 1)
    if wasSilent { return isMoving ? 1 : Self.sparing * way }
    if cycles.isExploring {
      return cycles.isTelling ? (isMoving ? 1 : Self.sparing) : isMoving && isWorn ? Self.wearing : 1
    }
    if palette.movers >> UInt64(event) & 1 == 1, costs?.isWorn(isPlanned: true) == false {
      return 1 / Self.sparing
    }
    if palette.theme >> UInt64(event) & 1 == 1 { return 1 / Self.sparing }
    let leaving = plan.dwells ? way : 1
    guard isMoving else { return leaving }
    return leaving * (plan.rests ? Self.sparing : 1) * (isWorn ? Self.wearing : 1)
  }

  /// Whether what moves something has hardly been asked for at a position: there it is worth the motor's work.
  func isNews(_ event: Int, at position: UInt64) -> Bool {
    uses(.news) && counts[moving(at: position), event] < 2
  }

  /// The context in which it is counted what was set in motion at a position.
  func moving(at position: UInt64) -> UInt64 { mix(position ^ 0x4D0E) }

  /// How many of an act's many variants are those that tell most.
  private static var telling: Int { 8 }

  /// How much dearer what moves is in a test that spares the motor.
  private static var sparing: Double { 8 }
  /// How much dearer it is once the motor has worked as much as it should by now.
  private static var wearing: Double { 16 }

  /// Whether the motor has worked as much as it should by now, but for what tests are about.
  var isWorn: Bool { uses(.wearing) && costs?.isWorn(isPlanned: false) ?? false }

  var eventCount: Int { min(alphabet.eventCount, 64) }

  /// The context in which it is counted what tests were about.
  private static var drawing: UInt64 { 0xD157 }

  /// The bit that stands at a place among those of a mask.
  private func bit(_ place: Int, of mask: UInt64) -> UInt64 {
    var rest = mask
    for _ in 0..<place { rest &= rest &- 1 }
    return rest & ~(rest &- 1)
  }

  /// The number below a count that was drawn least often.
  private mutating func leastTried(_ count: Int) -> Int {
    leastOften(0..<count, in: 0x9A19) { _, _ in 1 } ?? 0
  }

  /// The stimulus that was drawn least often, by the weights that were asked for.
  private mutating func leastDrawnStimulus() -> Int {
    leastOften(0..<eventCount, in: Self.drawing) { $0.variantCounts[$1] > 0 ? $0.weights[$1] : 0 } ?? 0
  }

  /// The disturbance that was drawn least often in a context, for its weight and its variants. What happens around the
  /// device counts more than what happens on the way there.
  ///
  /// - Parameter included: which of the disturbances, as bits.
  private mutating func leastDrawn(in context: UInt64, among included: UInt64) -> Int? {
    leastOften(alphabet.disturbances, in: context) { explorer, act in
      guard included >> UInt64(act - explorer.alphabet.disturbances.lowerBound) & 1 == 1 else { return 0 }
      let level = explorer.alphabet.acts[act].level == .events ? 3.0 : 1
      return explorer.weights[act] * Double(explorer.variantCounts[act]).squareRoot() * level
    }
  }

  /// The number that was drawn least often in a context, in proportion to its weight; one without weight never is.
  private mutating func leastOften(
    _ numbers: Range<Int>, in context: UInt64, weight: (borrowing Explorer, Int) -> Double
  ) -> Int? {
    var best: Int?
    var least = Double.infinity
    for number in numbers {
      let weight = weight(self, number)
      guard weight > 0 else { continue }
      let count = (Double(counts[context, number]) + unit()) / weight
      if count < least { (best, least) = (number, count) }
    }
    if let best { counts.add(context, best) }
    return best
  }
}
