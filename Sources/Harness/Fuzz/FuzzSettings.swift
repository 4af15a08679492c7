public import Conformance
public import Basics

/// How a machine is fuzzed on a device.
public struct FuzzSettings: Sendable {
  /// The most choices that are made in tests, without those of confirming and shrinking; `nil` for no limit.
  public var steps: Int?
  /// Whether the campaign records a divergence and continues.
  public var keepsGoing = false
  /// Where tests may interfere.
  public var levels = TestLevel.allCases
  /// How often acts are chosen, by name, where it is not 1.
  public var weights: [(name: String, weight: Double)] = []
  /// The most choices of one test.
  public var length = 200
  /// The most choices of a test that goes around one cycle as often as devices count.
  public var longest = 1_024
  /// The most choices that are made to shrink one finding; `nil` for no limit.
  public var shrinkEvents: Int? = 200_000
  /// The longest that the shrinking of one finding may take; `nil` for no limit.
  public var shrinkTime: Interval?
  /// How often the bolt may be set in motion by the tester; `nil` for no limit.
  public var actuations: Int?
  /// The seed of everything that is drawn.
  public var seed: UInt64 = 0
  /// Which of several workers this one is, and how many there are: each draws tests of its own.
  public var shard: (part: Int, count: Int) = (1, 1)
  /// What tests are drawn without, to measure what it is worth.
  public var without: Explorer.Strategy?
  /// How often the campaign was taken up again.
  public var round = 0

  /// The usual settings.
  public init() {}

  /// The seed of the generator: a pure function of the campaign's seed, the part and the round.
  public var generatorSeed: UInt64 {
    var generator = SeededGenerator(seed: seed, for: "fuzz \(shard.part)/\(shard.count) \(round)")
    return shard.count == 1 && round == 0 ? seed : generator.next()
  }
}
