public import System
import Basics
import Journal

/// The answer of `lockstep history` as text.
public struct HistoryText {
  public let answer: HistoryAnswer
  public let paint: Painter

  /// Makes the text of an answer.
  public init(answer: HistoryAnswer, paint: Painter) {
    self.answer = answer
    self.paint = paint
  }

  /// The maximum number of runs of a case that are shown as signs.
  public static let strip = 20

  public var text: String {
    switch answer {
    case .runs(let runs, let totals, let place):
      lines(table(runs) + (totals.map { summary($0, place) } ?? []))
    case .flaky(let found): lines(flaky(found))
    case .slow(let found): lines(slow(found))
    case .cases(let found): lines(cases(found))
    case .failures(let failures):
      failures.isEmpty ? "nothing failed" : failures.map { lines(text($0)) }.joined(separator: "\n\n")
    case .details(let cases, let more):
      (cases.map { lines(text($0)) } + (more > 0 ? ["and \(counted(more, "more case"))"] : []))
        .joined(separator: "\n\n")
    case .taken(let runs, let place): "\(counted(runs.count, "run")) taken into \(place)"
    }
  }

  private func lines(_ lines: [String]) -> String { lines.joined(separator: "\n") }
}

// MARK: - Tables

extension HistoryText {
  /// A cell of a table with its style.
  private typealias Cell = (text: String, style: Painter.Style?)

  private func table(_ runs: [HistoryRun]) -> [String] {
    func count(_ count: Int, _ style: Painter.Style) -> Cell {
      count == 0 ? ("·", .faint) : ("\(count)", style)
    }
    // Columns that are empty in most histories are omitted.
    let hasUnmet = runs.contains { $0.count(.unmet) > 0 }
    let head =
      ["started", "cases", "agree", "diverge"] + (hasUnmet ? ["not as expected"] : [])
      + ["trouble", "incomplete", "skipped", "flaky", "run"]
    var namesakes: [[String]: Int] = [:]
    for run in runs { namesakes[[run.identity.host, run.identity.name], default: 0] += 1 }
    let rows = runs.map { run -> [Cell] in
      let isAlone = namesakes[[run.identity.host, run.identity.name]] == 1
      return [
        (moment(run.started), nil), ("\(run.cases)", nil), count(run.count(.agree), .good),
        count(run.count(.divergence), .bad),
      ] + (hasUnmet ? [count(run.count(.unmet), .warning)] : []) + [
        count(run.count(.labFault), .warning),
        count(run.count(.incomplete), .warning), count(run.count(.skipped), .faint),
        count(run.flaky, .warning),
        (
          run.identity.name.inOneLine + (isAlone ? "" : " (\(String(run.identity.id.prefix(8)).inOneLine))")
            + (run.identity.host.isEmpty ? "" : " on \(run.identity.host.inOneLine)")
            + (run.status == nil ? ", which did not end" : ""), nil
        ),
      ]
    }
    return aligned(rows, under: head)
  }

  private func summary(_ totals: HistoryAnswer.Totals, _ place: HistoryPlace) -> [String] {
    func line(_ count: Int, _ word: String, _ question: String) -> String {
      let text = count == 0 ? paint(.good, "none") : paint(.warning, counted(count, "case"))
      return "  \(word)  \(text)" + (count == 0 ? "" : ": lockstep history \(question)")
    }
    return [
      "",
      paint(.strong, "\(counted(totals.runs, "run")) of \(counted(totals.cases, "case"))") + " in \(place)",
      line(totals.flaky, "flaky ", "flaky"), line(totals.slow, "slower", "slow"),
    ]
  }

  private func flaky(_ found: History.Cases) -> [String] {
    if found.cases.isEmpty { return ["no case is flaky in \(counted(found.runs, "run"))"] }
    let head = ["changes", "retried", "agreed", "", "latest", "runs", "case"]
    return aligned(
      found.cases.map { item in
        [
          ("\(item.changes)", item.changes > 0 ? .warning : .faint),
          ("\(item.retried)", item.retried > 0 ? .warning : .faint), ("\(item.agreed)/\(item.judged)", nil),
          (percentage(item), nil), (day(item.lastUnsteady), nil), (signs(item), nil), (name(item), nil),
        ]
      }, under: head)
  }

  private func slow(_ found: History.Cases) -> [String] {
    if found.cases.isEmpty { return ["no case is slower than usual in \(counted(found.runs, "run"))"] }
    let head = ["latest", "usual", "", "case"]
    return aligned(
      found.cases.map { item in
        let (last, usual) = (item.lastMilliseconds ?? 0, item.usual?.milliseconds ?? 0)
        return [
          (seconds(last), .warning), (seconds(usual), nil),
          (usual > 0 ? "× \(last * 10 / usual / 10).\(last * 10 / usual % 10)" : "", nil), (name(item), nil),
        ]
      }, under: head)
  }

  private func cases(_ found: History.Cases) -> [String] {
    if found.cases.isEmpty { return ["no case in \(counted(found.runs, "run"))"] }
    let head = ["agreed", "", "flaky", "usual", "first seen", "runs", "case"]
    return aligned(
      found.cases.map { item in
        let instabilityCount = item.changes + item.retried
        return [
          ("\(item.agreed)/\(item.judged)", item.agreed < item.judged ? .bad : .good),
          (percentage(item), nil),
          (instabilityCount == 0 ? "·" : "\(instabilityCount)", instabilityCount == 0 ? .faint : .warning),
          (item.usual.map { seconds($0.milliseconds) } ?? "·", nil), (day(item.firstSeen), nil),
          (signs(item), nil), (name(item), nil),
        ]
      }, under: head)
  }

  /// Rows with aligned columns; numbers are right-aligned.
  private func aligned(_ rows: [[Cell]], under head: [String] = []) -> [String] {
    let count = rows.first?.count ?? head.count
    let isRightAligned = (0..<count).map { column in
      rows.allSatisfy { $0[column].text.first.map { $0.isNumber || "·×".contains($0) } ?? true }
    }
    let titles = head.isEmpty ? [] : [head.map { Cell($0, .faint) }]
    let widths = (0..<count).map { column in (titles + rows).map { $0[column].text.count }.max() ?? 0 }
    return (titles + rows).map { row in
      let cells = row.enumerated().map { column, cell in
        let padding = spaces(widths[column] - cell.text.count)
        let text = cell.style.map { paint($0, cell.text) } ?? cell.text
        if column == count - 1 { return text }
        return isRightAligned[column] ? padding + text : text + padding
      }
      return "  " + cells.joined(separator: "  ")
    }
  }
}

// MARK: - Failures and single cases

extension HistoryText {
  private func text(_ failure: HistoryFailure) -> [String] {
    let presentation = Record.Ending(failure.word, isFlaky: failure.word == .agree).presentation
    let message = failure.message.isEmpty ? failure.signature ?? "" : failure.message
    let span =
      failure.first == failure.last
      ? moment(failure.last) : "\(moment(failure.first)) to \(moment(failure.last))"
    let shown = failure.cases.prefix(5).map { "    \($0.className.inOneLine) / \($0.name.inOneLine)" }
    let rest = failure.cases.count - shown.count
    return [
      paint(presentation.style, "\(presentation.sign) \(message.inOneLine)"),
      "    in \(counted(failure.runs, "run")), \(span)"
        + (failure.signature.map { paint(.faint, "   \($0.inOneLine)") } ?? ""),
    ] + shown + (rest > 0 ? ["    and \(counted(rest, "more case"))"] : [])
  }

  private func text(_ details: History.Details) -> [String] {
    let item = details.history
    var figures = ["first seen \(day(item.firstSeen))", "agreed \(item.agreed) of \(item.judged)"]
    if item.changes > 0 { figures.append(paint(.warning, counted(item.changes, "change"))) }
    if item.retried > 0 { figures.append(paint(.warning, "\(item.retried) with another try")) }
    if let usual = item.usual { figures.append("usually \(seconds(usual.milliseconds))") }
    if item.isSlower { figures.append(paint(.warning, "slower than usual")) }
    var lines = [paint(.strong, name(item)), "  " + figures.joined(separator: ", ")]
    let rows = details.results.map { result -> [Cell] in
      let presentation = result.ending.presentation
      let attempts = result.attempts > 1 ? " (\(result.attempts) tries)" : ""
      let setting = [result.setting.device, result.setting.firmware].filter { !$0.isEmpty }
        .joined(separator: " ")
      return [
        (moment(result.run.started), nil), (presentation.sign, presentation.style),
        (seconds(result.milliseconds), nil),
        (setting.inOneLine, nil), (result.run.identity.name.inOneLine + attempts, nil),
      ]
    }
    for (row, result) in zip(aligned(rows), details.results) {
      lines.append(row)
      if let message = result.message, !message.isEmpty { lines.append("      \(message.inOneLine)") }
    }
    return lines
  }
}

// MARK: - Words

extension HistoryText {
  /// A sign for each of the latest runs.
  private func signs(_ item: HistoryCase) -> String {
    item.points.suffix(Self.strip).map { $0.ending.presentation.sign }.joined()
  }

  private func name(_ item: HistoryCase) -> String { "\(item.className.inOneLine) / \(item.name.inOneLine)" }

  private func percentage(_ item: HistoryCase) -> String {
    item.judged == 0 ? "" : "\(item.agreed * 100 / item.judged) %"
  }

  /// `2026-11-20 22:38` from a time in UTC.
  private func moment(_ time: String) -> String {
    String(time.prefix(16).map { $0 == "T" ? " " : $0 })
  }

  private func day(_ time: String?) -> String { time.map { String($0.prefix(10)) } ?? "" }

  private func seconds(_ milliseconds: Int64) -> String {
    "\(milliseconds / 1000).\((milliseconds % 1000).padded(to: 3)) s"
  }

}
