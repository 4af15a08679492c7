import CommandLine
import Conformance
import System
import Harness
import Journal
import Basics

/// Prints findings as they occur, and a progress line at intervals: for logs and output without a terminal.
class HumanFuzzReport: CampaignReport {
  /// The interval of progress lines in a log.
  private static let period = Interval.seconds(10)

  let console: Console
  let paint: Painter
  let isQuiet: Bool
  private let isVerbose: Bool
  private var lastLine: Interval?

  init(_ console: Console, _ paint: Painter, isQuiet: Bool, isVerbose: Bool = false) {
    self.console = console
    self.paint = paint
    (self.isQuiet, self.isVerbose) = (isQuiet, isVerbose)
  }

  func begin(_ head: CampaignHead) {
    guard !isQuiet else { return }
    let (word, rest) = (head.title.prefix { $0 != " " }, head.title.drop { $0 != " " })
    write(paint(.strong, String(word)) + rest)
  }

  func progress(_ progress: CampaignProgress) {
    guard !isQuiet else { return }
    let previous = lastLine ?? progress.took
    if lastLine == nil { lastLine = previous }
    guard progress.took - previous >= Self.period else { return }
    lastLine = progress.took
    write(paint(.faint, "  " + line(progress)))
  }

  private func line(_ progress: CampaignProgress) -> String {
    let status = progress.status
    return "\(clock(progress.took))  \(grouped(status.events)) events  "
      + "\(grouped(overallRate(status, progress.took)))/s  \(status.depths.count) found"
      + "  \(status.corpus) in corpus  \(status.phase)"
  }

  /// Returns the cost of the campaign.
  private func spent(_ end: CampaignSummary) -> String {
    let status = end.status
    let pace = "\(grouped(overallRate(status, end.took))) events/s"
    guard let waited = status.waitedPercent else { return pace }
    return "\(clock(status.lockTime)) on the device, \(waited) % of it waited; "
      + "\(grouped(status.actuations)) movements; \(pace)"
  }

  func found(_ finding: FindingNotice) { write(finding.text(paint, isVerbose: isVerbose)) }

  func say(_ text: String) {
    // The summary reports what ends the campaign.
    if !isQuiet, !text.hasPrefix("trouble  \(LabFault.Symptom.noDevice.rawValue): ") {
      write(paint(.faint, "  " + text))
    }
  }

  func note(_ text: String) {
    if isVerbose { say(text) }
  }

  func warn(_ text: String) { console.say("lockstep: \(text)") }

  /// Prints lines.
  func write(_ text: String) { console.print(text) }

  func end(_ end: CampaignSummary) {
    guard !isQuiet || !end.status.depths.isEmpty || end.exit != .agree else { return }
    let status = end.status
    // Nothing is known of a device that does not start.
    if case .trouble(let fault) = end.cause, fault.symptom == .noDevice, status.events == 0 {
      let words = "\(fault)".replacing("\n", with: "\n    ")
      return write(paint(.warning, "⚡ \(words)") + "\n  report   \(end.page)")
    }
    let isJudged =
      end.exit != .nothingSelected && (status.unjudged < status.tests || status.unjudged == 0)
    let words =
      end.found == EndingCount.Found()
      ? isJudged ? paint(.good, end.found.words) : paint(.warning, "no verdict")
      : paint(end.found.confirmed > 0 ? .bad : .warning, end.found.words)
    var lines = [
      "\(words) in \(grouped(status.events)) events of \(grouped(status.tests)) tests     \(clock(end.took))   "
        + "seed \(end.seed)"
    ]
    if end.isReal || isVerbose { lines.append("  spent    \(spent(end))") }
    if isVerbose, !status.timeShares.isEmpty {
      let shares = status.timeShares.map { part in
        part.map { "\($0.name) \($0.percent) %" }.joined(separator: ", ")
      }
      lines.append("  time     \(shares.joined(separator: "; "))")
    }
    if status.repeats > 0 { lines.append("  repeats  findings came up \(status.repeats) more times") }
    if status.labFaults > 0 {
      let tests = status.unjudged == 1 ? "1 test" : "\(grouped(status.unjudged)) tests"
      lines.append(
        paint(
          .warning,
          "  trouble  \(status.labFaults) lab fault\(status.labFaults == 1 ? "" : "s")"
            + (status.unjudged > 0 ? ", \(tests) without a verdict" : "")))
    }
    if isVerbose, status.stability.tried > 0 {
      lines.append("  stable   \(status.stability.same) of \(status.stability.tried) tests done twice")
    }
    switch end.cause {
    case .trouble(let fault): lines.append(paint(.warning, "  ended    \(fault)"))
    case .limited(let reason):
      lines.append(paint(.warning, "  ended    stopped by a safety limit: \(reason)"))
    case .stopped: lines.append("  ended    stopped before the budget was used up")
    case .done, .found: break
    }
    if isVerbose { lines += status.shown.map { "  chosen   \($0)" } }
    if let coverage = end.coverage, isVerbose || end.found == EndingCount.Found() {
      lines.append("  coverage \(coverage.machine): \(coverage.summary)")
    }
    lines += (isVerbose ? end.reports : [end.page]).map { "  report   \($0)" }
    if let resume = end.resume { lines.append("  resume   \(resume)") }
    write(lines.joined(separator: "\n"))
  }
}

/// Prints findings and the summary as JSON, one object per line, and the progress once a second.
final class JSONFuzzReport: CampaignReport {
  private static let period = Interval.seconds(1)

  private let console: Console
  private let isQuiet: Bool
  private var lastLine: Interval?

  init(_ console: Console, isQuiet: Bool) {
    self.console = console
    self.isQuiet = isQuiet
  }

  func begin(_ head: CampaignHead) {}

  func progress(_ progress: CampaignProgress) {
    let previous = lastLine ?? progress.took
    if lastLine == nil { lastLine = previous }
    guard !isQuiet, progress.took - previous >= Self.period else { return }
    lastLine = progress.took
    console.print(["progress": json(progress.status, progress.took)])
  }

  /// Returns the figures with the pace, which differs from run to run.
  private func json(_ status: CampaignStatus, _ took: Interval) -> JSON {
    .mapping(status.members + [.init("eventsPerSecond", .integer(overallRate(status, took)))])
  }

  func found(_ finding: FindingNotice) { console.print(Record.finding(finding.record).json()) }

  func say(_ text: String) {
    if !isQuiet { console.print(["diagnostic": .text(text)]) }
  }

  func warn(_ text: String) { console.say("lockstep: \(text)") }

  func end(_ end: CampaignSummary) {
    console.print(["campaign": json(end.status, end.took)])
    if let coverage = end.coverage { console.print(Record.coverage(coverage.record).json()) }
    if let resume = end.resume, !isQuiet { console.print(["resume": .text(resume)]) }
  }
}

/// Returns the events per second since the beginning.
func overallRate(_ status: CampaignStatus, _ time: Interval) -> Int {
  let seconds = Double(time.nanoseconds) / 1e9
  return seconds > 0 ? Int(Double(status.events) / seconds) : 0
}
