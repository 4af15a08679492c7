public import Basics

/// Generates tests, one choice at a time, from the stimuli allowed now and the earlier tests.
///
///     begin ──▶ (next ──▶ the choice is carried out)* ──▶ end ──▶ begin …
///
/// It sees explored states and nothing of the device, so that one seed gives the same tests for the same answers. A
/// legal stimulus is chosen in proportion to its weight; ``Strategy`` lists everything else that steers it.
///
/// Nothing is allocated per choice, and memory is bounded: counts live in hashed tables of fixed size, where two
/// contexts may share a cell.
public struct Explorer: Sendable {
  /// The options of a campaign. Shares are of all choices, or of all tests where stated.
  public struct Settings: Sendable {
    /// The most choices of a test; tests are of mixed length, and a tenth of them is short. What builds up in a session
    /// needs some hundred of them, and a reset between tests makes room for what comes only once.
    public var length = 1024
    /// The most choices of a test that goes around one cycle as often as devices count.
    public var longest = 1024
    /// Refusals, once each cell was tried: seldom, since they lead nowhere, and yet a device may remember them.
    public var refusals = 0.015
    /// Waits: seldom, since what comes close together is forgotten over them.
    public var waits = 0.01
    /// Stimuli that change nothing in the model, where others are legal too: as many as leave the ways through it whole.
    public var selfLoops = 0.1
    /// Bounds of timers that run are gone to, and something is given there.
    public var edges = 0.1
    /// Disturbances of the messages, the packets and the link: each excuses much of what follows it.
    public var disturbances = 0.02
    /// Of all tests, those that repeat cycles.
    public var repeating = 1.0
    /// Of all tests, those that begin like a rare one: few, since one way there is like another.
    public var resuming = 0.05
    /// Whether time and wear are what is spent, and not events: see ``Explorer/spend(_:)``.
    public var isThrifty = false
    /// Whether a motor takes commands during another motion and right after it, so that they are tried.
    public var isHasty = false
    /// Whether neither of the two costs anything, since a program emulates the device: spontaneous events are then
    /// awaited.
    public var isSimulated = false
    /// What tests are drawn without, to measure what it is worth.
    public var without: Strategy?

    /// Makes the usual settings.
    public init() {}
  }

  /// How one test is made.
  struct Plan: Sendable {
    var length = 0
    /// Whether cycles that have closed are repeated.
    var repeats = false
    /// Whether one of them is repeated as often as devices count.
    var endures = false
    /// Whether the test ends soon where a part of the machine is left behind for good.
    var narrows = false
    /// Where it then ends.
    var end = Int.max
    /// How often the device is let do what it has to do.
    var waitingChance = 1.0
    var refusals = 0.0
    var waits = 0.0
    var disturbances = 0.0
    var selfLoops = 0.0
    /// Which disturbances the test has of those that excuse something, as bits.
    var kinds: UInt64 = ~0
    /// Which of the disturbances last on, as bits.
    var held: UInt64 = 0
    /// Disturbances that excuse nothing.
    var probes = 0.0
    /// Whether faults that rows depend on are brought about and ended where that was never done.
    var turns = false
    /// How often what moves the motor is decided for, beside others.
    var motor = 1.0
    /// How often what was called off is waited for all the same.
    var doubts = 0.0
    /// How often a bound of a timer that runs is gone to, where it was not for long.
    var edges = 0.0
    /// How often a command that moves the motor is followed by another one, during its motion or right after it.
    var haste = 0.0
  }

  /// How many decisions after a repetition are tried out: what was broken shows within a few commands, and with each more
  /// there are as many times more ways as commands are legal.
  private static let exploring = 4
  /// The events in which repetitions come to their full share: what is shallow is found before by chance alone.
  private static let beginning = 1_000.0
  /// How many choices on its way a cycle may have to be repeated as often as any other: longer ones share the events.
  private static let brief = 5.0
  /// How much seldomer a cycle is repeated that takes no decision where time is what is spent: there are many, and chance
  /// goes around them.
  private static let free = 0.1
  /// How often a cycle is gone around that a device may count: people report counts up to a hundred.
  private static let endurance = 16...112
  /// How many choices a test has left after that.
  static let aftermath = 8
  /// The part of all choices that is spent on that: with less, a count that a power cycle ends takes more than it costs others.
  static let endured = 0.125
  /// The events after which that begins: what takes a few repetitions is found before.
  private static let shallow = 8_000
  /// How many choices a test has left where it has left most of the machine behind for good, while that is new.
  private static let lingering = 8
  /// The part of all choices that is spent there without regard to that: what is counted shows there, too.
  private static let lingered = 0.1
  /// How often a forbidden stimulus is given that was never tried here: nothing else loses more than a tenth to them.
  static let fresh = 0.1
  /// How often at the most, where a test seldom is.
  static let freshest = 0.2
  /// How often a stimulus that changes nothing is as likely in a position as each other one, and given oftener at once each time.
  static let insisting = 3
  /// The part of all choices that is spent on that, as if some had been made before: a large machine has a great many.
  static let asked = 0.1
  static let shallowest = 1_000
  /// The part of all choices that is spent at bounds of timers, as if some had been made before, for each unit of their weight.
  static let edged = 0.15
  /// How often one request is given in a row, seldom in a campaign: a byte that counts it comes round, and one more shows it.
  static let wrapping = 257
  /// How often a row is begun again that was broken off.
  static let longestUnwrapped = 20
  /// The events after which that begins.
  static let wrappingBegins = 2_000
  /// The events after which it begins with what is to be refused.
  static let wrappingRefusals = 20_000

  let alphabet: Alphabet
  private(set) var settings: Settings
  let starts: Int
  /// The stimuli that set something in motion that wears, as bits.
  let moves: UInt64
  /// The starts that tests may begin with, ascending.
  private var openStarts: [Int]
  /// The events that have a variant, as bits, and how many variants each act has.
  let offered: UInt64
  let variantCounts: [Int]
  let weights: [Double]
  let disturbanceWeight: Double

  var generator: SeededGenerator
  var plan = Plan()
  var counts = CountTable()
  var positions = PositionTable()
  var successors = SuccessorTable()
  var rarity = RarityTable()
  var cycles: CycleWatch
  /// What was spent, where that counts.
  var costs: ExplorerCosts?
  var corpus = RareTests()
  /// The last decisions, the newest first.
  var decisions = DecisionHistory()
  /// The rest of the rare test that this one begins like.
  var prefix: [Choice] = []
  var prefixIndex = 0
  var lastPosition: UInt64 = 0
  /// Where the last choice was made.
  var origin: UInt64 = 0
  var lastChoice: Choice?
  /// The time that has passed in this test, if known.
  var time = Interval.zero
  /// Whether the last stimulus was one that moves something: what it has left behind may be asked for.
  var hasMoved = false
  /// Whether nothing was asked of the device since a long silence.
  var wasSilent = false
  /// Until when the device had something to do, at the latest, before the last choice.
  var wasDue = Instant.never
  /// Whether a cycle is gone around as often as devices count: nothing comes between.
  var isEnduring = false
  /// A stimulus that changes nothing and is given again at once: where, and how often yet.
  /// Or as often as a byte counts: whatever ends by itself meanwhile.
  var insistence: (choice: Choice, position: UInt64, left: Int, wraps: Bool) = (Choice(0), 0, 0, false)
  /// In which positions each stimulus was given as often in a row as a byte counts.
  var wrapped: [[UInt64]]
  /// Whether the last stimulus has led to where it was given.
  var hasReturned = false
  /// How often such a row was broken off, since the device did not stay where it can be given.
  var unwrapped = 0
  /// The events that have rows which depend on what was last disturbed, as bits, until the next choice.
  var disturbed: UInt64 = 0
  /// Where a test stands that goes to a bound of a timer.
  var edgeStage = EdgeStage.none
  /// The choices that were spent on going around, where nothing leads back, on asking what changes nothing, and at bounds of timers.
  /// And on rows as long as a byte counts.
  var spent = (enduring: 0, lingering: 0, asking: 0, edges: 0, wrapping: 0)
  /// The part of the machine that can be reached where the test was so far, and where it began.
  private var reach = (now: 1.0, first: 1.0)
  /// Where the device was last let settle.
  var settledAt: UInt64 = 0
  /// How long the motor rests from now on, and how often it may still move.
  var pace = DevicePace()
  /// Whether the pace is known, since the device keeps its state between tests.
  var isPaced = false
  /// How much time has passed since the motor was asked for last.
  var sinceMovement = Interval.zero
  /// Whether a motion was let end for a command right after it.
  var isHurrying = false

  /// The choices of the current test so far.
  public private(set) var test: TestCase
  /// How many choices were made in all tests.
  public private(set) var events = 0
  /// How many tests were begun.
  public private(set) var tests = 0
  /// Whether nothing but events is spent.
  @inline(__always)
  var isFree: Bool { !settings.isThrifty || settings.isSimulated }
  /// How many positions were seen.
  public var positionCount: Int { positions.count }
  /// How many rare tests are kept.
  public var corpusCount: Int { corpus.count }

  /// Makes an explorer.
  ///
  /// - Parameters:
  ///   - alphabet: what choices stand for.
  ///   - starts: how many starts the machine has; the last is its usual one, with which most tests begin.
  ///   - settings: shares and lengths.
  ///   - seed: where all chance comes from.
  public init(_ alphabet: Alphabet, starts: Int, settings: Settings = Settings(), seed: UInt64) {
    self.alphabet = alphabet
    self.starts = max(starts, 1)
    openStarts = Array(0..<max(starts, 1))
    self.settings = settings
    let acts = alphabet.acts
    variantCounts = acts.map { $0.weight > 0 ? $0.variants.count : 0 }
    weights = acts.map(\.weight)
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
    insistence.left = 0
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

  /// Leaves a start out of all further tests: the device cannot be brought there.
  ///
  /// - Returns: whether another is left.
  public mutating func exclude(start: Int) -> Bool {
    guard openStarts != [start] else { return false }
    openStarts.removeAll { $0 == start }
    return true
  }

  /// The usual start, and now and then another.
  private mutating func drawStart() -> Int {
    let last = openStarts.count - 1
    return openStarts[last > 0 && chance(0.1) ? generator.below(last) : last]
  }

  /// Chooses what is done next.
  ///
  /// - Returns: `nil` when the test is over.
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

  /// Receives how long the motor must rest: until then other choices are made.
  public mutating func take(_ pace: DevicePace) { (self.pace, isPaced) = (pace, true) }

  /// Receives how much of the device's time has passed since the last choice.
  public mutating func spend(_ passed: Interval) {
    guard settings.isThrifty, let lastChoice else { return }
    let act = Int(lastChoice.act)
    time += passed
    sinceMovement = alphabet.moves(lastChoice) ? passed : sinceMovement + passed
    costs?.pass(
      passed, waiting: act == alphabet.wait ? Int(lastChoice.variant) : nil)
    if act == alphabet.settle, lastChoice.variant == 0 { costs?.recordSettling(at: settledAt, in: passed) }
  }

  /// Adds a rare test of an earlier run or of another worker, to be continued soon.
  public mutating func learn(_ test: TestCase) {
    corpus.insert(test)
  }

  /// Looks where the last choice has led.
  private mutating func arrive(at position: UInt64) {
    origin = lastPosition
    defer { lastPosition = position }
    hasReturned = false
    if let choice = lastChoice {
      hasReturned = Int(choice.act) < alphabet.eventCount && position == lastPosition
      // What was refused, and time that changed nothing, is no step of a way around.
      let isStimulus = Int(choice.act) < alphabet.eventCount && !choice.isForbidden
      guard isStimulus || position != lastPosition else { return }
    }
    guard let closed = cycles.arrive(at: position, by: lastChoice) else { return }
    rarity.see(mix(closed.hash &+ UInt64(bucket(closed.run))), at: test.choices.count)
    guard plan.repeats, closed.isNew, !cycles.isBusy else { return }
    // The fewer decisions a cycle has, the fewer there are like it to be repeated; a long one costs more events.
    let decisions = max(closed.decisions, 1)
    let share = min(Self.brief / Double(closed.length), 1) / Double(1 << min(decisions - 1, 16))
    if plan.endures, let times = endurance(of: closed, share) {
      plan.endures = false
      isEnduring = true
      spent.enduring += times * closed.length
      plan.end = .max
      plan.length = max(plan.length, test.choices.count + times * closed.length + Self.aftermath)
      return cycles.repeatLast(times: times)
    }
    guard chance(settings.isThrifty && closed.decisions == 0 ? Self.free * share : share) else { return }
    cycles.repeatLast(times: repetitions(of: decisions))
  }

  /// How often to go around a cycle that a device may count: the first time as often as is ever done, then any number of
  /// times. The oftener that was done with a cycle, the rarer.
  private mutating func endurance(of closed: CycleWatch.Closed, _ share: Double) -> Int? {
    let room = (settings.longest - test.choices.count - Self.aftermath) / closed.length
    let (least, most) = (Self.endurance.lowerBound, min(room, Self.endurance.upperBound))
    let context = mix(closed.stimuli ^ 0xE17D)
    let count = counts[context, 0]
    guard most >= least, chance(share / Double(1 + count)) else { return nil }
    counts.add(context, 0)
    return count == 0 ? most : least + generator.below(most - least + 1)
  }

  /// Ends a test sooner where a part of the machine is left behind for good: as much sooner as there is less to be reached,
  /// and where that is most of it, soon, the oftener that was come to.
  private mutating func narrow(_ explorationState: ExplorationState, slot: Int) {
    guard explorationState.node >= 0 else { return }
    let next = alphabet.reach[explorationState.node]
    if test.choices.isEmpty { reach = (next, next) }
    if next < reach.now {
      let left = Double(min(plan.length, plan.end) - test.choices.count) * next / reach.now
      let usual = Double(events) / Double(max(positions.count, 1))
      let share = 2 * next < reach.first ? min(usual / Double(positions.visits[slot]), 1) : 1
      if plan.narrows {
        plan.end = test.choices.count + max(Int(max(left, Double(Self.lingering)) * share), 1)
      }
      reach.now = next
    }
    if 2 * next < reach.first { spent.lingering += 1 }
  }

  /// How often to go around a cycle: not so few times that chance would come there anyway, which is as many decisions as
  /// are tried out, and each more half as often as one less.
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
    plan.repeats = chance(settings.repeating * min(Double(events) / Self.beginning, 1))
    // Some spontaneous events show only if the tester waits, and some only if it does not.
    plan.waitingChance = [1, 0.95, 0.8, 0.5][generator.below(4)]
    // Some of the tests have all of a kind, so that several come close together, and others go undisturbed.
    plan.refusals = chance(0.25) ? 4 * settings.refusals : 0
    plan.waits = chance(0.25) ? 4 * settings.waits * weights[alphabet.wait] : 0
    plan.disturbances = chance(0.5) ? 2 * settings.disturbances * min(disturbanceWeight, 1) : 0
    plan.end = .max
    plan.selfLoops = chance(0.5) ? 2 * settings.selfLoops : 0
    plan.edges =
      variantCounts[alphabet.edge] > 0 && chance(edgedTests) ? settings.edges * weights[alphabet.edge] : 0
    plan.endures =
      isFree && plan.repeats && uses(.endurance)
      && Double(spent.enduring) <= Self.endured * Double(events - Self.shallow)
    plan.narrows = uses(.narrowing) && Double(spent.lingering) > Self.lingered * Double(events)
    if settings.isThrifty { drawThriftyPlan() }
    excludeStrategies()
  }

  /// From an eighth of the most to the most, each octave as often as any other; a tenth of the tests is shorter.
  private mutating func length() -> Int {
    let maximum = max(settings.length, 8)
    let octave = chance(0.1) ? generator.below(3) - 3 : generator.below(3)
    let base = max(octave < 0 ? (maximum / 8) >> -octave : (maximum / 8) << octave, 1)
    return min(base + generator.below(base), maximum)
  }

  /// A number from 0 up to 1.
  @inline(__always)
  mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }

  @inline(__always)
  mutating func chance(_ probability: Double) -> Bool { probability > 0 && unit() < probability }
}
