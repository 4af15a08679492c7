import Basics
import Journal
import System

/// The name of a suite, and what the elements of its cases begin with, up to their own names.
struct JUnitSuiteName {
  let text: String
  let opening: XMLBuffer

  init(_ text: String) {
    self.text = text
    var xml = XMLBuffer()
    xml.add("    <testcase")
    xml.attribute("classname", text)
    xml.add(" name=\"")
    opening = xml
  }
}

/// Renders test cases for one profile.
struct JUnitCaseRenderer {
  let profile: JUnitProfile
  /// The folders of the journals' runs, as written in attachments.
  let folders: [String]
  /// The saved tests of findings, by the cases that show them.
  let saved: [JournalIndex.Place: String]

  /// The maximum length of `message`, in bytes; the text of the element is complete.
  private static let longestMessage = 4 << 10
  /// The maximum number of files of a case.
  private static let attachmentLimit = 32

  /// Adds a test case to a suite.
  ///
  /// - Parameter output: receives text without a place in the element, for the output of the suite.
  func add(
    _ entry: JournalIndex.Entry, from source: JournalSource, suite: JUnitSuiteName, to xml: inout XMLBuffer,
    output: inout XMLBuffer
  ) throws(FileFault) {
    // Most cases need only the data of their first line, and nothing else is built for them.
    if entry.hasAgreed, entry.attempts == 1, !entry.hasDiagnostics,
      try source.reader.readStart(entry, { addHead(of: $0, entry, $1, suite, to: &xml) }) != nil
    {
      return xml.add("    </testcase>\n")
    }
    guard let texts = try source.texts(of: entry), let start = texts.attempts.first?.start else { return }
    let outcome = CaseOutcome(entry, texts)
    let line = Array(Record.begin(start).line().utf8)
    guard let scan = JournalHeaderScan.Start(line.span) else {
      preconditionFailure("a line that we write is one that we read")
    }
    addHead(of: scan, entry, line.span, suite, Addition(outcome.main, start, entry), to: &xml)
    if profile.hasCaseOutput {
      add(outcome, entry, to: &xml)
    } else {
      addStrictly(
        outcome, entry, name: suite.text + "." + caseName(of: start, copy: entry.copy), &xml, &output)
    }
    xml.add("    </testcase>\n")
  }

  /// The data of a case beyond its first line.
  private struct Addition {
    /// The line of the scenario where it ended.
    var line: Int?
    var properties: [(name: String, value: String?)]

    init(_ main: CaseText, _ start: Record.Case, _ entry: JournalIndex.Entry) {
      line = main.line
      let (verdict, breach) = (main.verdict, main.verdict?.breach)
      properties = [
        ("lease", start.lease.map { String($0) }),
        ("attempts", entry.attempts > 1 ? String(entry.attempts) : nil), ("violation", verdict?.rule),
        ("violation.of", breach?.subject), ("violation.packet", breach?.packet),
        ("violation.from", breach?.packet == nil ? nil : breach?.sender?.rawValue),
        ("injected", verdict?.injected?.kind), ("injected.sent", verdict?.injected?.sent),
        ("injected.obeyed", verdict?.injected.map { $0.isObeyed ? "yes" : "unknown" }),
      ]
    }
  }

  /// Adds the common attributes of all cases: name, place, duration and parameters.
  private func addHead(
    of start: JournalHeaderScan.Start, _ entry: JournalIndex.Entry, _ bytes: Span<UInt8>,
    _ suite: JUnitSuiteName, _ addition: Addition? = nil, to xml: inout XMLBuffer
  ) {
    let tokens = LineTokens(bytes)
    xml.add(suite.opening)
    if start.settings == nil, let name = tokens.plainName(ofID: start.id) {
      xml.addEscaped(name, tokens)
      if entry.copy > 1 {
        xml.add(" (")
        xml.add(Int64(entry.copy))
        xml.add(")")
      }
    } else {
      let settings = start.settings.flatMap { tokens.text(of: $0) }
      let name = caseName(id: tokens.text(of: start.id) ?? "", settings: settings, copy: entry.copy)
      xml.addEscaped(name, inAttribute: true)
    }
    // Each attribute closes the one before.
    if profile.hasCaseProperties {
      if let file = saved[entry.position] {
        xml.add("\" file=\"")
        xml.addEscaped(clipped(file, toBytes: longestValue), inAttribute: true)
      } else if let file = start.file, tokens.isPlain(file) || !visible(tokens.text(of: file) ?? "").isEmpty {
        xml.add("\" file=\"")
        xml.addEscaped(file, tokens)
      }
      let line = addition == nil ? tokens.integer(start.line) : addition?.line
      if let line, line > 0 {
        xml.add("\" line=\"")
        xml.add(Int64(line))
      }
    }
    xml.add("\" time=\"")
    xml.add(milliseconds: entry.takenMilliseconds)
    guard profile.hasCaseProperties else { return xml.add("\">\n") }
    xml.add("\">\n      <properties>\n")
    add(#"        <property name="lockstep.case" value=""#, start.id, tokens, &xml)
    add(#"        <property name="lockstep.title" value=""#, start.name, tokens, &xml)
    xml.add(#"        <property name="lockstep.device-time" value=""#)
    xml.add(milliseconds: entry.milliseconds)
    xml.add("\"/>\n")
    add(#"        <property name="lockstep.machine" value=""#, start.machine, tokens, &xml)
    add(#"        <property name="lockstep.model" value=""#, start.model, tokens, &xml)
    add(#"        <property name="lockstep.device" value=""#, start.device, tokens, &xml)
    add(#"        <property name="lockstep.firmware" value=""#, start.firmware, tokens, &xml)
    add(#"        <property name="lockstep.seed" value=""#, start.seed, tokens, &xml)
    if entry.observations > 0 {
      xml.add(#"        <property name="lockstep.observations" value=""#)
      xml.add(Int64(entry.observations))
      xml.add("\"/>\n")
    }
    for case (let name, let value?) in addition?.properties ?? [] where !value.isEmpty {
      xml.add("        <property name=\"lockstep.\(name)\"")
      xml.attribute("value", clipped(value, toBytes: longestValue))
      xml.add("/>\n")
    }
    xml.add("      </properties>\n")
  }

  /// Adds a property in its encoded form, if it is not empty.
  ///
  /// - Parameter opening: its element up to the value.
  private func add(
    _ opening: StaticString, _ value: LineTokens.Raw?, _ tokens: borrowing LineTokens, _ xml: inout XMLBuffer
  ) {
    guard let value, value.kind != .other, !value.range.isEmpty else { return }
    xml.add(opening)
    xml.addEscaped(value, tokens)
    xml.add("\"/>\n")
  }
}

extension LineTokens {
  /// A whole number.
  fileprivate func integer(_ raw: Raw?) -> Int? {
    guard let raw, raw.kind == .number else { return nil }
    return text(of: raw).flatMap { Int($0) }
  }
}

extension JUnitCaseRenderer {
  /// Adds the case that represents damage of the journals.
  func add(_ damage: DamageCase, to xml: inout XMLBuffer) {
    xml.add("    <testcase")
    xml.attribute("classname", DamageCase.className)
    xml.attribute("name", DamageCase.name)
    xml.add(" time=\"0.000\">\n")
    add(damage.ending.element == .failed ? "failure" : "error", "journal", damage.message, damage.text, &xml)
    xml.add("    </testcase>\n")
  }
}

// MARK: - Cases with something to say

extension CaseText {
  /// The type of the attempt's failure; an attempt without a verdict is incomplete.
  fileprivate var type: String { (verdict?.word ?? .incomplete).rawValue }

  fileprivate var isFailure: Bool { verdict?.word.isFailed ?? false }
}

extension JUnitCaseRenderer {
  private func add(_ outcome: CaseOutcome, _ entry: JournalIndex.Entry, to xml: inout XMLBuffer) {
    let main = outcome.main
    var elements: [(rank: Int, xml: XMLBuffer)] = []
    func add(_ rank: Int, _ build: (inout XMLBuffer) -> Void) {
      var part = XMLBuffer()
      build(&part)
      elements.append((rank, part))
    }
    switch entry.ending?.element {
    case .failed where entry.isFlaky:
      add(0) { self.add("failure", "flaky", flakyMessage(main, entry), main.body, &$0) }
    case .passed, nil: break
    case .skipped: add(3) { self.add("skipped", nil, main.message, main.reason, &$0) }
    case .failed: add(0) { self.add("failure", main.type, main.message, main.body, &$0) }
    case .error: add(4) { self.add("error", main.type, main.message, main.body, &$0) }
    }
    let isFlaky = entry.ending == .flaky
    for other in outcome.others {
      let (rank, name) =
        switch (isFlaky, other.isFailure) {
        case (false, true): (1, "rerunFailure")
        case (true, true): (2, "flakyFailure")
        case (false, false): (5, "rerunError")
        case (true, false): (6, "flakyError")
        }
      add(rank) { self.add(other, entry, as: name, to: &$0) }
    }
    // One family of readers requires an order of elements by kind.
    if profile == .surefire {
      for rank in 0...6 { elements.forEach { if $0.rank == rank { xml.add($0.xml) } } }
    } else {
      elements.forEach { xml.add($0.xml) }
    }
    addOutput(output(of: main, entry, outcome.omitted), indent: "      ", to: &xml)
  }

  private func flakyMessage(_ text: CaseText, _ entry: JournalIndex.Entry) -> String {
    "flaky, agreed at try \(entry.attempts): \(text.message)"
  }

  /// Adds an attempt that does not represent the case.
  private func add(
    _ text: CaseText, _ entry: JournalIndex.Entry, as name: String, to xml: inout XMLBuffer
  ) {
    xml.add("      <\(name)")
    xml.attribute("type", text.type)
    xml.attribute("message", clipped(text.message, toBytes: Self.longestMessage))
    xml.add(">\n        <stackTrace>")
    xml.addEscaped(text.body)
    xml.add("</stackTrace>\n")
    addOutput(text.trace.text + attachments(of: text, entry), indent: "        ", to: &xml)
    xml.add("      </\(name)>\n")
  }

  private func addOutput(_ text: String, indent: String, to xml: inout XMLBuffer) {
    if text.isEmpty { return }
    xml.add("\(indent)<system-out>")
    xml.addEscaped(text)
    xml.add("</system-out>\n")
  }

  private func add(
    _ name: String, _ type: String?, _ message: String, _ text: String, _ xml: inout XMLBuffer
  ) {
    xml.add("      <\(name)")
    if let type { xml.attribute("type", type) }
    if type != nil || profile.hasSkipMessage {
      xml.attribute("message", clipped(message, toBytes: Self.longestMessage))
    }
    xml.add(">")
    xml.addEscaped(text)
    xml.add("</\(name)>\n")
  }

  private func output(of text: CaseText, _ entry: JournalIndex.Entry, _ omitted: Int) -> String {
    var output = text.trace.text + attachments(of: text, entry)
    if omitted > 0 { output += "\(omitted) more tries are in the journal\n" }
    return output
  }

  /// A line for each file of a case, for readers that show or copy it.
  private func attachments(of text: CaseText, _ entry: JournalIndex.Entry) -> String {
    (text.verdict?.attachments ?? []).prefix(Self.attachmentLimit).map { file in
      let path = Path.normalized(folders[Int(entry.journal)] + file.path)
      // Readers find the line by its form, and it must stay one line.
      return "[[ATTACHMENT|\(path.split(whereSeparator: \.isNewline).joined(separator: "\u{FFFD}"))]]\n"
    }.joined()
  }

  // MARK: Strict profile

  /// Adds a case for readers that support one outcome and no output: other text goes into that of the
  /// outcome, and for a case without one into the output of the suite.
  private func addStrictly(
    _ outcome: CaseOutcome, _ entry: JournalIndex.Entry, name: String, _ xml: inout XMLBuffer,
    _ output: inout XMLBuffer
  ) {
    let main = outcome.main
    var rest = self.output(of: main, entry, outcome.omitted)
    for other in outcome.others {
      rest += "\n\(entry.hasAgreed ? "an earlier" : "another") try, \(other.type): \(other.body)\n"
      rest += other.trace.text + attachments(of: other, entry)
    }
    let text = main.body + (rest.isEmpty ? "" : "\n\n" + rest)
    switch entry.ending?.element {
    case .failed where entry.isFlaky: return add("failure", "flaky", flakyMessage(main, entry), text, &xml)
    case .failed: return add("failure", main.type, main.message, text, &xml)
    case .error: return add("error", main.type, main.message, text, &xml)
    case .skipped: add("skipped", nil, main.message, main.reason, &xml)
    case .passed, nil: break
    }
    guard !rest.isEmpty else { return }
    let attempts = entry.isFlaky ? ": flaky, \(entry.attempts) tries" : ""
    output.addEscaped("\(name)\(attempts)\n\(rest)\n")
  }
}
