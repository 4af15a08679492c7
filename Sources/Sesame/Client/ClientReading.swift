/// What a client learns beside its lock's status.
public enum ClientReading: Equatable, Sendable {
  /// The battery, in volts.
  case battery(Double)
  /// The delay of autolock, in seconds; 0 for none.
  case autolock(Int)
  /// The firmware's version.
  case version(String)
  /// A record of the history in words; `nil` at its end.
  case history(String?)
  /// The motor was stopped on its way.
  case stalled
  /// What the lock answered to a login that it refused.
  case login(ResultCode)
  /// What the lock answered to a registration that it refused.
  case registration(ResultCode)
  /// A request that the client's user did not make was refused, in words.
  case refused(String)
  /// Something that was heard means nothing to the client, in words.
  case ignored(String)
}
