public import Basics

/// Generates tests, one choice at a time, from the stimuli allowed now and from earlier tests.
///
///     begin ──▶ (next ──▶ carry out the choice)* ──▶ end ──▶ begin …
///
/// The explorer sees exploration states and nothing else of the device, so one seed gives the same tests for the same
/// answers. It draws legal stimuli in proportion to their weights; ``Strategy`` lists everything else that steers it.
///
/// It allocates nothing per choice, and its memory is bounded: counts are stored in hashed tables of fixed size, in
/// which two contexts may share a cell.
public struct Explorer: Sendable {
  /// The options of a campaign. A share refers to all choices, or to all tests if it says so.
  public struct Settings: Sendable {
    /// The maximum number of choices per test. Lengths vary, and a tenth of the tests is short. A fault that builds
    /// up in a session needs some hundred choices; a fault that occurs once per session needs frequent resets.
    public var length = 1024
    /// The maximum number of choices of a test with an endurance repetition or a wrapping streak.
    public var longest = 1024
    /// The share of refusals, once each cell was tried: small, since refusals lead nowhere; not zero, since a device
    /// may remember them.
    public var refusals = 0.015
    /// The share of waits: small, since some faults need events in quick succession.
    public var waits = 0.01
    /// The share of stimuli that change nothing in the model although others are legal: small, so that paths through
    /// the model stay intact.
    public var selfLoops = 0.1
    /// The share of waits up to a bound of a running timer, each followed by a stimulus there.
    public var edges = 0.1
    /// The share of disturbances of the environment, the messages, the packets and the link: small, since each
    /// permits deviations in much of what follows.
    public var disturbances = 0.02
    /// The share of tests that repeat cycles.
    public var repeating = 1.0
    /// The share of tests that begin like a rare one: small, since another path to the same behaviour seldom adds
    /// anything.
    public var resuming = 0.05
    /// Whether tests cost time and wear rather than events; see ``Explorer/spend(_:)``.
    public var isThrifty = false
    /// Whether the motor accepts commands during and right after another motion, so that tests send some there.
    public var isHasty = false
    /// Whether time and wear cost nothing, because a program emulates the device. Tests then wait for spontaneous
    /// events.
    public var isSimulated = false
    /// The strategy that is disabled, to measure its value.
    public var without: Strategy?

    /// Makes the default settings.
    public init() {}
  }

  /// The parameters that are drawn for one test.
  struct Plan: Sendable {
    var length = 0
    /// The events that the test leaves out, as bits.
    var omitted: UInt64 = 0
    /// Whether the test repeats cycles that have closed.
    var repeats = false
    /// Whether it repeats one of them as often as ``Explorer/endurance`` says.
    var hasEndurance = false
    /// Whether the test ends early once part of the machine is out of reach for good.
    var endsEarly = false
    /// The number of choices at which it then ends.
    var end = Int.max
    /// The probability that the test lets the device act first when an action is due.
    var waitingChance = 1.0
    var refusals = 0.0
    var waits = 0.0
    var disturbances = 0.0
    var selfLoops = 0.0
    /// Which excusing disturbances the test may contain, as bits; see ``Alphabet/excusing``.
    var kinds: UInt64 = ~0
    /// Which disturbances are in effect now, as bits.
    var held: UInt64 = 0
    /// The share of disturbances that permit no deviation.
    var probes = 0.0
    /// Whether the test begins and ends faults that rows depend on, in positions where no test has done so.
    var togglesFaults = false
    /// The relative weight of stimuli that move the motor.
    var motor = 1.0
    /// The probability of a wait for an event that was cancelled.
    var cancelledEventWaits = 0.0
    /// The share of waits up to a bound of a running timer, before the factors for rare positions.
    var edges = 0.0
    /// The probability that a command that moves the motor is followed by another one, during its motion or right
    /// after it.
    var followUpChance = 0.0
  }

  /// The number of decisions after a repetition that are tried systematically. A fault shows within a few commands,
  /// and each further decision multiplies the number of paths by the number of legal commands.
  private static let exploring = 4
  /// The number of events after which repetitions have their full share: before that, chance alone finds shallow
  /// faults.
  private static let rampUpEvents = 1_000.0
  /// The length up to which a cycle is as likely to be repeated as any other; longer cycles share the events.
  private static let fullShareLength = 5.0
  /// The factor for cycles without decisions if time is the cost: there are many, and chance alone repeats them.
  private static let decisionFreeFactor = 0.1
  /// How many times an endurance test repeats a cycle that a device may count: users report counts up to a hundred.
  private static let endurance = 16...112
  /// The number of choices left in a test after such a repetition.
  static let aftermath = 8
  /// The share of all choices for such repetitions. With less, finding a count that a power cycle clears would take
  /// more events than the other faults save.
  static let enduranceShare = 0.125
  /// The number of events after which they begin: faults that need few repetitions are found before.
  private static let enduranceBegins = 8_000
  /// The minimum number of choices left to a test that can no longer reach part of the machine, while its position is
  /// still rare.
  private static let lingering = 8
  /// Tests end early only once they have spent this share of all choices in such parts: faults of counters show
  /// there, too.
  private static let lingeringShare = 0.1
  /// The probability of a forbidden stimulus that was never tried, in an ordinary position: nothing else loses more
  /// than a tenth of its choices to them.
  static let firstRefusalShare = 0.1
  /// The maximum of this probability, in positions that tests seldom reach.
  static let maximumFirstRefusalShare = 0.2
  /// How often a stimulus that changes nothing counts as new in a position. It is then as likely as any other, and is
  /// given once, then twice in a row, then four times.
  static let newSelfLoopCount = 3
  /// The share of all choices for such stimuli, counted as if ``eventOffset`` choices had been made before: a large
  /// machine has very many of them.
  static let selfLoopShare = 0.1
  static let eventOffset = 1_000
  /// The share of all choices at timer bounds per unit of their weight, counted as if ``eventOffset`` choices had been
  /// made before.
  static let maximumEdgeShare = 0.15
  /// The length of a wrapping streak, in which a test repeats one request: 256 times overflow a counter of one byte,
  /// and one more shows the effect.
  static let streakLength = 257
  /// The maximum number of interrupted streaks that are begun again.
  static let maximumInterruptedStreaks = 20
  /// The number of events after which streaks begin.
  static let wrappingBegins = 2_000
  /// The number of events after which streaks of forbidden requests begin.
  static let wrappingRefusals = 20_000

  let alphabet: Alphabet
  private(set) var settings: Settings
  let starts: Int
  /// The stimuli that cause wear, as bits; none if wear costs nothing.
  let moves: UInt64
  /// The starts that tests may use, ascending.
  private var openStarts: [Int]
  /// The events that have a variant and a weight, as bits; and the number of variants of each act.
  let offered: UInt64
  let variantCounts: [Int]
  /// The number of variants of each act with values as the model holds them; see ``Alphabet/Act/principal``.
  let principalCounts: [Int]
  /// Whether there are any.
  let hasData: Bool
  /// The events that are still tried with values next to those of a variable that has changed, as bits, and how often.
  var probing: (events: UInt64, left: Int) = (0, 0)
  let weights: [Double]
  let disturbanceWeight: Double

  var generator: SeededGenerator
  var plan = Plan()
  var counts = CountTable()
  var positions = PositionTable()
  var successors = SuccessorTable()
  var rarity = RarityTable()
  var cycles: CycleWatch
  /// The account of the time spent; `nil` unless the settings are thrifty.
  var costs: ExplorerCosts?
  var corpus = RareTests()
  /// The most recent decisions.
  var decisions = DecisionHistory()
  /// The choices of the rare test that this test begins like, and the index of the next one.
  var prefix: [Choice] = []
  var prefixIndex = 0
  var lastPosition: UInt64 = 0
  /// The position in which the last choice was made.
  var origin: UInt64 = 0
  var lastChoice: Choice?
  /// The device's time that has passed in this test, if the settings are thrifty.
  var time = Interval.zero
  /// Whether the last stimulus moved the motor: requests may now show its effects.
  var hasMoved = false
  /// Whether no stimulus was given since a long silence.
  var wasSilent = false
  /// The time by which the device had to act, as of the last choice; `.never` if nothing was due.
  var wasDue = Instant.never
  /// Whether an endurance repetition is in progress, which no other choice may interrupt.
  var isEnduring = false
  /// The stimulus that is to be given again at once: its choice, the position, the number of times left, and whether
  /// it is a wrapping streak, which continues even if the position changes meanwhile.
  var streak: (choice: Choice, position: UInt64, left: Int, wraps: Bool) = (Choice(0), 0, 0, false)
  /// The positions in which each stimulus had a wrapping streak.
  var wrapped: [[UInt64]]
  /// Whether the last stimulus led back to the position in which it was given.
  var hasReturned = false
  /// How many streaks were interrupted because the device left the states that allow the request.
  var interruptedStreaks = 0
  /// The events whose rows depend on the conditions that the last disturbance changes, as bits; until the next
  /// choice.
  var disturbed: UInt64 = 0
  /// The stage of a test at a timer bound.
  var edgeStage = EdgeStage.none
  /// The choices spent on endurance repetitions, in parts of the machine without a return, on new self-loops, at
  /// timer bounds, and on wrapping streaks.
  var spent = (enduring: 0, lingering: 0, asking: 0, edges: 0, wrapping: 0)
  /// The share of the machine that can be reached: the smallest in this test so far, and the share at its beginning.
  private var reach = (now: 1.0, first: 1.0)
  /// The position in which the device was last let settle.
  var settledAt: UInt64 = 0
  /// The device's pace: how long the motor must rest, and how many movements are left.
  var pace = DevicePace()
  /// Whether the pace is known, because the device keeps its state between tests.
  var isPaced = false
  /// The time since the last command to the motor.
  var sinceMovement = Interval.zero
  /// Whether the test let a motion end in order to give a command right after it.
  var isHurrying = false

  /// The choices of the current test so far.
  public private(set) var test: TestCase
  /// The number of choices made in all tests.
  public private(set) var events = 0
  /// The number of tests begun.
  public private(set) var tests = 0
  /// Whether events are the only cost.
  @inline(__always)
  var isFree: Bool { !settings.isThrifty || settings.isSimulated }
  /// The number of positions seen.
  public var positionCount: Int { positions.count }
  /// The number of rare tests in the corpus.
  public var corpusCount: Int { corpus.count }

  /// Makes an explorer.
  ///
  /// - Parameters:
  ///   - alphabet: the meaning of the choices.
  ///   - starts: the number of starts of the machine; the last is the usual one, with which most tests begin.
  ///   - settings: shares and lengths.
  ///   - seed: the seed of all random choices.
  public init(_ alphabet: Alphabet, starts: Int, settings: Settings = Settings(), seed: UInt64) {
    self.alphabet = alphabet
    self.starts = max(starts, 1)
    openStarts = Array(0..<max(starts, 1))
    self.settings = settings
    let acts = alphabet.acts
    variantCounts = acts.map { $0.weight > 0 ? $0.variants.count : 0 }
    weights = acts.map(\.weight)
    principalCounts = acts.map(\.principal)
    hasData = principalCounts.contains { $0 > 0 }
    cycles = CycleWatch(
      settle: alphabet.settle, exploring: settings.without == .exploring ? 0 : Self.exploring)
    if self.settings.isThrifty {
      costs = ExplorerCosts(
        waits: variantCounts[alphabet.wait] > 0 ? acts[alphabet.wait].variants : [],
        longestWindow: alphabet.longestWindow)
      costs?.hasShares = settings.without != .shares
      costs?.isFree = settings.isSimulated
    }
    offered = (0..<min(alphabet.eventCount, 64)).reduce(0) { mask, event in
      acts[event].variants.isEmpty || acts[event].weight <= 0 ? mask : mask | 1 << UInt64(event)
    }
    moves = self.settings.isThrifty && !settings.isSimulated ? alphabet.moving : 0
    disturbanceWeight = alphabet.disturbances.reduce(0) { sum, act in
      acts[act].variants.isEmpty ? sum : sum + acts[act].weight
    }
    wrapped = Array(repeating: [], count: alphabet.eventCount)
    generator = SeededGenerator(seed: seed, for: "explorer")
    test = TestCase(start: self.starts - 1)
    test.choices.reserveCapacity(settings.length)
  }

  /// Begins a test.
  ///
  /// - Returns: the number of its start.
  public mutating func begin() -> Int {
    tests += 1
    pace.motorRest = .zero
    drawPlan()
    cycles.reset()
    isEnduring = false
    streak.left = 0
    edgeStage = .none
    disturbed = 0
    decisions.reset()
    lastChoice = nil
    wasDue = .never
    hasMoved = false
    wasSilent = false
    isHurrying = false
    time = .zero
    test.choices.removeAll(keepingCapacity: true)
    test.start = drawStart()
    prefix.removeAll(keepingCapacity: true)
    prefixIndex = 0
    if uses(.rareTests), chance(settings.resuming), let rare = corpus.takeLeastUsed(&generator) {
      if openStarts.contains(rare.start) { test.start = rare.start }
      prefix.append(contentsOf: rare.choices)
    }
    rarity.begin()
    return test.start
  }

  /// Excludes a start from all further tests, because the device cannot be brought there.
  ///
  /// - Returns: whether another start is left.
  public mutating func exclude(start: Int) -> Bool {
    guard openStarts != [start] else { return false }
    openStarts.removeAll { $0 == start }
    return true
  }

  /// Returns the usual start, and in a tenth of the tests another one.
  private mutating func drawStart() -> Int {
    let last = openStarts.count - 1
    return openStarts[last > 0 && chance(0.1) ? generator.below(last) : last]
  }

  /// Makes the next choice.
  ///
  /// - Returns: the choice, or `nil` if the test is over.
  public mutating func next(in explorationState: ExplorationState) -> Choice? {
    let slot = positions.visit(explorationState.position)
    if !alphabet.reach.isEmpty { narrow(explorationState, slot: slot) }
    guard test.choices.count < min(plan.length, plan.end) else { return nil }
    if settings.isSimulated, let lastChoice, Int(lastChoice.act) < alphabet.eventCount,
      !lastChoice.isForbidden
    {
      successors.set(slot, after: Int(lastChoice.act), at: lastPosition)
    }
    arrive(at: explorationState.position)
    guard let choice = choose(in: explorationState, slot: slot) else { return nil }
    events += 1
    note(choice, in: explorationState, slot: slot)
    return choice
  }

  /// Ends a test.
  ///
  /// - Returns: whether it did something that hardly any test did before, and so is worth keeping.
  public mutating func end(in explorationState: ExplorationState) -> Bool {
    arrive(at: explorationState.position)
    guard let length = rarity.end() else { return false }
    corpus.insert(TestCase(start: test.start, Array(test.choices.prefix(length))))
    return true
  }

  /// Receives the device's pace: until the motor has rested, the explorer makes other choices.
  public mutating func take(_ pace: DevicePace) { (self.pace, isPaced) = (pace, true) }

  /// Receives how much of the device's time the last choice took.
  public mutating func spend(_ passed: Interval) {
    guard settings.isThrifty, let lastChoice else { return }
    let act = Int(lastChoice.act)
    time += passed
    sinceMovement = alphabet.moves(lastChoice) ? passed : sinceMovement + passed
    costs?.pass(
      passed, waiting: act == alphabet.wait ? Int(lastChoice.variant) : nil)
    if act == alphabet.settle, lastChoice.variant == 0 { costs?.recordSettling(at: settledAt, in: passed) }
  }

  /// Adds a rare test of an earlier run or of another worker; a later test will begin like it.
  public mutating func learn(_ test: TestCase) {
    corpus.insert(test)
  }

  /// Records where the last choice led, and may start to repeat a cycle that it closed.
  private mutating func arrive(at position: UInt64) {
    origin = lastPosition
    defer { lastPosition = position }
    hasReturned = false
    if let choice = lastChoice {
      hasReturned = Int(choice.act) < alphabet.eventCount && position == lastPosition
      // A refusal, or time that changed nothing, is not a step of a cycle.
      let isStimulus = Int(choice.act) < alphabet.eventCount && !choice.isForbidden
      guard isStimulus || position != lastPosition else { return }
    }
    guard let closed = cycles.arrive(at: position, by: lastChoice) else { return }
    rarity.see(mix(closed.hash &+ UInt64(bucket(closed.run))), at: test.choices.count)
    guard plan.repeats, closed.isNew, !cycles.isBusy else { return }
    // The fewer decisions a cycle has, the fewer cycles are like it; a long cycle costs more events.
    let decisions = max(closed.decisions, 1)
    let share = min(Self.fullShareLength / Double(closed.length), 1) / Double(1 << min(decisions - 1, 16))
    if plan.hasEndurance, let times = endurance(of: closed, share) {
      plan.hasEndurance = false
      isEnduring = true
      spent.enduring += times * closed.length
      plan.end = .max
      plan.length = max(plan.length, test.choices.count + times * closed.length + Self.aftermath)
      return cycles.repeatLast(times: times)
    }
    guard chance(settings.isThrifty && closed.decisions == 0 ? Self.decisionFreeFactor * share : share) else {
      return
    }
    cycles.repeatLast(times: repetitions(of: decisions))
  }

  /// Returns how many times to repeat a cycle that a device may count: the maximum at first, later a random number.
  /// Returns `nil` if the test does not repeat it; the more often tests did, the likelier that is.
  private mutating func endurance(of closed: CycleWatch.Closed, _ share: Double) -> Int? {
    let room = (settings.longest - test.choices.count - Self.aftermath) / closed.length
    let (least, most) = (Self.endurance.lowerBound, min(room, Self.endurance.upperBound))
    let context = mix(closed.stimuli ^ 0xE17D)
    let count = counts[context, 0]
    guard most >= least, chance(share / Double(1 + count)) else { return nil }
    counts.add(context, 0)
    return count == 0 ? most : least + generator.below(most - least + 1)
  }

  /// Ends a test earlier if part of the machine can no longer be reached: the smaller the rest, the earlier. If most
  /// of the machine is out of reach, the test ends the sooner, the more often its position was visited.
  private mutating func narrow(_ explorationState: ExplorationState, slot: Int) {
    guard explorationState.node >= 0 else { return }
    let next = alphabet.reach[explorationState.node]
    if test.choices.isEmpty { reach = (next, next) }
    if next < reach.now {
      let left = Double(min(plan.length, plan.end) - test.choices.count) * next / reach.now
      let usual = Double(events) / Double(max(positions.count, 1))
      let share = 2 * next < reach.first ? min(usual / Double(positions.visits[slot]), 1) : 1
      if plan.endsEarly {
        plan.end = test.choices.count + max(Int(max(left, Double(Self.lingering)) * share), 1)
      }
      reach.now = next
    }
    if 2 * next < reach.first { spent.lingering += 1 }
  }

  /// Returns how many times to repeat a cycle: with at least as many decisions as are tried systematically, since
  /// chance finds fewer anyway. Each further repetition is half as likely as the one before.
  private mutating func repetitions(of decisions: Int) -> Int {
    let minimum = max((Self.exploring + decisions - 1) / decisions, 2)
    return minimum + min(generator.next().trailingZeroBitCount, 10)
  }

  private mutating func note(_ choice: Choice, in explorationState: ExplorationState, slot: Int) {
    test.choices.append(choice)
    lastChoice = choice
    let act = Int(choice.act)
    if act == alphabet.settle { settledAt = explorationState.position }
    if choice.isForbidden { positions.refused[slot] |= 1 << choice.act }
    let isStimulus = act < alphabet.eventCount && !choice.isForbidden
    let isIdle = isStimulus && explorationState.idle >> UInt64(act) & 1 == 1
    let moving = explorationState.legal & offered & ~explorationState.idle
    let isDecision = isStimulus ? !isIdle && moving & (moving &- 1) != 0 : act != alphabet.settle
    if settings.isThrifty { noteCosts(of: choice, in: explorationState) }
    cycles.note(choice, isDecision: isDecision, isStimulus: isStimulus)
    guard isDecision else { return }
    rarity.see(
      mix(explorationState.position ^ mix(decisions.hash(2) &+ choice.rank)), at: test.choices.count)
    decisions.push(choice.rank)
  }

  private mutating func drawPlan() {
    plan.length = length()
    plan.repeats = chance(settings.repeating * min(Double(events) / Self.rampUpEvents, 1))
    // Some spontaneous events show only if the tester waits, and others only if it does not.
    plan.waitingChance = [1, 0.95, 0.8, 0.5][generator.below(4)]
    // Some tests have all choices of a kind, so that several come close together; the others have none.
    plan.refusals = chance(0.25) ? 4 * settings.refusals : 0
    plan.waits = chance(0.25) ? 4 * settings.waits * weights[alphabet.wait] : 0
    plan.disturbances = chance(0.5) ? 2 * settings.disturbances * min(disturbanceWeight, 1) : 0
    plan.end = .max
    plan.selfLoops = chance(0.5) ? 2 * settings.selfLoops : 0
    plan.edges =
      variantCounts[alphabet.edge] > 0 && chance(edgedTests) ? settings.edges * weights[alphabet.edge] : 0
    plan.hasEndurance =
      isFree && plan.repeats && uses(.endurance)
      && Double(spent.enduring) <= Self.enduranceShare * Double(events - Self.enduranceBegins)
    plan.endsEarly = uses(.narrowing) && Double(spent.lingering) > Self.lingeringShare * Double(events)
    if hasData {
      // What a machine with data does after some time depends on more than on its state.
      if chance(0.5) { plan.waits = 10 * settings.waits * weights[alphabet.wait] }
      probing.left = 0
    }
    if hasData, uses(.omission) {
      plan.omitted = 0
      if chance(0.5) {
        forEachBit(of: offered) { if generator.below(3) == 0 { plan.omitted |= 1 << UInt64($0) } }
      }
    }
    if settings.isThrifty { drawThriftyPlan() }
    excludeStrategies()
  }

  /// Draws a length between an eighth of the maximum and the maximum, each octave equally likely. A tenth of the
  /// tests is shorter.
  private mutating func length() -> Int {
    let maximum = max(settings.length, 8)
    let octave = chance(0.1) ? generator.below(3) - 3 : generator.below(3)
    let base = max(octave < 0 ? (maximum / 8) >> -octave : (maximum / 8) << octave, 1)
    return min(base + generator.below(base), maximum)
  }

  /// Returns a random number from 0 up to, but not including, 1.
  @inline(__always)
  mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }

  @inline(__always)
  mutating func chance(_ probability: Double) -> Bool { probability > 0 && unit() < probability }
}
