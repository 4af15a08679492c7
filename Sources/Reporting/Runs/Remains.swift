public import System

/// The remains of processes that were killed: folders of runs before their completion, runs that were being
/// removed, and temporary files.
///
/// The next process removes them if no other one works below the folder of reports. It removes nothing else:
/// each name must be one of ours.
public enum Remains {
  /// Begins to work below a folder of reports, and removes remains if no other process works there.
  public static func begin(in out: String) throws(FileFault) -> FolderUse? {
    try makeFolder(out + "/runs")
    return FolderUse(of: out) { sweep(out) }
  }

  /// The prefix of the name of a run that is being removed.
  private static let removalPrefix = ".gone."

  /// The name under which a folder is removed; a number distinguishes equal names.
  public static func removalName(of name: String, _ number: Int) -> String {
    removalPrefix + name + ".\(number)"
  }

  /// The folders below a folder of reports whose removal was begun and is not in progress, because they could
  /// not be removed, each with the name of its run.
  public static func partlyRemoved(in out: String) -> [(run: String, path: String)] {
    (FolderNames.all(in: out + "/runs") ?? []).filter(isBeingRemoved).compactMap { name in
      let path = "\(out)/runs/\(name)"
      guard FolderNames.kind(path) == .folder, FolderHold.state(at: path) == .free else { return nil }
      let stem = name.dropFirst(removalPrefix.count)
      return (String(stem.prefix(upTo: stem.lastIndex(of: ".") ?? stem.endIndex)), path)
    }
  }

  private static func sweep(_ out: String) {
    sweep(out) { name in
      isReport(name) || name == UnsentRuns.folder
    }
    sweep(out + "/failures") { $0.hasSuffix(".yaml") }
    sweep(out + "/schema") { $0.hasSuffix(".schema.json") }
    sweep(out + "/" + UnsentRuns.folder) { $0.hasSuffix(".json") }
    for machine in FolderNames.all(in: out + "/corpus") ?? [] {
      let folder = "\(out)/corpus/\(machine)"
      guard FolderNames.kind(folder) == .folder else { continue }
      sweep(folder) { $0.hasSuffix(".yaml") }
      for job in FolderNames.all(in: folder) ?? [] where job.hasPrefix("job-") {
        guard FolderNames.kind(folder + "/" + job) == .folder else { continue }
        sweep(folder + "/" + job) { $0.hasSuffix(".yaml") }
      }
    }
    for name in FolderNames.all(in: out + "/runs") ?? [] where name.hasPrefix(".") {
      let path = "\(out)/runs/\(name)"
      guard FolderNames.kind(path) == .folder, FolderHold.state(at: path) == .free else { continue }
      if isUnfinishedStart(name, path) || isBeingRemoved(name) { try? removeFolder(path) }
    }
  }

  /// Removes temporary files in the folder of a run.
  static func sweep(below run: String) {
    sweep(run) {
      ["manifest.json", "campaign.json", "journal.jsonl", "summary.json", "park.yaml"].contains($0)
        || $0.hasPrefix("park-")
    }
    sweep(run + "/packets") { _ in true }
  }

  /// Removes the temporary files of certain files in a folder.
  private static func sweep(_ folder: String, _ isIncluded: (String) -> Bool) {
    for name in FolderNames.all(in: folder) ?? [] {
      guard let target = Replacement.target(ofTemporary: name), isIncluded(target) else { continue }
      let path = folder + "/" + name
      if FolderNames.kind(path) == .file { try? removeFile(path) }
    }
  }

  /// Whether a file is one of the reports.
  private static func isReport(_ name: String) -> Bool {
    if ["report.html", "nightly.html", "junit.xml"].contains(name) { return true }
    return name.hasPrefix("junit-") && name.hasSuffix(".xml")
      && name.dropFirst(6).dropLast(4).allSatisfy(\.isNumber)
  }

  /// Whether a folder is that of a run that was killed before its completion: named by the time and the kind
  /// of the run and a unique suffix, with only the initial files in it.
  private static func isUnfinishedStart(_ name: String, _ path: String) -> Bool {
    let parts = name.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    let usual = ["manifest.json", "journal.jsonl", FolderHold.file, "campaign.json"]
    return parts.count == 2 && isStem(parts[0]) && !parts[1].isEmpty && parts[1].allSatisfy(\.isHexDigit)
      && (FolderNames.all(in: path) ?? ["?"]).allSatisfy { file in
        usual.contains(Replacement.target(ofTemporary: file) ?? file)
      }
  }

  /// Whether a folder is that of a run that was being removed.
  private static func isBeingRemoved(_ name: String) -> Bool {
    guard name.hasPrefix(removalPrefix) else { return false }
    let parts = name.dropFirst(removalPrefix.count).split(separator: ".", omittingEmptySubsequences: false)
    return parts.count >= 2 && parts.last?.allSatisfy(\.isNumber) == true
  }

  /// Whether a name begins like those of runs: `2026-11-21T00-50-17-run`.
  private static func isStem(_ name: Substring) -> Bool {
    let pattern = "0000-00-00T00-00-00-"
    return name.count > pattern.count
      && zip(name, pattern).allSatisfy { $1 == "0" ? $0.isASCII && $0.isNumber : $0 == $1 }
  }
}
