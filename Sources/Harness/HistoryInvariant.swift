import Conformance
import Simulation

/// A record of a command in a lock's history says whose it was: with the tag that the command had, whole.
///
/// It begins once a history was read to its end, since what stands in it before may be anybody's. It proves nothing
/// once somebody else may have commanded the lock, nor that a tag is missing once a command without one was given.
///
/// A lock of OS2 holds 21 bytes of a tag, one of OS3 29: what is longer is cut there by the client.
struct CommandsKeepTheirTags: Invariant {
  /// The faults by which somebody else may command the lock.
  let strangers: [String]
  private var isEmpty = false
  private var isExcused = false
  /// Whether a command may have had no tag.
  private var mayLackTag = false
  /// The tags that commands were given, in bytes.
  private var tags: [[UInt8]] = []

  private static let commands = ["lock", "unlock", "toggle"]
  private static let capacities = [21, 29]

  init(unless strangers: [String]) {
    self.strangers = strangers
  }

  mutating func reset() {
    isEmpty = false
    isExcused = false
    mayLackTag = false
    tags = []
  }

  mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    switch event {
    case .fault(let fault):
      if strangers.contains(fault.name) { isExcused = true }
    case .stimulus(let stimulus):
      guard Self.commands.contains(view.vocabulary.stimuli[stimulus.number]) else { return nil }
      for argument in stimulus.arguments { note(argument) }
    case .observation(.reading(let reading)) where reading.name == "history":
      guard case .text(let text) = reading.value else { return nil }
      if text == "empty" {
        isEmpty = true
      } else if isEmpty, !isExcused {
        return problem(of: text)
      }
    case .observation: break
    }
    return nil
  }

  private mutating func note(_ argument: Argument) {
    let text = argument.value.description
    let tag: [UInt8]
    switch argument.name {
    case "tag": tag = [UInt8](text.utf8)
    case "bytes": tag = Self.bytes(ofHex: text)
    default: return
    }
    if tag.isEmpty { mayLackTag = true }
    if !tags.contains(tag) { tags.append(tag) }
  }

  /// What is wrong with a record such as `#3 unlock “Alice”`.
  private func problem(of record: String) -> String? {
    let words = record.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[1] == "lock" || words[1] == "unlock" else { return nil }
    if words[2] == "no tag" {
      return mayLackTag ? nil : "the history tells of a command without its tag: \(record)"
    }
    let told = String(words[2])
    guard !tags.contains(where: { Self.wholes(of: $0).contains(told) }) else { return nil }
    // A tag of the client's own choice is known to nobody else, and so is one of another form.
    let isCut = tags.contains { tag in
      tag.indices.contains { Self.shown(tag.prefix($0)) == told }
    }
    return isCut ? "the history keeps a part of a command's tag: \(record)" : nil
  }

  /// How a tag is told that comes back whole.
  private static func wholes(of tag: [UInt8]) -> [String] {
    let cuts = capacities.filter { $0 < tag.count }.map { tag.prefix($0) }
    return (tag.count > capacities[1] ? cuts : cuts + [tag[...]]).map(shown)
  }

  private static func shown(_ tag: ArraySlice<UInt8>) -> String {
    "“\(String(decoding: tag, as: UTF8.self))”"
  }

  private static func bytes(ofHex text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
