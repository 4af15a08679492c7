public import Conformance
public import Basics

/// The settings of fuzzing a machine on a device.
public struct FuzzSettings: Sendable {
  /// The maximum number of choices in tests, without those of confirming and shrinking; `nil` for no limit.
  public var steps: Int?
  /// Whether the campaign records a divergence and continues.
  public var keepsGoing = false
  /// The levels of interference.
  public var levels = TestLevel.allCases
  /// The weights of acts by name; an act that is not listed has the weight 1.
  public var weights: [(name: String, weight: Double)] = []
  /// The maximum number of choices of one test.
  public var length = 200
  /// The maximum number of choices of a test that repeats one cycle until a counter of the device may overflow.
  public var longest = 1_024
  /// The maximum number of choices for shrinking one finding; `nil` for no limit.
  public var shrinkEvents: Int? = 200_000
  /// The maximum time for shrinking one finding; `nil` for no limit.
  public var shrinkTime: Interval?
  /// The maximum number of actuations of the bolt by the tester; `nil` for no limit.
  public var actuations: Int?
  /// The seed of all random choices.
  public var seed: UInt64 = 0
  /// The number of this worker, and the number of workers: each draws its own tests.
  public var shard: (part: Int, count: Int) = (1, 1)
  /// The strategy that is disabled, to measure its value.
  public var without: Explorer.Strategy?
  /// The number of resumptions.
  public var round = 0

  /// Makes the default settings.
  public init() {}

  /// The seed of the generator: a pure function of the campaign's seed, the part and the round.
  public var generatorSeed: UInt64 {
    var generator = SeededGenerator(seed: seed, for: "fuzz \(shard.part)/\(shard.count) \(round)")
    return shard.count == 1 && round == 0 ? seed : generator.next()
  }
}
