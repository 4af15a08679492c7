import Basics
import Journal
import Bench

extension NightlyReport {
  /// The report as one page for people, without anything from the network.
  ///
  /// - Parameter began: when the night began.
  public func page(began: String) -> String {
    var body = "<h1>\(escaped(night.name))</h1>\n"
    body += "<p class=\"\(status == .agree ? "good" : "bad")\">\(escaped(headline))</p>\n"
    body += "<p class=\"faint\">\(escaped(runs.lab.inventory.name)), from \(escaped(began)), \(clock(took))"
    body += resumptions == 0 ? "" : ", taken up again \(resumptions) time\(resumptions == 1 ? "" : "s")"
    body += "</p>\n" + tiles
    if !errands.isEmpty {
      body += "<h2>See to it</h2>\n<ul class=\"bad\">"
      body += errands.map { "<li><b>\(escaped($0.name))</b> \(escaped($0.words))</li>" }.joined() + "</ul>\n"
    }
    body += kinds.map { section($0.title, $0.items) }.joined()
    if !runs.lab.lapsed.isEmpty {
      body += "<h2>Quarantine that has lapsed</h2>\n<ul>"
      body += runs.lab.lapsed.map { "<li>\(escaped("\($0)"))</li>" }.joined() + "</ul>\n"
    }
    body += section("Not run", notRun) + section("Skipped: cannot be driven on this lock", skipped)
    body += table(
      "Locks", Self.lockTitles, locks.map { ($0.cells, $0.isMarked) }, numbers: [2, 3, 4, 5])
    if !dongles.isEmpty {
      body += table(
        night.settings.way == .dongle ? "Dongles" : "Places", dongleTitles,
        dongles.map { ($0.cells, $0.isBad) }, numbers: [1, 2])
    }
    body += "<p class=\"faint\">" + reports.map { escaped($0) }.joined(separator: "<br>") + "</p>\n"
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(escaped(night.name))</title>
      <meta name="viewport" content="width=device-width,initial-scale=1"><style>\(Self.style)</style></head>
      <body>
      \(body)</body></html>

      """
  }

  private var headline: String {
    switch status {
    case .agree:
      excused.isEmpty
        ? "All agree, and every lock is where it should be." : "No news: what disagrees is in quarantine."
    case .divergence: "Model and lock disagree."
    case .safetyLimit: "A safety limit cut the night short."
    case .incomplete where shortfall != nil: shortfall.map { "All agrees, but \($0)." } ?? ""
    case .incomplete: causes.contains(.stopped) ? "The night was stopped." : "The night was too short."
    case .labFault: "No lock is wrong, but the lab needs somebody."
    case .nothingSelected: "Nothing was run."
    case .usage, .internalFault: "The night failed."
    }
  }

  private var tiles: String {
    let all: [(Int, String)] = [
      (night.cases.count, "planned"), (agree, "agree"), (red.count, "diverge"), (flaky.count, "flaky"),
      (trouble.count, "in trouble"), (excused.count, "in quarantine"),
      (notRun.map(\.count).reduce(0, +), "not run"), (skipped.map(\.count).reduce(0, +), "skipped"),
    ]
    return "<div class=\"tiles\">"
      + all.map { "<div><b>\($0.0)</b>\($0.1)</div>" }.joined() + "</div>\n"
  }

  private func section(_ title: String, _ items: [Item]) -> String {
    guard !items.isEmpty else { return "" }
    let rows = items.map { item in
      "<li><b>\(escaped(item.lock))</b> \(escaped(item.file))<br>\(escaped(item.message))"
        + (item.quarantine.map { "<br><i>\(escaped($0))</i>" } ?? "")
        + (item.replay.map { "<br><code>\(escaped($0))</code>" } ?? "") + "</li>"
    }
    return "<h2>\(escaped(title))</h2>\n<ul>" + rows.joined(separator: "\n") + "</ul>\n"
  }

  private func section(_ title: String, _ groups: [Group]) -> String {
    guard !groups.isEmpty else { return "" }
    let rows = groups.sorted { $0.count > $1.count }.map { group in
      ([String(group.count), group.reason, group.locks.joined(separator: ", ")], false)
    }
    return table(title, ["cases", "why", "locks"], rows, numbers: [0])
  }

  /// A table under its title.
  ///
  /// - Parameter numbers: the columns that are counts.
  private func table(
    _ title: String, _ head: [String], _ rows: [(cells: [String], isBad: Bool)], numbers: Set<Int>
  ) -> String {
    let lines = rows.map { row in
      let cells = row.cells.enumerated().map { column, cell in
        "<td\(numbers.contains(column) ? " class=\"number\"" : "")>\(escaped(cell))</td>"
      }
      return "<tr\(row.isBad ? " class=\"bad\"" : "")>\(cells.joined())</tr>"
    }
    return "<h2>\(escaped(title))</h2>\n<table><tr>\(head.map { "<th>\($0)</th>" }.joined())</tr>"
      + lines.joined(separator: "\n") + "</table>\n"
  }

  private static let style = """
    :root{color-scheme:light dark;--line:#8884;--bad:#b3261e;--good:#1b6e3c}
    @media(prefers-color-scheme:dark){:root{--bad:#ff8a80;--good:#7bd88f}}
    body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}
    h1{margin:0}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}p{margin:.3rem 0}
    p.bad,ul.bad,tr.bad td{color:var(--bad);font-weight:600}p.good{color:var(--good);font-weight:600}.faint{opacity:.7}
    .tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}
    .tiles div{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .8rem}.tiles b{display:block;font-size:1.4rem}
    table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
    .number{text-align:right;white-space:nowrap}ul{padding-left:1.1rem}li{margin:.4rem 0}code{word-break:break-all}
    """
}

/// A text in HTML.
private func escaped(_ text: String) -> String {
  var escaped = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": escaped += "&amp;"
    case "<": escaped += "&lt;"
    case ">": escaped += "&gt;"
    case "\"": escaped += "&quot;"
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": escaped += "\u{FFFD}"
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped
}
