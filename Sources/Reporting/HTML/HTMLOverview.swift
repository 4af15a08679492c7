import Basics
import Journal

/// The head of a page: the result of the run, first as text.
struct HTMLOverview {
  let index: JournalIndex
  let manifest: Manifest
  let counts: Tally
  /// The sum of the times of all cases.
  let milliseconds: Int64
  /// The earlier runs.
  let past: [HistoryRun]

  /// The severity of the result.
  private enum Severity { case good, fair, bad }

  private var isIncomplete: Bool {
    index.tally.includes(.incomplete) || index.tally.tooLittle != nil || missing > 0
  }

  /// The number of planned cases that were not begun.
  private var missing: Int { index.missing.cases }

  private var severity: Severity {
    switch index.tally.exitStatus {
    case .agree: counts[shown: .flaky] > 0 ? .fair : .good
    case .nothingSelected: .fair
    case .divergence, .usage, .labFault, .incomplete, .safetyLimit, .internalFault: .bad
    }
  }

  /// The result of the run as far as its cases do not show it.
  private var prefix: String {
    let tally = index.tally
    if isIncomplete { return "Incomplete: " }
    return switch tally.exitStatus {
    case .safetyLimit where tally[.limited] == 0: "Stopped by a safety limit: "
    case .labFault where tally[.labFault] == 0: "Trouble in the lab: "
    case .divergence where tally.count(as: .failed) == 0: "A divergence: "
    case .usage: "Not understood: "
    case .internalFault: "A fault of Lockstep: "
    case .agree, .divergence, .labFault, .nothingSelected, .incomplete, .safetyLimit: ""
    }
  }

  /// The counts without campaigns and their findings.
  private var tests: Tally {
    guard !index.campaigns.isEmpty else { return counts }
    var tests = counts
    for caseIndex in index.campaigns.compactMap(\.caseIndex) + index.findings.compactMap(\.caseIndex) {
      if let ending = index.entry(caseIndex).ending { tests[ending] -= 1 }
    }
    return tests
  }

  /// Whether there are only campaigns: then findings are counted instead of cases.
  var isCampaign: Bool { !index.campaigns.isEmpty && tests.ended == 0 }

  /// The number of events in campaigns.
  private var events: Int { index.campaigns.map(\.status.events).reduce(0, addedUp) }

  /// The result of campaigns: `2 findings in 1.1 million events`. Findings without a verdict are stated
  /// separately.
  private var campaignWords: String {
    let (sure, all) = (index.confirmed.count, index.findings.count)
    return
      "\(EndingCount.Found(confirmed: sure, unconfirmed: all - sure).words) in \(rounded(events)) event\(events == 1 ? "" : "s")"
  }

  /// The verdict of the run as text.
  var headline: String {
    if isCampaign {
      let (words, faults) = (campaignWords, counts[shown: .labFault])
      return (prefix.isEmpty ? words.prefix(1).uppercased() + words.dropFirst() : prefix + words)
        + (faults > 0 ? ", the lab failed \(grouped(faults))" : "")
    }
    let words = headline(tests)
    return prefix + words
      + (index.campaigns.isEmpty ? "" : ", " + campaignWords)
  }

  private func headline(_ counts: Tally) -> String {
    let all = counted(counts.ended, "case")
    var parts: [String] = []
    if counts[shown: .diverged] > 0 {
      parts.append("\(grouped(counts[shown: .diverged])) of \(all) diverged")
    }
    if counts[shown: .unmet] > 0 {
      let some = grouped(counts[shown: .unmet])
      parts.append(parts.isEmpty ? "\(some) of \(all) not as expected" : "\(some) not as expected")
    }
    if counts[shown: .labFault] > 0 {
      parts.append(
        parts.isEmpty
          ? "The lab failed \(grouped(counts[shown: .labFault])) of \(all)"
          : "the lab failed \(grouped(counts[shown: .labFault]))")
    }
    if parts.isEmpty {
      switch (counts.verdicts, counts.ended) {
      case (_, 0): parts.append("No case was run")
      case (0, _): parts.append("No case has a verdict")
      case (let judged, let all) where isIncomplete:
        parts.append("No divergence in \(grouped(judged)) of \(counted(all + missing, "case"))")
      case (1, 1): parts.append("The case agrees")
      case (let judged, let all) where judged == all: parts.append("All \(counted(all, "case")) agree")
      case (let judged, _): parts.append("All \(counted(judged, "case")) that were tried agree")
      }
    }
    if counts[shown: .flaky] > 0 { parts.append("\(grouped(counts[shown: .flaky])) flaky") }
    return parts.joined(separator: ", ")
  }

  var title: String { [headline, manifest.name].compactMap(\.self).joined(separator: " – ") }

  var header: Markup {
    let name: Markup = severity == .good ? "good" : severity == .fair ? "fair" : "bad"
    return """
      <header class="page \(name)"><p class="brand">Lockstep \(manifest.name.map { "· " + clipped($0, toBytes: 300) } ?? "")\
      \(manifest.moment.map { " · " + spoken(moment: $0) } ?? "")</p>
      <h1>\(headline)</h1>
      \(incompleteWords)\(bar)\(chipsOfCounts)\(strip)</header>

      """
  }

  private var strip: Markup {
    HTMLStrip(past).markup("The \(counted(past.count, "run")) before this one, the oldest first")
  }

  private var incompleteWords: Markup {
    guard isIncomplete else { return "" }
    var sentences: [String] = []
    if missing > 0 { sentences.append("\(counted(missing, "case was", "cases were")) never begun.") }
    if counts[shown: .incomplete] > 0 {
      sentences.append(
        "\(counted(counts[shown: .incomplete], "case was", "cases were")) not completed.")
    }
    let damage = index.problems.count { $0.status == nil }
    if damage > 0 {
      sentences.append(
        damage == 1
          ? "The journal is damaged or stops early." : "There are \(damage) problems with the journals.")
    }
    return """
      <p class="alarm"><strong>◌ This report is not the whole story.</strong> \(sentences.joined(separator: " "))</p>

      """
  }

  private var bar: Markup {
    guard counts.ended > 0, !isCampaign else { return "" }
    let width = 1000
    var x = 0
    let parts = Record.Ending.allShown.filter { counts[shown: $0] > 0 }
    let pieces = parts.markup { shown in
      // Every share must be visible, however small.
      let share = max(4, counts[shown: shown] * (width - 4 * parts.count) / counts.ended)
      defer { x += share }
      return "<rect class=\"\(shown.presentation.key)\" x=\"\(x)\" y=\"0\" width=\"\(share)\" height=\"10\"/>"
    }
    return """
      <svg class="bar" role="img" viewBox="0 0 \(x) 10" preserveAspectRatio="none"><title>\(spokenCounts)</title>\
      \(pieces)</svg>

      """
  }

  private var spokenCounts: String {
    Record.Ending.allShown.filter { counts[shown: $0] > 0 }.map {
      "\(grouped(counts[shown: $0])) \($0.presentation.label)"
    }
    .joined(separator: ", ")
  }

  private var chipsOfCounts: Markup {
    if isCampaign { return chipsOfCampaigns }
    let items = Record.Ending.allShown.filter { counts[shown: $0] > 0 }.markup { shown in
      """
      <li class="\(shown.presentation.key)"><a href="#\(shown.presentation.key)"><b>\(grouped(counts[shown: shown]))</b> \
      <span>\(shown.presentation.badge) \(shown.presentation.label)</span></a></li>

      """
    }
    return """
      <ul class="counts">
      \(items)<li><b>\(grouped(counts.ended))</b> <span>in all, \(spoken(milliseconds)) of device time</span></li></ul>

      """
  }

  private var chipsOfCampaigns: Markup {
    let statuses = index.campaigns.map(\.status)
    let findings = index.confirmed.count
    let time = statuses.reduce(Int64(0)) { addedUp($0, $1.lockTime.nanoseconds / 1_000_000) }
    let presentation = Record.Ending.diverged.presentation
    let found: Markup =
      findings == 0
      ? ""
      : "<li class=\"\(presentation.key)\"><a href=\"#\(presentation.key)\"><b>\(grouped(findings))</b> <span>\(presentation.badge) found</span></a></li>\n"
    return """
      <ul class="counts">
      \(found)<li><b>\(grouped(statuses.map(\.tests).reduce(0, addedUp)))</b> <span>tests</span></li>
      <li><b>\(grouped(events))</b> <span>events, \(spoken(time)) of device time</span></li></ul>

      """
  }

  // MARK: The run

  /// The properties of the run, the findings of campaigns, and how the lab was left.
  var summary: Markup {
    """
    <section id="run" aria-labelledby="run-title"><h2 id="run-title">The run</h2>
    <dl class="properties">\(properties)</dl>
    \(findings)\(diagnostics)</section>

    """
  }

  /// The problems of the journals, because of which all that follows is incomplete.
  var problems: Markup {
    let remarks = index.remarks
    guard !remarks.isEmpty else { return "" }
    let items = remarks.prefix(100).markup { "<li>\(clipped("\($0)", toBytes: 1000))</li>\n" }
    return """
      <section id="problems" class="alarm" aria-labelledby="problems-title">
      <h2 id="problems-title">\(remarks.contains { $0.status == nil } ? "What is wrong with the journal" : "What the run ended with")</h2><ul>\(items)</ul></section>

      """
  }

  private var properties: Markup {
    var members: [(String, String)] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { members.append((name, value)) }
    }
    add("run", manifest.name)
    add("host", manifest.host)
    add("start", manifest.moment.map(spoken(moment:)))
    add("version", manifest.version)
    add("seed", joined(index.runs.map { $0.seed.map { String($0) } }))
    if index.sources.count > 1 { add("journals", grouped(index.sources.count)) }
    let statuses = index.statuses.map { $0.map { "\($0)" } ?? "none: it did not end" }
    if !statuses.isEmpty { add("exit status", statuses.prefix(20).joined(separator: ", ")) }
    for property in manifest.properties.prefix(100) { add(property.name, property.value.words) }
    let short = members.markup { name, value in
      "<div><dt>\(clipped(name, toBytes: 100))</dt><dd>\(clipped(value, toBytes: 1000))</dd></div>\n"
    }
    guard let command = manifest.command.first, !command.isEmpty else { return short }
    // A command is long, and is to be copied.
    return """
      \(short)<div class="wide"><dt>command</dt><dd><code>\(clipped(command, toBytes: 1000))</code></dd></div>

      """
  }

  /// How often a finding was reproduced: `3 of 3 (likelihood ratio 729)`.
  private static func words(_ confirmation: Record.Finding.Confirmation) -> String {
    let (shown, runs, ratio) = (confirmation.shown, confirmation.runs, confirmation.likelihoodRatio)
    let word = confirmation.verdict == "confirmed" ? "reproduced" : confirmation.verdict
    guard runs > 0, ratio > 0 else { return word }
    let weight = ratio >= 1 ? whole(ratio) : "1/" + whole(1 / ratio)
    return "\(word) \(shown) of \(runs) (likelihood ratio \(weight))"
  }

  private static func whole(_ ratio: Double) -> String {
    Int(exactly: ratio.rounded()).map(grouped) ?? "\(ratio)"
  }

  private var findings: Markup {
    guard !index.findings.isEmpty else { return "" }
    let rows = index.findings.prefix(200).markup { found in
      let finding = found.finding
      return """
        <tr><th scope="row">\(clipped(finding.summary, toBytes: 400))</th><td class="num">\(finding.shortest)</td>\
        <td>\(finding.confirmation.map(Self.words) ?? "–")</td><td><code>\(clipped(finding.file ?? "–", toBytes: 300))</code></td></tr>

        """
    }
    return """
      <h3>What the campaign found <span class="count">\(grouped(index.findings.count))</span></h3>
      \(scrolling("Findings", """
        <table><thead><tr><th scope="col">finding</th><th scope="col" class="num">events</th>\
        <th scope="col">shown again</th><th scope="col">scenario</th></tr></thead>
        <tbody>\(rows)</tbody></table>
        """))
      """
  }

  private var diagnostics: Markup {
    guard !index.diagnostics.isEmpty else { return "" }
    return """
      <h3>What the lab says</h3>
      <ul>\(index.diagnostics.prefix(100).markup { "<li>\(clipped($0, toBytes: 1000))</li>\n" })</ul>

      """
  }
}

/// A rounded number: `3,057`, `1.1 million`.
private func rounded(_ number: Int) -> String {
  guard number >= 1_000_000 else { return grouped(number) }
  let (words, unit) = number < 1_000_000_000 ? ("million", 1_000_000) : ("billion", 1_000_000_000)
  let tenths = number / (unit / 10)
  return "\(grouped(tenths / 10))\(tenths % 10 == 0 ? "" : ".\(tenths % 10)") \(words)"
}

/// A sum of untrusted numbers from a journal, without overflow.
private func addedUp<Number: FixedWidthInteger>(_ sum: Number, _ next: Number) -> Number {
  let (value, isTooLarge) = sum.addingReportingOverflow(next)
  return isTooLarge ? .max : value
}
