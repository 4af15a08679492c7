import CShims

/// The version of Lockstep.
public enum Version {
  /// What it is called.
  public static let text = "1.0"
  /// When the manual of this version was made.
  public static let date = "2026-11-26"

  /// The commit of which it was built, with a plus sign where something was changed since, and that commit's day; `nil` where
  /// the build did not say.
  public static var build: (commit: String, date: String)? {
    let words = unsafe String(cString: lockstep_build()).split(separator: " ").map(String.init)
    return words.count == 2 ? (words[0], words[1]) : nil
  }
}
