public import Basics
import Journal
public import Conformance

/// The expectations of a scenario that were not met although model and device agree.
public struct UnmetExpectation: Equatable, Sendable {
  /// One unmet condition.
  public struct Item: Equatable, Sendable {
    /// The subject: `status`, `effect`, `refusal`, `quiet`, or the name of a reading.
    public var what: String
    /// The expected value, with the time limit.
    public var expected: String
    /// What was seen instead.
    public var seen: String

    /// Makes an item.
    public init(_ what: String, expected: String, seen: String) {
      (self.what, self.expected, self.seen) = (what, expected, seen)
    }
  }

  /// The unmet conditions, in the order of the scenario; at least one.
  public var items: [Item]
  /// The time since the case began.
  public var time: Instant
  /// The last stimulus.
  public var lastStimulus: String?
  /// Why the device has not shown the expected, if known.
  public var explanation: Explanation?
  /// The last input that no client sends, if the device may still react to it.
  public var injection: Divergence.Injection?

  /// Makes an unmet expectation.
  ///
  /// - Parameter injected: the inputs that no client sends, the latest last.
  public init(
    _ items: [Item], at time: Instant, lastStimulus: String? = nil, explanation: Explanation? = nil,
    injected: [InjectedAction] = []
  ) {
    (self.items, self.time, self.lastStimulus) = (items, time, lastStimulus)
    self.explanation = explanation
    injection = injected.last.map { Divergence.Injection(of: $0) }
  }

  /// One line that says that the model agrees and lists the unmet conditions.
  public var summary: String {
    "\(Record.Verdict.unmetWords): \(words)" + (explanation.map { "; \($0)" } ?? "")
      + (injection.map { $0.action.circumstance(at: time) } ?? "")
  }

  /// A text that identifies the failure, without its numbers.
  public var signature: String {
    "\(words) after \(lastStimulus ?? "the start")".filter { !$0.isNumber }
  }

  /// The expected and seen values, one a line, as `diff` shows them.
  public var lines: [String] {
    items.flatMap { ["- \($0.what): \($0.expected)", "+ \($0.what): \($0.seen)"] }
  }

  /// The expected values, in short.
  public var expected: String { items.map { "\($0.what) \($0.expected)" }.joined(separator: " and ") }

  /// The seen values, in short.
  public var seen: String { items.map { "\($0.what) \($0.seen)" }.joined(separator: ", ") }

  private var words: String {
    items.map { "expected \($0.what) \($0.expected), got \($0.seen)" }.joined(separator: "; ")
  }
}
