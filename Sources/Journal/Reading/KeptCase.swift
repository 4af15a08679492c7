public import Basics
import System

/// A reference to a case in the journal of another run; the journal of a night consists of these.
///
/// A reader returns the lines of that case instead of the reference. This is not a ``Record``: only ``JournalReader``
/// reads it.
public struct KeptCase: Hashable, Sendable {
  /// The path of the other journal, relative to the folder of this one.
  public var journal: String
  /// The id of the case in that journal, if its run has several cases.
  public var source: String?
  /// The id, the name and the attempt of the case. The other members apply if the other journal lacks the case.
  public var test: Record.Case
  /// How the attempt ended. The verdict of the other journal applies if it has this word; otherwise this and
  /// ``message`` do.
  public var word: Record.Verdict.Word
  /// The reason, in one line.
  public var message: String?
  /// Why the case is in quarantine, and until when.
  public var quarantine: String?
  /// Whether the case agreed only at a later attempt.
  public var isFlaky = false
  /// Whether another attempt follows.
  public var isTriedAgain = false

  /// Creates a reference to a case of another journal.
  public init(journal: String, source: String? = nil, _ test: Record.Case, _ word: Record.Verdict.Word) {
    (self.journal, self.source, self.test, self.word) = (journal, source, test, word)
  }
}

extension KeptCase: Recorded {
  public static let blank = KeptCase(journal: "", .blank, .incomplete)
  public static let noun = "a case of another journal"
  public static let fields: [Field<Self>] = [
    .needed("journal", \.journal, .text), .extra("source", \.source, .text),
    .needed("case", \.test, .object()), .needed("verdict", \.word, .words()),
    .extra("message", \.message, .text), .extra("quarantine", \.quarantine, .text),
    .mark("flaky", \.isFlaky), .mark("again", \.isTriedAgain),
  ]

  /// The first bytes of such a line.
  static let mark = Array(JSON.mapping([.init("kept", .null)]).line.utf8.dropLast("null}".utf8.count))

  /// The text of the line, without its line feed.
  public var line: String { JSON.mapping([.init("kept", json)]).line }

  /// The JSON Schema of the line.
  public static var lineShape: JSON { Shape.object(["kept": shape]) }

  /// Creates a reference from the text of a line.
  init(parsing line: Span<UInt8>) throws(RecordError) {
    guard let json = try? JSON(parsing: line, isLenient: true) else { throw RecordError(reason: "not JSON") }
    try self.init(json["kept"] ?? .null)
  }
}

extension KeptCase {
  /// The contents of the other journal for a case.
  struct Content {
    /// The lines of the case, from its start to its verdict.
    var lines: [Record]
    /// The machines of that run, and their coverage.
    var visits: [Record] = []
    /// When the attempt ran, if this is known.
    var time: CaseTime?
  }

  /// Reads the case from the other journal.
  ///
  /// - Parameter journal: The path of the journal with the reference. Files outside its folder are not read.
  func content(besides journal: String) -> Content {
    var start = test
    var verdict = Record.Verdict(word, of: test.id, at: .zero)
    verdict.message = message
    if word == .unmet { verdict.unmet = [.unknown] }
    var content = Content(lines: [])
    var isJudged = false
    let path = Path.join(Path.folder(of: journal), self.journal)
    let isInside =
      !self.journal.isEmpty && !self.journal.hasPrefix("/")
      && !self.journal.split(separator: "/").contains("..")
    if isInside, var reader = try? JournalReader(alone: path) {
      let times = CaseTimes(besides: path)
      var isOpen = false
      while let line = try? reader.next() {
        guard case .success(let record) = line else { continue }
        switch record {
        case .begin(let begun) where !isJudged && (source == nil || begun.id == source):
          (isOpen, content.lines, start) = (true, [], begun)
          content.time = times?.time(ofLine: reader.line)
        case .event where isOpen: content.lines.append(record)
        case .verdict(let written) where isOpen:
          (isOpen, isJudged) = (false, true)
          if written.word == word { verdict = written.moved(from: path, to: Path.folder(of: journal)) }
        case .machine, .coverage: content.visits.append(record)
        case .begin, .event, .verdict, .run, .left, .finding, .campaign, .end: break
        }
      }
    }
    if !isJudged { (content.lines, content.visits) = ([], []) }
    (start.id, start.name, start.attempt, start.lease) = (test.id, test.name, test.attempt, nil)
    (verdict.id, verdict.quarantine, verdict.isFlaky) = (test.id, quarantine, isFlaky)
    verdict.isTriedAgain = isTriedAgain
    content.lines = [.begin(start)] + content.lines + [.verdict(verdict)]
    return content
  }
}

extension Record.Verdict {
  /// Returns the verdict with attachment paths relative to another folder.
  package func moved(from journal: String, to folder: String) -> Record.Verdict {
    var copy = self
    for index in attachments.indices {
      let place = Path.join(Path.folder(of: journal), attachments[index].path)
      copy.attachments[index].path = Path.relative(place, from: folder)
    }
    return copy
  }
}
