import System

/// The environment of a run for its manifest: the revision of the project and the job of a CI system.
enum RunEnvironment {
  /// The known properties, in order.
  static var properties: [(name: String, value: String)] {
    var known: [(name: String, value: String)] = []
    if let revision { known.append(("revision", revision)) }
    if let job = firstVariable(["CI_JOB_URL", "BUILD_URL", "GITHUB_RUN_ID", "SLURM_JOB_ID"]) {
      known.append(("job", job))
    }
    return known
  }

  /// The commit of the scenarios: from the CI system, or else that of the repository with this folder.
  private static var revision: String? {
    firstVariable(["CI_COMMIT_SHA", "GITHUB_SHA", "GIT_COMMIT"]) ?? Repository(around: Host.folder)?.head
  }

  private static func firstVariable(_ names: [String]) -> String? {
    for name in names {
      if let value = Host.variable(name) { return value }
    }
    return nil
  }
}

/// A git repository with its current commit, read from its files, since git may not be installed.
struct Repository {
  /// The folder of the work tree.
  let root: String
  /// The folders of HEAD and of the branches, which several work trees share.
  private let folder: String
  private let common: String

  init?(around start: String) {
    var directory = start
    while true {
      if Host.isFile(directory + "/.git/HEAD") {
        (root, folder, common) = (directory, directory + "/.git", directory + "/.git")
        return
      }
      if let link = Repository.line(directory + "/.git"), link.hasPrefix("gitdir: ") {
        let target = String(link.dropFirst(8))
        let folder = target.hasPrefix("/") ? target : directory + "/" + target
        let shared = Repository.line(folder + "/commondir")
        (root, self.folder) = (directory, folder)
        common = shared.map { $0.hasPrefix("/") ? $0 : folder + "/" + $0 } ?? folder
        return
      }
      guard let slash = directory.lastIndex(of: "/"), directory != "/" else { return nil }
      directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
    }
  }

  /// The commit, in hexadecimal digits.
  var head: String? {
    guard let head = Repository.line(folder + "/HEAD") else { return nil }
    guard head.hasPrefix("ref: ") else { return commit(head) }
    let name = String(head.dropFirst(5))
    if let loose = Repository.line("\(common)/\(name)") { return commit(loose) }
    let packed = Repository.lines("\(common)/packed-refs").first { $0.hasSuffix(" " + name) }
    return packed.flatMap { commit(String($0.prefix { $0 != " " })) }
  }

  private func commit(_ text: String) -> String? {
    text.count >= 40 && text.allSatisfy(\.isHexDigit) ? text : nil
  }

  private static func line(_ path: String) -> String? { lines(path).first }

  private static func lines(_ path: String) -> [String] {
    guard let bytes = try? WholeFile.bytes(of: path, limit: 16 << 20) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
