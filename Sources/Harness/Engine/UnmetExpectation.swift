public import Basics
import Journal
public import Conformance

/// What a scenario expects beyond what the model says, and did not get: model and device agree.
public struct UnmetExpectation: Equatable, Sendable {
  /// One thing that is otherwise than expected.
  public struct Item: Equatable, Sendable {
    /// What it is: `status`, `effect`, `refusal`, `quiet`, or the name of a reading.
    public var what: String
    /// What was expected of it, with the time that it had.
    public var expected: String
    /// What was seen instead.
    public var seen: String

    /// Names one.
    public init(_ what: String, expected: String, seen: String) {
      (self.what, self.expected, self.seen) = (what, expected, seen)
    }
  }

  /// All that is wrong, in the order of the scenario; at least one.
  public var items: [Item]
  /// When, since the case began.
  public var time: Instant
  /// What the tester last did.
  public var lastStimulus: String?
  /// Why the device has not shown what was expected, where that is known.
  public var explanation: Explanation?
  /// What the tester had sent that no client sends, where the device may still react to it.
  public var injection: Divergence.Injection?

  /// Names what is wrong.
  ///
  /// - Parameter injected: what the tester has sent that no client sends, the latest last.
  public init(
    _ items: [Item], at time: Instant, lastStimulus: String? = nil, explanation: Explanation? = nil,
    injected: [InjectedAction] = []
  ) {
    (self.items, self.time, self.lastStimulus) = (items, time, lastStimulus)
    self.explanation = explanation
    injection = injected.last.map { Divergence.Injection(of: $0) }
  }

  /// One line that says that the model agrees, and all that is wrong all the same.
  public var summary: String {
    "\(Record.Verdict.unmetWords): \(words)" + (explanation.map { "; \($0)" } ?? "")
      + (injection.map { $0.action.circumstance(at: time) } ?? "")
  }

  /// What tells it from others, without the numbers in it.
  public var signature: String {
    "\(words) after \(lastStimulus ?? "the start")".filter { !$0.isNumber }
  }

  /// What was expected and what came, a line each, as `diff` has them.
  public var lines: [String] {
    items.flatMap { ["- \($0.what): \($0.expected)", "+ \($0.what): \($0.seen)"] }
  }

  /// What was expected, in a few words.
  public var expected: String { items.map { "\($0.what) \($0.expected)" }.joined(separator: " and ") }

  /// What was seen instead.
  public var seen: String { items.map { "\($0.what) \($0.seen)" }.joined(separator: ", ") }

  private var words: String {
    items.map { "expected \($0.what) \($0.expected), got \($0.seen)" }.joined(separator: "; ")
  }
}
