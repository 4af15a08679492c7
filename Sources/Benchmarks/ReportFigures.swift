import System
import Reporting
import Basics

extension Figure {
  /// The cost of reports of very large runs.
  static var reports: [Figure] {
    [
      Figure(
        name: "report.junit-million", unit: "s", better: .lower,
        method: "Wall time of `lockstep report --html none` for a million cases, the least of 3 runs.",
        measure: { millionReports()?.map(\.time.seconds).min() }),
      Figure(
        name: "report.junit-rss", unit: "MB", better: .lower,
        method: "The most memory of `lockstep report --html none` at a time for a run of a million cases.",
        measure: { millionReports(1)?.map(\.memory).max().map { Double($0) / 1e6 } }),
      Figure(
        name: "report.html-million", unit: "s", better: .lower,
        method: "Wall time of the HTML report of a run of a million cases, the least of 3 pages.",
        measure: millionPages),
    ]
  }

  /// Writes a million cases and returns their folder and that of their run, or `nil` if they cannot be written.
  private static func million() -> (folder: String, run: String)? {
    let folder = scratch("/million")
    let run = folder + "/runs/million"
    guard (try? makeFolder(run)) != nil, (try? MillionCases().write(to: run)) != nil else { return nil }
    return (folder, run)
  }

  /// Makes the reports of a million cases; returns `nil` if that does not end with the expected status.
  private static func millionReports(_ count: Int = 3) -> [Measurement]? {
    guard let (folder, run) = million() else { return nil }
    // The run has divergences.
    return runs(
      count, ["report", run, "--out", folder, "--quiet", "--html", "none", "--history", "none"], status: 1)
  }

  /// Makes the page of a million cases three times; returns `nil` if that fails.
  private static func millionPages() -> Double? {
    guard let (folder, run) = million() else { return nil }
    return minimumTime(of: 3) {
      let report = try? RecordedRuns(journals: [run + "/journal.jsonl"]).writeHTML(
        to: folder + "/report.html")
      return report?.cases == 1_000_000
    }
  }
}
