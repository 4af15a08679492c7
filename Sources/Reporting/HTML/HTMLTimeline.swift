import Basics
import Journal

/// The two lanes of a try: what the model held possible beside what the device showed, and between them what the tester
/// did.
///
/// First a drawing of what led to the end, in which each moment takes the same room however long it lasted; then the
/// same as a table.
struct HTMLTimeline {
  let attempt: Try
  /// What the drawing is called by in the page.
  let id: String
  /// What went over the air at its moments.
  var ties = PacketTies()

  /// How many rows are shown without being asked for: from the beginning, and up to the end.
  private static let (first, last) = (5, 40)

  private var isDivergence: Bool { attempt.verdict?.word == .divergence }

  /// The timeline, and how many rows it took; the rows that are folded away only if there is room for so many.
  func markup(room: inout Int) -> Markup {
    lanes + tables(room: &room)
  }

  /// The drawing.
  var lanes: Markup { HTMLLanes(attempt: attempt, id: id).markup }

  /// Whether a moment has a row when there is room for so many.
  func shows(_ number: Int, room: Int) -> Bool {
    let count = attempt.moments.count
    if !isLong || number < Self.first || number >= count - Self.last { return true }
    return attempt.moments.kept.count <= room - Self.first - Self.last
  }

  private var isLong: Bool { attempt.moments.count > Self.first + Self.last + 5 }

  /// The table; what is in the middle of a long one is folded away.
  func tables(room: inout Int) -> Markup {
    let moments = attempt.moments.numbered
    var result = Markup()
    if !isLong {
      room -= moments.count
      result += table("Timeline", rows(moments[...]) + ending)
      return result
    }
    let tail = moments.suffix(Self.last)
    let omitted = attempt.moments.count - Self.first - tail.count
    result += table(
      "Timeline, the beginning and the end",
      rows(moments.prefix(Self.first)) + gap(omitted, "are folded away below") + rows(tail) + ending)
    room -= Self.first + Self.last
    guard moments.count <= room else {
      return result + "<p class=\"note\">The journal has all \(attempt.moments.count) events.</p>\n"
    }
    room -= moments.count
    let middle = attempt.moments.omitted
    let all =
      rows(moments.prefix(attempt.moments.head.count), isAgain: true)
      + (middle > 0 ? gap(middle, "stand in the journal only") : "")
      + rows(moments.dropFirst(attempt.moments.head.count), isAgain: true) + ending
    result += """
      <details class="whole"><summary>All \(grouped(attempt.moments.count)) events</summary>
      \(table("Timeline, whole", all))</details>

      """
    return result
  }

  /// The table of a case in which there is nothing to look for: without a drawing, and its middle in the journal alone.
  func short(room: inout Int) -> Markup {
    let moments = attempt.moments.numbered
    guard isLong else {
      room -= moments.count
      return table("Timeline", rows(moments[...]) + ending)
    }
    room -= Self.first + Self.last
    let omitted = attempt.moments.count - Self.first - Self.last
    return table(
      "Timeline, the beginning and the end",
      rows(moments.prefix(Self.first)) + gap(omitted, "stand in the journal only")
        + rows(moments.suffix(Self.last)) + ending)
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

  /// - Parameter isAgain: whether the first and the last have rows already: an id is given once.
  private func rows(_ moments: ArraySlice<(number: Int, moment: Moment)>, isAgain: Bool = false) -> Markup {
    moments.markup { number, moment in
      let isFirst = !isAgain || number >= Self.first && number < attempt.moments.count - Self.last
      let isDevice = moment.lane == .device
      let model: Markup = moment.isModelChanged ? chips(moment.possible) : "<span class=\"same\">│</span>"
      let step: Markup = moment.step.map { "\($0)" } ?? ""
      let done: Markup = isDevice ? "" : happened(moment)
      let shown: Markup =
        isDevice ? observed(moment) : moment.status == nil ? "" : "<span class=\"same\">│</span>"
      return """
        <tr class="\(rowClass(moment))"\(ties.attributes(ofRow: number, in: id, isFirst: isFirst))>\
        <td>\(ties.time(moment.time.secondsText, ofRow: number))</td><td>\(model)</td>\
        <td>\(step)</td><td>\(done)</td><td>\(shown)</td></tr>

        """
    }
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

  /// The row with which the try ends: where the two part, or how else it came to an end.
  private var ending: Markup {
    guard let verdict = attempt.verdict else {
      return
        "<tr class=\"end incomplete\"><td></td><td colspan=\"4\">◌ no verdict: the run ended here</td></tr>\n"
    }
    let look = verdict.counted.shown.look
    let time = verdict.time?.secondsText ?? ""
    let step: Markup = verdict.step.map { "\($0)" } ?? ""
    let what: Markup =
      isDivergence ? "<strong>✘ first divergence</strong>" : "<strong>\(look.sign) \(look.word)</strong>"
    let expected: Markup = verdict.expected.map { "<span class=\"chip want\">\(short($0))</span>" } ?? ""
    let observed: Markup =
      verdict.seen.map { "<span class=\"chip bad\">✘ \(short($0))</span>" } ?? ""
    return """
      <tr class="end \(look.key)"><td>\(time)</td><td>\(expected)</td><td>\(step)</td>\
      <td>\(what)</td><td>\(observed)</td></tr>

      """
  }

  private func short(_ text: String) -> String { clipped(text, toBytes: 400) }
}

/// Statuses beside one another.
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
