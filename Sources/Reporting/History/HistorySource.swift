import Databases
import Journal

/// A source of earlier results for reports: those of the runs before the reported ones.
public final class HistorySource: CaseHistorySource {
  private let history: History
  private let book: HistoryBook

  /// The maximum number of points of a case.
  private static let pointLimit = 50

  /// Reads the runs before some runs: later ones do not change a report that is made again.
  ///
  /// - Parameters:
  ///   - journals: the journals of the reported runs.
  ///   - manifests: their manifests; without any, the files beside them.
  public init(
    _ history: History, journals: [String], manifests: [String] = []
  ) throws(HistoryError) {
    self.history = history
    let sources = journals.enumerated().map { number, journal in
      JournalIndex.Source(journal, manifest: number < manifests.count ? manifests[number] : nil)
    }
    var selection = HistorySelection()
    selection.excluded = sources.map(RunRecord.Identity.init)
    selection.before = sources.compactMap(\.manifest.moment).min()
    let database = history.database
    book = try database.read { () throws(HistoryError) in try HistoryBook(database, selection, isNamed: false)
    }
  }

  public func runs(last count: Int) -> [HistoryRun] { book.runs.suffix(count) }

  public func history(
    className: String, name: String, signature: String?, milliseconds: Int64
  ) throws(HistoryError) -> CaseHistory? {
    guard !book.runs.isEmpty,
      let number = try history.database.caseNumber(kept(className), kept(name)),
      let slot = book.slot(of: number), !book.points[slot].isEmpty
    else { return nil }
    let known = book.history(slot, points: Self.pointLimit)
    var answer = CaseHistory()
    answer.judged = known.judged
    answer.agreed = known.agreed
    answer.changes = known.changes + known.retried
    answer.firstSeen = known.firstSeen
    let usual = UsualTime(book.points[slot].lazy.filter { $0.ending.word == .agree }.map(\.milliseconds))
    answer.usualMilliseconds = usual?.milliseconds
    answer.isSlower = usual?.isExceeded(by: milliseconds) ?? false
    answer.points = known.points
    if let signature { answer.sameFailure = try recurrence(of: kept(signature), book.numbers[slot]) }
    return answer
  }

  private func recurrence(
    of signature: String, _ number: Int64
  ) throws(HistoryError) -> CaseHistory.Recurrence? {
    let runs = Set(book.runs.map(\.identity.id))
    var starts: [String] = []
    try history.database.query(
      """
      SELECT identity, started FROM failures JOIN runs ON id = run_id
      WHERE case_id = $1 AND signature = $2
      """, [.integer(number), .text(signature)]
    ) { row in
      if runs.contains(row[0].text ?? ""), let start = row[1].text { starts.append(start) }
    }
    guard let first = starts.min(), let last = starts.max() else { return nil }
    return CaseHistory.Recurrence(count: starts.count, first: first, last: last)
  }
}
