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
