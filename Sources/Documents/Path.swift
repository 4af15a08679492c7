/// Paths as text.
public enum Path {
  /// The folder that a file stands in.
  public static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// A path seen from a folder, without `.` and, where it can be told, without `..`.
  public static func join(_ folder: String, _ path: String) -> String {
    if path.hasPrefix("/") { return normalized(path) }
    return normalized(folder + "/" + path)
  }

  /// The same path without what goes nowhere.
  public static func normalized(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        // Above the root is the root.
        parts.append(part)
      }
    }
    let joined = parts.joined(separator: "/")
    if path.hasPrefix("/") { return "/" + joined }
    return joined.isEmpty ? "." : joined
  }

  /// A path to a file as it is seen from a folder; both are absolute, or both relative to one place.
  public static func relative(_ path: String, from folder: String) -> String {
    let target = normalized(path).split(separator: "/")
    let start = normalized(folder).split(separator: "/").filter { $0 != "." }
    var common = 0
    while common < min(target.count - 1, start.count), target[common] == start[common] { common += 1 }
    let up = [Substring](repeating: "..", count: start.count - common)
    return (up + target[common...]).joined(separator: "/")
  }
}
