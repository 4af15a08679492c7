/// Where a real lock is left when a run ends.
public enum ParkPosition: String, CaseIterable, Sendable {
  case locked
  case unlocked
  /// Where it was when it was first seen.
  case asFound = "as-found"
}
