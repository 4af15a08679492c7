import Basics
import Journal
public import System

extension RecordedRuns {
  /// Writes the runs as a report in the Common Test Report Format, which appears at its path whole or not at all.
  ///
  /// A lab that failed and a case that was not brought to its end are `other`: they say nothing of the device.
  ///
  /// Source: CTRF specification, `ctrf.schema.json`.
  public func writeCTRF(to path: String) throws(FileFault) {
    makeFolders(above: path)
    var file = try Replacement(of: path)
    let folders = index.sources.map { source in
      index.isReproducible
        ? "" : Path.prefix(Path.folder(of: source.journal), isAbsolute: false, here: Host.folder)
    }
    try file.write(ctrfHead)
    var isFirst = true
    let saved = index.isReproducible ? [:] : index.savedFiles
    try forEachExchangeCase { (test: ExchangeCase) throws(FileFault) in
      let json = test.ctrf(in: folders[Int(test.entry.journal)], saved: saved[test.entry.standing])
      try file.write((isFirst ? "\n" : ",\n") + json.line)
      isFirst = false
    }
    if let damage = index.damage { try file.write((isFirst ? "\n" : ",\n") + damage.ctrf.line) }
    try file.write("\n]}}\n")
    try file.commit()
  }

  /// All that stands before the tests.
  private var ctrfHead: String {
    let manifest = manifest
    let counts = index.counts
    let passed = counts.tests - counts.failures - counts.errors - counts.skipped
    let range = range ?? (0, 0)
    let summary: [JSON.Member] = [
      .init("tests", .integer(counts.tests)), .init("passed", .integer(passed)),
      .init("failed", .integer(counts.failures)), .init("skipped", .integer(counts.skipped)),
      .init("pending", 0), .init("other", .integer(counts.errors)), .init("flaky", .integer(counts.flaky)),
      .init(
        "suites", .integer(index.suites.count { $0.counts.tests > 0 } + (index.damage == nil ? 0 : 1))),
      .init("start", .integer(range.start)), .init("stop", .integer(range.stop)),
      .init("duration", .integer(range.stop - range.start)),
    ]
    var tool: [JSON.Member] = [.init("name", "lockstep")]
    if let version = manifest.version { tool.append(.init("version", .text(version))) }
    var extra: [JSON.Member] = manifest.properties
    if let name = manifest.name { extra.insert(.init("run", .text(name)), at: 0) }
    let remarks = index.remarks
    if !remarks.isEmpty { extra.append(.init("problems", .list(remarks.map { .text("\($0)") }))) }
    if !index.diagnostics.isEmpty {
      extra.append(.init("diagnostics", .list(index.diagnostics.map { .text($0) })))
    }
    var environment: [JSON.Member] = [.init("healthy", .flag(remarks.isEmpty && counts.errors == 0))]
    if let commit = manifest.properties.first(where: { $0.name == "revision" })?.value.string {
      environment.append(.init("commit", .text(commit)))
    }
    if !extra.isEmpty { environment.append(.init("extra", .mapping(extra))) }
    let ids = index.sources.map { $0.manifest.id ?? $0.manifest.name ?? "" }
    let head: [JSON.Member] = [
      .init("reportFormat", "CTRF"), .init("specVersion", "1.0.0"),
      .init("reportId", .text(uuid(of: ["run"] + ids))),
      .init("generatedBy", "lockstep"),
    ]
    let results: [JSON.Member] = [
      .init("tool", .mapping(tool)), .init("summary", .mapping(summary)),
      .init("environment", .mapping(environment)),
    ]
    // The tests follow in the same object.
    return JSON.mapping(head).line.dropLast() + ",\"results\":" + JSON.mapping(results).line.dropLast()
      + ",\"tests\":["
  }
}

extension CaseEnding.Element {
  fileprivate var ctrf: JSON {
    switch self {
    case .passed: "passed"
    case .failed: "failed"
    case .error: "other"
    case .skipped: "skipped"
    }
  }
}

extension ExchangeCase {
  /// The case as a test, with the paths of its files behind a folder.
  ///
  /// - Parameter saved: the file in which a campaign saved the case, which stands in no other.
  fileprivate func ctrf(in folder: String, saved: String?) -> JSON {
    var test: [JSON.Member] = [
      // Its readers know a test from one run to the next by its name.
      .init("id", .text(uuid(of: [className, name]))), .init("name", .text(name)),
      .init("status", ending.element.ctrf),
      .init("duration", .integer(Int(clamping: entry.takenMilliseconds))),
    ]
    if let time = entry.time {
      test += [.init("start", .integer(time.range.start)), .init("stop", .integer(time.range.stop))]
    }
    test.append(.init("suite", .list(suites.map { .text($0) })))
    if ending.element != .passed {
      test.append(.init("message", .text(main.message)))
      if ending.element != .skipped { test.append(.init("trace", .text(main.body))) }
    }
    if let line = main.line, line > 0 { test.append(.init("line", .integer(line))) }
    if let word = main.verdict?.word { test.append(.init("rawStatus", .text(word.rawValue))) }
    if !start.tags.isEmpty { test.append(.init("tags", .list(start.tags.map { .text($0) }))) }
    if let file = saved ?? start.file, !file.isEmpty { test.append(.init("filePath", .text(file))) }
    if entry.attempts > 1 {
      test += [
        .init("retries", .integer(Int(entry.attempts) - 1)),
        .init("retryAttempts", .list(tries.dropLast().map { $0.ctrf(in: folder) })),
      ]
    }
    test.append(.init("flaky", .flag(entry.isFlaky)))
    test += main.ctrfOutput(in: folder)
    if let device = start.device { test.append(.init("device", .text(device))) }
    test.append(.init("parameters", Self.object(parameters)))
    test.append(.init("extra", Self.object(remarks)))
    return .mapping(test)
  }

  private static func object(_ members: [(name: String, value: String)]) -> JSON {
    .mapping(members.map { .init($0.name, .text($0.value)) })
  }
}

extension DamageCase {
  /// The case as a test.
  fileprivate var ctrf: JSON {
    [
      "id": .text(uuid(of: [Self.className, Self.name])), "name": .text(Self.name),
      "status": element.ctrf, "duration": 0, "suite": [.text(Self.className)],
      "message": .text(message), "trace": .text(text), "flaky": false,
    ]
  }
}

extension ExchangeCase.Try {
  fileprivate func ctrf(in folder: String) -> JSON {
    var members: [JSON.Member] = [
      .init("attempt", .integer(text.start.attempt)), .init("status", ending.element.ctrf),
      .init("message", .text(text.message)), .init("trace", .text(text.body)),
    ]
    if let line = text.line, line > 0 { members.append(.init("line", .integer(line))) }
    if let range = time?.range {
      members += [
        .init("duration", .integer(range.stop - range.start)), .init("start", .integer(range.start)),
        .init("stop", .integer(range.stop)),
      ]
    }
    return .mapping(members + text.ctrfOutput(in: folder))
  }
}

extension CaseText {
  /// What happened, line by line, and the files.
  fileprivate func ctrfOutput(in folder: String) -> [JSON.Member] {
    var members: [JSON.Member] = []
    let lines = trace.text.split(separator: "\n")
    if !lines.isEmpty { members.append(.init("stdout", .list(lines.map { .text(String($0)) }))) }
    let files = verdict?.attachments ?? []
    if !files.isEmpty {
      let list = files.prefix(32).map { file -> JSON in
        [
          "name": .text(file.name), "contentType": .text(file.mediaType),
          "path": .text(Path.normalized(folder + file.path)),
        ]
      }
      members.append(.init("attachments", .list(list)))
    }
    return members
  }
}
