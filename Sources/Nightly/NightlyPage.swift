import Basics
import Bench
import Conformance
import Journal
import Reporting
public import System

extension NightlyReport {
  /// The maximum number of runs with a report of their own, and of failures on the page.
  private static let (maximumReports, maximumItems) = (100, 500)

  /// The cases that did not simply agree, in the order of the page.
  private var items: [Item] { kinds.flatMap(\.items) }

  /// Writes the report of each run that did not simply agree, into the folder of that run, and the scenarios
  /// for the commands that park locks.
  public func writeRunReports() throws(FileFault) {
    for lock in locks where lock.isLeftElsewhere { try runs.writePark(of: lock.name) }
    var made = Set<Int>()
    for number in items.compactMap(\.run) where made.count < Self.maximumReports {
      guard made.insert(number).inserted, let journal = runs.journal(of: number) else { continue }
      try RecordedRuns(journals: [journal]).writeHTML(to: reportPath(of: number))
    }
  }

  private func reportPath(of number: Int) -> String { runs.folder(of: number) + "/report.html" }

  /// The report as a self-contained page, in the style of the reports of runs.
  ///
  /// - Parameters:
  ///   - began: when the night began.
  ///   - folder: the folder of the page, to which its links are relative.
  public func page(began: String, in folder: String) -> String {
    var body = pageHead(title: "\(headline.text) – \(night.name)") + header(began)
    body += "<main id=\"main\">\n" + needList
    var number = 0
    for kind in kinds where !kind.items.isEmpty {
      body += section(kind, &number, in: folder)
    }
    if !runs.lab.lapsed.isEmpty {
      let rows = runs.lab.lapsed.markup { "<li>\("\($0)")</li>\n" }
      body += "<section><h2>Expired quarantine</h2>\n<ul>\(rows)</ul></section>\n"
    }
    body += groups("Not run", notRun) + groups("Skipped: cannot run on this lock", skipped)
    body += table("Locks", Self.lockTitles, locks.map { ($0.cells, $0.isMarked) }, numbers: [2, 3, 4, 5])
    if !dongles.isEmpty {
      body += table(
        night.settings.transport == .dongle ? "Dongles" : "Places", dongleTitles,
        dongles.map { ($0.cells, $0.isBad) }, numbers: [1, 2])
    }
    if !chosen.isEmpty {
      let rows = chosen.markup { "<li>\("\($0)")</li>\n" }
      body += "<section><h2>What locks have chosen</h2>\n<ul>\(rows)</ul></section>\n"
    }
    body += links(in: folder)
    body += pageEnd(
      "<code>lockstep nightly</code> from the record of the night", waited: "what the night took")
    return body.source
  }

  // MARK: Result

  /// The needed action in one line; each lock that needs a person has a link to its results.
  private var headline: (markup: Markup, text: String) {
    let needs = needs
    guard let head = Self.head(needs, of: locks.count), let text = needsLine else { return ("\(todo)", todo) }
    let names = needs.map { need -> Markup in
      guard let item = need.item, !need.title.isEmpty else { return "\(need.title)\(need.what)" }
      return "<a href=\"#item-\(item)\">\(need.name)</a> \(need.what)"
    }
    return ("\(head.capitalizedFirst): \(names.joined(separator: ", "))", text.capitalizedFirst)
  }

  /// The headline if there are no needs.
  private var todo: String {
    switch status {
    case .divergence, .agree, .labFault: return calm
    case .safetyLimit: return "A safety limit cut the night short: see which lock reached it"
    case .incomplete where shortfall != nil: return shortfall.map { "All agrees, but \($0)" } ?? ""
    case .incomplete where causes.contains(.stopped):
      return "The night was stopped: resume it with --resume"
    case .incomplete: return "The night was too short: give it more time, or less to do"
    case .nothingSelected: return "Nothing was run: see why"
    case .usage, .internalFault: return "The night failed: see its journal"
    }
  }

  private var calm: String {
    if status == .labFault {
      return notRun.first.map { "Not run: \($0.reason)" } ?? "No lock is wrong, but the lab needs a person"
    }
    return excused.isEmpty ? "Nothing to do" : "Nothing to do: what disagrees is in quarantine"
  }

  private func header(_ began: String) -> Markup {
    let severity: Markup = status == .agree ? (needs.isEmpty ? "good" : "fair") : "bad"
    let undone: Markup =
      notDone.isEmpty
      ? "" : "<p class=\"note\">Not done: \(notDone.map(\.description).joined(separator: "; "))</p>\n"
    return """
      <header class="page \(severity)"><p class="brand">Lockstep · \(night.name) · \(spoken(moment: wholeSeconds(began) ?? began))</p>
      <h1>\(headline.markup)</h1>
      <p class="note">\(runs.lab.inventory.name), \(clock(took))\(again)</p>
      \(undone)\(counts)</header>

      """
  }

  private var counts: Markup {
    let all: [(count: Int, words: String, key: Markup)] = [
      (red.count + findings.count, "✘ diverged", "diverged"),
      (unmetNews.count, "≠ not as expected", "unmet"), (trouble.count, "⚠ in trouble", "lab"),
      (flaky.count, "≈ flaky", "flaky"), (excused.count, "in quarantine", "skipped"),
      (notRun.map(\.count).reduce(0, +), "not run", "incomplete"),
      (skipped.map(\.count).reduce(0, +), "– skipped", "skipped"), (agree, "✔ agreed", "agreed"),
    ]
    let rows = all.filter { $0.count > 0 }.markup {
      "<li class=\"\($0.key)\"><b>\(grouped($0.count))</b> <span>\($0.words)</span></li>\n"
    }
    return
      "<ul class=\"counts\">\n\(rows)<li><b>\(grouped(night.cases.count))</b> <span>planned</span></li></ul>\n"
  }

  // MARK: Sections

  private var needList: Markup {
    let needs = needs
    guard !needs.isEmpty else { return "" }
    let rows = needs.markup { need in
      """
      <li><strong>\(need.name)</strong> \(need.reasons.map { clipped($0, toBytes: 1000) }.joined(separator: "; "))
      \(need.commands.map(\.line).markup(copied))</li>

      """
    }
    return """
      <section class="alarm" aria-labelledby="needs"><h2 id="needs">Needs you</h2>
      <ul>\(rows)</ul></section>

      """
  }

  private func section(
    _ kind: (title: String, items: [Item], ending: Record.Ending), _ number: inout Int, in folder: String
  ) -> Markup {
    var rows = Markup()
    for item in kind.items {
      number += 1
      if number <= Self.maximumItems { rows += row(item, kind.ending.presentation, number, in: folder) }
    }
    return """
      <section><h2>\(kind.title) <span class="count">\(grouped(kind.items.count))</span></h2>
      <ol class="glance">
      \(rows)</ol></section>

      """
  }

  private func row(
    _ item: Item, _ presentation: Record.Ending.Presentation, _ number: Int, in folder: String
  ) -> Markup {
    let quarantine: Markup = item.quarantine.map { "<p class=\"note\">in quarantine \($0)</p>\n" } ?? ""
    return """
      <li class="\(presentation.key)" id="item-\(number)"><strong><span aria-hidden="true">\(presentation.sign)</span> \(item.lock)</strong> \
      <code>\(item.file)</code>
      <p>\(clipped(item.message, toBytes: 1000))</p>
      \(quarantine)\(item.replay.map(copied) ?? "")\(links(of: item, in: folder))</li>

      """
  }

  /// The links to the report, the journal and the captures of an item's run.
  private func links(of item: Item, in folder: String) -> Markup {
    guard let number = item.run, let journal = runs.journal(of: number) else { return "" }
    let report = reportPath(of: number)
    var files: [(name: String, path: String)] = Host.isFile(report) ? [("report", report)] : []
    files.append(("journal", journal))
    // Links lead only below the folder of the night.
    for (index, capture) in item.captures.filter({ !$0.hasPrefix("/") }).prefix(4).enumerated() {
      files.append(
        (index == 0 ? "capture" : "capture \(index + 1)", Path.folder(of: journal) + "/" + capture))
    }
    let rows = files.markup { file in
      let relativePath = Path.relativePath(to: Path.folder(of: file.path), from: folder)
      let name = file.path.split(separator: "/").last.map(String.init) ?? ""
      return "<li><a href=\"\(reference(relativePath + name))\">\(file.name)</a></li>\n"
    }
    return "<ul class=\"links\">\n\(rows)</ul>\n"
  }

  private func groups(_ title: String, _ groups: [Group]) -> Markup {
    guard !groups.isEmpty else { return "" }
    let rows = groups.sorted { $0.count > $1.count }.map { group in
      ([group.reason, String(group.count), group.locks.joined(separator: ", ")], false)
    }
    return table(title, ["why", "cases", "locks"], rows, numbers: [1])
  }

  /// A table with a title.
  ///
  /// - Parameter numbers: the columns of counts.
  private func table(
    _ title: String, _ head: [String], _ rows: [(cells: [String], isBad: Bool)], numbers: Set<Int>
  ) -> Markup {
    func mark(_ column: Int) -> Markup { numbers.contains(column) ? " class=\"num\"" : "" }
    let titles = head.enumerated().markup { "<th scope=\"col\"\(mark($0.offset))>\($0.element)</th>" }
    let lines = rows.markup { row in
      let cells = row.cells.enumerated().markup { column, cell in
        column == 0 ? "<th scope=\"row\">\(cell)</th>" : "<td\(mark(column))>\(cell)</td>"
      }
      return "<tr\(row.isBad ? " class=\"bad\"" as Markup : "")>\(cells)</tr>\n"
    }
    return """
      <section><h2>\(title)</h2>
      \(scrolling(title, "<table><thead><tr>\(titles)</tr></thead>\n<tbody>\(lines)</tbody></table>"))</section>

      """
  }

  private func links(in folder: String) -> Markup {
    let rows = reports.markup { path in
      let relativePath = Path.relativePath(to: Path.folder(of: path), from: folder)
      let name = path.split(separator: "/").last.map(String.init) ?? path
      return "<li><a href=\"\(reference(relativePath + name))\">\(path)</a></li>\n"
    }
    return rows == Markup()
      ? "" : "<section><h2>Reports of the whole night</h2>\n<ul class=\"links\">\n\(rows)</ul></section>\n"
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
