public import Basics

/// How far a campaign is.
public struct CampaignStatus: Sendable {
  /// Choices made in tests.
  public var events = 0
  /// Tests begun.
  public var tests = 0
  /// Choices made to confirm and to shrink.
  public var extraEvents = 0
  /// What is being done.
  public var phase = "exploring"
  /// Findings, by the length of their tests.
  public var depths: [Int] = []
  /// Times that the campaign came upon a finding again.
  public var repeats = 0
  /// Lab faults.
  public var labFaults = 0
  /// Tests that came to no verdict, because of them.
  public var unjudged = 0
  /// Tests kept because they did what few others did.
  public var corpus = 0
  /// Distinct contexts in which something was done.
  public var contexts = 0
  /// The length of the longest test.
  public var longest = 0
  /// Tests that were done again to see whether they come out the same, and those that did.
  public var stability = (same: 0, tried: 0)
  /// How often the tester set the bolt in motion.
  public var actuations = 0
  /// The time that passed on the device, in tests and in those of confirming and shrinking.
  public var lockTime = Interval.zero
  /// How much of ``lockTime`` was waited for: because a test said so, or because a motor had to rest.
  public var waited = Interval.zero

  /// The share of the device's time that was waited, in percent; `nil` where no time has passed on it.
  public var waitedPercent: Int? {
    lockTime > .zero ? Int(waited.seconds / lockTime.seconds * 100) : nil
  }

  /// Nothing was done yet.
  public init() {}
}
