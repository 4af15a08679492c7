import Basics
import Journal

/// The lanes of an attempt: the model's possible states beside the device's observations, and between them
/// the tester's actions.
///
/// First a drawing of the events before the end, in which each moment has the same width whatever its
/// duration; then the same as a table.
struct HTMLTimeline {
  let attempt: CaseAttempt
  /// The id of the drawing in the page.
  let id: String
  /// The packets of its moments.
  var ties = PacketTies()
  private let folded: FoldedMoments
  private let lines: [Line]

  private typealias Line = FoldedMoments.Line

  /// The numbers of initially visible rows at the beginning and at the end.
  private static let (first, last) = (5, 40)

  init(attempt: CaseAttempt, id: String) {
    (self.attempt, self.id) = (attempt, id)
    folded = FoldedMoments(attempt.moments)
    lines = folded.lines
  }

  private var isDivergence: Bool { attempt.verdict?.word == .divergence }

  /// The timeline, with the number of its rows; folded rows are included only if there is room for them.
  func markup(capacity: inout Int) -> Markup {
    lanes + tables(capacity: &capacity)
  }

  /// The drawing.
  var lanes: Markup { HTMLLanes(attempt: attempt, folded: folded, id: id).markup }

  /// The moments that have a row of their own in some room.
  func shown(capacity: Int) -> [(number: Int, moment: Moment)] {
    let isWhole = !isLong || lines.count <= capacity - Self.first - Self.last
    return (isWhole ? lines[...] : ends).map { ($0.number, $0.moment) }
  }

  /// The initially visible lines of a long timeline.
  private var ends: ArraySlice<Line> { lines.prefix(Self.first) + lines.suffix(Self.last) }

  private var isLong: Bool { lines.count > Self.first + Self.last + 5 }

  /// The table; the middle of a long one is folded.
  func tables(capacity: inout Int) -> Markup {
    var result = Markup()
    if !isLong {
      capacity -= lines.count
      return table("Timeline", all())
    }
    result += beginningAndEnd("are folded away below")
    capacity -= Self.first + Self.last
    guard lines.count <= capacity else {
      return result + "<p class=\"note\">The journal has all \(attempt.moments.count) events.</p>\n"
    }
    capacity -= lines.count
    result += """
      <details class="whole"><summary>All \(grouped(attempt.moments.count)) events</summary>
      \(table("Timeline, whole", all(isAgain: true)))</details>

      """
    return result
  }

  /// The rows of all kept moments.
  private func all(isAgain: Bool = false) -> Markup {
    let middle = attempt.moments.omitted
    return rows(folded.head[...], isAgain: isAgain)
      + (middle > 0 ? gap(middle, "are only in the journal") : "")
      + rows(folded.tail[...], isAgain: isAgain) + ending
  }

  /// The table of a case of little interest, without a drawing, and with its middle in the journal only.
  func short(capacity: inout Int) -> Markup {
    guard isLong else {
      capacity -= lines.count
      return table("Timeline", all())
    }
    capacity -= Self.first + Self.last
    return beginningAndEnd("are only in the journal")
  }

  /// The table of the beginning and the end.
  ///
  /// - Parameter rest: where the other rows are.
  private func beginningAndEnd(_ rest: String) -> Markup {
    let shown = ends.reduce(0) { $0 + $1.count }
    return table(
      "Timeline, the beginning and the end",
      rows(lines.prefix(Self.first)) + gap(attempt.moments.count - shown, rest)
        + rows(lines.suffix(Self.last)) + ending)
  }

  private func table(_ label: String, _ rows: Markup) -> Markup {
    scrolling(
      label,
      """
      <table class="timeline"><thead><tr><th scope="col">time</th><th scope="col">model holds possible</th>\
      <th scope="col">step</th><th scope="col">what happened</th><th scope="col">device</th></tr></thead>
      <tbody>\(rows)</tbody></table>
      """)
  }

  private func gap(_ count: Int, _ where: String) -> Markup {
    "<tr class=\"gap\"><td colspan=\"5\">⋮ \(counted(count, "event")) \(`where`)</td></tr>\n"
  }

  /// - Parameter isAgain: whether the first and the last have rows already, so that their ids are used.
  private func rows(_ lines: ArraySlice<Line>, isAgain: Bool = false) -> Markup {
    let ends = isAgain ? Set(self.ends.map(\.number)) : []
    return lines.markup { line in
      let (number, moment) = (line.number, line.moment)
      let isDevice = moment.lane == .device
      let isSame = !moment.isModelChanged && moment.changes.isEmpty
      let model: Markup =
        isSame
        ? "<span class=\"same\">│</span>"
        : (moment.isModelChanged ? chips(moment.possible) : "") + variables(moment.changes)
      let step: Markup = moment.step.map { "\($0)" } ?? ""
      let times: Markup = line.times > 1 ? " <strong>\(grouped(line.times)) times</strong>" : ""
      let done: Markup = isDevice ? "" : happened(moment) + times
      let shown: Markup =
        isDevice
        ? observed(moment) + times : moment.status == nil ? "" : "<span class=\"same\">│</span>"
      return """
        <tr class="\(rowClass(moment))"\(ties.attributes(ofRow: number, in: id, isFirst: !ends.contains(number)))>\
        <td>\(ties.time(moment.time.secondsText, ofRow: number))</td><td>\(model)</td>\
        <td>\(step)</td><td>\(done)</td><td>\(shown)</td></tr>
        \(line.round.map(again) ?? "")
        """
    }
  }

  /// The variables that changed, in a line each.
  private func variables(_ changes: [VariableChange]) -> Markup {
    changes.markup { change in
      let parts = change.parts.markup { part in
        let old: Markup = part.old.map { "<span class=\"old\">\($0)</span> " } ?? ""
        let sign: Markup =
          part.old == nil ? part.isStart ? "= " : "+ " : part.new == nil ? "" : "→ "
        let new: Markup = part.new.map { sign + "<span class=\"new\">\($0)</span>" } ?? "− " + old
        let note: Markup = part.note.isEmpty ? "" : " <span class=\"kind\">\(part.note)</span>"
        return """
          <div class="var"><span class="name">\(change.name)\(part.place)</span> \(part.new == nil ? "" : old)\(new)\(note)</div>
          """
      }
      let more: Markup =
        change.omitted > 0
        ? "<div class=\"var kind\">and \(counted(change.omitted, "change")) more of \(change.name)</div>"
        : ""
      return parts + more
    }
  }

  /// The note that the last rows repeated.
  private func again(_ lines: Int, _ times: Int) -> Markup {
    """
    <tr class="gap"><td colspan="5">⋮ these \(lines) events \(grouped(times - 1)) times more</td></tr>

    """
  }

  private func rowClass(_ moment: Moment) -> Markup {
    switch moment.lane {
    case .tester: "tester"
    case .device: "device"
    case .lab: "labrow"
    case .model: "model"
    }
  }

  private func happened(_ moment: Moment) -> Markup {
    switch moment.lane {
    case .model where moment.time == .zero && moment.step == nil: "<span class=\"kind\">the start</span>"
    case .model: "<span class=\"kind\">time passes</span>"
    default:
      "<span class=\"kind\">\(moment.kind.rawValue)</span> \(moment.words) \(line(moment))"
    }
  }

  private func line(_ moment: Moment) -> Markup {
    moment.line.map { "<span class=\"line\">line \($0)</span>" } ?? ""
  }

  private func observed(_ moment: Moment) -> Markup {
    moment.kind == .status
      ? "<span class=\"chip\">\(moment.words)</span>"
      : "<span class=\"kind\">\(moment.kind.rawValue)</span> \(moment.words)"
  }

  /// The last row, with the divergence or another ending.
  private var ending: Markup {
    guard let verdict = attempt.verdict else {
      return
        "<tr class=\"end incomplete\"><td></td><td colspan=\"4\">◌ no verdict: the run ended here</td></tr>\n"
    }
    let presentation = verdict.attemptEnding.presentation
    let time = verdict.time?.secondsText ?? ""
    let step: Markup = verdict.step.map { "\($0)" } ?? ""
    let what: Markup =
      isDivergence
      ? "<strong>✘ first divergence</strong>" : "<strong>\(presentation.badge) \(presentation.label)</strong>"
    let expected: Markup = verdict.expected.map { "<span class=\"chip want\">\(short($0))</span>" } ?? ""
    let observed: Markup =
      verdict.seen.map { "<span class=\"chip bad\">✘ \(short($0))</span>" } ?? ""
    return """
      <tr class="end \(presentation.key)"><td>\(time)</td><td>\(expected)</td><td>\(step)</td>\
      <td>\(what)</td><td>\(observed)</td></tr>

      """
  }

  private func short(_ text: String) -> String { clipped(text, toBytes: 400) }
}

/// Statuses side by side.
func chips(_ statuses: [String]) -> Markup {
  statuses.map { "<span class=\"chip\">\($0)</span>" as Markup }.joined(separator: " ")
}

extension Markup {
  package static func + (left: Markup, right: Markup) -> Markup {
    var sum = left
    sum += right
    return sum
  }
}
