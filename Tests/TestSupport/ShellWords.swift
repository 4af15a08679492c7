import Glibc

/// The words of a command line, as a shell tells them apart.
public enum ShellWords {
  /// A line that needs a shell: it has a variable, a substitution or an operator.
  public struct Failure: Error {
    public let line: String
  }

  /// Splits a line at its spaces, with quotes taken away and patterns of file names filled in, in the working folder of this thread.
  public static func split(_ line: String) throws(Failure) -> [String] {
    var list = unsafe wordexp_t()
    guard !line.contains("$"), unsafe wordexp(line, &list, Int32(WRDE_NOCMD)) == 0 else {
      throw Failure(line: line)
    }
    defer { unsafe wordfree(&list) }
    return unsafe (0..<Int(list.we_wordc)).map { unsafe String(cString: list.we_wordv[$0]!) }
  }

  /// The paths of a pattern below a folder, from there on.
  public static func split(_ pattern: String, in folder: String) throws(Failure) -> [String] {
    try split("'\(folder)'/" + pattern).map { String($0.dropFirst(folder.count + 1)) }
  }
}
