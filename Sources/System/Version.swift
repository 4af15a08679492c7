/// The version of Lockstep.
public enum Version {
  /// What it is called.
  public static let text = "1.0"
  /// When the manual of this version was made.
  public static let date = "2026-11-22"
}
