/// The position in which a run leaves a real lock.
public enum ParkPosition: String, CaseIterable, Sendable {
  case locked
  case unlocked
  /// The position in which it was first seen.
  case asFound = "as-found"
}
