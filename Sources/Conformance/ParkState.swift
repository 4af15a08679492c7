/// The state in which a lock was left.
public enum ParkState: Equatable, Sendable {
  /// In its park position.
  case parked
  /// In another state, with the reason.
  case elsewhere(String)
  /// Unknown: the run was killed.
  case unknown
}
