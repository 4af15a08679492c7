/// Writes the elements of a report.
struct JUnitWriter: ~Copyable {
  private var output: OutputFile
  private let sources: [JournalSource?]
  private let manifest: Manifest
  private let profile: JUnitProfile
  private var report = JUnitReport()

  /// The longest `message`, in bytes; the text of the element has it all.
  private static let longestMessage = 4 << 10

  init(
    output: consuming OutputFile, sources: [JournalSource?], manifest: Manifest, profile: JUnitProfile
  ) {
    self.output = output
    self.sources = sources
    self.manifest = manifest
    self.profile = profile
  }

  /// Writes the whole report and puts it in its place.
  mutating func write(_ index: JournalIndex) throws(ReportError) -> JUnitReport {
    report.problems = index.problems
    for suite in index.suites { report.count(suite.entries) }
    if !index.problems.isEmpty { report.count([damage]) }
    try output.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
    try output.write("<testsuites name=\"lockstep\"")
    try attributes(report)
    try output.write(">\n")
    let properties = runProperties(index)
    // A suite whose cases all made place for others has nothing to say.
    for suite in index.suites where suite.entries.contains(where: { $0.outcome != .replaced }) {
      try begin(suite.name, suite.entries, properties)
      for entry in suite.entries where entry.outcome != .replaced { try write(entry, of: suite.name) }
      try output.write("  </testsuite>\n")
    }
    if !index.problems.isEmpty { try write(index.problems, properties) }
    try output.write("</testsuites>\n")
    try output.commit()
    return report
  }
}

// MARK: - Suites

extension JUnitWriter {
  private mutating func begin(
    _ name: String, _ entries: [JournalIndex.Entry], _ properties: [JSONValue.Member]
  ) throws(ReportError) {
    var counts = JUnitReport()
    counts.count(entries)
    try output.write("  <testsuite")
    try attribute("name", name)
    try attributes(counts)
    if let moment = manifest.start { try attribute("timestamp", moment) }
    if let host = manifest.host, !host.isEmpty { try attribute("hostname", host) }
    try output.write(">\n")
    try write(properties, indent: "    ")
  }

  /// What holds for the run as a whole; every suite carries it, since there is no place above them.
  private func runProperties(_ index: JournalIndex) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if let name = manifest.name { members.append(.init("run", .string(name))) }
    if let version = manifest.version { members.append(.init("version", .string(version))) }
    if let seed = index.run?.seed { members.append(.init("seed", .string(seed))) }
    if let command = index.run?.command, !command.isEmpty {
      members.append(.init("command", .string(command.joined(separator: " "))))
    }
    for coverage in index.coverage {
      let legal = coverage.legal.map(String.init).joined(separator: "/")
      let empty = coverage.empty.map(String.init).joined(separator: "/")
      members.append(.init("coverage.\(coverage.machine)", .string("\(legal) legal, \(empty) empty")))
    }
    if !index.remarks.isEmpty {
      members.append(.init("remarks", .string(index.remarks.joined(separator: "; "))))
    }
    return members + manifest.properties
  }

  /// The suite that says what is wrong with the journal; no path gives a class with a slash.
  private mutating func write(
    _ problems: [Journal.Problem], _ properties: [JSONValue.Member]
  ) throws(ReportError) {
    let name = "lockstep/journal"
    try begin(name, [damage], properties)
    try output.write("    <testcase")
    try attribute("classname", name)
    try output.write(" name=\"journal\" time=\"0.000\">\n")
    var text = HeadAndTail()
    for problem in problems { text.append("\(problem)\n") }
    try write("error", type: "journal", message: "\(problems[0])", text: text.text)
    try output.write("    </testcase>\n  </testsuite>\n")
  }

  /// The entry that a damaged journal counts as.
  private var damage: JournalIndex.Entry {
    JournalIndex.Entry(journal: 0, offset: 0, line: 0, copy: 1, outcome: .broken, milliseconds: 0)
  }
}

// MARK: - Cases

extension JUnitWriter {
  private mutating func write(_ entry: JournalIndex.Entry, of suite: String) throws(ReportError) {
    guard let text = try caseText(entry) else { return }
    let start = text.start
    try output.write("    <testcase")
    try attribute("classname", suite)
    try attribute("name", caseName(of: start, copy: entry.copy))
    var properties: [JSONValue.Member] = []
    switch profile {
    case .ci:
      if let file = start.file, !file.isEmpty { try attribute("file", file) }
      if let line = start.line, line > 0 { try attribute("line", String(line)) }
      properties.append(.init("case", .string(start.id)))
      if let machine = start.machine { properties.append(.init("machine", .string(machine))) }
      if let device = start.device { properties.append(.init("device", .string(device))) }
      if let seed = start.seed { properties.append(.init("seed", .string(seed))) }
    }
    try attribute("time", secondsText(entry.milliseconds))
    try output.write(">\n")
    try write(properties, indent: "      ")
    try write(text, entry.outcome)
    try output.write("    </testcase>\n")
  }

  private mutating func write(_ text: CaseText, _ outcome: JournalIndex.Outcome) throws(ReportError) {
    switch outcome {
    case .passed, .replaced:
      break
    case .skipped:
      let reason = HeadAndTail(text.message).text
      return try write("skipped", type: nil, message: text.message, text: reason)
    case .failed:
      try write("failure", type: "divergence", message: text.message, text: text.body)
    case .broken, .unfinished:
      let type = (text.verdict?.word ?? .incomplete).rawValue
      try write("error", type: type, message: text.message, text: text.body)
    }
    let trace = text.trace.text
    if trace.isEmpty { return }
    try output.write("      <system-out>")
    try output.writeEscaped(trace)
    try output.write("</system-out>\n")
  }

  private mutating func write(
    _ outcome: String, type: String?, message: String, text: String
  ) throws(ReportError) {
    try output.write("      <\(outcome)")
    if let type { try attribute("type", type) }
    try attribute("message", clipped(message, toBytes: Self.longestMessage))
    try output.write(">")
    try output.writeEscaped(text)
    try output.write("</\(outcome)>\n")
  }

  /// Reads a case again: its first line, and where it did not pass everything to its verdict.
  private mutating func caseText(_ entry: JournalIndex.Entry) throws(ReportError) -> CaseText? {
    guard let source = sources[Int(entry.journal)] else { return nil }
    try source.reader.seek(to: entry.offset, line: entry.line)
    guard case .success(.start(let start)) = try source.reader.next() else { return nil }
    var text = CaseText(start: start)
    if entry.outcome == .passed, !entry.hasRemarks { return text }
    while let line = try source.reader.next() {
      switch line {
      case .success(.event(let event)):
        // Of a case that passed only what the lab said is of use.
        if entry.outcome != .passed || event.isRemark { text.add(event) }
      case .success(.verdict(let verdict)) where verdict.id == start.id:
        text.verdict = verdict
        return text
      case .success(.verdict), .success(.coverage), .success(.campaign), .success(.machine): break
      case .success(.start), .success(.run), .success(.end), .success(.finding): return text
      case .failure(let problem): text.add(problem)
      }
    }
    return text
  }
}

// MARK: - Counting and attributes

extension JUnitReport {
  fileprivate mutating func count(_ entries: [JournalIndex.Entry]) {
    for entry in entries where entry.outcome != .replaced {
      tests += 1
      let (sum, isTooLong) = milliseconds.addingReportingOverflow(entry.milliseconds)
      milliseconds = isTooLong ? .max : sum
      switch entry.outcome {
      case .passed, .replaced: break
      case .failed: failures += 1
      case .broken, .unfinished: errors += 1
      case .skipped: skipped += 1
      }
    }
  }
}

extension JUnitWriter {
  private mutating func attribute(_ name: String, _ value: String) throws(ReportError) {
    try output.write(" ")
    try output.write(name)
    try output.write("=\"")
    try output.writeEscaped(value, inAttribute: true)
    try output.write("\"")
  }

  private mutating func attributes(_ counts: JUnitReport) throws(ReportError) {
    try attribute("tests", String(counts.tests))
    try attribute("failures", String(counts.failures))
    try attribute("errors", String(counts.errors))
    try attribute("skipped", String(counts.skipped))
    try attribute("time", secondsText(counts.milliseconds))
  }

  /// Writes properties by their name without the prefix; no element where there are none, as schemas insist.
  private mutating func write(_ properties: [JSONValue.Member], indent: String) throws(ReportError) {
    if properties.isEmpty { return }
    try output.write("\(indent)<properties>\n")
    for property in properties {
      try output.write(indent)
      try output.write("  <property name=\"lockstep.")
      try output.writeEscaped(property.key, inAttribute: true)
      try output.write("\"")
      try attribute("value", property.value.description)
      try output.write("/>\n")
    }
    try output.write("\(indent)</properties>\n")
  }
}

/// Seconds with three decimals, the same under every locale.
private func secondsText(_ milliseconds: Int64) -> String {
  let fraction = String(milliseconds % 1000)
  return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
}
