import Basics
import Journal
public import System

extension RecordedRuns {
  /// Writes the runs as Allure results into a folder: a file for each attempt at each case, and the attached
  /// files.
  ///
  /// Results of other runs in the folder stay, as is usual for Allure; those of the same run are replaced.
  /// Allure recognizes a case in several runs, and the attempts of one run, by the `historyId`.
  ///
  /// Source: Allure documentation, "How it works", "Test result file".
  public func writeAllure(to folder: String) throws(FileFault) {
    try makeFolder(folder)
    try forEachExchangeCase { (test: ExchangeCase) throws(FileFault) in
      let source = index.sources[Int(test.entry.journal)]
      for item in test.attempts {
        let id = uuid(of: [source.runName, test.className, test.name, String(item.text.start.attempt)])
        let files = try copy(
          item.text.verdict?.attachments ?? [], from: Path.folder(of: source.journal), to: folder)
        let result = test.allure(item, uuid: id, files, host: source.manifest.host)
        try write(result, to: resultPath(id, in: folder))
      }
    }
    try writeAllureDamage(to: folder)
    try replaceOwn(folder + "/environment.properties", with: allureEnvironment, mark: Self.environmentMark)
    let categories = Self.allureCategories.line + "\n"
    try replaceOwn(folder + "/categories.json", with: categories, mark: categories)
  }

  /// Writes a result without waiting for the disk: results are small and many.
  private func write(_ result: JSON, to path: String) throws(FileFault) {
    let file = try OutputFile(creating: path)
    try file.write(result.line + "\n")
    try file.finish()
  }

  private func resultPath(_ id: String, in folder: String) -> String { "\(folder)/\(id)-result.json" }

  /// Writes the damage of the journals as a result of the first run, which replaces earlier ones of any of
  /// the runs: a killed run may have been completed meanwhile, and a missing part been found.
  private func writeAllureDamage(to folder: String) throws(FileFault) {
    var ids: [String] = []
    for source in index.sources {
      let id = uuid(of: [source.runName, DamageCase.className, DamageCase.name])
      ids.append(id)
      try removeFile(resultPath(id, in: folder))
    }
    guard let damage = index.damage, let id = ids.first else { return }
    try write(damage.allure(uuid: id, host: manifest.host), to: resultPath(id, in: folder))
  }

  /// Writes a file that applies to all results of the folder, unless the user has one there.
  private func replaceOwn(_ path: String, with text: String, mark: String) throws(FileFault) {
    if let beginning = beginningOfFile(path, count: mark.utf8.count), !beginning.elementsEqual(mark.utf8) {
      return
    }
    try WholeFile.replace(path, with: text)
  }

  /// The beginning of our environment file.
  private static let environmentMark = "lockstep = "

  /// The categories of failed cases in Allure.
  private static var allureCategories: JSON {
    [
      [
        "name": "The model agrees, the scenario asks for more", "matchedStatuses": ["failed"],
        "messageRegex": .text(CaseText.unmetWords + ".*"),
      ],
      [
        "name": "Model and device disagree", "matchedStatuses": ["failed"],
        "messageRegex": .text("(?!\(CaseText.unmetWords)).*"),
      ],
      ["name": "The lab failed", "matchedStatuses": ["broken"]],
      ["name": "Not completed", "matchedStatuses": ["unknown"]],
    ]
  }

  private var allureEnvironment: String {
    let manifest = manifest
    var properties: [(name: String, value: String?)] = [
      ("lockstep", manifest.version), ("run", manifest.name), ("host", manifest.host),
      ("seed", joined(index.runs.map { $0.seed.map { String($0) } })),
    ]
    properties += manifest.properties.map { ($0.name, $0.value.words) }
    // Keys end at a space, an equals sign or a colon.
    func key(_ name: String) -> String {
      String(name.map { $0.isWhitespace || "=:#!\\".contains($0) ? "_" : $0 })
    }
    return properties.compactMap { name, value in
      value.map { "\(key(name)) = \($0.inOneLine.replacing("\\", with: "\\\\"))\n" }
    }.joined()
  }

  /// Copies files of a case to Allure's folder.
  ///
  /// A journal may come from another user: only files in the folder of its run, or among the scenarios saved
  /// beside the runs, are copied.
  private func copy(
    _ files: [Record.Attachment], from run: String, to folder: String
  ) throws(FileFault) -> [JSON] {
    guard let home = realPath(run), home != "/" else { return [] }
    let homes = [home, realPath(Path.join(home, "../../failures"))].compactMap { $0.map { $0 + "/" } }
    var copied: [JSON] = []
    for file in files.prefix(32) {
      guard let real = realPath(Path.join(home, file.path)), homes.contains(where: real.hasPrefix),
        fileKind(real) == .file,
        let bytes = try? WholeFile.bytes(of: real, limit: Self.largestAttachment)
      else { continue }
      let ending =
        real.split(separator: "/").last?.split(separator: ".").dropFirst().last.map { ".\($0)" } ?? ""
      let name =
        uuid(of: [real, String(decoding: bytes.suffix(64), as: UTF8.self), String(bytes.count)])
        + "-attachment" + ending
      var copy = try Replacement(of: "\(folder)/\(name)")
      try copy.write(bytes)
      try copy.commit()
      copied.append(["name": .text(file.name), "source": .text(name), "type": .text(file.mediaType)])
    }
    return copied
  }

  /// The maximum size of a copied file, in bytes.
  private static var largestAttachment: Int { 64 << 20 }
}

extension JournalIndex.Source {
  /// The identifier of the run.
  fileprivate var runName: String { manifest.id ?? manifest.name ?? "" }
}

extension DamageCase {
  /// The case as an Allure result.
  fileprivate func allure(uuid id: String, host: String?) -> JSON {
    let labels = [
      ("parentSuite", Self.className), ("package", Self.className), ("framework", "lockstep"), ("host", host),
    ]
    let history = uuid(of: [Self.className, Self.name])
    return [
      "uuid": .text(id), "historyId": .text(history), "testCaseId": .text(history),
      "fullName": .text("\(Self.className).\(Self.name)"), "name": .text(Self.name),
      "status": ending.allure,
      "statusDetails": ["flaky": false, "message": .text(message), "trace": .text(text)],
      "stage": "finished",
      "labels": .list(
        labels.compactMap { name, value in value.map { ["name": .text(name), "value": .text($0)] } }),
    ]
  }
}

extension Record.Ending {
  /// An incomplete case is unknown.
  fileprivate var allure: JSON {
    switch (element, self) {
    case (.passed, _): "passed"
    case (.failed, _): "failed"
    case (.error, .labFault): "broken"
    case (.error, _): "unknown"
    case (.skipped, _): "skipped"
    }
  }
}

extension ExchangeCase {
  /// An attempt as an Allure result.
  fileprivate func allure(_ item: Attempt, uuid id: String, _ files: [JSON], host: String?) -> JSON {
    let isLast = item.text.start.attempt == attempts.last?.text.start.attempt
    let ending = isLast ? ending : item.ending
    var result: [JSON.Member] = [
      .init("uuid", .text(id)), .init("historyId", .text(uuid(of: [className, name]))),
      .init("testCaseId", .text(uuid(of: [withoutRound(start.id)]))),
      .init("fullName", .text("\(className).\(name)")), .init("name", .text(title)),
      .init("status", ending.allure),
    ]
    let element = ending.element
    if element != .passed || entry.isFlaky {
      let text = isLast ? main : item.text
      var details: [JSON.Member] = [.init("flaky", .flag(entry.isFlaky))]
      if element != .passed { details.append(.init("message", .text(text.message))) }
      if element != .passed, element != .skipped {
        details.append(.init("trace", .text(text.body + "\n\n" + text.trace.text)))
      }
      result.append(.init("statusDetails", .mapping(details)))
    }
    result.append(.init("stage", "finished"))
    if let range = item.time?.range {
      result += [.init("start", .integer(range.start)), .init("stop", .integer(range.stop))]
    }
    result += [
      .init("labels", .list(labels(host: host).map { ["name": .text($0.name), "value": .text($0.value)] })),
      .init("parameters", .list(parameters.map(Self.parameter))),
      .init("attachments", .list(files)),
    ]
    return .mapping(result)
  }

  /// A parameter; the seed is excluded from those by which Allure distinguishes cases.
  private static func parameter(_ item: (name: String, value: String)) -> JSON {
    ["name": .text(item.name), "value": .text(item.value), "excluded": true]
  }

  private func labels(host: String?) -> [(name: String, value: String)] {
    let levels = ["parentSuite", "suite", "subSuite"]
    let suites = suites.count > 3 ? [suites[0], suites[1], suites[2...].joined(separator: ".")] : suites
    var labels: [(name: String, value: String?)] = zip(levels, suites).map { ($0, $1) }
    labels += [
      ("package", className), ("framework", "lockstep"), ("language", "yaml"), ("host", host),
      ("thread", start.device),
    ]
    labels += start.tags.map { ("tag", $0) }
    return labels.compactMap { name, value in value.map { (name, $0) } }
  }
}
