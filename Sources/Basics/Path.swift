/// Paths as text: where something lies, by the letters of its path alone.
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

  /// The same path without what goes nowhere: `runs/a/../../failures/b.yaml` is `failures/b.yaml`.
  public static func normalized(_ path: String) -> String {
    let joined = parts(path).joined(separator: "/")
    if path.hasPrefix("/") { return "/" + joined }
    return joined.isEmpty ? "." : joined
  }

  /// A path to a file as it is seen from a folder; both are absolute, or both relative to one place.
  public static func relative(_ path: String, from folder: String) -> String {
    let (target, start) = (parts(path), parts(folder))
    let common = zip(target.dropLast(), start).prefix { $0 == $1 }.count
    let up = [Substring](repeating: "..", count: start.count - common)
    return (up + target[common...]).joined(separator: "/")
  }

  /// A path to a file as a file in a folder is to name it, so that it is found from there wherever the one who reads it is.
  ///
  /// Where both can be told from one place, the path leads from the folder to the file. A file that is named from the root
  /// stays so in a folder that is not.
  ///
  /// - Parameter here: where we are, from the root.
  public static func reference(to path: String, from folder: String, here: String) -> String {
    if path.hasPrefix("/"), !folder.hasPrefix("/") { return normalized(path) }
    let (target, start) = (parts(path), parts(folder))
    let common = zip(target.dropLast(), start).prefix { $0 == $1 }.count
    // The way up from a folder that lies above is known only from the root.
    let isKnown = path.hasPrefix("/") == folder.hasPrefix("/") && !start.dropFirst(common).contains("..")
    return isKnown ? relative(path, from: folder) : relative(join(here, path), from: join(here, folder))
  }

  /// What stands before a path in one folder to reach it from another, ending with a slash unless empty; both are meant
  /// from one place, or from the root.
  public static func relativePath(to target: String, from start: String) -> String {
    guard target.hasPrefix("/") == start.hasPrefix("/") else {
      return target.hasSuffix("/") ? target : target + "/"
    }
    let (target, start) = (parts(target), parts(start))
    let common = zip(target, start).prefix { $0 == $1 }.count
    let up = start.dropFirst(common)
    // From an unknown folder nothing can be said but where the target is.
    if up.contains("..") { return target.map { $0 + "/" }.joined() }
    return (up.map { _ in "../" } + target.dropFirst(common).map { $0 + "/" }).joined()
  }

  /// A folder with a slash at its end, from the root or from where we are, as asked.
  ///
  /// - Parameter here: where we are, from the root.
  public static func prefix(_ folder: String, isAbsolute: Bool, here: String) -> String {
    let here = here.hasSuffix("/") ? here : here + "/"
    var path = folder
    while path.hasPrefix("./") { path = String(path.dropFirst(2)) }
    if path == "." { path = "" }
    if !path.isEmpty, !path.hasSuffix("/") { path += "/" }
    if isAbsolute { return path.hasPrefix("/") ? path : here + path }
    return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
  }

  /// The names on a path, without those that a later `..` takes back; above the root is the root.
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
