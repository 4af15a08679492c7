import Journal

/// The results of a run in a few bytes each: the case, its ending and its duration.
///
/// They are ordered by the numbers of the cases. Each is three numbers in base 128, the low digits first,
/// with the highest bit set on all but the last: the difference to the previous case's number; eight times
/// the number of retries, plus the word; and twice the milliseconds, plus one if the case is flaky.
///
/// The setting of the cases is written where it changes: a zero, which is no difference of case numbers, and
/// the number of the setting, which holds from there on. In the same way the edition of a case: two zeros,
/// and the number of the edition.
struct RunDigest: Equatable {
  /// A result.
  struct Entry: Hashable {
    var caseNumber: Int64
    var ending: Record.Ending
    var attempts: Int64 = 1
    var milliseconds: Int64
    /// The number of the setting; zero if the digest has none.
    var setting: Int64 = 0
    /// The edition of scenario, machine and program, by its number for the case; zero if the digest has none.
    var edition: Int64 = 0
  }

  private(set) var bytes: [UInt8] = []
  private var last: Int64 = 0
  private var setting: Int64 = 0
  private var edition: Int64 = 0

  /// Makes an empty digest.
  init() {}

  /// Makes a digest from its bytes.
  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Appends a result of a case with a higher number than all before.
  mutating func append(_ entry: Entry) {
    precondition(entry.caseNumber > last, "results of a digest are in the order of their cases")
    if entry.setting != setting {
      append(0)
      append(UInt64(max(entry.setting, 0)))
      setting = entry.setting
    }
    if entry.edition != edition {
      append(0)
      append(0)
      append(UInt64(max(entry.edition, 0)))
      edition = entry.edition
    }
    append(UInt64(entry.caseNumber - last))
    append(UInt64(max(entry.attempts, 1) - 1) << 3 | UInt64(entry.ending.word.code))
    append(UInt64(max(entry.milliseconds, 0)) << 1 | (entry.ending.isFlaky ? 1 : 0))
    last = entry.caseNumber
  }

  private mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Enumerates all results; `false` if the bytes are malformed, after the results before.
  func forEach(_ body: (Entry) -> Void) -> Bool {
    let bytes = bytes.span
    var position = 0
    var (number, setting, edition): (Int64, Int64, Int64) = (0, 0, 0)
    func next() -> UInt64? {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while position < bytes.count, shift < 63 {
        let byte = bytes[position]
        position += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    while position < bytes.count {
      guard var step = next() else { return false }
      var isRead = (setting: false, edition: false)
      while step == 0 {
        guard let other = next() else { return false }
        if other == 0 {
          guard !isRead.edition, let other = next(), other != edition else { return false }
          (edition, isRead.edition) = (Int64(other), true)
        } else {
          guard !isRead.setting, other != setting else { return false }
          (setting, isRead.setting) = (Int64(other), true)
        }
        guard let further = next() else { return false }
        step = further
      }
      guard let kind = next(), let time = next(), let word = Record.Verdict.Word(code: Int(kind & 7))
      else { return false }
      let (sum, isTooHigh) = number.addingReportingOverflow(Int64(step))
      guard !isTooHigh else { return false }
      number = sum
      body(
        Entry(
          caseNumber: number, ending: .init(word, isFlaky: time & 1 == 1), attempts: Int64(kind >> 3) + 1,
          milliseconds: Int64(time >> 1), setting: setting, edition: edition))
    }
    return true
  }
}
