import Basics
import Journal
public import System

/// The runs that could not be written to a history at their end: a note of each is in `unsent/` under the
/// folder of reports, until a later command sends it.
///
/// They are sent in the order of their starts, each once: the history recognizes a run by its id.
public struct UnsentRuns {
  /// The folder below that of reports.
  public static let folder = "unsent"
  /// The maximum number of notes, which is more than a bench makes in months.
  private static let maximum = 10_000
  /// The maximum number that one command sends.
  private static let atOnce = 500
  /// After this many consecutive failures the others wait.
  private static let maximumFailures = 3

  let out: String
  let place: HistoryPlace

  /// Reads the notes below a folder of reports.
  public init(out: String, place: HistoryPlace) {
    self.out = out
    self.place = place
  }

  private var path: String { out + "/" + Self.folder }

  /// The contents of a note.
  private struct Note: Recorded {
    /// The history, without a password.
    var history = ""
    /// The journal of the run, relative to the folder of reports if it is below that.
    var journal = ""

    static let blank = Note()
    static let noun = "a note of a run that is not in a history"
    static let fields: [Field<Self>] = [
      .needed("history", \.history, .text), .needed("journal", \.journal, .text),
    ]
  }

  /// The notes for this history, in the order of the runs' starts.
  private var notes: [(file: String, note: Note)] {
    (folderEntries(path) ?? []).compactMap { name in
      let file = path + "/" + name
      guard name.hasSuffix(".json"), let bytes = try? WholeFile.bytes(of: file, limit: 1 << 16),
        let note = try? Note(JSON(parsing: bytes)), note.history == "\(place)"
      else { return nil }
      return (file, note)
    }
  }

  /// Whether there is a note of a run for any history.
  public static func hasNote(journal: String, out: String) throws(FileFault) -> Bool {
    let manifest = try Manifest.read(Path.folder(of: journal) + "/manifest.json") ?? Manifest()
    let ending = "_\(RunRecord.Identity(journal: journal, manifest).id.prefix(32)).json"
    return (folderEntries(out + "/" + folder) ?? []).contains { $0.hasSuffix(ending) }
  }

  /// Whether there is nothing to send.
  public var isEmpty: Bool { notes.isEmpty }

  /// Adds notes of runs, and reports that.
  func addNotes(of journals: some Collection<String>, _ messages: StatusLine) {
    var count = 0
    do throws(FileFault) {
      let capacity = Self.maximum - (folderEntries(path) ?? []).count
      for journal in journals.prefix(max(capacity, 0)) {
        try addNote(of: journal)
        count += 1
      }
    } catch {
      messages.say("lockstep: \(error)")
    }
    if count > 0 {
      messages.say(
        "  \(counted(count, "run")) noted in \(path): the next run sends what is there to the history, or 'lockstep history'"
      )
    }
    if count < journals.count {
      messages.say(
        "  \(counted(journals.count - count, "run")) not in the history: 'lockstep history add RUN…' takes them in later"
      )
    }
  }

  private func addNote(of journal: String) throws(FileFault) {
    try makeFolder(path)
    let manifest = try Manifest.read(Path.folder(of: journal) + "/manifest.json") ?? Manifest()
    let id = RunRecord.Identity(journal: journal, manifest).id
    let start = (manifest.start ?? "").map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
    var note = Note(history: "\(place)", journal: journal)
    if journal.hasPrefix(out + "/") { note.journal = String(journal.dropFirst(out.count + 1)) }
    try WholeFile.replace("\(path)/\(String(start))_\(id.prefix(32)).json", with: note.json.indented)
  }

  /// Sends the noted runs, unless another process does so, and reports the results.
  ///
  /// - Throws: if the history is unavailable; the remaining notes stay.
  public func send(to history: History, _ messages: StatusLine) throws(HistoryError) {
    let notes = notes
    guard !notes.isEmpty, let hold = try? FolderHold(path) else { return }
    defer { withExtendedLifetime(hold) {} }
    var sent = 0
    defer {
      if sent > 0 {
        messages.say(
          "lockstep: \(counted(sent, "run")) that could not be sent earlier: now in the history at \(place)")
      }
    }
    var failures = 0
    for (file, note) in notes.prefix(Self.atOnce) where Host.isFile(file) {
      let journal = note.journal.hasPrefix("/") ? note.journal : out + "/" + note.journal
      do throws(HistoryError) {
        try history.take(journal: journal)
        sent += 1
        failures = 0
        try? removeFile(file)
      } catch {
        if error.isTransient { throw error }
        messages.say("lockstep: \(error)")
        // A run that is gone, or no run, can never be sent.
        if case .run = error {
          try? removeFile(file)
          continue
        }
        failures += 1
        if failures == Self.maximumFailures { return }
      }
    }
    if notes.count > Self.atOnce {
      messages.say(
        "lockstep: \(counted(notes.count - Self.atOnce, "run")) still noted in \(path): sent next time")
    }
  }
}
