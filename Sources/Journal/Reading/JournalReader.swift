public import System

/// A line of a journal that cannot be understood, or that stands where it cannot.
public struct JournalProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1; 0 for the journal as a whole.
  public var line: Int
  /// What is wrong, in one line.
  public var message: String
  /// What a run ended with, where the journal is whole and its cases do not show why; `nil` where the journal is not.
  public var status: CommandStatus?

  /// Says what is wrong.
  public init(line: Int, message: String, status: CommandStatus? = nil) {
    (self.line, self.message, self.status) = (line, message, status)
  }

  /// The problem with its line.
  public var description: String { line == 0 ? message : "line \(line): \(message)" }
}

/// Reads a journal from disk, line by line.
///
/// A last line that was torn off in the middle of writing is passed over; any other line that is no record is a
/// problem with its number.
///
/// Where a line names a case of another journal the lines of that case are handed out: see ``KeptCase``.
public struct JournalReader: ~Copyable {
  private var lines: LineReader
  /// The journal, where cases of other journals are read from there.
  private let path: String?
  /// What is still to be handed out of a case of another journal, the last line first.
  private var kept: [Record] = []
  /// What was handed out already of machines in other journals.
  private var visits: Set<Record> = []
  /// When the case of another journal was driven whose lines are handed out.
  package private(set) var keptTime: CaseTime?
  /// Where what was saved is now, for whoever shows it to people.
  private let places: SavedPlaces?

  /// Whether the last line was torn off; known once ``next()`` gave `nil`.
  public private(set) var isTorn = false

  /// Opens a journal.
  public init(_ path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (path, nil)
  }

  /// Opens a journal of which only the lines count that stand in itself.
  init(alone path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (nil, nil)
  }

  /// Opens a journal to show it: what it saved is told by where it is now.
  init(showing path: String) throws(FileFault) {
    lines = try LineReader(path)
    (self.path, places) = (path, SavedPlaces(journal: path))
  }

  /// The number of the line that was read last, from 1.
  public var line: Int { lines.number }

  /// The next record, or what is wrong with its line; `nil` at the end.
  public mutating func next() throws(FileFault) -> Result<Record, JournalProblem>? {
    if let record = kept.popLast() { return .success(record) }
    guard try advance() else { return nil }
    return read(withVisits: false)
  }

  /// The record of the line, or the first one of the case that it names.
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

  /// The case of another journal that the line names; `nil` where it names none.
  private borrowing func content() throws(RecordError) -> KeptCase.Content? {
    let line = lines.line
    guard let path, line.count > KeptCase.mark.count,
      KeptCase.mark.indices.allSatisfy({ line[$0] == KeptCase.mark[$0] })
    else { return nil }
    return try KeptCase(parsing: line).content(besides: path)
  }

  /// The head of the next line, or what is wrong with it; `nil` at the end.
  ///
  /// - Parameter start: what the line says, where it is that of a case.
  package mutating func headerScan(
    _ start: inout JournalHeaderScan.Start
  ) throws(FileFault) -> Result<JournalHeaderScan, JournalProblem>? {
    if let record = kept.popLast() { return .success(.other(record)) }
    guard try advance() else { return nil }
    if let headerScan = JournalHeaderScan(lines.line, &start) { return .success(headerScan) }
    return read(withVisits: true)?.map(JournalHeaderScan.other)
  }

  /// Looks at the first line of a case.
  ///
  /// - Returns: `nil` when the line is of an unusual form.
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

  /// The whole record of the line that was read last.
  package borrowing func whole() -> Record? { try? record() }

  private borrowing func record() throws(RecordError) -> Record {
    let record = try Record(parsing: lines.line)
    return places?.now(record) ?? record
  }

  /// The bytes of the line that was read last.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { lines.line }
  }

  /// Where the line that was read last starts, in bytes.
  package var offset: Int { lines.offset }

  /// Makes the line that starts at an offset the next one.
  package mutating func seek(to offset: Int, line: Int) throws(FileFault) {
    kept = []
    try lines.seek(to: offset, line: line)
  }

  /// Goes to the next line that is not blank.
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

/// A journal that stays open, to be read in several places.
package final class JournalSource {
  package var reader: JournalReader

  /// Opens a journal.
  ///
  /// - Parameter isReproducible: whether it is told as it stands, wherever it is now.
  package init(_ path: String, isReproducible: Bool = false) throws(FileFault) {
    reader = isReproducible ? try JournalReader(path) : try JournalReader(showing: path)
  }
}
