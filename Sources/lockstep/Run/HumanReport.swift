import CommandLine
import Reporting
import System
import Harness
import Journal
import Basics

/// Prints the essentials of a run: failures as they occur, and a summary.
final class HumanReport: JournalListener {
  private let console: Console
  private let paint: Painter
  private let isQuiet: Bool
  /// With 1, prints a line for each case and the evidence for the verdicts; with 2, prints the trace of each case,
  /// including its verdict.
  private let verbosity: Int
  private let trace: TraceReport
  /// The duration of the case being reported.
  private var caseTime = Interval.zero
  /// The lab's diagnostics in the current case.
  private var diagnostics: [String] = []
  private var skips: [(reason: String, count: Int)] = []
  private var current = Record.Case(id: "")
  /// The missing devices that have already been reported.
  private var missing: Set<String> = []
  /// The longest cases in descending order, up to the requested number.
  private var longest: [(time: Interval, words: String)] = []
  private let durations: Int
  /// The printed verdict of the previous attempt, while the case is retried.
  private var previous: Record.Verdict?

  init(_ console: Console, _ paint: Painter, isQuiet: Bool, verbosity: Int = 0, durations: Int = 0) {
    self.console = console
    self.paint = paint
    self.isQuiet = isQuiet
    self.verbosity = verbosity
    self.durations = durations
    trace = TraceReport(console, paint)
  }

  func take(_ record: Record) {
    if verbosity > 1 { trace.take(record) }
    switch record {
    case .begin(let test):
      current = test
      diagnostics = []
    case .event(let event):
      if let diagnostic = event.spokenDiagnostic { diagnostics.append(diagnostic) }
    case .verdict(let verdict):
      measure(verdict)
      report(verdict)
      if verbosity < 2, !isQuiet || verdict.message != nil { printDiagnostics() }
      diagnostics = []
    case .run, .finding, .campaign, .machine, .coverage, .left, .end: break
    }
  }

  func take(_ time: CaseTime) { caseTime = time.taken }

  /// Records the duration of a case if it is one of the longest.
  private func measure(_ verdict: Record.Verdict) {
    guard durations > 0, verdict.word != .skipped else { return }
    let index = longest.firstIndex { $0.time < caseTime } ?? longest.count
    guard index < durations else { return }
    longest.insert((caseTime, words(on: verdict)), at: index)
    if longest.count > durations { longest.removeLast() }
  }

  private func report(_ verdict: Record.Verdict) {
    switch verdict.counted {
    case .agree:
      previous = nil
      if verdict.isFlaky {
        console.print(paint(.warning, "~") + " \(current.place)   flaky: it agrees when tried again\n")
      }
      if verbosity == 1 { console.print(paint(.good, "✔") + " " + words(on: verdict)) }
    case .skipped:
      let reason = (verdict.summary ?? "").inOneLine
      if verbosity == 1 { console.print(paint(.faint, "· \(current.place)   skipped: \(reason)")) }
      if let index = skips.firstIndex(where: { $0.reason == reason }) {
        skips[index].count += 1
      } else {
        skips.append((reason, 1))
      }
    case .divergence, .unmet, .labFault, .incomplete:
      // The summary counts the cases that did not start.
      if verdict.step == nil, verdict.word == .incomplete, verdict.limit == nil { return }
      if verbosity < 2 { printFailure(verdict) }
      if verbosity == 1 { console.print(paint(.bad, "✘") + " " + words(on: verdict)) }
    }
  }

  /// Prints a failure; for a retry, only what differs from the previous attempt.
  private func printFailure(_ verdict: Record.Verdict) {
    let before = previous
    previous = verdict.isTriedAgain ? verdict : nil
    guard before != nil || shouldPrint(verdict) else { return }
    console.print(
      (before.map { endingText(verdict, after: $0, current, paint) } ?? endingText(verdict, current, paint))
        + "\n")
  }

  /// Returns whether to print a verdict: a program that does not start is reported once, however many cases need
  /// it.
  private func shouldPrint(_ verdict: Record.Verdict) -> Bool {
    guard verdict.word == .labFault, let message = verdict.message, message.isMissingDevice else {
      return true
    }
    return missing.insert(message).inserted
  }

  /// Returns the durations of a case: in real time, and in the device's time.
  private func words(on verdict: Record.Verdict) -> String {
    let round = current.id.contains("#") ? " (\(current.id))" : ""
    let time = verdict.time ?? .zero
    return "\(current.place)\(round)   \(clock(caseTime))   t = \(time)"
  }

  /// Prints the lab's diagnostics, one line each.
  private func printDiagnostics() {
    for diagnostic in diagnostics {
      console.print(paint(.faint, "  diagnostic   \(current.place): \(diagnostic)".inOneLine))
    }
  }

  /// Prints the counts and the paths of the reports.
  ///
  /// - Parameters:
  ///   - page: the report that a person opens first.
  ///   - reports: all reports.
  func summarize(
    _ summary: Run.Summary, seed: UInt64, took time: Interval, page: String, reports: [String]
  ) {
    let tally = summary.tally
    if isQuiet, summary.exitStatus == .agree { return }
    let counts = tally.counts(paint)
    let figures = paint(.strong, counted(tally.cases, "case")) + (counts.isEmpty ? "" : ": " + counts)
    console.print("\(figures)     \(rounded(time))   seed \(seed)")
    if let words = tally.flakiness { console.print("  flaky    \(words)") }
    for skip in skips { console.print("  skipped  \(skip.count): \(skip.reason)") }
    if verbosity > 0 { printEvidence(summary) }
    for test in longest { console.print("  slowest  \(test.words)") }
    for report in verbosity > 0 ? reports : [page] { console.print("  report   \(report)") }
  }

  /// Prints the evidence for the verdicts.
  private func printEvidence(_ summary: Run.Summary) {
    if summary.tally.agree > 0 {
      console.print("  compared \(counted(summary.tally.observations, "observation"))")
    }
    for item in summary.choices { console.print("  chosen   \(item)") }
    // Nothing is known of a device that does not start.
    let tally = summary.tally
    for item in summary.totalCoverage where tally.observations > 0 || tally.labFaults < tally.cases {
      console.print("  coverage \(item.machine): \(item.total.words)")
      let missing = summary.coverage.first { $0.machine == item.machine }?.missing(in: item) ?? []
      if (1...4).contains(missing.count) {
        console.print(paint(.faint, "           never tried: \(missing.joined(separator: "; "))"))
      }
    }
  }
}

/// Returns a duration in seconds with one decimal.
private func rounded(_ time: Interval) -> String {
  let tenths = (time.nanoseconds + 50_000_000) / 100_000_000
  return "\(tenths / 10).\(tenths % 10) s"
}
