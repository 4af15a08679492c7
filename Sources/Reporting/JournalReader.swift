public import System

/// Reads a journal from disk, line by line.
///
/// A last line that was torn off in the middle of writing is passed over; any other line that is no record is a
/// problem with its number.
public struct JournalReader: ~Copyable {
  private var lines: LineReader

  /// Whether the last line was torn off; known once ``next()`` gave `nil`.
  public private(set) var isTorn = false

  /// Opens a journal.
  public init(_ path: String) throws(ReportError) {
    lines = try LineReader(path)
  }

  /// The number of the line that was read last, from 1.
  public var line: Int { lines.number }

  /// The next record, or what is wrong with its line; `nil` at the end.
  public mutating func next() throws(ReportError) -> Result<Journal.Record, Journal.Problem>? {
    guard try advance() else { return nil }
    do {
      return .success(try record(lines.line))
    } catch {
      if isTornOff() { return nil }
      return .failure(problem(error))
    }
  }

  /// The next line at a glance, or what is wrong with it; `nil` at the end.
  mutating func glance() throws(ReportError) -> Result<JournalGlance, Journal.Problem>? {
    guard try advance() else { return nil }
    if let glance = JournalGlance(lines.line) { return .success(glance) }
    do {
      return .success(.other(try record(lines.line)))
    } catch {
      if isTornOff() { return nil }
      return .failure(problem(error))
    }
  }

  /// Looks at the first line of a case.
  ///
  /// - Returns: `nil` when the line is of an unusual form.
  mutating func lookAt<Result>(
    _ entry: JournalIndex.Entry, _ body: (JournalGlance.Start, Span<UInt8>) -> Result
  ) throws(ReportError) -> Result? {
    try seek(to: entry.offset, line: entry.line)
    guard try advance(), case .start(let start)? = JournalGlance(lines.line) else { return nil }
    return body(start, lines.line)
  }

  /// The whole record of the line that was read last.
  borrowing func whole() -> Journal.Record? { try? record(lines.line) }

  /// The bytes of the line that was read last.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { lines.line }
  }

  /// Where the line that was read last starts, in bytes.
  var offset: Int { lines.offset }

  /// Makes the line that starts at an offset the next one.
  mutating func seek(to offset: Int, line: Int) throws(ReportError) {
    try lines.seek(to: offset, line: line)
  }

  /// Goes to the next line that is not blank.
  private mutating func advance() throws(ReportError) -> Bool {
    repeat {
      guard try lines.advance() else { return false }
    } while lines.line.isEmpty && !lines.isTooLong
    return true
  }

  private mutating func isTornOff() -> Bool {
    if !lines.isTerminated { isTorn = true }
    return isTorn
  }

  private func problem(_ error: RecordError) -> Journal.Problem {
    Journal.Problem(line: lines.number, message: lines.isTooLong ? "the line is too long" : error.reason)
  }
}

private func record(_ line: Span<UInt8>) throws(RecordError) -> Journal.Record {
  var scanner = JSONScanner(line)
  let value: JSONValue
  do {
    value = try scanner.document()
  } catch {
    throw notJSON(error)
  }
  return try Journal.Record(value)
}

private func notJSON(_ error: JSONError) -> RecordError {
  RecordError(reason: "not JSON at column \(error.offset + 1): \(error.reason)")
}
