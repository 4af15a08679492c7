import System
import Harness
import Journal
import Basics

/// Tells whoever looks on how a campaign goes.
protocol FuzzReport: AnyObject {
  /// It begins.
  func begin(_ head: FuzzHead)
  /// How far it is; called often.
  func progress(_ progress: FuzzProgress)
  /// It came upon something.
  func found(_ finding: FindingNotice)
  /// Something is worth a line.
  func say(_ text: String)
  /// Something went wrong with the campaign itself.
  func warn(_ text: String)
  /// It is over.
  func end(_ end: FuzzEnd)
}

/// How a campaign ended.
struct FuzzEnd {
  var cause: CampaignEnd
  var status: CampaignStatus
  var coverage: Coverage?
  var seed: UInt64
  var took: Interval
  /// The line to paste that goes on with it, where it was stopped.
  var resume: String?
  var journal = ""
  /// What the command ends with.
  var exit = CommandStatus.agree
}

/// Prints findings as they come and a line now and then: for a log, and for who has no terminal.
class HumanFuzzReport: FuzzReport {
  /// How often a log gets a line.
  private static let period = Interval.seconds(10)

  let console: Console
  let paint: Painter
  let isQuiet: Bool
  private var lastLine: Interval?

  init(_ console: Console, _ paint: Painter, isQuiet: Bool) {
    self.console = console
    self.paint = paint
    self.isQuiet = isQuiet
  }

  func begin(_ head: FuzzHead) {
    guard !isQuiet else { return }
    let (word, rest) = (head.title.prefix { $0 != " " }, head.title.drop { $0 != " " })
    write(paint(.strong, String(word)) + rest)
  }

  func progress(_ progress: FuzzProgress) {
    guard !isQuiet else { return }
    let previous = lastLine ?? progress.took
    if lastLine == nil { lastLine = previous }
    guard progress.took - previous >= Self.period else { return }
    lastLine = progress.took
    write(paint(.faint, "  " + line(progress)))
  }

  private func line(_ progress: FuzzProgress) -> String {
    let status = progress.status
    return "\(clock(progress.took))  \(grouped(status.events)) events  "
      + "\(grouped(overallRate(status, progress.took)))/s  \(status.depths.count) found"
      + "  \(status.corpus) in corpus  \(status.phase)"
  }

  /// What the campaign has cost.
  private func spent(_ end: FuzzEnd) -> String {
    let status = end.status
    let pace = "\(grouped(overallRate(status, end.took))) events/s"
    guard let waited = status.waitedPercent else { return pace }
    return "\(clock(status.lockTime)) on the device, \(waited) % of it waited; "
      + "\(grouped(status.actuations)) movements; \(pace)"
  }

  func found(_ finding: FindingNotice) { write(finding.text(paint)) }

  func say(_ text: String) {
    if !isQuiet { write(paint(.faint, "  " + text)) }
  }

  func warn(_ text: String) { console.say("lockstep: \(text)") }

  /// Prints lines.
  func write(_ text: String) { console.print(text) }

  func end(_ end: FuzzEnd) {
    guard !isQuiet || !end.status.depths.isEmpty || end.exit != .agree else { return }
    let status = end.status
    let found = status.depths.count
    let isJudged = status.unjudged < status.tests || status.unjudged == 0
    let words =
      found == 0
      ? isJudged ? paint(.good, "nothing found") : paint(.warning, "no verdict")
      : paint(.bad, "\(found) finding\(found == 1 ? "" : "s")")
    var lines = [
      "\(words) in \(grouped(status.events)) events of \(grouped(status.tests)) tests     \(clock(end.took))   "
        + "seed \(end.seed)"
    ]
    lines.append("  spent    \(spent(end))")
    if status.repeats > 0 { lines.append("  again    \(status.repeats) times") }
    if status.labFaults > 0 {
      let tests = status.unjudged == 1 ? "1 test" : "\(grouped(status.unjudged)) tests"
      lines.append(
        paint(
          .warning,
          "  trouble  \(status.labFaults) lab fault\(status.labFaults == 1 ? "" : "s")"
            + (status.unjudged > 0 ? ", \(tests) without a verdict" : "")))
    }
    if status.stability.tried > 0 {
      lines.append("  stable   \(status.stability.same) of \(status.stability.tried) tests done twice")
    }
    switch end.cause {
    case .trouble(let fault): lines.append(paint(.warning, "  ended    \(fault)"))
    case .limited(let reason):
      lines.append(paint(.warning, "  ended    stopped by a safety limit: \(reason)"))
    case .stopped: lines.append("  ended    stopped before the budget was used up")
    case .done, .found: break
    }
    if let coverage = end.coverage { lines.append("  cells    \(coverage.machine): \(coverage.summary)") }
    lines.append("  report   \(end.journal)")
    if let resume = end.resume { lines.append("  resume   \(resume)") }
    write(lines.joined(separator: "\n"))
  }
}

/// Prints findings and the end as JSON, one object a line, and how far it is once a second.
final class JSONFuzzReport: FuzzReport {
  private static let period = Interval.seconds(1)

  private let console: Console
  private let isQuiet: Bool
  private var lastLine: Interval?

  init(_ console: Console, isQuiet: Bool) {
    self.console = console
    self.isQuiet = isQuiet
  }

  func begin(_ head: FuzzHead) {}

  func progress(_ progress: FuzzProgress) {
    let previous = lastLine ?? progress.took
    if lastLine == nil { lastLine = previous }
    guard !isQuiet, progress.took - previous >= Self.period else { return }
    lastLine = progress.took
    console.print(["progress": json(progress.status, progress.took)])
  }

  /// The figures, with the pace, which differs from run to run.
  private func json(_ status: CampaignStatus, _ took: Interval) -> JSON {
    .mapping(status.members + [.init("eventsPerSecond", .integer(overallRate(status, took)))])
  }

  func found(_ finding: FindingNotice) { console.print(Record.finding(finding.record).json()) }

  func say(_ text: String) {
    if !isQuiet { console.print(["remark": .text(text)]) }
  }

  func warn(_ text: String) { console.say("lockstep: \(text)") }

  func end(_ end: FuzzEnd) {
    console.print(["campaign": json(end.status, end.took)])
    if let coverage = end.coverage { console.print(Record.coverage(coverage.record).json()) }
    if let resume = end.resume, !isQuiet { console.print(["resume": .text(resume)]) }
  }
}

/// Events in a second, since the beginning.
func overallRate(_ status: CampaignStatus, _ time: Interval) -> Int {
  let seconds = Double(time.nanoseconds) / 1e9
  return seconds > 0 ? Int(Double(status.events) / seconds) : 0
}
