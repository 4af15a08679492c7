import Basics
import Journal

/// The drawing of the lanes of model and device.
///
/// Columns are moments; in the last one the case ended. The model's lane is above and the device's below; a
/// box extends as long as its state lasts. The steps are between them.
struct HTMLLanes {
  let attempt: CaseAttempt
  /// The moments of the case.
  let folded: FoldedMoments
  let id: String

  /// The contents of one moment.
  private struct Column {
    var time: Instant
    /// The model's new possible states; `nil` if they are unchanged.
    var model: [String]?
    /// The variables that then have other values.
    var changes: [String] = []
    var steps: [String] = []
    var status: String?
    var shows: [String] = []
    /// Whether it is only the time of the verdict, without an event.
    var isEnd = false
    var x = 0
    var width = 0
  }

  private struct Layout {
    var columns: [Column]
    var modelLines: Int
    var stepLines: Int
    var deviceLines: Int
  }

  private static let (maximumColumns, longest, maximumLines) = (14, 24, 4)
  /// The maximum width, so that the end is visible together with its causes.
  private static let maximumWidth = 1120
  private static let (gutter, top, line) = (58, 26, 15)

  private var isDivergence: Bool { attempt.verdict?.word == .divergence }

  /// The drawing; empty without moments.
  var markup: Markup {
    let layout = layout()
    guard layout.columns.count > 1 || !(layout.columns.first?.steps.isEmpty ?? true) else { return "" }
    let last = layout.columns[layout.columns.count - 1]
    let modelTop = Self.top
    let stepTop = modelTop + boxHeight(layout.modelLines) + 12
    let deviceTop = stepTop + layout.stepLines * Self.line + 16
    let axis = deviceTop + boxHeight(layout.deviceLines) + 16
    let (width, height) = (last.x + last.width + 8, axis + 8)
    var drawing: Markup = """
      <svg class="lanes" role="img" aria-labelledby="\(id)-title \(id)-text" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)"><title id="\(id)-title">The lanes of model and device</title>\
      <desc id="\(id)-text">\(description)</desc>
      <text class="lane" x="0" y="\(modelTop + 17)">model</text>\
      <text class="lane" x="0" y="\(stepTop + 13)">steps</text>\
      <text class="lane" x="0" y="\(deviceTop + 17)">device</text>

      """
    if isDivergence { drawing += mark(last, height: axis - 10) }
    drawing += boxes(layout.columns, y: modelTop, lines: layout.modelLines, "mbox") { column in
      column.model.map { $0 + column.changes }
    }
    drawing += boxes(layout.columns, y: deviceTop, lines: layout.deviceLines, "dbox") { column in
      guard column.isEnd || column.status != nil || !column.shows.isEmpty else { return nil }
      return (column.status.map { [$0] } ?? []) + column.shows
    }
    for column in layout.columns {
      for (index, step) in column.steps.enumerated() {
        drawing += textElement(step, x: column.x + 2, y: stepTop + 13 + index * Self.line, "step")
      }
      drawing += textElement(column.time.secondsText, x: column.x + 2, y: axis, "time")
    }
    return scrolling("Model and device side by side, drawn", drawing + "</svg>", fromEnd: true)
  }

  private var description: String {
    let end =
      attempt.verdict.map { "It ends at \($0.time?.description ?? "an unknown time"): \(attempt.message)." }
      ?? ""
    return "The same as in the table that follows. \(clipped(end, toBytes: 300))"
  }

  private func mark(_ column: Column, height: Int) -> Markup {
    let label = "✘ first divergence"
    let x = max(Self.gutter, column.x + column.width - label.count * 7)
    return """
      <rect class="band" x="\(column.x - 3)" y="6" width="\(column.width + 4)" height="\(height)" rx="3"/>\
      <text class="badtext" x="\(min(x, column.x + 2))" y="18">\(label)</text>

      """
  }

  /// A box from each column with a change to the next one.
  private func boxes(
    _ columns: [Column], y: Int, lines: Int, _ name: Markup, _ content: (Column) -> [String]?
  ) -> Markup {
    var result = Markup()
    let starts = columns.indices.filter { content(columns[$0]) != nil }
    for (number, index) in starts.enumerated() {
      let next = number + 1 < starts.count ? columns[starts[number + 1]].x : nil
      let end = next ?? columns[columns.count - 1].x + columns[columns.count - 1].width + 4
      let isBad = isDivergence && index == columns.count - 1
      let state: Markup = !isBad ? "" : name == "dbox" ? " bad" : " want"
      result += """
        <rect class="\(name)\(state)" x="\(columns[index].x)" y="\(y)" \
        width="\(end - columns[index].x - 4)" height="\(boxHeight(lines))" rx="3"/>

        """
      for (row, text) in first(content(columns[index]) ?? [], to: Self.maximumLines).enumerated() {
        let sign = isBad && name == "dbox" && row == 0 ? "✘ " : ""
        result += textElement(sign + text, x: columns[index].x + 6, y: y + 17 + row * Self.line, "what")
      }
    }
    return result
  }

  private func boxHeight(_ lines: Int) -> Int { max(1, lines) * Self.line + 10 }

  private func textElement(_ text: String, x: Int, y: Int, _ name: Markup) -> Markup {
    "<text class=\"\(name)\" x=\"\(x)\" y=\"\(y)\">\(short(text))</text>\n"
  }

  private func short(_ text: String) -> String { shortened(text, to: Self.longest) }
}

// MARK: - Columns

extension HTMLLanes {
  private func layout() -> Layout {
    var columns = columns()
    for index in columns.indices { columns[index].width = width(of: columns[index]) }
    while columns.count > 2, columns.reduce(Self.gutter, { $0 + $1.width }) > Self.maximumWidth {
      let removed = columns.removeFirst()
      // The state before the first column is shown there.
      columns[0].model = columns[0].model ?? removed.model
      columns[0].status = columns[0].status ?? removed.status
      columns[0].width = width(of: columns[0])
    }
    var x = Self.gutter
    for index in columns.indices {
      columns[index].x = x
      x += columns[index].width
    }
    return Layout(
      columns: columns,
      modelLines: columns.map { column in
        min(Self.maximumLines, (column.model?.count ?? 0) + column.changes.count)
      }.max() ?? 0,
      stepLines: columns.map(\.steps.count).max() ?? 0,
      deviceLines: columns.map { column in
        min(Self.maximumLines, (column.status == nil ? 0 : 1) + column.shows.count)
      }.max() ?? 0)
  }

  private func width(of column: Column) -> Int {
    let texts =
      (column.model ?? []) + column.changes + column.steps + column.shows + [
        column.status ?? "", column.time.secondsText,
      ]
    return max(52, (texts.map { short($0).count }.max() ?? 0) * 7 + 14)
  }

  /// The moments by time, as far as they fit; the first one has the state before it.
  private func columns() -> [Column] {
    var lines = (folded.tail.isEmpty ? folded.head : folded.tail).suffix(60)
    while lines.count > 1, Set(lines.map(\.moment.time)).count > Self.maximumColumns {
      lines = lines.dropFirst()
    }
    var columns: [Column] = []
    for line in lines {
      let moment = line.moment
      if columns.last?.time != moment.time {
        columns.append(Column(time: moment.time))
        if columns.count == 1 {
          columns[0].model = moment.possible.isEmpty ? nil : moment.possible
          columns[0].status = moment.status
        }
      }
      add(moment, times: line.times, to: &columns[columns.count - 1])
      if let round = line.round {
        columns[columns.count - 1].steps.append("⋮ \(round.times - 1) times more")
      }
    }
    for index in columns.indices {
      columns[index].steps = first(columns[index].steps, to: Self.maximumLines + 1)
    }
    addEnd(to: &columns)
    return columns
  }

  private func add(_ moment: Moment, times: Int, to column: inout Column) {
    if moment.isModelChanged || !moment.changes.isEmpty {
      column.model = moment.possible
      column.changes += moment.changes.flatMap(\.lines)
    }
    let words = moment.words + (times > 1 ? ", \(times) times" : "")
    switch (moment.lane, moment.kind) {
    case (.device, .status): column.status = moment.words
    case (.device, _): column.shows.append("\(moment.kind.rawValue) \(words)")
    case (.tester, .stimulus): column.steps.append("▸ \(words)")
    case (.tester, .fault): column.steps.append("⚡ \(words)")
    case (.tester, .wait): column.steps.append("wait \(words)")
    case (.tester, .expect): column.steps.append("? \(words)")
    case (.tester, _): column.steps.append(words)
    case (.lab, _): column.steps.append("⚠ \(words)")
    case (.model, _): break
    }
  }

  /// Adds the column of the failure: that of the last observation, or another one if there was none.
  private func addEnd(to columns: inout [Column]) {
    guard let verdict = attempt.verdict, isDivergence else { return }
    let time = verdict.time ?? columns.last?.time ?? .zero
    let isObserved = columns.last.map { $0.time == time && ($0.status != nil || !$0.shows.isEmpty) } ?? false
    if !isObserved { columns.append(Column(time: time)) }
    let last = columns.count - 1
    columns[last].isEnd = true
    if !isObserved { columns[last].status = verdict.seen ?? "nothing" }
    if let expected = verdict.expected {
      (columns[last].model, columns[last].changes) = (["allowed:", expected], [])
    }
  }
}
