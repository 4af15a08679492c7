/// How a lock was left.
public enum ParkState: Equatable, Sendable {
  /// Where it is to be parked.
  case parked
  /// Somewhere else, and why.
  case elsewhere(String)
  /// Nobody knows: who drove it was killed.
  case unknown
}
