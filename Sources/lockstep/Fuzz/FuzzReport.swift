import Conformance
import Documents
import Harness
import Simulation

/// Tells whoever looks on how a campaign goes.
protocol FuzzReport: AnyObject {
  /// It begins.
  func begin(_ target: FuzzTarget, _ twin: FuzzTarget?, _ settings: FuzzSettings)
  /// How far it is; called often.
  func progress(_ status: CampaignStatus, took time: Interval)
  /// It came upon something.
  func found(_ finding: Finding, _ scenario: Scenario, replay: String)
  /// Something is worth a line.
  func say(_ text: String)
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
  var journal: String
}

extension Finding {
  /// What stands at the top of its file.
  var comments: [String] {
    [
      divergence.summary,
      "found after \(foundAt) events in a test of \(foundLength), shrunk to \(test.choices.count) "
        + "with \(shrinking.runs) runs of \(shrinking.events) events: \(shrinking.end)", "\(confirmation)",
    ] + (twin.map { [$0.text] } ?? [])
  }
}

/// Prints findings as they come and a line now and then: for a log, and for who has no terminal.
class HumanFuzzReport: FuzzReport {
  /// How often a log gets a line.
  private static let period = Interval.seconds(10)

  let console: Console
  let paint: Painter
  let isQuiet: Bool
  private var lastLine = Interval.zero

  init(_ console: Console, _ paint: Painter, isQuiet: Bool) {
    self.console = console
    self.paint = paint
    self.isQuiet = isQuiet
  }

  func begin(_ target: FuzzTarget, _ twin: FuzzTarget?, _ settings: FuzzSettings) {
    guard !isQuiet else { return }
    console.print(
      paint(.strong, "fuzz \(target.machine.label)")
        + " on \(target.device)" + (twin.map { ", explored on its twin \($0.device)" } ?? "")
        + ", seed \(settings.seed)"
        + (settings.shard.count > 1 ? ", shard \(settings.shard.part)/\(settings.shard.count)" : "") + "\n")
  }

  func progress(_ status: CampaignStatus, took time: Interval) {
    guard !isQuiet, time - lastLine >= Self.period else { return }
    lastLine = time
    console.print(paint(.faint, "  " + line(status, took: time)) + "\n")
  }

  private func line(_ status: CampaignStatus, took time: Interval) -> String {
    "\(clock(time))  \(grouped(status.events)) events  \(grouped(rate(status, time)))/s  \(status.depths.count) found"
      + "  \(status.corpus) in corpus  \(status.phase)"
  }

  func found(_ finding: Finding, _ scenario: Scenario, replay: String) {
    let isSure = finding.whyNoVerdict == nil
    var lines = [
      paint(
        isSure ? .bad : .warning, "\(isSure ? "✘" : "…") finding \(finding.number): \(finding.confirmation)")
    ]
    var outcome = Outcome(.divergence(finding.divergence), at: finding.divergence.time)
    outcome.replay = replay
    lines.append("    " + finding.divergence.summary)
    lines += outcome.details.map { "    " + $0 }
    lines += finding.comments.dropFirst().filter { $0 != "\(finding.confirmation)" }.map { "    " + $0 }
    lines += scenario.stepLines.map { "      " + paint(.faint, $0) }
    lines.append("  " + replay)
    console.print(lines.joined(separator: "\n") + "\n")
  }

  func say(_ text: String) {
    if !isQuiet { console.print(paint(.faint, "  " + text) + "\n") }
  }

  func end(_ end: FuzzEnd) {
    guard !isQuiet || !end.status.depths.isEmpty else { return }
    let status = end.status
    let found = status.depths.count
    let words =
      found == 0 ? paint(.good, "nothing found") : paint(.bad, "\(found) finding\(found == 1 ? "" : "s")")
    var lines = [
      "\(words) in \(grouped(status.events)) events of \(grouped(status.tests)) tests     \(clock(end.took))   "
        + "seed \(end.seed)"
    ]
    if status.repeats > 0 { lines.append("  again    \(status.repeats) times") }
    if status.labFaults > 0 { lines.append(paint(.warning, "  trouble  \(status.labFaults) lab fault\(status.labFaults == 1 ? "" : "s")")) }
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
    console.print(lines.joined(separator: "\n") + "\n")
  }
}

/// Prints findings and the end as JSON, one object a line, and how far it is once a second.
final class JSONFuzzReport: FuzzReport {
  private static let period = Interval.seconds(1)

  private let console: Console
  private let isQuiet: Bool
  private var lastLine = Interval.zero

  init(_ console: Console, isQuiet: Bool) {
    self.console = console
    self.isQuiet = isQuiet
  }

  func begin(_ target: FuzzTarget, _ twin: FuzzTarget?, _ settings: FuzzSettings) {}

  func progress(_ status: CampaignStatus, took time: Interval) {
    guard !isQuiet, time - lastLine >= Self.period else { return }
    lastLine = time
    console.print(["progress": status.json])
  }

  func found(_ finding: Finding, _ scenario: Scenario, replay: String) {
    console.print(JournalEntry.finding(finding, finding.path ?? "").json)
  }

  func say(_ text: String) {
    if !isQuiet { console.print(["remark": .text(text)]) }
  }

  func end(_ end: FuzzEnd) {
    console.print(JournalEntry.campaign(end.status).json)
    if let coverage = end.coverage { console.print(JournalEntry.coverage(coverage).json) }
  }
}

/// A time as a person reads it on a clock: `1:02:03`, or `2.5 s` where it is short.
func clock(_ time: Interval) -> String {
  let seconds = time.nanoseconds / 1_000_000_000
  if seconds < 60 { return "\(seconds).\(time.nanoseconds / 100_000_000 % 10) s" }
  func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
  return seconds < 3600
    ? "\(seconds / 60):\(two(seconds % 60))"
    : "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
}

/// A number with its thousands apart.
func grouped(_ number: Int) -> String {
  var digits = String(number)
  var parts: [String] = []
  while digits.count > 3 {
    parts.insert(String(digits.suffix(3)), at: 0)
    digits = String(digits.dropLast(3))
  }
  return ([digits] + parts).joined(separator: ",")
}

/// Events in a second.
func rate(_ status: CampaignStatus, _ time: Interval) -> Int {
  let seconds = Double(time.nanoseconds) / 1e9
  return seconds > 0 ? Int(Double(status.events) / seconds) : 0
}
