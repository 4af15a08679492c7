import System
import Journal
import Harness
import Conformance
import Basics

/// The status of a campaign for a person: the most important figures at a glance.
///
/// The layout follows AFL++: panes in two columns. Formatting has no side effects, so that tests can check it line
/// by line.
struct StatusScreen {
  /// The minimum width in columns.
  static let minimumWidth = 80
  /// A greater width would not improve the layout.
  static let maximumWidth = 100

  var head: CampaignHead
  var progress = CampaignProgress()
  /// The current events per second.
  var rate = 0
  /// When the last novelty and the last finding occurred, in the campaign's time.
  private(set) var lastNew: Interval?
  private(set) var lastFinding: Interval?
  /// The histories of cells and positions, of findings and of events.
  private var histories = (seen: GrowthHistory(), found: GrowthHistory(), events: GrowthHistory())

  init(head: CampaignHead) { self.head = head }

  /// Records the progress, and the time of novelties: a cell or position not seen before, or a finding. Those known
  /// at the beginning do not count.
  mutating func take(_ progress: CampaignProgress) {
    let (now, status) = (progress.took, progress.status)
    let seen = Self.seen(in: progress)
    if let before = histories.seen.values.last, seen > before { lastNew = now }
    if let before = histories.found.values.last, status.depths.count > before { lastFinding = now }
    histories.seen.record(seen, at: now)
    histories.found.record(status.depths.count, at: now)
    histories.events.record(status.events, at: now)
    self.progress = progress
  }

  /// Returns the number of distinct cells and positions seen.
  private static func seen(in progress: CampaignProgress) -> Int {
    let total = progress.coverage?.total
    return progress.status.positions + (total?.legal.visited ?? 0) + (total?.empty.visited ?? 0)
  }

  /// Returns the lines, none wider than the terminal and, if possible, fewer than its rows.
  ///
  /// - Parameter isUnicode: whether the terminal supports more than ASCII.
  func lines(width: Int, rows: Int = .max, isUnicode: Bool = true, _ paint: Painter) -> [String] {
    let pane = Pane(width: min(width, Self.maximumWidth), paint: paint)
    let status = progress.status
    let head =
      [pane.whole(paint, .strong, " lockstep \(head.title)")]
      + pane.beside("time", timeRows, "findings", findingRows)
      + pane.beside("events", eventRows, "coverage", coverageRows)
    let shares = status.timeShares
    let spent =
      shares.isEmpty ? [] : [pane.rule("what lock time went into")] + spentRows(shares).map(pane.whole)
    let course = [pane.rule("over time")] + historyRows.map(pane.whole)
    let now = [pane.rule("now"), pane.whole(paint, nil, "   \(status.phase)")]
    // If there is no room for all, omit the past first.
    var lines = head + spent + course + now
    if lines.count >= rows { lines = head + spent + now }
    if lines.count >= rows { lines = head + now }
    return isUnicode ? lines : lines.map(asciiLines)
  }

  /// Returns what the device's time was spent on, by what was awaited and by purpose.
  private func spentRows(_ shares: [[(name: String, percent: Int)]]) -> [Pane.Row] {
    zip(["waited for", "spent on"], shares).map { name, shares in
      (name, shares.map { "\($0.name) \($0.percent) %" }.joined(separator: "   "))
    }
  }

  /// The figures over time.
  private var historyRows: [Pane.Row] {
    func row(_ name: String, _ line: String, _ words: String) -> Pane.Row {
      (name, line.leftAligned(in: GrowthHistory.capacity) + "  " + words)
    }
    // The period of the last column is not complete yet.
    let pace = histories.events.growth
    let found = histories.found.growth.map { $0 == 0 ? "·" : $0 > 9 ? "+" : "\($0)" }.joined()
    return [
      row("seen", sparkline(histories.seen.values), grouped(histories.seen.values.last ?? 0)),
      row("pace", sparkline(pace.count > 1 ? pace.dropLast() : pace), "\(grouped(rate))/s"),
      row("found", found, grouped(progress.status.depths.count)),
    ]
  }

  private var timeRows: [Pane.Row] {
    func ago(_ time: Interval?) -> String { time.map { "\(clock(progress.took - $0)) ago" } ?? "none yet" }
    return [
      ("run time", clock(progress.took)), ("last new", ago(lastNew)), ("last found", ago(lastFinding)),
      ("to the end", left), ("lock time", lockTime),
    ]
  }

  /// The time that passed on the device, and the share spent waiting.
  private var lockTime: String {
    let status = progress.status
    return status.waitedPercent.map { "\(clock(status.lockTime)), \($0) % waited" } ?? "–"
  }

  private var left: String {
    var parts: [String] = []
    if let steps = head.steps {
      parts.append("\(grouped(max(steps - progress.status.events, 0))) events")
    }
    if let duration = head.duration { parts.append(clock(max(duration - progress.took, .zero))) }
    return parts.isEmpty ? "until Ctrl-C or a finding" : parts.joined(separator: " or ")
  }

  private var findingRows: [Pane.Row] {
    let status = progress.status
    let depths = status.depths.map(String.init).joined(separator: " ")
    return [
      (
        "found",
        "\(status.depths.count)" + (status.repeats > 0 ? ", and \(grouped(status.repeats)) again" : "")
      ),
      ("events each", depths.isEmpty ? "–" : depths), ("lab faults", grouped(status.labFaults)),
      ("bolt moved", "\(grouped(status.actuations)) times"),
    ]
  }

  private var eventRows: [Pane.Row] {
    let status = progress.status
    return [
      ("in tests", grouped(status.events)), ("a second now", grouped(rate)),
      ("overall", grouped(overallRate(status, progress.took))),
      ("tests", "\(grouped(status.tests)), longest \(grouped(status.longest))"),
      ("to shrink", grouped(status.extraEvents)),
    ]
  }

  private var coverageRows: [Pane.Row] {
    let status = progress.status
    func share(_ part: CellCoverage.Share?, _ word: String) -> String { part.map { "\($0) \(word)" } ?? "–" }
    var stability = "–"
    if status.stability.tried > 0 {
      let (same, tried) = (status.stability.same, status.stability.tried)
      stability = "\(same * 100 / tried) %, \(same) of \(tried) tests"
    }
    return [
      ("transitions", share(progress.coverage?.total.transitions, "covered")),
      ("forbidden", share(progress.coverage?.total.empty, "tried")),
      ("positions", grouped(status.positions)), ("corpus", "\(grouped(status.corpus)) tests"),
      ("stability", stability),
    ]
  }
}

/// Two columns of labelled figures.
private struct Pane {
  typealias Row = (name: String, value: String)

  private static let nameWidth = 12

  let width: Int
  let paint: Painter

  private var leftWidth: Int { width / 2 }

  /// Returns two groups of rows side by side, each with a heading.
  func beside(_ leftName: String, _ left: [Row], _ rightName: String, _ right: [Row]) -> [String] {
    let rightWidth = width - leftWidth
    return [rule(leftName, leftWidth) + rule(rightName, rightWidth)]
      + (0..<max(left.count, right.count)).map { index in
        (index < left.count ? text(left[index], leftWidth) : spaces(leftWidth))
          + (index < right.count ? text(right[index], rightWidth) : "")
      }
  }

  func rule(_ name: String) -> String { rule(name, width) }

  private func rule(_ name: String, _ width: Int) -> String {
    let rest = max(width - name.count - 5, 0)
    return paint(.faint, "── ") + paint(.strong, name) + " "
      + paint(.faint, String(repeating: "─", count: rest) + " ")
  }

  /// Returns one line that spans both columns.
  func whole(_ paint: Painter, _ style: Painter.Style?, _ text: String) -> String {
    let text = fitted(text, width, padded: false)
    return style.map { paint($0, text) } ?? text
  }

  /// Returns one row that spans both columns.
  func whole(_ row: Row) -> String { text(row, width) }

  private func text(_ row: Row, _ width: Int) -> String {
    let name = row.name.rightAligned(in: Self.nameWidth)
    return " " + paint(.faint, name) + "  " + fitted(row.value, width - Self.nameWidth - 3, padded: true)
  }

  /// Returns a text of exactly this width if padded, or of at most this width.
  private func fitted(_ text: String, _ width: Int, padded: Bool) -> String {
    if text.count > width { return text.prefix(width - 1) + "…" }
    return padded ? text.leftAligned(in: width) : text
  }
}

/// Measures the current rate of events, over the last seconds.
struct RateMeter {
  /// The period of the measurement.
  static let span = Interval.seconds(5)

  private var samples = FIFO<(time: Interval, events: Int)>()

  /// Records the number of events at a time.
  mutating func add(_ events: Int, at time: Interval) {
    samples.append((time, events))
    // Keep one sample from before the period as its start.
    while samples.count > 2, samples[1].time <= time - Self.span { samples.removeFirst() }
  }

  /// The events per second.
  var rate: Int {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Int(Double(last.events - first.events) / (Double((last.time - first.time).nanoseconds) / 1e9))
  }
}
