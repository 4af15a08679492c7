import Basics
import Conformance

/// A cache of the parsed lines that a program writes repeatedly.
///
/// A line that ends with a time, such as `"at":3.2` or `"next":12.5`, is stored without it.
struct ProgramLineCache {
  /// A parsed line, and its observation, if any.
  typealias Entry = (parsed: ProgramLine, observation: Observation?)

  /// The maximum number of lines, for a program whose lines all differ.
  private static let maximum = 1000

  private var known: [[UInt8]: Entry] = [:]

  /// Stores a parsed line, except for a greeting, which comes once.
  mutating func learn(_ line: [UInt8], _ entry: Entry) {
    switch entry.parsed.answer {
    // The values that a driver writes to its lock differ each time.
    case .hello, .operation: return
    default: break
    }
    guard known.count < Self.maximum else { return }
    guard let ending = Ending(of: line) else {
      known[line] = entry
      return
    }
    // The entry is stored without its time.
    var entry = entry
    entry.parsed = ProgramLine(entry.parsed.answer.with(next: .unsaid))
    known[ending.head] = entry
  }

  /// Returns the entry of a line, if it is in the cache.
  func entry(of line: [UInt8]) -> Entry? {
    if let entry = known[line] { return entry }
    guard let ending = Ending(of: line), var entry = known[ending.head] else { return nil }
    switch (ending.isNext, entry.parsed.answer) {
    case (true, .settled), (true, .refused):
      entry.parsed.answer = entry.parsed.answer.with(next: .at(ending.moment))
    case (false, .status), (false, .effect), (false, .reading), (false, .event), (false, .violation):
      entry.parsed.time = ending.moment
    default: return nil
    }
    return entry
  }
}

extension ProgramAnswer {
  /// Returns the same answer with another time of the next spontaneous action.
  fileprivate func with(next: Next) -> ProgramAnswer {
    switch self {
    case .settled: .settled(next: next)
    case .refused(let reason, _): .refused(reason, next: next)
    case .hello, .status, .effect, .reading, .event, .violation, .log, .operation: self
    }
  }
}

/// A time at the end of a line.
private struct Ending {
  /// The line without the time.
  var head: [UInt8]
  /// Whether it is the time of the next action, and not that of the observation.
  var isNext: Bool
  var moment: Instant

  private static let next = Array("\"next\":".utf8)
  private static let at = Array("\"at\":".utf8)

  /// Finds the time; `nil` if there is none, or it has an unusual form.
  init?(of line: [UInt8]) {
    guard line.count > 8, line.last == UInt8(ascii: "}"), let comma = line.lastIndex(of: UInt8(ascii: ","))
    else { return nil }
    var rest = line[(comma + 1)..<(line.count - 1)]
    rest.skipSpaces()
    isNext = rest.starts(with: Self.next)
    guard isNext || rest.starts(with: Self.at) else { return nil }
    rest = rest.dropFirst(isNext ? Self.next.count : Self.at.count)
    rest.skipSpaces()
    let isNever = isNext && rest.elementsEqual("null".utf8)
    guard let moment = isNever ? .never : Instant(digits: rest) else { return nil }
    self.moment = moment
    head = []
    head.reserveCapacity(comma + 1)
    head += line[..<comma]
    head.append(UInt8(ascii: "}"))
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func skipSpaces() { while first == UInt8(ascii: " ") { removeFirst() } }
}

extension Instant {
  /// The upper limit of a time, in nanoseconds.
  private static let farthest: Int64 = 9_000_000_000_000_000_000

  /// Parses seconds with up to nine decimals exactly; `nil` for other forms, which may be valid JSON.
  init?(digits text: some BidirectionalCollection<UInt8>) {
    let point = UInt8(ascii: ".")
    guard (1...19).contains(text.count), let first = text.first, first != point, text.last != point,
      first != UInt8(ascii: "0") || text.dropFirst().first ?? point == point
    else { return nil }
    var nanoseconds: Int64 = 0
    var decimals = -1
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let (product, isFar) = nanoseconds.multipliedReportingOverflow(by: 10)
        guard !isFar, decimals < 9 else { return nil }
        nanoseconds = product + Int64(byte - UInt8(ascii: "0"))
        if decimals >= 0 { decimals += 1 }
      case point where decimals < 0: decimals = 0
      default: return nil
      }
    }
    for _ in max(decimals, 0)..<9 {
      let (product, isFar) = nanoseconds.multipliedReportingOverflow(by: 10)
      guard !isFar else { return nil }
      nanoseconds = product
    }
    guard nanoseconds < Self.farthest else { return nil }
    self.init(nanoseconds: nanoseconds)
  }

  /// Parses seconds since the start of the test.
  init?(_ json: JSON) {
    if case .number(let text) = json, let exact = Instant(digits: text.utf8) {
      self = exact
    } else {
      guard let seconds = json.seconds, seconds >= .zero else { return nil }
      self = .zero + seconds
    }
  }
}
