import System
import Journal
import Harness
import Conformance
import Basics

/// What a person who watches a campaign sees: everything that matters at a glance.
///
/// It is laid out as AFL++'s is, in panes of two columns. Making it is no more than writing down the figures, so
/// that it can be checked line by line.
struct StatusScreen {
  /// The fewest columns that it fits in.
  static let minimumWidth = 80
  /// More columns make nothing clearer.
  static let maximumWidth = 100

  var head: CampaignHead
  var progress = CampaignProgress()
  /// Events in a second, lately.
  var rate = 0
  /// When something new was seen last, and a finding, in the time of the campaign.
  private(set) var lastNew: Interval?
  private(set) var lastFinding: Interval?
  /// Cells and positions, findings and events over time.
  private var courses = (seen: Course(), found: Course(), events: Course())

  init(head: CampaignHead) { self.head = head }

  /// Takes in how far the campaign is, and notes what is new: a cell or a position that was never seen before, and a
  /// finding. What it knew when it began is not.
  mutating func take(_ progress: CampaignProgress) {
    let (now, status) = (progress.took, progress.status)
    let seen = Self.seen(in: progress)
    if let before = courses.seen.values.last, seen > before { lastNew = now }
    if let before = courses.found.values.last, status.depths.count > before { lastFinding = now }
    courses.seen.note(seen, at: now)
    courses.found.note(status.depths.count, at: now)
    courses.events.note(status.events, at: now)
    self.progress = progress
  }

  /// How many different things were seen.
  private static func seen(in progress: CampaignProgress) -> Int {
    let total = progress.coverage?.total
    return progress.status.positions + (total?.legal.visited ?? 0) + (total?.empty.visited ?? 0)
  }

  /// The lines, none of them wider than the terminal, and fewer than it has rows, if that can be.
  ///
  /// - Parameter isUnicode: whether the terminal shows more than ASCII.
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
    let course = [pane.rule("over time")] + courseRows.map(pane.whole)
    let now = [pane.rule("now"), pane.whole(paint, nil, "   \(status.phase)")]
    // Where there is no room for all, what is over is left out first.
    var lines = head + spent + course + now
    if lines.count >= rows { lines = head + spent + now }
    if lines.count >= rows { lines = head + now }
    return isUnicode ? lines : lines.map(asciiLines)
  }

  /// What the device's time went into, by what was waited for and by what it was for.
  private func spentRows(_ shares: [[(name: String, percent: Int)]]) -> [Pane.Row] {
    zip(["waited for", "spent on"], shares).map { name, shares in
      (name, shares.map { "\($0.name) \($0.percent) %" }.joined(separator: "   "))
    }
  }

  /// How it went from the beginning until now.
  private var courseRows: [Pane.Row] {
    func row(_ name: String, _ line: String, _ words: String) -> Pane.Row {
      (name, line.leftAligned(in: Course.capacity) + "  " + words)
    }
    // The last column has not had its whole time yet.
    let pace = courses.events.growth
    let found = courses.found.growth.map { $0 == 0 ? "·" : $0 > 9 ? "+" : "\($0)" }.joined()
    return [
      row("seen", sparkline(courses.seen.values), grouped(courses.seen.values.last ?? 0)),
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

  /// How much time passed on the device, and how much of it was waited.
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

/// Two columns of named figures.
private struct Pane {
  typealias Row = (name: String, value: String)

  private static let nameWidth = 12

  let width: Int
  let paint: Painter

  private var leftWidth: Int { width / 2 }

  /// Two groups of rows beside each other, each under its name.
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

  /// One line over both columns.
  func whole(_ paint: Painter, _ style: Painter.Style?, _ text: String) -> String {
    let text = fitted(text, width, padded: false)
    return style.map { paint($0, text) } ?? text
  }

  /// A row over both columns.
  func whole(_ row: Row) -> String { text(row, width) }

  private func text(_ row: Row, _ width: Int) -> String {
    let name = row.name.rightAligned(in: Self.nameWidth)
    return " " + paint(.faint, name) + "  " + fitted(row.value, width - Self.nameWidth - 3, padded: true)
  }

  /// Text of just so many columns, or at most so many.
  private func fitted(_ text: String, _ width: Int, padded: Bool) -> String {
    if text.count > width { return text.prefix(width - 1) + "…" }
    return padded ? text.leftAligned(in: width) : text
  }
}

/// How fast events come now: over the last seconds, and not since the beginning.
struct RateMeter {
  /// How far back it looks.
  static let span = Interval.seconds(5)

  private var samples = FIFO<(time: Interval, events: Int)>()

  /// Takes in how many events there were at a time.
  mutating func add(_ events: Int, at time: Interval) {
    samples.append((time, events))
    // One sample from before the span stays, to measure from.
    while samples.count > 2, samples[1].time <= time - Self.span { samples.removeFirst() }
  }

  /// Events in a second.
  var rate: Int {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Int(Double(last.events - first.events) / (Double((last.time - first.time).nanoseconds) / 1e9))
  }
}
