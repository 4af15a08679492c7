extension Explorer {
  /// What tests are drawn by, beyond weights and chance. Each earns its place: `lockstep bench --only fuzz.without`
  /// measures how much dearer faults are to find without it.
  public enum Strategy: String, CaseIterable, Sendable {
    /// A cycle of the model that has just closed is repeated, then left: what goes wrong at the n-th time needs a way
    /// around that is taken n times, and chance rarely takes it. Shallow ways come first: repetitions grow in share
    /// during the first tests.
    case repetition
    /// What follows a repetition is tried out systematically, and not by chance.
    case exploring
    /// Now and then a cycle is repeated as often as devices count, a hundred times: what another stimulus ends, or a reset, chance
    /// never comes to.
    case endurance
    /// A test that has left a part of the machine behind for good ends soon: what is absorbing would take them all.
    case narrowing
    /// Some tests begin like one that was the first to do something, then go on by themselves.
    case rareTests
    /// Stimuli that change nothing in the model are given now and then, more often after what moves something.
    case selfLoops
    /// Stimuli that are forbidden in every possible state are given.
    case refusals
    /// Each forbidden stimulus is given soon once in each position.
    case firstRefusals
    /// Waits are sprinkled over tests.
    case waits
    /// What a timer of the device may do differently just before or just after it ends is tried: each bound of each timer is gone to,
    /// each stimulus given there, and the device then let do what it has to do.
    case edges
    /// Each request is given as often in a row as a byte counts.
    case wrapping
    /// Where the device has something to do, it is not always let do it before the next stimulus.
    case impatience
    /// The messages, the packets, the link and the environment is disturbed in some tests.
    case disturbances

    /// Only where time and wear are what is spent: most tests seldom ask for what wears.
    case sparing
    /// Only there: what was called off, or may come, is waited for all the same.
    case doubts
    /// Only there: what sets a condition of the model is given once more while a count runs.
    case resetting
    /// Only there: a silence longer than all that the model knows comes when its share of the time has gathered; then the
    /// device itself is asked, for what moves it above all.
    case silences
    /// Only there: a test has one kind or two of the disturbances that excuse something, since many excuse each other.
    case kinds
    /// Only there: disturbances that excuse nothing are strewn over most tests.
    case probes
    /// Only there: each purpose of waiting has its share of the time, and no more.
    case shares
  }

  /// Whether tests are drawn by a strategy.
  @inline(__always)
  func uses(_ strategy: Strategy) -> Bool { settings.without != strategy }

  /// Takes out of a test what it is to be drawn without.
  mutating func excludeStrategies() {
    switch settings.without {
    case .repetition: plan.repeats = false
    case .selfLoops: plan.selfLoops = 0
    case .refusals: plan.refusals = 0
    case .waits: plan.waits = 0
    case .edges: plan.edges = 0
    case .impatience: plan.waitingChance = 1
    case .disturbances: plan.disturbances = 0
    case .sparing: plan.motor = max(plan.motor, 1)
    case .doubts: plan.doubts = 0
    case .probes: plan.probes = 0
    case nil, .exploring, .endurance, .narrowing, .rareTests, .firstRefusals, .resetting, .silences, .kinds,
      .shares, .wrapping:
      break
    }
  }
}
