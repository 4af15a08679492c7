import Basics
import Journal
import System

/// Writes a page, section by section.
struct HTMLPage: ~Copyable {
  private var output: Replacement
  private let index: JournalIndex
  private let manifest: Manifest
  private let reader: CaseReader
  /// The relative path from the page's folder to that of each journal.
  private let links: [String]
  private let history: (any CaseHistorySource)?
  private let scenarios: ScenarioTexts
  /// The saved tests of findings, by the cases that show them.
  private let saved: [JournalIndex.Place: String]
  /// The machines in the order in which they are shown, and the states in which cases diverged.
  private let machines: [Record.Machine]
  private var divergences: [Int: [(state: Int, number: Int)]] = [:]
  private var historyProblem: String?
  private let counts: Tally
  private var capacity = PageCapacity()
  /// The number of cases shown in full, and of those with a line of their own.
  private var (detailed, listed) = (0, 0)
  /// The number of cases that agreed and are shown with their traces.
  private var agreedTraces = 0

  private static let (maximumDetailed, maximumFailedRows, maximumRows) = (500, 5_000, 2_000)
  /// The maximum numbers of cases for timings, and of skipped ones for their reasons.
  private static let (maximumTimed, maximumReasoned) = (10_000, 20_000)

  init(
    output: consuming Replacement, index: JournalIndex, links: [String],
    history: (any CaseHistorySource)?, scenarios: ScenarioTexts
  ) {
    self.output = output
    self.index = index
    counts = index.tally
    manifest = Manifest(index.sources.map(\.manifest))
    reader = CaseReader(sources: index.sources)
    self.links = links
    self.history = history
    self.scenarios = scenarios
    // The coverage of a machine without a description in the journals still has its figures.
    let described = index.machines
    let others = index.coverage.filter { coverage in !described.contains { $0.name == coverage.machine } }
    machines = Array((described + others.map { Record.Machine($0.machine) }).prefix(50))
    saved = index.savedFiles
  }

  /// Writes the whole page and moves it to its path.
  mutating func write() throws(FileFault) -> HTMLReport {
    var milliseconds: Int64 = 0
    for suite in index.suites {
      for entry in suite.entries {
        guard entry.ending != nil else { continue }
        let (sum, isTooLong) = milliseconds.addingReportingOverflow(entry.milliseconds)
        milliseconds = isTooLong ? .max : sum
      }
    }
    let overview = HTMLOverview(
      index: index, manifest: manifest, counts: counts, milliseconds: milliseconds, past: pastRuns())
    try write(pageHead(title: overview.title))
    try write(overview.header)
    try write(filters)
    try write("<main id=\"main\">\n")
    try write(overview.problems)
    try writeGlance()
    for shown in Self.detailedEndings { try writeDetails(shown, isCampaign: overview.isCampaign) }
    try write(overview.summary)
    try writeSkipped()
    try writeMachines()
    try writeTimings()
    try writeAgreed()
    if let historyProblem { try write("<p class=\"note bad\">No history: \(historyProblem)</p>\n") }
    try write(pageEnd("<code>lockstep report</code> from the journal of the run"))
    try output.commit()
    return report
  }

  private var report: HTMLReport {
    HTMLReport(
      cases: counts.ended, divergences: counts[shown: .diverged], unmet: counts[shown: .unmet],
      labFaults: counts[shown: .labFault],
      incomplete: counts[shown: .incomplete], flaky: counts[shown: .flaky], skipped: counts[shown: .skipped],
      agreed: counts[shown: .agreed], problems: index.remarks)
  }

  private mutating func write(_ markup: Markup) throws(FileFault) {
    try output.write(Array(markup.source.utf8))
  }

  /// Calls a function with every case that has an ending.
  private mutating func forEach(
    _ shown: Record.Ending,
    _ body: (inout HTMLPage, JournalIndex.Entry, String) throws(FileFault) -> Bool
  ) throws(FileFault) {
    for suite in index.suites {
      for entry in suite.entries where entry.ending?.shown == shown {
        guard try body(&self, entry, suite.name) else { return }
      }
    }
  }

  /// The text of a case's scenario, if there is room for it.
  private mutating func scenario(
    of record: CaseRecord, at place: JournalIndex.Place
  ) -> (file: String, text: ScenarioTexts.Finding)? {
    guard let file = saved[place] ?? record.start.file, capacity.sources > 0,
      let text = scenarios.text(
        of: file, fingerprint: record.start.text, savedBy: index.sources[Int(place.journal)].journal)
    else { return nil }
    if case .lines(let lines) = text { capacity.sources -= lines.reduce(0) { $0 + $1.utf8.count } }
    return (file, text)
  }

  /// The model of a case, in which the divergence of the case is marked.
  private mutating func machine(
    of record: CaseRecord, number: Int
  ) -> (number: Int, machine: Record.Machine)? {
    guard let name = record.start.machine, let index = machines.firstIndex(where: { $0.name == name }) else {
      return nil
    }
    if divergences[index, default: []].count < 200 {
      divergences[index, default: []] += record.divergenceStates(in: machines[index]).map { ($0, number) }
    }
    return (index + 1, machines[index])
  }

  private mutating func pastRuns() -> [HistoryRun] {
    do {
      return try history?.runs(last: HTMLStrip.length) ?? []
    } catch {
      historyProblem = clipped("\(error)", toBytes: 1000)
      return []
    }
  }

  private mutating func past(_ record: CaseRecord) -> CaseHistory? {
    past(record.suite, record.name, record.verdict?.signature, record.milliseconds)
  }

  private mutating func past(
    _ suite: String, _ name: String, _ signature: String?, _ milliseconds: Int64
  ) -> CaseHistory? {
    guard let history, historyProblem == nil else { return nil }
    do {
      return try history.history(
        className: suite, name: name, signature: signature, milliseconds: milliseconds)
    } catch {
      historyProblem = clipped("\(error)", toBytes: 1000)
      return nil
    }
  }
}

// MARK: - Cases

extension HTMLPage {
  /// The endings whose cases are shown in full, the worst first.
  private static let detailedEndings = [Record.Ending.diverged, .unmet, .labFault, .incomplete, .flaky]
  /// The maximum number of cases in the summary of failures.
  private static let maximumGlances = 8

  /// Writes a summary of the failures, with place and replay command in a few lines each: the details of the
  /// second one begin only below all of the first.
  private mutating func writeGlance() throws(FileFault) {
    let failed = Self.detailedEndings.dropLast().reduce(0) { $0 + counts[shown: $1] }
    guard failed > 1 else { return }
    var (rows, count) = (Markup(), 0)
    for shown in Self.detailedEndings.dropLast() {
      try forEach(shown) { (page, entry, suite) throws(FileFault) in
        guard count < Self.maximumGlances else { return false }
        guard let record = try page.reader.record(entry, of: suite) else { return true }
        count += 1
        rows += failureSummary(record, shown, number: count)
        return true
      }
    }
    let more = failed - count
    let note: Markup = more > 0 ? "<p class=\"note\">and \(grouped(more)) more, below</p>\n" : ""
    try write(
      """
      <section id="glance" aria-labelledby="glance-title"><h2 id="glance-title">What failed</h2>
      <ol class="glance">
      \(rows)</ol>
      \(note)</section>

      """)
  }
  /// Writes the section of an ending whose cases are shown in full.
  private mutating func writeDetails(_ shown: Record.Ending, isCampaign: Bool) throws(FileFault) {
    guard counts[shown: shown] > 0 else { return }
    let presentation = shown.presentation
    let (title, note) = heading(shown)
    try write(
      """
      <section id="\(presentation.key)" class="told" aria-labelledby="\(presentation.key)-title">
      <h2 id="\(presentation.key)-title">\(presentation.badge) \(isCampaign && shown == .diverged ? "What the campaign found" : title) <span class="count">\(grouped(counts[shown: shown]))</span></h2>
      \(note == "" ? "" : "<p class=\"note\">\(note)</p>\n" as Markup)
      """)
    var (rows, isList) = (0, false)
    try forEach(shown) { (page, entry, suite) throws(FileFault) in
      if page.detailed < Self.maximumDetailed {
        guard let record = try page.reader.record(entry, of: suite) else { return true }
        page.detailed += 1
        let past = page.past(record)
        let article = HTMLCase(
          record: record, shown: shown, number: page.detailed, history: past,
          link: page.links[Int(entry.journal)], scenario: page.scenario(of: record, at: entry.position),
          machine: page.machine(of: record, number: page.detailed))
        try page.write(article.markup(capacity: &page.capacity))
        return true
      }
      if !isList { try page.write(Self.listStart(shown)) }
      isList = true
      guard let row = try page.row(entry, suite, shown) else { return true }
      try page.write(row)
      rows += 1
      return rows < Self.maximumFailedRows
    }
    if isList { try write("</tbody></table></div>\n") }
    if rows == Self.maximumFailedRows {
      try write("<p class=\"note\">And more, which the journal has.</p>\n")
    }
    try write("</section>\n")
  }

  /// The heading of an ending's section, with a note on all of its cases.
  private func heading(_ shown: Record.Ending) -> (title: Markup, note: Markup) {
    switch shown {
    case .unmet: ("Not as expected", "Model and device agree; the scenario asks for more.")
    case .labFault: ("Lab faults", "The lab failed, which says nothing of the device.")
    case .flaky: ("Flaky", "Model and device agreed in the end, but not at the first try.")
    case .incomplete: ("Not completed", "Started, but ended without a verdict.")
    default: ("Divergences", "")
    }
  }

  private static func listStart(_ shown: Record.Ending) -> Markup {
    """
    <p class="note">The others, a line each.</p>
    <div class="scroll" role="region" tabindex="0" aria-label="More cases: \(shown.presentation.label)">\
    <table class="cases"><thead><tr><th scope="col">case</th><th scope="col">where</th>\
    <th scope="col" class="num">time</th></tr></thead><tbody>

    """
  }

  /// A case that agreed, with its folded trace as long as there is room for it.
  private mutating func agreedRow(
    _ entry: JournalIndex.Entry, _ suite: String
  ) throws(FileFault) -> Markup? {
    guard capacity.agreed > 0, let record = try reader.record(entry, of: suite) else {
      return try row(entry, suite, .agreed)
    }
    agreedTraces += 1
    let timeline = HTMLTimeline(attempt: record.last, id: "agreed-\(agreedTraces)")
    let past = past(record).map { HTMLHistory(history: $0, milliseconds: record.milliseconds).strip } ?? ""
    return row(entry, record.start, .agreed, trace: past + timeline.short(capacity: &capacity.agreed))
  }

  /// A case in one line.
  private func row(
    _ entry: JournalIndex.Entry, _ suite: String, _ shown: Record.Ending
  ) throws(FileFault) -> Markup? {
    try reader.start(entry).map { row(entry, $0, shown) }
  }

  private func row(
    _ entry: JournalIndex.Entry, _ start: Record.Case, _ shown: Record.Ending, trace: Markup? = nil
  ) -> Markup {
    let file = [start.file, start.line.map(String.init)].compactMap(\.self).joined(separator: ":")
    let name: Markup = """
      <span aria-hidden="true">\(shown.presentation.badge)</span> \
      \(clipped(caseTitle(of: start, copy: entry.copy), toBytes: 300))
      """
    // A trace is no header of a row.
    let head: Markup =
      trace.map {
        "<td class=\"name\"><details class=\"trace\"><summary>\(name)</summary>\n\($0)</details></td>"
      }
      ?? "<th scope=\"row\">\(name)</th>"
    return """
      <tr class="item \(shown.presentation.key)" \(filterData(start, shown))>\(head)\
      <td>\(clipped(file, toBytes: 300))</td><td class="num">\(spoken(entry.milliseconds))</td></tr>

      """
  }

  /// Writes the reasons of skipped cases, with the cases of each.
  private mutating func writeSkipped() throws(FileFault) {
    guard counts[shown: .skipped] > 0 else { return }
    var reasons: [(text: String, count: Int, rows: [Markup])] = []
    var numbers: [String: Int] = [:]
    var seen = 0
    try forEach(.skipped) { (page, entry, suite) throws(FileFault) in
      guard let record = try page.reader.record(entry, of: suite) else { return true }
      let text = clipped(record.last.message, toBytes: 400)
      let number = numbers[text] ?? (reasons.count < 200 ? reasons.count : 199)
      if number == reasons.count { reasons.append((text, 0, [])) }
      numbers[text] = number
      reasons[number].count += 1
      if reasons[number].rows.count < 200, page.listed < Self.maximumRows,
        let row = try page.row(entry, suite, .skipped)
      {
        reasons[number].rows.append(row)
        page.listed += 1
      }
      seen += 1
      return seen < Self.maximumReasoned
    }
    let part =
      seen < counts[shown: .skipped]
      ? "<p class=\"note\">The reasons of the first \(grouped(seen)).</p>\n" : "" as Markup
    let items = reasons.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
      .map(\.element).markup { reason in
        let more = reason.count - reason.rows.count
        let note: Markup = more > 0 ? "<p class=\"note\">and \(grouped(more)) more</p>" : ""
        return """
          <details class="suite"><summary><span class="count">\(grouped(reason.count))</span> \(reason.text)</summary>
          \(scrolling("Cases that were skipped", "<table class=\"cases\"><tbody>\(reason.rows.joined())</tbody></table>"))\
          \(note)</details>

          """
      }
    try write(
      """
      <section id="skipped" aria-labelledby="skipped-title"><h2 id="skipped-title">– Skipped \
      <span class="count">\(grouped(counts[shown: .skipped]))</span></h2>
      \(part)\(items)</section>

      """)
  }

  /// Writes the cases that agreed, folded by suite; each has a line unless there are too many.
  private mutating func writeAgreed() throws(FileFault) {
    guard counts[shown: .agreed] > 0 else { return }
    try write(
      """
      <section id="agreed" aria-labelledby="agreed-title"><h2 id="agreed-title">✔ Agreed \
      <span class="count">\(grouped(counts[shown: .agreed]))</span></h2>

      """)
    var (suites, hidden) = (0, 0)
    for suite in index.suites {
      let entries = suite.entries.filter { $0.ending?.shown == .agreed }
      if entries.isEmpty { continue }
      suites += 1
      if suites > Self.maximumRows {
        hidden += entries.count
        continue
      }
      var rows = Markup()
      let shown = entries.prefix(max(0, Self.maximumRows - listed))
      for entry in shown { rows += try agreedRow(entry, suite.name) ?? "" }
      listed += shown.count
      let name = clipped(suite.name, toBytes: 300)
      let count = grouped(entries.count)
      if shown.isEmpty {
        try write("<p class=\"suite\"><span class=\"count\">\(count)</span> \(name)</p>\n")
        continue
      }
      let more = entries.count - shown.count
      let note: Markup = more > 0 ? "<p class=\"note\">and \(grouped(more)) more</p>" : ""
      try write(
        """
        <details class="suite"><summary><span class="count">\(count)</span> \(name)</summary>
        \(scrolling(name, "<table class=\"cases\"><tbody>\(rows)</tbody></table>"))\(note)</details>

        """)
    }
    if hidden > 0 { try write("<p class=\"note\">and \(grouped(hidden)) in other suites</p>\n") }
    try write("</section>\n")
  }
}

// MARK: - Machines and timings

extension HTMLPage {
  private mutating func writeMachines() throws(FileFault) {
    guard !machines.isEmpty else { return }
    try write(
      "<section id=\"machines\" aria-labelledby=\"machines-title\"><h2 id=\"machines-title\">Machines</h2>\n")
    for (number, machine) in machines.enumerated() {
      let coverage = index.coverage.first { $0.machine == machine.name }
      let divergences = divergences[number] ?? []
      try write(
        HTMLMachine(visits: MachineVisits(machine, coverage), number: number + 1, divergences: divergences)
          .markup)
    }
    try write("</section>\n")
  }

  private mutating func writeTimings() throws(FileFault) {
    var latencies = Latencies()
    let stride = max(1, (counts.ended + Self.maximumTimed - 1) / Self.maximumTimed)
    var (number, sampleSize) = (0, 0)
    for suite in index.suites {
      for entry in suite.entries where entry.ending != nil && entry.ending?.shown != .skipped {
        defer { number += 1 }
        guard number.isMultiple(of: stride) else { continue }
        if let record = try reader.record(entry, of: suite.name) { latencies.add(record) }
        sampleSize += 1
      }
    }
    latencies.finish()
    try write(HTMLTimings(latencies: latencies, slowest: try slowest(), sample: (sampleSize, number)).markup)
  }

  private mutating func slowest() throws(FileFault) -> [HTMLTimings.Slow] {
    var slowest: [(entry: JournalIndex.Entry, suite: String)] = []
    for suite in index.suites {
      for entry in suite.entries where entry.ending != nil && entry.milliseconds > 0 {
        if slowest.count == 10, slowest[9].entry.milliseconds >= entry.milliseconds { continue }
        let position = slowest.firstIndex { $0.entry.milliseconds < entry.milliseconds } ?? slowest.count
        slowest.insert((entry, suite.name), at: position)
        if slowest.count > 10 { slowest.removeLast() }
      }
    }
    var rows: [HTMLTimings.Slow] = []
    for (entry, suite) in slowest {
      guard let start = try reader.start(entry) else { continue }
      let name = caseName(of: start, copy: entry.copy)
      rows.append(
        HTMLTimings.Slow(
          name: caseTitle(of: start, copy: entry.copy), suite: suite, milliseconds: entry.milliseconds,
          history: past(suite, name, nil, entry.milliseconds)))
    }
    return rows
  }
}

/// A failed case in three lines: the case, the reason and the replay command.
private func failureSummary(_ record: CaseRecord, _ shown: Record.Ending, number: Int) -> Markup {
  let replay = record.verdict?.replay.map(copied) ?? ""
  return """
    <li class="\(shown.presentation.key)"><a href="#case-\(number)"><span aria-hidden="true">\(shown.presentation.badge)</span> \
    \(clipped(record.title, toBytes: 200))</a> <code>\(clipped(record.place, toBytes: 200))</code>
    <p>\(clipped(record.last.message, toBytes: 300))</p>
    \(replay)</li>

    """
}
