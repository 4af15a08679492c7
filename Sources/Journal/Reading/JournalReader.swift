public import System

/// A line of a journal that is invalid, or invalid in its position.
public struct JournalProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line number, from 1; 0 for the whole journal.
  public var line: Int
  /// What is wrong, in one line.
  public var message: String
  /// The exit status of the run, if the journal is complete but its cases do not explain the status; otherwise `nil`.
  public var status: CommandStatus?

  /// Creates a problem.
  public init(line: Int, message: String, status: CommandStatus? = nil) {
    (self.line, self.message, self.status) = (line, message, status)
  }

  /// The problem, with its line number.
  public var description: String { line == 0 ? message : "line \(line): \(message)" }
}

/// Reads a journal from disk, line by line.
///
/// Ignores an incomplete last line; any other line that is not a record is a problem, which contains the line number.
///
/// A line that refers to a case of another journal is replaced by the lines of that case: see ``KeptCase``.
public struct JournalReader: ~Copyable {
  private var lines: LineReader
  /// The path of the journal, if cases of other journals are read.
  private let path: String?
  /// The remaining lines of a case from another journal, in reverse order.
  private var kept: [Record] = []
  /// The machines and coverage of other journals that were already returned.
  private var visits: Set<Record> = []
  /// The time of the case from another journal whose lines are being returned.
  package private(set) var keptTime: CaseTime?
  /// The current locations of saved tests, if the journal is shown to people.
  private let places: SavedPlaces?

  /// Whether the last line is incomplete; known after ``next()`` has returned `nil`.
  public private(set) var isTorn = false

  /// Opens a journal.
  public init(_ path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (path, nil)
  }

  /// Opens a journal without reading the cases of other journals.
  init(alone path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (nil, nil)
  }

  /// Opens a journal to show it: paths of saved tests are their current ones.
  init(showing path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (path, SavedPlaces(journal: path))
  }

  /// The number of the last line that was read, from 1.
  public var line: Int { lines.number }

  /// Returns the next record, or the problem of its line; `nil` at the end.
  public mutating func next() throws(FileFault) -> Result<Record, JournalProblem>? {
    if let record = kept.popLast() { return .success(record) }
    guard try advance() else { return nil }
    return read(withVisits: false)
  }

  /// Returns the record of the line, or the first record of the case to which it refers.
  private mutating func read(withVisits: Bool) -> Result<Record, JournalProblem>? {
    do {
      guard let content = try content() else { return .success(try record()) }
      kept = content.lines
      if withVisits { kept += content.visits.filter { visits.insert($0).inserted } }
      if let places { kept = kept.map(places.now) }
      kept.reverse()
      keptTime = content.time
      return kept.popLast().map { .success($0) }
    } catch {
      if isTornOff() { return nil }
      return .failure(problem(error))
    }
  }

  /// Returns the case of another journal to which the line refers; `nil` if it does not refer to one.
  private borrowing func content() throws(RecordError) -> KeptCase.Content? {
    let line = lines.line
    guard let path, line.count > KeptCase.mark.count,
      KeptCase.mark.indices.allSatisfy({ line[$0] == KeptCase.mark[$0] })
    else { return nil }
    return try KeptCase(parsing: line).content(besides: path)
  }

  /// Returns the scan of the next line, or its problem; `nil` at the end.
  ///
  /// - Parameter start: Receives the contents of the line if it is that of a case.
  package mutating func headerScan(
    _ start: inout JournalHeaderScan.Start
  ) throws(FileFault) -> Result<JournalHeaderScan, JournalProblem>? {
    if let record = kept.popLast() { return .success(.other(record)) }
    guard try advance() else { return nil }
    if let headerScan = JournalHeaderScan(lines.line, &start) { return .success(headerScan) }
    return read(withVisits: true)?.map(JournalHeaderScan.other)
  }

  /// Reads the first line of a case.
  ///
  /// - Returns: `nil` if the line has an unusual form.
  package mutating func readStart<Result>(
    _ entry: JournalIndex.Entry, _ body: (JournalHeaderScan.Start, Span<UInt8>) -> Result
  ) throws(FileFault) -> Result? {
    try seek(to: entry.offset, line: entry.line)
    guard try advance() else { return nil }
    if let result = Self.parse(at: lines.line, body) { return result }
    guard case .begin(let test)? = try? content()?.lines.first else { return nil }
    let line = Array(Record.begin(test).line().utf8)
    return Self.parse(at: line.span, body)
  }

  private static func parse<Result>(
    at line: Span<UInt8>, _ body: (JournalHeaderScan.Start, Span<UInt8>) -> Result
  ) -> Result? {
    JournalHeaderScan.Start(line).map { body($0, line) }
  }

  /// Returns the complete record of the last line that was read.
  package borrowing func whole() -> Record? { try? record() }

  private borrowing func record() throws(RecordError) -> Record {
    let record = try Record(parsing: lines.line)
    return places?.now(record) ?? record
  }

  /// The bytes of the last line that was read.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { lines.line }
  }

  /// The byte offset of the last line that was read.
  package var offset: Int { lines.offset }

  /// Moves to the line at an offset, which is read next.
  package mutating func seek(to offset: Int, line: Int) throws(FileFault) {
    kept = []
    try lines.seek(to: offset, line: line)
  }

  /// Advances to the next line that is not blank.
  private mutating func advance() throws(FileFault) -> Bool {
    keptTime = nil
    repeat {
      guard try lines.advance() else { return false }
    } while lines.line.isEmpty && !lines.isTooLong
    return true
  }

  private mutating func isTornOff() -> Bool {
    if !lines.isTerminated { isTorn = true }
    return isTorn
  }

  private func problem(_ error: RecordError) -> JournalProblem {
    JournalProblem(line: lines.number, message: lines.isTooLong ? "the line is too long" : error.reason)
  }
}

/// A journal that stays open for reading at several positions.
package final class JournalSource {
  package var reader: JournalReader

  /// Opens a journal.
  ///
  /// - Parameter isReproducible: Whether paths of saved tests stay as they are in the journal, even if the tests have
  ///   moved.
  package init(_ path: String, isReproducible: Bool = false) throws(FileFault) {
    reader = isReproducible ? try JournalReader(path) : try JournalReader(showing: path)
  }
}
