public import Journal
public import System
import Basics

/// A page made from journals, and what it counted.
///
/// One file that holds everything and asks for nothing: no network, no fonts, no pictures. It can be read without its
/// script, which only adds filters and keys. As with JUnit there is always a page, and none is greener than its run.
public struct HTMLReport: Hashable, Sendable {
  /// How many cases the journals hold.
  public var cases = 0
  /// How many diverged.
  public var divergences = 0
  /// In how many model and device agree, and the scenario asks for more.
  public var unmet = 0
  /// How many the lab failed.
  public var labFaults = 0
  /// How many were not brought to their end.
  public var incomplete = 0
  /// How many agreed only when they were tried again.
  public var flaky = 0
  /// How many were not tried.
  public var skipped = 0
  /// How many agreed at once.
  public var agreed = 0
  /// What is wrong with the journals themselves.
  public var problems: [JournalProblem] = []
}

extension RecordedRuns {
  /// Writes the page about the runs, which appears at its path whole or not at all.
  ///
  /// The journals are read again for what the page shows and never held. Beyond some hundred failures and some
  /// thousand other cases the page has counts only, so that a browser can open it.
  ///
  /// - Parameters:
  ///   - path: Where the page goes; missing directories are made.
  ///   - history: Where to learn what earlier runs tell of a case; one that fails says so in the page.
  ///   - folder: Where scenarios are looked for, to be shown with the cases that failed: nothing that is not below it is
  ///     read.
  /// - Throws: When the page cannot be written, or a journal not be read a second time; the old page stays.
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
