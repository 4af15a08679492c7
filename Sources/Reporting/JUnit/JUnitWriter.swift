import Basics
import Journal
import System

/// Writes a report: its files, and the suites in them.
struct JUnitWriter: ~Copyable {
  private var parts: JUnitParts
  private let content: Content
  private let profile: JUnitProfile
  private let renderer: JUnitCaseRenderer
  /// The maximum size of a file, in bytes.
  private let limit: Int

  /// The counts that remain to be written, in all and of the current suite.
  private var left = (all: JUnitCounts(), suite: JUnitCounts())
  /// The counts written to the file, in all and of the current suite.
  private var written = (all: JUnitCounts(), suite: JUnitCounts())
  /// The tags of the root and of the suite, whose counts may become smaller.
  private var tags: (root: Tag?, suite: Tag?)
  private var suiteNumber = 0
  /// Text of the suite's cases without a place in their elements.
  private var output = XMLBuffer()
  private var scratch = XMLBuffer()

  /// The contents of the report, in a class: as fields of the noncopyable value, each use would be checked,
  /// which took a third of the compilation time of this module.
  private final class Content {
    let index: JournalIndex
    let manifest: Manifest

    init(_ index: JournalIndex) {
      self.index = index
      manifest = Manifest(index.sources.map(\.manifest))
    }
  }

  /// The counts in a tag, with their place in the file.
  private struct Tag {
    var offset: Int
    var counts: JUnitCounts
    var length: Int
    var isRoot: Bool
  }

  /// The beginning of a suite, in each of its files.
  private struct Head {
    var name: String
    var properties: XMLBuffer
  }

  /// The room that a file needs for its end, beside the output of the suite.
  private static let ending = 256

  init(_ index: JournalIndex, to path: String, profile: JUnitProfile, limit: Int) throws(FileFault) {
    parts = try JUnitParts(path)
    content = Content(index)
    self.profile = profile
    self.limit = limit
    renderer = JUnitCaseRenderer(
      profile: profile,
      folders: index.sources.map {
        index.isReproducible
          ? ""
          : Path.prefix(
            Path.folder(of: $0.journal), isAbsolute: profile.hasAbsolutePaths, workingDirectory: Host.folder)
      }, saved: index.isReproducible ? [:] : index.savedFiles)
  }

  /// Writes the whole report and moves it to its path; returns its counts.
  mutating func write() throws(FileFault) -> JUnitCounts {
    let all = content.index.counts
    left.all = all
    try add(JUnitParts.head)
    try beginFile()
    for suite in content.index.suites { try write(suite) }
    if let damage = content.index.damage { try write(damage) }
    try endFile()
    try parts.commit()
    return all
  }

  private mutating func add(_ text: String) throws(FileFault) {
    var xml = XMLBuffer()
    xml.add(text)
    try parts.write(xml)
  }
}

// MARK: - Files

extension JUnitWriter {
  private mutating func beginFile() throws(FileFault) {
    written.all = JUnitCounts()
    suiteNumber = 0
    if profile.hasOneSuite {
      try open(
        "testsuite", [("version", "3.0.2"), ("name", "lockstep")], left.all,
        [("timestamp", profile.timestamp(content.manifest.moment))], isRoot: true)
      try parts.write(suiteProperties)
    } else if profile == .strict {
      try add("<testsuites>\n")
    } else {
      try open("testsuites", [("name", "lockstep")], left.all, [], isRoot: true)
    }
  }

  private mutating func endFile() throws(FileFault) {
    try add(profile.hasOneSuite ? "</testsuite>\n" : "</testsuites>\n")
    if let root = tags.root { try correct(root, written.all) }
    tags.root = nil
  }

  /// Continues in another file if this one has no room for more bytes.
  private mutating func makeRoom(for count: Int, in suite: Head?) throws(FileFault) {
    let size = parts.count + count + output.count + Self.ending
    guard size > limit, written.all.tests > 0, parts.canBeSplit else { return }
    if suite != nil { try endSuite() }
    try endFile()
    try parts.split()
    try beginFile()
    if let suite { try begin(suite) }
  }

  /// Opens an element with counts, and records their place.
  private mutating func open(
    _ name: String, _ before: [(String, String?)], _ counts: JUnitCounts, _ after: [(String, String?)],
    isRoot: Bool
  ) throws(FileFault) {
    var xml = XMLBuffer()
    xml.add(isRoot ? "<\(name)" : "  <\(name)")
    for case (let name, let value?) in before { xml.attribute(name, value) }
    let text = attributes(counts, isRoot: isRoot)
    let tag = Tag(offset: parts.count + xml.count, counts: counts, length: text.count, isRoot: isRoot)
    xml.add(text)
    for case (let name, let value?) in after { xml.attribute(name, value) }
    xml.add(">\n")
    if isRoot { tags.root = tag } else { tags.suite = tag }
    try parts.write(xml)
  }

  /// Corrects the counts of an element that became smaller; they never need more room.
  private mutating func correct(_ tag: Tag, _ counts: JUnitCounts) throws(FileFault) {
    if tag.counts == counts { return }
    var text = attributes(counts, isRoot: tag.isRoot)
    text.add(spaces(tag.length - text.count))
    try parts.overwrite(at: tag.offset, text)
  }

  private func attributes(_ counts: JUnitCounts, isRoot: Bool) -> XMLBuffer {
    var xml = XMLBuffer()
    xml.attribute("tests", String(counts.tests))
    xml.attribute("failures", String(counts.failures))
    xml.attribute("errors", String(counts.errors))
    if !isRoot || profile != .jenkins { xml.attribute("skipped", String(counts.skipped)) }
    if profile == .surefire { xml.attribute("flakes", String(counts.flaky)) }
    xml.attribute("time", secondsText(counts.milliseconds))
    return xml
  }
}

// MARK: - Suites

extension JUnitWriter {
  private mutating func write(_ suite: JournalIndex.Suite) throws(FileFault) {
    let counts = suite.counts
    // A suite whose cases were all replaced by others has no contents.
    if counts.tests == 0 { return }
    let own = profile.hasCaseProperties || profile.hasOneSuite ? [] : caseProperties([suite])
    let head = Head(name: suite.name, properties: render(runProperties + own, indent: "    "))
    let name = JUnitSuiteName(suite.name)
    left.suite = counts
    try makeRoom(for: head.properties.count + head.name.utf8.count, in: nil)
    try begin(head)
    for position in suite.entries.indices {
      let entry = suite.entries[position]
      guard entry.ending != nil, let source = content.index.sources[Int(entry.journal)].file else { continue }
      scratch.removeAll()
      var rest = XMLBuffer()
      try renderer.add(entry, from: source, suite: name, to: &scratch, output: &rest)
      try makeRoom(for: scratch.count + rest.count, in: head)
      try parts.write(scratch)
      output.add(rest)
      var one = JUnitCounts()
      one.add(entry)
      count(one)
    }
    try endSuite()
  }

  private mutating func count(_ one: JUnitCounts) {
    left.all.subtract(one)
    left.suite.subtract(one)
    written.all.add(one)
    written.suite.add(one)
  }

  private mutating func begin(_ head: Head) throws(FileFault) {
    written.suite = JUnitCounts()
    if profile.hasOneSuite { return }
    let isStrict = profile == .strict
    let host = isStrict ? content.manifest.host ?? "localhost" : content.manifest.host
    try open(
      "testsuite",
      [
        ("name", head.name), ("package", isStrict ? "lockstep" : nil),
        ("id", isStrict ? String(suiteNumber) : nil),
      ],
      left.suite, [("timestamp", profile.timestamp(content.manifest.moment)), ("hostname", host)],
      isRoot: false)
    suiteNumber += 1
    try parts.write(head.properties)
  }

  private mutating func endSuite() throws(FileFault) {
    if profile.hasOneSuite { return }
    if profile == .strict {
      try add("    <system-out>")
      try parts.write(output)
      try add("</system-out>\n    <system-err></system-err>\n")
      output.removeAll()
    }
    try add("  </testsuite>\n")
    if let suite = tags.suite { try correct(suite, written.suite) }
    tags.suite = nil
  }

  /// Writes the suite with the damage of the journals.
  private mutating func write(_ damage: DamageCase) throws(FileFault) {
    let head = Head(name: DamageCase.className, properties: render(runProperties, indent: "    "))
    scratch.removeAll()
    renderer.add(damage, to: &scratch)
    left.suite = damage.counts
    try makeRoom(for: scratch.count + head.properties.count, in: nil)
    try begin(head)
    try parts.write(scratch)
    count(damage.counts)
    try endSuite()
  }
}

// MARK: - Properties

extension JUnitWriter {
  /// The properties of the only suite of a report.
  private var suiteProperties: XMLBuffer {
    render(runProperties + caseProperties(Array(content.index.suites)), indent: "  ")
  }

  /// The properties of the whole run; every suite has them, since there is no place above.
  private var runProperties: [(name: String, value: String)] {
    let (index, manifest) = (content.index, content.manifest)
    var all: [(String, String?)] = [
      ("run", manifest.name ?? (profile == .strict ? "unknown" : nil)), ("version", manifest.version),
      ("seed", joined(index.runs.map { $0.seed.map { String($0) } })),
      ("command", manifest.command.first),
    ]
    if index.observations > 0 { all.append(("observations", String(index.observations))) }
    if index.missing.cases > 0 {
      all.append(("incomplete", "\(index.missing.cases) of \(index.missing.of) cases were not begun"))
    }
    for coverage in index.coverage {
      all.append(("coverage.\(coverage.machine)", coverage.total.words))
    }
    all.append(("diagnostics", index.diagnostics.isEmpty ? nil : index.diagnostics.joined(separator: "; ")))
    all += manifest.properties.map { ($0.name, $0.value.words) }
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  /// The properties of some or all cases of some suites, for readers without case properties.
  private func caseProperties(_ suites: [JournalIndex.Suite]) -> [(name: String, value: String)] {
    var values = CaseValues()
    for suite in suites {
      for entry in suite.entries where entry.ending != nil {
        if let source = content.index.sources[Int(entry.journal)].file { values.take(entry, source) }
      }
    }
    return values.properties
  }

  /// Properties by their name without the prefix; no element without properties, as schemas require.
  private func render(_ properties: [(name: String, value: String)], indent: String) -> XMLBuffer {
    var xml = XMLBuffer()
    if properties.isEmpty { return xml }
    xml.add("\(indent)<properties>\n")
    for property in properties {
      xml.add("\(indent)  <property name=\"lockstep.")
      xml.addEscaped(clipped(property.name, toBytes: longestName), inAttribute: true)
      xml.add("\"")
      xml.attribute("value", clipped(property.value, toBytes: longestValue))
      xml.add("/>\n")
    }
    xml.add("\(indent)</properties>\n")
    return xml
  }
}

/// The different values of cases.
private struct CaseValues {
  private var machine = Values()
  private var model = Values()
  private var device = Values()
  private var firmware = Values()
  private var seeds = Values()
  private var flaky = 0

  /// Some values, with the number of others.
  private struct Values {
    private var last: [UInt8] = []
    private var all: [String] = []
    private var omittedCount = 0

    private static let limit = 16

    mutating func take(_ raw: LineTokens.Raw?, _ scanner: borrowing LineTokens) {
      guard let raw, raw.kind != .other, !scanner.isText(raw, last), let text = scanner.text(of: raw) else {
        return
      }
      last = scanner.bytes(of: raw)
      if all.contains(text) { return }
      if all.count < Self.limit { all.append(text) } else { omittedCount += 1 }
    }

    var text: String? {
      all.isEmpty ? nil : all.joined(separator: ", ") + (omittedCount > 0 ? " and others" : "")
    }
  }

  mutating func take(_ entry: JournalIndex.Entry, _ source: JournalSource) {
    if entry.isFlaky { flaky += 1 }
    _ = try? source.reader.readStart(entry) { start, line in take(start, line) }
  }

  private mutating func take(_ start: JournalHeaderScan.Start, _ line: Span<UInt8>) {
    let scanner = LineTokens(line)
    machine.take(start.machine, scanner)
    model.take(start.model, scanner)
    device.take(start.device, scanner)
    firmware.take(start.firmware, scanner)
    seeds.take(start.seed, scanner)
  }

  var properties: [(name: String, value: String)] {
    [
      ("machine", machine.text), ("model", model.text), ("device", device.text), ("firmware", firmware.text),
      ("seeds", seeds.text), ("flaky", flaky > 0 ? String(flaky) : nil),
    ].compactMap { name, value in value.map { (name, $0) } }
  }
}
