/// The data of a line that an index needs. The scan validates the most common lines completely without building
/// values.
package enum JournalHeaderScan {
  case event(milliseconds: Int64, diagnostic: String?)
  /// The line of a case. Its contents are in the `Start` that the caller passed, since they are too large to return.
  case start
  case verdict(Ended)
  /// A line that is parsed completely.
  indirect case other(Record)

  /// The positions of the values in the line of a case.
  package struct Start {
    package var id = LineTokens.Raw(range: 0..<0, kind: .other)
    package var name: LineTokens.Raw?
    package var file: LineTokens.Raw?
    package var line: LineTokens.Raw?
    package var machine: LineTokens.Raw?
    package var device: LineTokens.Raw?
    package var settings: LineTokens.Raw?
    package var firmware: LineTokens.Raw?
    package var model: LineTokens.Raw?
    package var seed: LineTokens.Raw?
    package var attempt = 1

    /// Creates an empty start.
    package init() {}

    /// Reads the line of a case; `nil` for any other line, and for one of an unusual form.
    package init?(_ line: Span<UInt8>) {
      guard case .start? = JournalHeaderScan(line, &self) else { return nil }
    }
  }

  /// The values of a verdict that an index needs.
  package struct Ended {
    package var word: Record.Verdict.Word
    package var id: LineTokens.Raw
    package var milliseconds: Int64?
    /// The number of observations on which the verdict rests.
    package var observations = 0
    package var hasAttachments = false
    /// Whether the line contains the options that the case showed of choices that a device makes once.
    package var hasShown = false
    /// Whether another attempt follows.
    package var isTriedAgain = false
    /// Whether the case is in quarantine.
    package var isInQuarantine = false
    /// Whether a safety limit stopped it.
    package var isLimited = false
    /// The ending of this attempt by itself.
    package var ending: Record.Ending {
      Record.Ending(word, isExcused: isInQuarantine && word.isFailure, isLimited: isLimited)
    }
  }

  /// Scans a line; `nil` if it is of another kind, has an unusual form, or is invalid.
  ///
  /// - Parameter start: Receives the positions of the values if this is the line of a case.
  package init?(_ line: Span<UInt8>, _ start: inout Start) {
    var tokens = LineTokens(line)
    guard tokens.take(UInt8(ascii: "{")), let first = tokens.key() else { return nil }
    let headerScan: JournalHeaderScan?
    switch first.count {
    case 1 where tokens.reads(first, "t"): headerScan = Self.event(&tokens)
    case 4 where tokens.reads(first, "case"): headerScan = start.read(&tokens) ? .start : nil
    case 7 where tokens.reads(first, "verdict"): headerScan = Self.verdict(&tokens)
    default: return nil
    }
    guard let headerScan, tokens.take(UInt8(ascii: "}")), tokens.isAtEnd else { return nil }
    self = headerScan
  }

  private static func event(_ tokens: inout LineTokens) -> JournalHeaderScan? {
    guard let time = tokens.value(), time.kind != .other, !time.hasEscapes,
      let time = secondsAsMilliseconds(tokens.bytes.extracting(time.range))
    else { return nil }
    var diagnostic: String?
    while tokens.take(UInt8(ascii: ",")) {
      // The record parser handles a line with a key that makes it another kind of record.
      guard let key = tokens.key(), !tokens.isKind(key), let value = tokens.value() else { return nil }
      if key.count == 10 ? tokens.reads(key, "diagnostic") : key.count == 5 && tokens.reads(key, "quirk") {
        diagnostic = tokens.text(of: value)
      }
    }
    return .event(milliseconds: time, diagnostic: diagnostic)
  }

  private static func verdict(_ tokens: inout LineTokens) -> JournalHeaderScan? {
    guard let text = tokens.value(), let word = tokens.word(text) else { return nil }
    var ended = Ended(word: word, id: LineTokens.Raw(range: 0..<0, kind: .other))
    while tokens.take(UInt8(ascii: ",")) {
      guard let key = tokens.key(), let value = tokens.value() else { return nil }
      switch key.count {
      case 1 where tokens.reads(key, "t"):
        guard ended.milliseconds == nil, value.kind != .other, !value.hasEscapes else { return nil }
        ended.milliseconds = secondsAsMilliseconds(tokens.bytes.extracting(value.range))
      case 4 where tokens.reads(key, "case"):
        guard ended.id.kind == .other, value.kind != .other else { return nil }
        ended.id = value
      case 5 where tokens.reads(key, "shown"): ended.hasShown = true
      case 5 where tokens.reads(key, "limit"): ended.isLimited = value.kind == .string
      case 5 where tokens.reads(key, "unmet") && ended.word == .divergence:
        // A list with at least one element, as Lockstep writes it.
        guard value.range.count > 2, tokens.bytes[value.range.lowerBound + 1] == UInt8(ascii: "{") else {
          return nil
        }
        ended.word = .unmet
      case 5 where tokens.reads(key, "again"): ended.isTriedAgain = tokens.reads(value.range, "true")
      case 10 where tokens.reads(key, "quarantine"): ended.isInQuarantine = value.kind == .string
      case 11 where tokens.reads(key, "attachments"): ended.hasAttachments = true
      case 12 where tokens.reads(key, "observations"):
        ended.observations =
          value.kind == .number ? max(0, tokens.text(of: value).flatMap { Int($0) } ?? 0) : 0
      default: break
      }
    }
    return ended.id.kind == .other ? nil : .verdict(ended)
  }
}

extension JournalHeaderScan.Start {
  /// Reads the values of a case; returns false if the form is unusual.
  fileprivate mutating func read(_ tokens: inout LineTokens) -> Bool {
    guard tokens.take(UInt8(ascii: "{")) else { return false }
    self = Self()
    repeat {
      guard let key = tokens.key(), let value = tokens.value(), take(key, value, tokens) else { return false }
    } while tokens.take(UInt8(ascii: ","))
    return tokens.take(UInt8(ascii: "}")) && !id.range.isEmpty
  }

  /// Stores the position of a value; returns false if the key is repeated.
  @inline(__always)
  fileprivate mutating func take(
    _ key: Range<Int>, _ value: LineTokens.Raw, _ tokens: borrowing LineTokens
  ) -> Bool {
    func set(_ place: inout LineTokens.Raw?) -> Bool {
      if place != nil { return false }
      place = value
      return true
    }
    switch key.count {
    case 2 where tokens.reads(key, "id"):
      guard id.range.isEmpty, value.kind != .other else { return false }
      id = value
      return true
    case 4:
      if tokens.reads(key, "name") { return set(&name) }
      if tokens.reads(key, "file") { return set(&file) }
      if tokens.reads(key, "line") { return set(&line) }
      if tokens.reads(key, "seed") { return set(&seed) }
    case 5 where tokens.reads(key, "model"): return set(&model)
    case 6 where tokens.reads(key, "device"): return set(&device)
    case 7:
      if tokens.reads(key, "machine") { return set(&machine) }
      if tokens.reads(key, "attempt"), value.kind == .number {
        attempt = max(1, tokens.text(of: value).flatMap { Int($0) } ?? 1)
      }
    case 8:
      if tokens.reads(key, "firmware") { return set(&firmware) }
      if tokens.reads(key, "settings") { return set(&settings) }
    default: break
    }
    return true
  }
}

extension LineTokens {
  /// Returns whether a key determines the kind of the line.
  @inline(__always)
  fileprivate func isKind(_ key: Range<Int>) -> Bool {
    switch key.count {
    case 3: reads(key, "run") || reads(key, "end")
    case 4: reads(key, "case") || reads(key, "left")
    case 7: reads(key, "verdict") || reads(key, "machine") || reads(key, "finding")
    case 8: reads(key, "coverage") || reads(key, "campaign")
    default: false
    }
  }

  /// Returns the word of a verdict.
  fileprivate func word(_ text: LineTokens.Raw) -> Record.Verdict.Word? {
    guard text.kind == .string, text.form == .plain else { return nil }
    if reads(text.range, "agree") { return .agree }
    return self.text(of: text).flatMap(Record.Verdict.Word.init).flatMap { $0 == .unmet ? nil : $0 }
  }
}

/// Parses seconds as text, such as `10.1134`, and rounds them half up to milliseconds; `nil` for anything else.
///
/// A negative time becomes zero, and a time beyond a million years becomes a million years.
private func secondsAsMilliseconds(_ text: Span<UInt8>) -> Int64? {
  let isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
  let limit: Int64 = 31_557_600_000_000
  var seconds: Int64 = 0
  var thousandths: Int64 = 0
  /// The value of the next decimal in tenths of a millisecond; `nil` before the point.
  var place: Int64?
  var previous = UInt8(ascii: ".")
  for index in (isNegative ? 1 : 0)..<max(text.count, isNegative ? 1 : 0) {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      let digit = Int64(byte - UInt8(ascii: "0"))
      if let unit = place {
        thousandths += unit * digit
        place = unit / 10
      } else {
        seconds = min(seconds * 10 + digit, limit)
      }
    case UInt8(ascii: ".") where place == nil && previous != byte:
      place = 1000
    default:
      return nil
    }
    previous = byte
  }
  if previous == UInt8(ascii: ".") { return nil }
  return isNegative ? 0 : seconds * 1000 + (thousandths + 5) / 10
}
