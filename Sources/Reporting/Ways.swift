// Where a file lies, seen from another folder, by the letters of its path alone.

/// What stands before a path in one folder to reach it from another, ending with a slash unless empty; both are meant
/// from one place, or from the root.
func way(to target: String, from start: String) -> String {
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

/// A path without the detours in it: `runs/a/../../failures/b.yaml` is `failures/b.yaml`.
func straight(_ path: String) -> String {
  (path.hasPrefix("/") ? "/" : "") + parts(path).joined(separator: "/")
}

/// The names on a path, without those that a later `..` takes back.
private func parts(_ path: String) -> [Substring] {
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
