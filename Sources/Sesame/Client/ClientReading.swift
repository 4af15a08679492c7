public import Basics

/// What a client reads beside its lock's status.
public enum ClientReading: Equatable, Sendable {
  /// The battery voltage.
  case battery(Double)
  /// The autolock delay in seconds; 0 for none.
  case autolock(Int)
  /// The firmware version.
  case version(String)
  /// A history record as text; `nil` at the end.
  case history(String?)
  /// The same record, in parts.
  case record(ReadRecord)
  /// The moment that the lock's clock shows at a login, if it is more than three seconds from the client's.
  case time(Instant)
  /// The motor was stopped during its movement.
  case stalled
  /// The lock's answer to a refused login.
  case login(ResultCode)
  /// The lock's answer to a refused registration.
  case registration(ResultCode)
  /// A request that the user did not make was refused, as described by the text.
  case refused(String)
  /// An input was ignored, as described by the text.
  case ignored(String)
}

/// A history record in parts, as a client reports it.
public struct ReadRecord: Equatable, Sendable {
  /// Its number. If the client counts from the first record that it read, an older one is zero or negative.
  public var number: Int
  /// What happened, such as `unlock`.
  public var event: String
  /// The tag of a command as text; empty if it has none.
  public var tag: String
  /// The moment by the lock's clock, on the time line of the client.
  public var time: Instant
}
