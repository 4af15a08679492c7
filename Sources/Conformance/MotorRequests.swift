// What moves the motor of a lock. A family says only which of its stimuli make which request.

extension LockFamily.Request {
  /// Whether the request itself moves the motor; autolock does so later, once it is on.
  public var movesMotor: Bool {
    switch self {
    case .lock, .unlock, .toggle, .forge, .configure: true
    case .listen, .connect, .leave, .register, .reset, .setAutolock, .readAutolock, .readHistory: false
    }
  }

  /// Whether the bolt ends in one of two positions, unless it is blocked.
  public var isTurn: Bool { Self.turns.contains(rawValue) }

  /// The requests that turn the bolt, by the usual names of their stimuli.
  public static let turns = [Self.lock, .unlock, .toggle].map(\.rawValue)

  /// Returns the request that turns the bolt to a position, `locked` or `unlocked`.
  public static func turn(to goal: String) -> Self { goal == "locked" ? .lock : .unlock }
}
