import System
import Harness
import Journal
import Basics

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
  private var current = Record.Case(id: "")

  init(_ console: Console, _ paint: Painter, isQuiet: Bool, verbosity: Int = 0) {
    self.console = console
    self.paint = paint
    self.isQuiet = isQuiet
    self.verbosity = verbosity
    trace = TraceReport(console, paint)
  }

  func take(_ record: Record) {
    if verbosity > 1 { trace.take(record) }
    switch record {
    case .begin(let test):
      current = test
      remarks = []
      caseBegin = MonotonicClock.now
    case .event(let event):
      if let remark = event.spokenRemark { remarks.append(remark) }
    case .verdict(let verdict):
      report(verdict)
      if verbosity < 2, !isQuiet || verdict.message != nil { printRemarks() }
      remarks = []
    case .run, .finding, .campaign, .machine, .coverage, .left, .end: break
    }
  }

  private func report(_ verdict: Record.Verdict) {
    switch verdict.counted {
    case .agree: if verbosity == 1 { console.print(paint(.good, "✔") + " " + words(on: verdict)) }
    case .skipped:
      let reason = (verdict.summary ?? "").inOneLine
      if verbosity == 1 { console.print(paint(.faint, "· \(current.place)   skipped: \(reason)")) }
      if let index = skips.firstIndex(where: { $0.reason == reason }) {
        skips[index].count += 1
      } else {
        skips.append((reason, 1))
      }
    case .divergence, .labFault, .incomplete:
      // What was not begun is counted in the summary.
      if verdict.step == nil, verdict.word == .incomplete, verdict.limit == nil { return }
      if verbosity < 2 { console.print(failureText(verdict, current, paint) + "\n") }
      if verbosity == 1 { console.print(paint(.bad, "✘") + " " + words(on: verdict)) }
    }
  }

  /// What a case took: of our time, and of the device's.
  private func words(on verdict: Record.Verdict) -> String {
    let round = current.id.contains("#") ? " (\(current.id))" : ""
    let time = verdict.time ?? .zero
    return "\(current.place)\(round)   \(clock(MonotonicClock.now - caseBegin))   t = \(time)"
  }

  /// Prints what the lab said, a line each.
  private func printRemarks() {
    for remark in remarks {
      console.print(paint(.faint, "  remark   \(current.place): \(remark)".inOneLine))
    }
  }

  /// Prints the counts, the cells and where the reports are.
  func summarize(_ summary: Run.Summary, seed: UInt64, took time: Interval, reports: [String]) {
    let tally = summary.tally
    if isQuiet, summary.exitStatus == .agree { return }
    let counts = tally.counts(paint)
    let figures = paint(.strong, counted(tally.cases, "case")) + (counts.isEmpty ? "" : ": " + counts)
    console.print("\(figures)     \(rounded(time))   seed \(seed)")
    if tally.agree > 0 { console.print("  verdict  rests on \(counted(tally.observations, "observation"))") }
    for skip in skips { console.print("  skipped  \(skip.count): \(skip.reason)") }
    for item in summary.coverage {
      console.print("  cells    \(item.machine): \(item.summary)")
      if (1...4).contains(item.missing.count) {
        console.print(paint(.faint, "           not visited: \(item.missing.joined(separator: "; "))"))
      }
    }
    for report in reports { console.print("  report   \(report)") }
  }
}

/// A failed case as a person sees it, with the line to paste at its end. What a device says cannot move the cursor.
func failureText(_ verdict: Record.Verdict, _ test: Record.Case, _ paint: Painter) -> String {
  let line = verdict.line.map { $0 > 0 ? ":\($0)" : "" } ?? ""
  let (sign, word, style): (String, String, Painter.Style) =
    switch verdict.word {
    case .divergence: ("✘", "diverged", .bad)
    case .labFault: ("⚡", "trouble in the lab", .warning)
    case .incomplete where verdict.limit != nil: ("…", "stopped", .warning)
    case .agree, .skipped, .incomplete: ("…", "incomplete", .warning)
    }
  let place = verdict.step.map { $0 > 0 ? " at step \($0), t = \(verdict.time ?? .zero)" : "" } ?? ""
  var lines = [paint(style, "\(sign) \(test.place)\(line)   \(word)\(place)")]
  if test.id.contains("#") { lines[0] += "   (\(test.id))" }
  let message = verdict.message ?? ""
  lines += (message.split(separator: "\n").map(String.init) + verdict.details).map { "    " + visible($0) }
  if let replay = verdict.replay { lines.append("  \(replay)") }
  return lines.joined(separator: "\n") + "\n"
}

extension Tally {
  /// How many cases came to what, of what there is: `12 agree, 1 diverge`.
  func counts(_ paint: Painter) -> String {
    let parts = [
      (agree, "agree", Painter.Style.good), (divergences, "diverge", .bad),
      (labFaults, "in trouble", .warning), (incomplete, "incomplete", .warning), (skipped, "skipped", .faint),
    ]
    return parts.filter { $0.0 > 0 }.map { paint($0.2, "\($0.0) \($0.1)") }.joined(separator: ", ")
  }
}

/// So many of something: `1 case`, `2 cases`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

extension Record.Case {
  /// Where it stands: its file, or its id where it is of none.
  var place: String { (file ?? id).inOneLine }
}

extension Record.Event {
  /// A remark for a person; `nil` where it is none.
  var spokenRemark: String? {
    if let quirk = breach.quirk { return "\(text): \(breach.detail ?? ""); known: \(quirk)" }
    return kind == .remark ? text : nil
  }
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

  func take(_ record: Record) {
    let isShown =
      switch record {
      case .verdict(let verdict): !isQuiet || verdict.message != nil
      case .event(let event): event.isRemark
      case .left: true
      case .finding, .campaign, .coverage, .end: !isQuiet
      case .run, .begin, .machine: false
      }
    if isShown || verbosity > 1 { console.print(record.json()) }
  }
}

/// Hands a journal on to several listeners.
final class Listeners: JournalListener {
  private let all: [any JournalListener]

  init(_ all: [any JournalListener]) {
    self.all = all
  }

  func take(_ record: Record) {
    for listener in all { listener.take(record) }
  }
}
