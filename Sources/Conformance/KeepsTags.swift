public import Automata
public import Basics

/// Each record of a command in a lock's history contains the command's whole tag, and so names its sender.
///
/// The check begins with a new lock, or once the history was read to its end, since records from before the test have
/// unknown tags. It is suspended when something else may have commanded the lock, or a command without a tag was
/// given. It resumes when the history is read to its end by requests made later, after a motor has had the time to
/// stop.
///
/// See ``TraceRule/keepsTags(_:)``.
public struct KeepsTags: Invariant {
  /// Which commands leave which records.
  public let records: TraceRule.Records
  /// How long after a command its record may be written.
  static let lead = Interval.seconds(6)

  /// Since when something is unknown, and how many requests for the history had been made by then.
  private struct Uncertainty {
    var since: Instant
    var requested: Int
  }

  private var isEmpty = false
  /// Set while the sender of a record is unknown.
  private var owner: Uncertainty?
  /// Set while a command may have had no tag.
  private var missingTag: Uncertainty?
  /// The requests for records, answered and not; requests on a closed link count as answered.
  private var requested = 0
  private var answered = 0
  /// The tags of the commands, in bytes.
  private var tags: [[UInt8]] = []

  /// Makes the invariant.
  public init(_ records: TraceRule.Records) { self.records = records }

  public mutating func reset(isNew: Bool) {
    isEmpty = isNew
    owner = nil
    missingTag = nil
    requested = 0
    answered = 0
    tags = []
  }

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    switch event {
    case .fault(let fault):
      if records.malformed.contains(fault.name) { owner = Uncertainty(since: time, requested: requested) }
    case .stimulus(let stimulus):
      let name = view.vocabulary.stimuli[stimulus.number]
      if name == records.request { requested += 1 }
      guard records.commands.contains(name) else { return nil }
      for argument in stimulus.arguments { record(argument, at: time) }
    case .observation(.status(let number)):
      if view.vocabulary.statuses[number] == records.rest { answered = requested }
    case .observation(.reading(let reading)) where reading.name == records.reading:
      guard case .text(let text) = reading.value else { return nil }
      answered += 1
      if text == "empty" {
        isEmpty = true
        if isOver(owner, at: time) { owner = nil }
        if isOver(missingTag, at: time) { missingTag = nil }
      } else if isEmpty, owner == nil {
        return problem(of: text)
      }
    case .observation: break
    }
    return nil
  }

  /// Returns whether the end of the history was requested after every unknown command had left its record.
  private func isOver(_ uncertainty: Uncertainty?, at time: Instant) -> Bool {
    guard let uncertainty else { return true }
    return answered > uncertainty.requested && time > uncertainty.since + Self.lead
  }

  private mutating func record(_ argument: Argument, at time: Instant) {
    let text = argument.value.description
    let tag: [UInt8]
    switch argument.name {
    case "tag": tag = [UInt8](text.utf8)
    case "bytes": tag = Self.bytes(ofHex: text)
    default: return
    }
    if tag.isEmpty { missingTag = Uncertainty(since: time, requested: requested) }
    if !tags.contains(tag) { tags.append(tag) }
  }

  /// Returns what is wrong with a record such as `#3 unlock “Alice”`; `nil` if nothing is.
  private func problem(of record: String) -> String? {
    let words = record.split(separator: " ", maxSplits: 2)
    guard words.count == 3, records.commands.contains(String(words[1])) else { return nil }
    if words[2] == "no tag" {
      return missingTag != nil ? nil : "the history shows a command without its tag: \(record)"
    }
    let recorded = String(words[2])
    guard !tags.contains(where: { completeDescriptions(of: $0).contains(recorded) }) else { return nil }
    // Only this client knows a tag that it chose; the same holds for one of an unusual form.
    let isCut = tags.contains { tag in
      tag.indices.contains { Self.shown(tag.prefix($0)) == recorded }
    }
    if isCut { return "the history keeps a part of a command's tag: \(record)" }
    let isAltered = tags.contains { tag in
      tag.count >= Self.distinctiveLength
        && recorded.hasPrefix(Self.shown(tag.prefix(Self.distinctiveLength)).dropLast())
    }
    return isAltered ? "the history has altered a command's tag: \(record)" : nil
  }

  /// How many leading bytes a record must share with a tag to belong to the same command: another client's tag may
  /// begin alike by accident, but not for so long.
  private static let distinctiveLength = 8

  /// Returns the descriptions of a complete tag.
  private func completeDescriptions(of tag: [UInt8]) -> [String] {
    let cuts = records.capacities.filter { $0 < tag.count }.map { tag.prefix($0) }
    let isCut = records.capacities.last.map { tag.count > $0 } ?? false
    return (isCut ? cuts : cuts + [tag[...]]).map(Self.shown)
  }

  private static func shown(_ tag: ArraySlice<UInt8>) -> String {
    "“\(String(decoding: tag, as: UTF8.self))”"
  }

  private static func bytes(ofHex text: String) -> [UInt8] {
    let digits = text.utf8.compactMap(hexValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
