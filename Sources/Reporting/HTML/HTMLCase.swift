import Basics
import Journal
import System

/// A case with all its details.
struct HTMLCase {
  let record: CaseRecord
  let shown: Record.Ending
  /// The number of the case in the page, from 1.
  let number: Int
  let history: CaseHistory?
  /// The path from the folder of the page to the folder of the journal, ending with a slash unless empty.
  let link: String
  /// The scenario and its text, or why that is not shown.
  let scenario: (file: String, text: ScenarioTexts.Finding)?
  /// The model with its number in the page, if the journal has it.
  let machine: (number: Int, machine: Record.Machine)?

  private var id: String { "case-\(number)" }
  private static let (longestName, longestMessage) = (300, 4 << 10)

  /// The case as an article; long parts are omitted if the page has no room for them.
  func markup(capacity: inout PageCapacity) -> Markup {
    let verdict = record.verdict
    let isTriedAgain = record.attempts.count > 1
    // Of a flaky case the failed attempts are of interest.
    let first = isTriedAgain ? record.attempts.firstIndex { $0.verdict?.word != .agree } ?? 0 : 0
    let hasAgreed = record.last.verdict?.word == .agree
    let mainAttempt = isTriedAgain && hasAgreed ? record.attempts[first] : record.last
    var result: Markup = """
      <article class="case item \(shown.presentation.key)" id="\(id)" \(filterData(record.start, shown))>
      <header class="head"><h3 tabindex="-1">\(shown.badge) \(clipped(record.title, toBytes: Self.longestName))</h3>
      <p class="where">\(place)</p>
      <p class="message">\(clipped(mainAttempt.message, toBytes: Self.longestMessage))</p>\(sentence(mainAttempt))</header>

      """
    if let replay = verdict?.replay ?? mainAttempt.verdict?.replay { result += copied(replay) }
    result +=
      "<div class=\"facts\">" + comparison(mainAttempt) + variables(mainAttempt)
      + (history.map(past) ?? "") + "</div>\n"
    result += source(mainAttempt) + neighbourhood(mainAttempt)
    if isTriedAgain { result += attempts }
    result += problems(mainAttempt)
    let heading: Markup = isTriedAgain ? "<h4>Try \(mainAttempt.start.attempt)</h4>\n" : ""
    let lists = packets(of: mainAttempt, &capacity)
    var timeline = HTMLTimeline(attempt: mainAttempt, id: id)
    timeline.ties = PacketTies(lists, timeline, capacity: capacity.rows)
    result += heading + timeline.markup(capacity: &capacity.rows)
    for (number, list) in lists.enumerated() {
      result += list.markup(id: "\(id)-p\(number)", rows: timeline.ties.packets[number])
    }
    for attempt in record.attempts where isTriedAgain && attempt.start.attempt != mainAttempt.start.attempt {
      result += other(attempt, &capacity)
    }
    result += details(mainAttempt) + attachments
    return result + "</article>\n"
  }

  /// The place of the case, and its parameters.
  private var place: Markup {
    let start = record.start
    var parts: [Markup] = []
    if !record.place.isEmpty { parts.append("<code>\(short(record.place))</code>") }
    if let step = record.verdict?.step { parts.append("step \(step)") }
    if let time = record.verdict?.time { parts.append("t = \(short(time.description))") }
    let named: [(Markup, String?)] = [
      ("machine", start.machine), ("model", start.model), ("device", start.device),
      ("firmware", start.firmware),
      ("seed", start.seed.map { String($0) }),
    ]
    for (name, value) in named {
      if let value { parts.append("\(name) <span class=\"val\">\(short(value))</span>") }
    }
    parts += start.tags.prefix(20).map { "<span class=\"tag\">\(short($0))</span>" }
    return parts.joined(separator: " <span class=\"dot\">·</span> ")
  }

  private func short(_ text: String) -> String { clipped(text, toBytes: 200) }

  /// The failure as a sentence.
  private func sentence(_ attempt: CaseAttempt) -> Markup {
    attempt.verdict?.sentence.map {
      "\n<p class=\"aloud\">\(clipped($0, toBytes: Self.longestMessage))</p>"
    } ?? ""
  }

  /// The text of the scenario, or why it is not shown.
  private func source(_ attempt: CaseAttempt) -> Markup {
    switch scenario?.text {
    case .lines(let lines)?:
      HTMLScenario(
        file: scenario?.file ?? "", lines: lines, line: attempt.verdict?.line, message: attempt.message,
        sign: "\(shown.presentation.badge)"
      ).markup
    case .withheld(let why)?:
      "<p class=\"note\">The scenario <code>\(short(scenario?.file ?? ""))</code> \(why).</p>\n"
    case nil: ""
    }
  }

  /// The states around the divergence: a drawing, or a link to that of the machine, where they are marked.
  private func neighbourhood(_ attempt: CaseAttempt) -> Markup {
    if let machine, HTMLMachine.isDrawnWhole(machine.machine),
      !record.divergenceStates(in: machine.machine).isEmpty
    {
      return """
        <p class="note"><a href="#machine-\(machine.number)">Where in the machine it diverged</a></p>

        """
    }
    guard let graph = HTMLGraph(attempt, machine?.machine, id: "\(id)-graph") else { return "" }
    return """
      <details class="drawing" open><summary>Where it diverged</summary>
      \(graph.markup)</details>

      """
  }

  // MARK: Allowed observations

  /// The observations that each state allows, beside the actual one.
  private func comparison(_ attempt: CaseAttempt) -> Markup {
    guard let verdict = attempt.verdict else { return "" }
    if !verdict.unmet.isEmpty { return expectations(verdict) }
    let isSeen = verdict.seen != nil || verdict.expected != nil || !verdict.allowed.isEmpty
    guard isSeen else { return "" }
    let observed = short(verdict.seen ?? "nothing")
    let rows: Markup
    if verdict.allowed.isEmpty {
      rows =
        "<tr><td colspan=\"2\"></td><td><span class=\"chip want\">\(short(verdict.expected ?? ""))</span></td></tr>"
    } else {
      rows = verdict.allowed.prefix(40).markup { allowed in
        """
        <tr><td>\(short(allowed.state))</td><td>\(short(allowed.cause ?? "–"))</td>\
        <td><span class="chip want">\(short(allowed.shows))</span></td></tr>

        """
      }
    }
    let more = verdict.allowed.count - 40
    let note: Markup = more > 0 ? "<p class=\"note\">and \(counted(more, "more state"))</p>" : ""
    return """
      <div class="allowed"><h4>Allowed and seen</h4>\(scrolling("What the model allowed against what was seen", """
        <table><thead><tr><th scope="col">in state</th><th scope="col">after</th><th scope="col">allowed</th></tr></thead>
        <tbody>\(rows)</tbody>
        <tfoot><tr class="seen"><th scope="row" colspan="2">seen</th>\
        <td><span class="chip bad">✘ \(observed)</span></td></tr></tfoot></table>
        """))\(note)\(verdict.rule.map { broken($0, verdict.breach) } ?? "")\
      \(verdict.injected.map(injected) ?? "")</div>

      """
  }

  /// What the model held possible of its variables where model and device differ.
  private func variables(_ attempt: CaseAttempt) -> Markup {
    let entries = attempt.moments.variables.entries
    guard attempt.verdict?.word.isFailed == true, !entries.isEmpty else { return "" }
    let rows = entries.prefix(40).markup { entry in
      """
      <tr><td>\(short(entry.variable.name))</td><td><span class="value">\(entry.variable.text(to: 300))</span></td>\
      <td>\(entry.since.description)</td></tr>

      """
    }
    let more = entries.count - 40
    let note: Markup = more > 0 ? "<p class=\"note\">and \(counted(more, "more variable"))</p>" : ""
    return """
      <div class="variables"><h4>Variables of the model then</h4>\(scrolling("Variables of the model at the end", """
        <table><thead><tr><th scope="col">variable</th><th scope="col">value</th><th scope="col">since</th></tr></thead>
        <tbody>\(rows)</tbody></table>
        """))\(note)</div>

      """
  }

  /// The expectations of the scenario beyond the model, and the actual values.
  private func expectations(_ verdict: Record.Verdict) -> Markup {
    let rows = verdict.unmet.prefix(40).markup { item in
      """
      <tr><td>\(short(item.what))</td><td><span class="chip want">− \(short(item.expected))</span></td>\
      <td><span class="chip bad">+ \(short(item.seen))</span></td></tr>

      """
    }
    return """
      <div class="allowed"><h4>Expected and seen</h4>\(scrolling("What was expected against what was seen", """
        <table><thead><tr><th scope="col">what</th><th scope="col">− expected</th><th scope="col">+ seen</th></tr></thead>
        <tbody>\(rows)</tbody></table>
        """))\(verdict.injected.map(injected) ?? "")</div>

      """
  }

  /// The protocol rule that the device violated, with the packet.
  private func broken(_ rule: String, _ breach: Record.Breach) -> Markup {
    let subject: Markup = breach.subject.map { " of \(short($0))" } ?? ""
    let packet: Markup =
      breach.packet.map { bytes in
        let sender: Markup = breach.sender.map { " of the \(short($0.rawValue))" } ?? ""
        return ", packet\(sender) <code>\(clipped(bytes, toBytes: 600))</code>"
      } ?? ""
    return "<p class=\"note\">Rule <code>\(short(rule))</code>\(subject)\(packet)</p>"
  }

  /// The last input that no client sends, with the right behaviour.
  private func injected(_ action: Record.InjectedAction) -> Markup {
    """
    <p class="note">Sent by the tester at \(short(action.time.description)), <code>\(short(action.kind))</code>: \
    \(short(action.sent)). A correct device \(short(action.reaction)) it.</p>
    """
  }

  private func past(_ history: CaseHistory) -> Markup {
    HTMLHistory(history: history, milliseconds: record.milliseconds).markup
  }

  // MARK: Attempts

  private var attempts: Markup {
    let rows = record.attempts.prefix(100).markup { attempt in
      """
      <li>Try \(attempt.start.attempt): \((attempt.verdict?.attemptEnding ?? .incomplete).badge) \
      \(clipped(attempt.message, toBytes: 300))\(attempt.verdict?.time.map { " after \(short($0.description))" } ?? "")</li>

      """
    }
    return "<h4>\(counted(record.attempts.count, "try", "tries"))</h4>\n<ul class=\"tries\">\(rows)</ul>\n"
  }

  private func other(_ attempt: CaseAttempt, _ capacity: inout PageCapacity) -> Markup {
    guard capacity.rows > 0 else { return "" }
    let timeline = HTMLTimeline(attempt: attempt, id: "\(id)-\(attempt.start.attempt)")
    let lists = packets(of: attempt, &capacity).enumerated().map { number, list in
      list.markup(id: "\(timeline.id)-p\(number)", rows: [])
    }
    return """
      <details><summary>Timeline of try \(attempt.start.attempt)</summary>
      \(timeline.markup(capacity: &capacity.rows))\(lists.joined())</details>

      """
  }

  // MARK: Other details

  private func problems(_ attempt: CaseAttempt) -> Markup {
    attempt.problems.prefix(20).markup { "<p class=\"note bad\">\("\($0)") of the journal</p>\n" }
  }

  private func details(_ attempt: CaseAttempt) -> Markup {
    guard let details = attempt.verdict?.details, !details.isEmpty else { return "" }
    var text = HeadAndTail(limit: 16 << 10)
    for detail in details { text.append(detail + "\n") }
    return """
      <details><summary>As the comparison says it</summary>
      \(scrolling("Details", "<pre>\n\(text.text)</pre>"))</details>

      """
  }

  /// The packets that its verdict names.
  private func packets(of attempt: CaseAttempt, _ capacity: inout PageCapacity) -> [HTMLPackets] {
    let files = (attempt.verdict?.attachments ?? []).filter { $0.kind == "packets" }
    var result: [HTMLPackets] = []
    for file in files.prefix(4) {
      // Only files in the folder of the run are read.
      let isInside = !file.path.hasPrefix("/") && !file.path.split(separator: "/").contains("..")
      let path = "\(record.folder)/\(file.path)"
      guard isInside, let size = sizeOfFile(path), size <= capacity.bytes else { continue }
      capacity.bytes -= size
      var list = HTMLPackets(path: path)
      list.take(from: &capacity.packets)
      result.append(list)
    }
    return result
  }

  private var attachments: Markup {
    let files = record.attempts.flatMap { $0.verdict?.attachments ?? [] }.prefix(50)
    guard !files.isEmpty else { return "" }
    let links = files.markup { file in
      let target = file.path.hasPrefix("/") ? file.path : link + file.path
      return
        "<li><a href=\"\(reference(target))\">\(short(file.path))</a> <span class=\"kind\">\(short(file.kind))</span></li>\n"
    }
    return "<p class=\"label\">Files</p><ul class=\"files\">\(links)</ul>\n"
  }
}

/// The remaining capacity of a page.
struct PageCapacity {
  /// Rows of timelines.
  var rows = 40_000
  /// Rows in timelines of cases that agreed, which are rarely read.
  var agreed = 5_000
  var packets = 20_000
  /// Bytes of scenarios.
  var sources = 2 << 20
  /// Bytes of decoded captures that may still be read.
  var bytes = 128 << 20
}

/// A command with a button that copies it.
package func copied(_ command: String) -> Markup {
  """
  <div class="replay"><code>\(clipped(command, toBytes: 2 << 10))</code><button type="button" class="copy" hidden>Copy</button></div>

  """
}

/// The data attributes for filters.
func filterData(_ start: Record.Case, _ shown: Record.Ending) -> Markup {
  let tags = start.tags.prefix(20).map { clipped($0, toBytes: 60) }.joined(separator: "\n")
  return """
    data-outcome="\(shown.presentation.key)" data-machine="\(clipped(start.machine ?? "", toBytes: 100))" data-tags="\(tags)"
    """
}

/// A path as a reference that can only lead to a file, without a scheme, a host or a script.
package func reference(_ path: String) -> String {
  var result = percentEncoded(path, leaving: "/")
  // Two leading slashes would name a host.
  while result.hasPrefix("//") { result.removeFirst() }
  return result.hasPrefix("/") || result.hasPrefix(".") ? result : "./" + result
}
