import System
import Conformance
import Harness
import Reporting
import Basics
import Transports

/// Prints what a person wants to know of a run: failures as they come, and a summary.
final class HumanReport: JournalListener {
  private let console: Console
  private let paint: Painter
  private let isQuiet: Bool
  /// With 1 a line for each case as it ends; with 2 the trace of each, which also says how it ended.
  private let verbosity: Int
  private let trace: TraceReport
  private var caseBegin = Interval.zero
  /// What the lab said in the case that is being driven.
  private var remarks: [String] = []
  private var skips: [(reason: String, count: Int)] = []
  private var coverage: [Coverage] = []

  init(_ console: Console, _ paint: Painter, isQuiet: Bool, verbosity: Int = 0) {
    self.console = console
    self.paint = paint
    self.isQuiet = isQuiet
    self.verbosity = verbosity
    trace = TraceReport(console, paint)
  }

  func take(_ entry: JournalEntry) {
    if verbosity > 1 { trace.take(entry) }
    switch entry {
    case .begin:
      remarks = []
      caseBegin = MonotonicClock.now
    case .remark(let text, _): remarks.append(text)
    case .observation(.violation(let violation), _, _):
      if let quirk = violation.quirk { remarks.append("\(violation); known: \(quirk)") }
    case .verdict(let outcome, let test):
      report(outcome, test)
      if verbosity < 2, !isQuiet || outcome.verdict.message != nil { printRemarks(of: test.file) }
      remarks = []
    case .coverage(let figures): coverage.append(figures)
    case .run, .stimulus, .fault, .wait, .settle, .next, .expect, .note, .observation, .model, .lab, .finding,
      .campaign, .machine, .left, .end:
      break
    }
  }

  private func report(_ outcome: Outcome, _ test: Case) {
    switch outcome.verdict {
    case .agree: if verbosity == 1 { console.print(paint(.good, "✔") + " " + words(on: test, outcome)) }
    case .skipped(let reason):
      if verbosity == 1 { console.print(paint(.faint, "· \(test.file)   skipped: \(reason)")) }
      if let index = skips.firstIndex(where: { $0.reason == reason }) {
        skips[index].count += 1
      } else {
        skips.append((reason, 1))
      }
    case .divergence, .labFault, .incomplete, .limited:
      // What was not begun is counted in the summary.
      if outcome.mark == .start, case .incomplete = outcome.verdict { return }
      if verbosity < 2 { console.print(failureText(outcome, test, paint) + "\n") }
      if verbosity == 1 { console.print(paint(.bad, "✘") + " " + words(on: test, outcome)) }
    }
  }

  /// What a case took: of our time, and of the device's.
  private func words(on test: Case, _ outcome: Outcome) -> String {
    let round = test.id.contains("#") ? " (\(test.id))" : ""
    return "\(test.file)\(round)   \(clock(MonotonicClock.now - caseBegin))   t = \(outcome.time)"
  }

  /// Prints what the lab said, a line each.
  private func printRemarks(of file: String) {
    for remark in remarks {
      console.print(paint(.faint, "  remark   \(file): \(remark)"))
    }
  }

  /// Prints the counts, the cells and where the reports are.
  func summarize(_ summary: Run.Summary, seed: UInt64, took time: Interval, reports: [String]) {
    let tally = summary.tally
    if isQuiet, summary.exitStatus == .agree { return }
    let parts = [
      (tally.agree, "agree", Console.Style.good), (tally.divergences, "diverge", .bad),
      (tally.labFaults, "in trouble", .warning), (tally.incomplete, "incomplete", .warning),
      (tally.skipped, "skipped", .faint),
    ]
    let counts = parts.filter { $0.0 > 0 }.map { paint($0.2, "\($0.0) \($0.1)") }
    let noun = tally.cases == 1 ? "case" : "cases"
    let figures =
      [paint(.strong, "\(tally.cases) \(noun)")] + (counts.isEmpty ? [] : [counts.joined(separator: ", ")])
    console.print("\(figures.joined(separator: ": "))     \(rounded(time))   seed \(seed)")
    for skip in skips { console.print("  skipped  \(skip.count): \(skip.reason)") }
    for item in coverage {
      console.print("  cells    \(item.machine): \(item.summary)")
      if (1...4).contains(item.missing.count) {
        console.print(paint(.faint, "           not visited: \(item.missing.joined(separator: "; "))"))
      }
    }
    for report in reports { console.print("  report   \(report)") }
  }
}

/// A failed case as a person sees it, with the line to paste at its end. What a device says cannot move the cursor.
func failureText(_ outcome: Outcome, _ test: Case, _ paint: Painter) -> String {
  let line = outcome.mark.line > 0 ? ":\(outcome.mark.line)" : ""
  let (sign, word, style): (String, String, Console.Style) =
    switch outcome.verdict {
    case .divergence: ("✘", "diverged", .bad)
    case .labFault: ("⚡", "trouble in the lab", .warning)
    case .limited: ("…", "stopped", .warning)
    case .agree, .skipped, .incomplete: ("…", "incomplete", .warning)
    }
  let place = outcome.mark.number > 0 ? " at step \(outcome.mark.number), t = \(outcome.time)" : ""
  var lines = [paint(style, "\(sign) \(test.file)\(line)   \(word)\(place)")]
  if test.id.contains("#") { lines[0] += "   (\(test.id))" }
  let message = outcome.verdict.message ?? ""
  lines += (message.split(separator: "\n").map(String.init) + outcome.details).map { "    " + visible($0) }
  if let replay = outcome.replay { lines.append("  \(replay)") }
  return lines.joined(separator: "\n") + "\n"
}

/// A time of day's length, with one decimal.
private func rounded(_ time: Interval) -> String {
  let tenths = (time.nanoseconds + 50_000_000) / 100_000_000
  return "\(tenths / 10).\(tenths % 10) s"
}

/// Prints verdicts, cells and the end as JSON, one object a line.
final class JSONReport: JournalListener {
  private let console: Console
  private let isQuiet: Bool
  /// With 2 every line of the journal.
  private let verbosity: Int

  init(_ console: Console, isQuiet: Bool, verbosity: Int = 0) {
    self.console = console
    self.isQuiet = isQuiet
    self.verbosity = verbosity
  }

  func take(_ entry: JournalEntry) {
    if verbosity > 1 { return console.print(entry.json) }
    switch entry {
    case .verdict(let outcome, _):
      if !isQuiet || outcome.verdict.message != nil { console.print(entry.json) }
    case .remark, .left: console.print(entry.json)
    case .observation(.violation(let violation), _, _):
      if violation.quirk != nil { console.print(entry.json) }
    case .finding, .campaign, .coverage, .end:
      if !isQuiet { console.print(entry.json) }
    case .run, .begin, .stimulus, .fault, .wait, .settle, .next, .expect, .note, .observation, .model, .lab,
      .machine:
      break
    }
  }
}

/// Hands a journal on to several listeners.
final class Listeners: JournalListener {
  private let all: [any JournalListener]

  init(_ all: [any JournalListener]) {
    self.all = all
  }

  func take(_ entry: JournalEntry) {
    for listener in all { listener.take(entry) }
  }
}
