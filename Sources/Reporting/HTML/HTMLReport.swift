public import Journal
public import System
import Basics

/// A page made from journals, with its counts.
///
/// It is one self-contained file without network access, fonts or pictures. It can be read without its
/// script, which only adds filters and keys. As with JUnit there is always a page, and none shows a better
/// result than its run.
public struct HTMLReport: Hashable, Sendable {
  /// The number of cases in the journals.
  public var cases = 0
  /// The number of divergences.
  public var divergences = 0
  /// The number of cases in which model and device agree, and an expectation of the scenario is not met.
  public var unmet = 0
  /// The number of lab faults.
  public var labFaults = 0
  /// The number of incomplete cases.
  public var incomplete = 0
  /// The number of cases that passed only on a retry.
  public var flaky = 0
  /// The number of skipped cases.
  public var skipped = 0
  /// The number of cases that agreed at once.
  public var agreed = 0
  /// The problems of the journals themselves.
  public var problems: [JournalProblem] = []
}

extension RecordedRuns {
  /// Writes the page of the runs, which appears at its path as a whole or not at all.
  ///
  /// The journals are read again for the details and never kept in memory. Beyond some hundred failures and
  /// some thousand other cases the page has counts only, so that a browser can open it.
  ///
  /// - Parameters:
  ///   - path: the path of the page; missing folders are created.
  ///   - history: the source of earlier results; if it fails, the page states that.
  ///   - folder: the folder of scenarios to be shown with failed cases: nothing outside is read.
  /// - Throws: if the page cannot be written, or a journal cannot be read again; the old page then stays.
  @discardableResult
  public func writeHTML(
    to path: String, history: (any CaseHistorySource)? = nil, scenariosBelow folder: String = Host.folder
  ) throws(FileFault) -> HTMLReport {
    makeFolders(above: path)
    var page = HTMLPage(
      output: try Replacement(of: path, mode: 0o666, saying: .write), index: index,
      links: index.sources.map {
        index.isReproducible
          ? "" : Path.relativePath(to: Path.folder(of: $0.journal), from: Path.folder(of: path))
      }, history: history, scenarios: ScenarioTexts(below: folder))
    return try page.write()
  }
}
