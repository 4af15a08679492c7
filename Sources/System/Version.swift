import CShims

/// The version of Lockstep.
public enum Version {
  /// The number.
  public static let text = "1.0"
  /// The date of this version's manual.
  public static let date = "2026-11-26"

  /// The commit of the build, with a plus sign if there were uncommitted changes, and its date; `nil` if the
  /// build did not provide them.
  public static var build: (commit: String, date: String)? {
    let words = unsafe String(cString: lockstep_build()).split(separator: " ").map(String.init)
    return words.count == 2 ? (words[0], words[1]) : nil
  }
}
