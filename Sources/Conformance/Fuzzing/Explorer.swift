public import Basics

/// Generates tests, one choice at a time, from what is allowed now and from what was done before.
///
///     begin ──▶ (next ──▶ the choice is carried out)* ──▶ end ──▶ begin …
///
/// It sees situations and nothing of the device, so one seed gives the same tests for the same answers. What it
/// steers by, each in a sentence:
///
/// - **Novelty.** Where several stimuli are legal, the one that was taken least often in this context: the
///   position, and the last few decisions. How many, differs from test to test.
/// - **Repetition.** What goes wrong at the n-th time needs a way around that is taken n times, and chance
///   rarely takes it: a cycle of the model that has just closed is repeated, then left, and what follows is tried
///   out systematically. Shallow novelty comes first: repetitions grow in share during the first tests.
/// - **Soft swarm.** Some tests draw a weight for every act and never a zero: they do a few things a lot and yet
///   cannot get stuck.
/// - **Rare tests.** Some tests begin like one that was the first to do something, then go on by themselves.
/// - **Asides.** Stimuli that change nothing in the model are given now and then, and are no decisions.
/// - **Refusals.** Stimuli that are forbidden in every possible state are given, each once soon and then rarely.
/// - **Time.** Where the device has something to do it is let do it, mostly; waits, edges of timers and disturbances
///   are sprinkled over tests.
/// - **Time and wear.** Where these are what is spent (``Settings/isThrifty``), a test is about something: it asks much and
///   moves little, stays where much can be done, has one kind of disturbance that excuses something and any that excuse
///   nothing; waits have shares of the time, and movements so much time each.
///
/// Nothing is allocated per choice, and memory is bounded: counts live in hashed tables of fixed size, where two
/// contexts may share a cell.
public struct Explorer: Sendable {
  /// What a campaign may want otherwise. Shares are of all choices, or of all tests where that is said.
  public struct Settings: Sendable {
    /// The most choices of a test; tests are of mixed length, and a tenth of them is short.
    public var length = 1024
    /// Refusals, once each cell was tried.
    public var refusals = 0.015
    /// Waits.
    public var waits = 0.01
    /// Waits for deadlines, where there is one.
    public var edges = 0.03
    /// Stimuli that change nothing in the model, where others are legal too.
    public var asides = 0.1
    /// Disturbances of the messages, the packets and the link.
    public var disturbances = 0.02
    /// Of all tests, those that repeat cycles.
    public var repeating = 1.0
    /// Of all tests, those that choose by weights drawn for the test.
    public var swarming = 0.1
    /// Of all tests, those that begin like a rare one.
    public var resuming = 0.05
    /// Whether time and wear are what is spent, and not events: see ``Explorer/spend(_:)``.
    public var isThrifty = false
    /// What tests are drawn without, to measure what it is worth.
    public var without: Strategy?

    /// Makes the usual settings.
    public init() {}
  }

  /// How one test is made.
  struct Plan: Sendable {
    var length = 0
    /// How many decisions make a context.
    var depth = 0
    /// Whether the events done so far in the test belong to a context.
    var remembers = false
    var swarms = false
    /// How often a decision is left to chance.
    var chance = 0.0
    /// Whether cycles that have closed are repeated.
    var repeats = false
    /// How often the device is let do what it has to do.
    var patience = 1.0
    var refusals = 0.0
    var waits = 0.0
    var edges = 0.0
    var disturbances = 0.0
    var asides = 0.0
    /// How often the device is let do only the next thing that it has to do.
    var halts = 0.0
    /// Disturbances that excuse nothing.
    var probes = 0.0
    /// Whether the motor is spared: what moves it is seldom decided for.
    var rests = false
    /// Whether it stays where much can be done.
    var dwells = false
    /// How often what was called off is waited for all the same.
    var doubts = 0.0
    /// How often an answer is waited for, or the end of what a disturbance excuses.
    var listens = 0.0
  }

  /// What a test does a lot of, where it is about a few things.
  struct Palette: Sendable {
    /// The disturbances, with their variant where that is always the same.
    var disturbances: [(act: Int, variant: Int?)] = []
    /// Those that were begun and not ended yet, as bits from the first disturbance on.
    var held: UInt64 = 0
    /// The stimuli that are given whenever they can be, as bits; none where a test is about everything.
    var theme: UInt64 = 0
    /// The stimuli that move something, given in turn with the theme; none where a test is not about that.
    var movers: UInt64 = 0
    /// The variant of each act, where that is always the same, or -1.
    var variants: [Int] = []
  }

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
  /// The weights of the acts in this test.
  var swarm: [Double]
  var counts = CountTable()
  var positions = PositionTable()
  var rarity = RarityTable()
  var cycles: CycleWatch
  /// What was spent, where that counts.
  var costs: ExplorerCosts?
  var corpus = RareTests()
  /// The last decisions, the newest first.
  var decisions = DecisionHistory()
  /// What this test is about, where time and wear are what is spent.
  var palette = Palette()
  /// The rest of the rare test that this one begins like.
  var prefix: [Choice] = []
  var prefixIndex = 0
  var lastPosition: UInt64 = 0
  var lastChoice: Choice?
  /// How many refusals were tried for the first time.
  var firstRefusals = 0
  /// How much time has passed in this test, where that is told.
  var time = Interval.zero
  /// The stimuli that have changed nothing somewhere where much is legal, as bits.
  var idle: UInt64 = 0
  /// How often the last aside is still to be given once more.
  var asidesLeft = 0
  /// The last stimulus, of which it was not seen yet where it has led, or -1.
  var lastStimulus = -1
  /// Whether the last stimulus was one that moves something: what it has left behind may be asked for.
  var hasMoved = false
  /// What may be listened for since the last stimulus or disturbance.
  var echo: ExplorerCosts.Purpose?
  /// Whether nothing was asked of the device since a long silence.
  var wasSilent = false
  /// Whether the first answer after a long silence is still to be heard.
  var isCurious = false
  /// Until when the device had something to do, at the latest, before the last choice.
  var wasDue = Instant.never
  /// How many stimuli were legal after each event, a mean that forgets; and the most.
  var liberty: [Double]
  var mostLegal = 1.0
  /// Where the device was last let settle.
  var settledAt: UInt64 = 0

  /// The choices of the current test so far.
  public private(set) var test: TestCase
  /// How many choices were made in all tests.
  public private(set) var events = 0
  /// How many tests were begun.
  public private(set) var tests = 0
  /// How many positions were seen.
  public var positionCount: Int { positions.count }
  /// How many contexts were seen in which something was decided, as far as the table can tell them apart.
  public var contextCount: Int { counts.used }
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
    if settings.without == .thrift { self.settings.isThrifty = false }
    let acts = alphabet.acts
    variantCounts = acts.map { $0.weight > 0 ? $0.variants.count : 0 }
    weights = acts.map(\.weight)
    swarm = weights
    cycles = CycleWatch(settle: alphabet.settle)
    if self.settings.isThrifty {
      costs = ExplorerCosts(
        waits: variantCounts[alphabet.wait] > 0 ? acts[alphabet.wait].variants : [],
        longestWindow: alphabet.longestWindow)
      costs?.hasShares = settings.without != .shares
    }
    offered = (0..<min(alphabet.eventCount, 64)).reduce(0) { mask, event in
      acts[event].variants.isEmpty || acts[event].weight <= 0 ? mask : mask | 1 << UInt64(event)
    }
    liberty = [Double](repeating: 0, count: alphabet.eventCount)
    moves = self.settings.isThrifty ? alphabet.moving : 0
    palette.variants = [Int](repeating: -1, count: acts.count)
    disturbanceWeight = alphabet.disturbances.reduce(0) { sum, act in
      acts[act].variants.isEmpty ? sum : sum + acts[act].weight
    }
    generator = SeededGenerator(seed: seed, for: "explorer")
    test = TestCase(start: self.starts - 1)
    test.choices.reserveCapacity(settings.length)
  }

  /// Begins a test.
  ///
  /// - Returns: the number of its start.
  public mutating func begin() -> Int {
    tests += 1
    drawPlan()
    cycles.reset()
    decisions.reset()
    lastChoice = nil
    wasDue = .never
    hasMoved = false
    echo = nil
    wasSilent = false
    isCurious = false
    asidesLeft = 0
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
  public mutating func next(in situation: Situation) -> Choice? {
    guard test.choices.count < plan.length else { return nil }
    if settings.isThrifty { costs?.isRepeating = cycles.isBusy }
    let slot = positions.visit(situation.position)
    arrive(at: situation.position)
    if settings.isThrifty { learn(from: situation) }
    guard let choice = choose(in: situation, slot: slot) else { return nil }
    events += 1
    note(choice, in: situation, slot: slot)
    return choice
  }

  /// Ends a test.
  ///
  /// - Returns: whether it did something that hardly any test did before, and so is worth keeping.
  public mutating func end(in situation: Situation) -> Bool {
    arrive(at: situation.position)
    guard let length = rarity.end() else { return false }
    corpus.insert(TestCase(start: test.start, Array(test.choices.prefix(length))))
    return true
  }

  /// Takes in how much time has passed on the device since the last choice was made.
  public mutating func spend(_ passed: Interval) {
    guard settings.isThrifty, let lastChoice else { return }
    let act = Int(lastChoice.act)
    time += passed
    if act == alphabet.settle { costs?.settle(passed, at: settledAt) }
    costs?.pass(
      passed, waiting: act == alphabet.wait ? Int(lastChoice.variant) : nil, isEdge: act == alphabet.edge)
  }

  /// Takes in a rare test of an earlier run or of another worker: it will soon be gone on with.
  public mutating func learn(_ test: TestCase) {
    corpus.insert(test)
  }

  /// Looks where the last choice has led.
  private mutating func arrive(at position: UInt64) {
    defer { lastPosition = position }
    if let choice = lastChoice {
      // What was refused, and time that changed nothing, is no step of a way around.
      let isStimulus = Int(choice.act) < alphabet.eventCount && !choice.isForbidden
      guard isStimulus || position != lastPosition else { return }
    }
    guard let closed = cycles.arrive(at: position, by: lastChoice) else { return }
    rarity.see(mix(closed.hash &+ UInt64(bucket(closed.run))), at: test.choices.count)
    guard plan.repeats, closed.isNew, !cycles.isBusy else { return }
    if isWorn, cycles.lastContains(moves) { return }
    // The fewer decisions a cycle has, the fewer there are like it to be repeated; a long one costs more events.
    let decisions = max(closed.decisions, 1)
    let share = min(5 / Double(closed.length), 1) / Double(1 << min(decisions - 1, 16))
    guard chance(share * (settings.isThrifty && closed.decisions == 0 ? 0.1 : 1)) else { return }
    if costs?.mayRepeat == false { return }
    cycles.repeatLast(times: repetitions(of: decisions), isTelling: isTelling(closed))
  }

  /// Whether what follows the repetition of a cycle is asked of what moves: where something that moves nothing was
  /// repeated, that is where it shows what that has broken. Cycles that this was seldom done for come first.
  private mutating func isTelling(_ closed: CycleWatch.Closed) -> Bool {
    guard uses(.telling), moves != 0, closed.decisions > 0, closed.length <= 8, !cycles.lastContains(moves)
    else {
      return false
    }
    let context = mix(closed.hash ^ 0x7E11)
    let told = Double(counts[context, 0])
    guard chance((isWorn ? 1 : 4) / (4 + told)) else { return false }
    counts.add(context, 0)
    return true
  }

  /// How often to go around a cycle: not so few times that novelty would come there anyway, and each more half as
  /// often as one less.
  private mutating func repetitions(of decisions: Int) -> Int {
    let least = max((4 + decisions - 1) / decisions, 2)
    return least + min(generator.next().trailingZeroBitCount, 10)
  }

  private mutating func note(_ choice: Choice, in situation: Situation, slot: Int) {
    test.choices.append(choice)
    lastChoice = choice
    let act = Int(choice.act)
    if act == alphabet.settle { settledAt = situation.position }
    if choice.isForbidden { positions.refused[slot] |= 1 << choice.act }
    let isStimulus = act < alphabet.eventCount && !choice.isForbidden
    let isIdle = isStimulus && situation.idle >> UInt64(act) & 1 == 1
    let moving = situation.legal & offered & ~situation.idle
    let isDecision = isStimulus ? !isIdle && moving & (moving &- 1) != 0 : act != alphabet.settle
    if settings.isThrifty { noteCosts(of: choice, isIdle: isIdle, in: situation) }
    cycles.note(choice, isDecision: isDecision, isStimulus: isStimulus)
    guard isDecision else { return }
    rarity.see(
      mix(situation.position ^ mix(decisions.hash(2) &+ choice.rank)), at: test.choices.count)
    decisions.push(choice.rank, isStimulus ? 1 << choice.act : 0)
  }

  private mutating func drawPlan() {
    plan.length = length()
    plan.depth = 1 + generator.below(8)
    plan.remembers = chance(0.5)
    plan.swarms = chance(settings.swarming)
    plan.chance = plan.swarms ? 1 : 0.1
    plan.repeats = chance(settings.repeating * min(Double(events) / 2_000, 1))
    plan.patience = [1, 0.95, 0.8, 0.5][generator.below(4)]
    // A quarter of the tests has all of a kind, so that several come close together.
    plan.refusals = chance(0.25) ? 4 * settings.refusals : 0
    plan.waits = chance(0.25) ? 4 * settings.waits * weights[alphabet.wait] : 0
    plan.edges = chance(0.5) ? 2 * settings.edges * weights[alphabet.edge] : 0
    plan.disturbances = chance(0.5) ? 2 * settings.disturbances * min(disturbanceWeight, 1) : 0
    if variantCounts[alphabet.settle] > 0 {
      plan.halts = [0, 0, 0.3, 0.7][generator.below(4)]
      plan.asides = chance(0.5) ? 2 * settings.asides : 0
    }
    if settings.isThrifty { drawThriftyPlan() }
    leaveOut()
    for act in swarm.indices {
      swarm[act] = plan.swarms ? weights[act] * softWeight() : weights[act]
    }
  }

  /// From an eighth to eight, short of transcendental functions: a power of two, and a part of the next.
  private mutating func softWeight() -> Double {
    let power = Double(1 << generator.below(6)) / 8
    return power * (1 + unit())
  }

  /// From an eighth of the most to the most, each octave as often as any other; a tenth of the tests is shorter.
  private mutating func length() -> Int {
    let most = max(settings.length, 8)
    let octave = chance(0.1) ? generator.below(3) - 3 : generator.below(3)
    let base = max(octave < 0 ? (most / 8) >> -octave : (most / 8) << octave, 1)
    return min(base + generator.below(base), most)
  }

  /// A number from 0 up to 1.
  @inline(__always)
  mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }

  @inline(__always)
  mutating func chance(_ probability: Double) -> Bool { probability > 0 && unit() < probability }
}
