extension Explorer {
  /// A strategy that generates tests, in addition to weights and chance. Without it some faults are more expensive to
  /// find: `lockstep-workbench bench --only fuzz.without` measures by how much.
  public enum Strategy: String, CaseIterable, Sendable {
    /// Repeats a cycle of the model that has just closed, then leaves it: a fault at the n-th pass needs n passes in
    /// a row, which chance rarely makes. Shallow faults come first: the share of repetitions grows at the beginning.
    case repetition
    /// Tries the decisions after a repetition systematically rather than by chance.
    case exploring
    /// Repeats a cycle about a hundred times now and then. Chance never does so before another stimulus or a reset
    /// clears the count.
    case endurance
    /// Ends a test soon after it has left part of the machine for good: absorbing states would otherwise take most
    /// events.
    case narrowing
    /// Begins some tests like one that was the first to do something, then continues at random.
    case rareTests
    /// Gives stimuli that change nothing in the model now and then, and more often after one that moves the motor.
    case selfLoops
    /// Gives stimuli that no possible state allows.
    case refusals
    /// Gives each forbidden stimulus once in each position, early.
    case firstRefusals
    /// Spreads waits over tests.
    case waits
    /// Tries what a device may do differently just before or just after a timer ends: waits up to each bound of each
    /// timer, gives each stimulus there, and then lets the device show the result.
    case edges
    /// Gives each request 257 times in a row, which overflows a counter of one byte.
    case wrapping
    /// Does not always let the device act before the next stimulus when an action is due.
    case impatience
    /// Leaves some stimuli out of some tests of a machine with data, since one stimulus may clear what others build up.
    case omission
    /// Tries values next to one that has just changed.
    case probing
    /// Disturbs the messages, the packets, the link and the environment in some tests.
    case disturbances

    /// If time and wear are the cost: makes stimuli that cause wear rare in most tests.
    case sparing
    /// If time and wear are the cost: waits for events that were cancelled or that may occur nevertheless.
    case doubts
    /// If time and wear are the cost: repeats a stimulus that sets a condition of the model while a timer runs.
    case resetting
    /// If time and wear are the cost: waits longer than any timer of the model, once the share for such silences has
    /// accumulated. Then the test gives a stimulus, preferably one that moves the motor.
    case silences
    /// If time and wear are the cost: limits a test to one or two kinds of disturbances that permit deviations, since
    /// many hide each other's effects.
    case kinds
    /// If time and wear are the cost: spreads disturbances that permit no deviation over most tests.
    case probes
    /// If time and wear are the cost: limits each purpose of waiting to its share of the time.
    case shares
  }

  /// Returns whether a strategy is enabled.
  @inline(__always)
  func uses(_ strategy: Strategy) -> Bool { settings.without != strategy }

  /// Removes the disabled strategy from the plan of a test.
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
    case .doubts: plan.cancelledEventWaits = 0
    case .probes: plan.probes = 0
    case nil, .omission, .probing, .exploring, .endurance, .narrowing, .rareTests, .firstRefusals, .resetting,
      .silences, .kinds,
      .shares, .wrapping:
      break
    }
  }
}
