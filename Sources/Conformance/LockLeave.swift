/// How a lock was left.
public enum LockLeave: Equatable, Sendable {
  /// Where it is to rest.
  case atRest
  /// Somewhere else, and why.
  case elsewhere(String)
  /// Nobody knows: who drove it was killed.
  case unknown
}
