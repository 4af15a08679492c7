import System
import Reporting
import Basics

extension Figure {
  /// What reports of very large runs cost.
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

  /// The folder of a million cases, and that of their run; `nil` when they cannot be written.
  private static func million() -> (folder: String, run: String)? {
    let folder = scratch("/million")
    let run = folder + "/runs/million"
    guard (try? makeFolder(run)) != nil, (try? MillionCases().write(to: run)) != nil else { return nil }
    return (folder, run)
  }

  /// Makes the reports of a million cases; `nil` when that does not end as it should.
  private static func millionReports(_ count: Int = 3) -> [Measurement]? {
    guard let (folder, run) = million() else { return nil }
    // The run has divergences.
    return runs(
      count, ["report", run, "--out", folder, "--quiet", "--html", "none", "--history", "none"], status: 1)
  }

  /// Makes the page of a million cases three times; `nil` when it cannot be made.
  private static func millionPages() -> Double? {
    guard let (folder, run) = million() else { return nil }
    return minimumTime(of: 3) {
      let report = try? RecordedRuns(journals: [run + "/journal.jsonl"]).writeHTML(
        to: folder + "/report.html")
      return report?.cases == 1_000_000
    }
  }
}
