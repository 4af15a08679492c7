import Conformance
import Simulation

/// A record of a command in a lock's history says whose it was: with the tag that the command had.
///
/// It begins once a history was read to its end, since what stands in it before may be anybody's. It proves nothing
/// once somebody else may have commanded the lock, or a command without a tag was given.
struct CommandsKeepTheirTags: Invariant {
  /// The faults by which somebody else may command the lock.
  let strangers: [String]
  private var isEmpty = false
  private var isExcused = false

  init(unless strangers: [String]) {
    self.strangers = strangers
  }

  mutating func reset() {
    isEmpty = false
    isExcused = false
  }

  mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    switch event {
    case .fault(let fault):
      if strangers.contains(fault.name) { isExcused = true }
    case .stimulus(let stimulus):
      if stimulus.arguments.contains(where: { ["tag", "bytes"].contains($0.name) && $0.value == .text("") }) {
        isExcused = true
      }
    case .observation(.reading(let reading)) where reading.name == "history":
      guard case .text(let text) = reading.value else { return nil }
      if text == "empty" {
        isEmpty = true
      } else if isEmpty, !isExcused, Self.isUntagged(text) {
        return "the history tells of a command without its tag: \(text)"
      }
    case .observation: break
    }
    return nil
  }

  /// Whether a record such as `#3 unlock no tag` is that of a command without a tag.
  private static func isUntagged(_ text: String) -> Bool {
    let words = text.split(separator: " ")
    return words.dropFirst() == ["lock", "no", "tag"] || words.dropFirst() == ["unlock", "no", "tag"]
  }
}
