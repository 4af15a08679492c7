import System
import Reporting
import Basics
import Transports

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

  /// Makes the reports of a million cases; `nil` when that does not end as it should.
  private static func millionReports(_ count: Int = 3) -> [Measurement]? {
    let folder = (Host.variable("TMPDIR") ?? "/tmp") + "/lockstep-bench/million"
    let run = folder + "/runs/million"
    guard (try? makeFolder(run)) != nil, (try? MillionCases().write(to: run)) != nil else { return nil }
    var all: [Measurement] = []
    for _ in 0..<count {
      let words = ["report", run, "--out", folder, "--quiet", "--html", "none", "--history", "none"]
      // The run has divergences.
      guard let report = Measurement.run("/proc/self/exe", words), report.status == 1 else { return nil }
      all.append(report)
    }
    return all
  }

  /// Makes the page of a million cases three times; `nil` when it cannot be made.
  private static func millionPages() -> Double? {
    let folder = (Host.variable("TMPDIR") ?? "/tmp") + "/lockstep-bench/million"
    let run = folder + "/runs/million"
    guard (try? makeFolder(run)) != nil, (try? MillionCases().write(to: run)) != nil else { return nil }
    var times: [Double] = []
    for _ in 0..<3 {
      var report: HTMLReport?
      times.append(
        seconds {
          report = try? RecordedRuns(journals: [run + "/journal.jsonl"]).writeHTML(
            to: folder + "/report.html")
        })
      guard report?.cases == 1_000_000 else { return nil }
    }
    return least(times)
  }
}
