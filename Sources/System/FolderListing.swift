import Glibc

extension FolderNames {
  /// The names in a folder, in order, including those that begin with a dot; none if the folder does not exist.
  ///
  /// It throws for an unreadable folder, so that callers do not mistake it for an empty one.
  public static func listed(in path: String) throws(FileFault) -> [String] {
    if let names = all(in: path) { return names }
    let code = errno
    guard code == ENOENT else { throw FileFault(path: path, code: code) }
    return []
  }

  /// The kind of file at a path, without following links, if that can be determined.
  public static func knownKind(_ path: String) throws(FileFault) -> FileKind {
    let kind = kind(path)
    if case .unknown(let code) = kind { throw FileFault(path: path, code: code) }
    return kind
  }
}
