/// Operations on paths as text, without access to files.
public enum Path {
  /// Returns the folder that contains a file.
  public static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Resolves a path against a folder; the result has no `.` and, if possible, no `..`.
  public static func join(_ folder: String, _ path: String) -> String {
    if path.hasPrefix("/") { return normalized(path) }
    return normalized(folder + "/" + path)
  }

  /// Returns the path without redundant parts: `runs/a/../../failures/b.yaml` is `failures/b.yaml`.
  public static func normalized(_ path: String) -> String {
    let joined = parts(path).joined(separator: "/")
    if path.hasPrefix("/") { return "/" + joined }
    return joined.isEmpty ? "." : joined
  }

  /// Returns a path to a file relative to a folder; both are absolute, or both relative to the same folder.
  public static func relative(_ path: String, from folder: String) -> String {
    let (target, start) = (parts(path), parts(folder))
    let common = zip(target.dropLast(), start).prefix { $0 == $1 }.count
    let up = [Substring](repeating: "..", count: start.count - common)
    return (up + target[common...]).joined(separator: "/")
  }

  /// Returns a path to a file for use in a file in a folder, so that readers find it from any working directory.
  ///
  /// If both paths have the same starting point, the result leads from the folder to the file. An absolute path to a
  /// file stays absolute if the folder's path is relative.
  ///
  /// - Parameter workingDirectory: The absolute path of the working directory.
  public static func reference(to path: String, from folder: String, workingDirectory: String) -> String {
    if path.hasPrefix("/"), !folder.hasPrefix("/") { return normalized(path) }
    let (target, start) = (parts(path), parts(folder))
    let common = zip(target.dropLast(), start).prefix { $0 == $1 }.count
    // The path up from a folder above the working directory is known only from the root.
    let isKnown = path.hasPrefix("/") == folder.hasPrefix("/") && !start.dropFirst(common).contains("..")
    return isKnown
      ? relative(path, from: folder)
      : relative(join(workingDirectory, path), from: join(workingDirectory, folder))
  }

  /// Returns the prefix that makes a path in one folder reachable from another; it ends with a slash unless it is
  /// empty. Both paths are absolute, or both relative to the same folder.
  public static func relativePath(to target: String, from start: String) -> String {
    guard target.hasPrefix("/") == start.hasPrefix("/") else {
      return target.hasSuffix("/") ? target : target + "/"
    }
    let (target, start) = (parts(target), parts(start))
    let common = zip(target, start).prefix { $0 == $1 }.count
    let up = start.dropFirst(common)
    // From an unknown folder, only the location of the target is known.
    if up.contains("..") { return target.map { $0 + "/" }.joined() }
    return (up.map { _ in "../" } + target.dropFirst(common).map { $0 + "/" }).joined()
  }

  /// Returns a folder with a slash at its end, as an absolute path or relative to the working directory.
  ///
  /// - Parameter workingDirectory: The absolute path of the working directory.
  public static func prefix(_ folder: String, isAbsolute: Bool, workingDirectory: String) -> String {
    let start = workingDirectory.hasSuffix("/") ? workingDirectory : workingDirectory + "/"
    var path = folder
    while path.hasPrefix("./") { path = String(path.dropFirst(2)) }
    if path == "." { path = "" }
    if !path.isEmpty, !path.hasSuffix("/") { path += "/" }
    if isAbsolute { return path.hasPrefix("/") ? path : start + path }
    return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : path
  }

  /// Returns the names on a path, without those that a later `..` cancels; the parent of the root is the root.
  private static func parts(_ path: String) -> [Substring] {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    return parts
  }
}
