import Glibc

extension FolderNames {
  /// The names in a folder, in order, also those that start with a dot; none where there is no such folder.
  ///
  /// For whoever must not take a folder that cannot be looked at for one that is empty.
  public static func listed(in path: String) throws(FileFault) -> [String] {
    if let names = all(in: path) { return names }
    let code = errno
    guard code == ENOENT else { throw FileFault(path: path, code: code) }
    return []
  }

  /// What stands at a path itself, where that can be said; a link is something other.
  public static func knownKind(_ path: String) throws(FileFault) -> FileKind {
    let kind = kind(path)
    if case .unknown(let code) = kind { throw FileFault(path: path, code: code) }
    return kind
  }
}
