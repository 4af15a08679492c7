public import Basics

/// The attempt to connect; there is one at a time (Core 5.4, Vol 4 Part E §7.8.12, §7.8.13).
///
///                      accepted                 link up, or refused
///     requesting ────────────────▶ initiating ──────────────────────▶ idle
///       │    │ link up already          │ time is up, or the user cancels
///       │    └──▶ overtaken ──▶ idle    ▼
///       └── accepted, but    ─────▶ cancelling ─────────────────────▶ idle
///           no longer wanted
///
/// Cancelling is a race: the link may be established nevertheless. The controller shows this by refusing to
/// cancel or, if the event was already on its way, not at all. Such a link is kept after a timeout, and ended
/// without a report if the user has cancelled.
struct Initiator: Sendable {
  struct Attempt: Sendable {
    var peer: PeerAddress
    var parameters: ConnectionParameters
    var deadline: Instant
  }

  /// Why an attempt was cancelled.
  enum Cause: Sendable {
    case timeout
    case user

    var status: HCIErrorCode {
      switch self {
      case .timeout: .failedToEstablish
      case .user: .cancelledByHost
      }
    }
  }

  private enum State: Sendable {
    case idle
    /// The command has no response yet.
    case requesting(Attempt)
    case initiating(Attempt)
    /// The attempt is decided, and the controller is not yet ready for the next one.
    case ending(Ending, next: Attempt?)
  }

  private enum Ending: Sendable {
    /// The attempt was cancelled before the response to its command.
    case requested(Cause)
    /// The link was established before the response to the command.
    case overtaken
    /// The controller was asked to cancel. After a while without an event the attempt counts as cancelled.
    case cancelling(Cause, deadline: Instant)
  }

  private var state = State.idle

  /// When the next action is due, or never.
  var deadline: Instant {
    switch state {
    case .idle: .never
    case .requesting(let attempt), .initiating(let attempt): attempt.deadline
    case .ending(.cancelling(_, let deadline), _): deadline
    case .ending(.requested, let next), .ending(.overtaken, let next): next?.deadline ?? .never
    }
  }

  /// Whether an attempt is in progress or waits, and was not cancelled.
  var isBusy: Bool {
    switch state {
    case .idle, .ending(_, nil): false
    case .requesting, .initiating, .ending(_, _?): true
    }
  }

  /// Begins an attempt, unless another one is in progress.
  mutating func connect(_ attempt: Attempt) -> [HostPartAction] {
    switch state {
    case .idle:
      return begin(attempt)
    case .ending(let ending, _):
      state = .ending(ending, next: attempt)
      return []
    case .requesting, .initiating:
      preconditionFailure("a host connects to one device at a time")
    }
  }

  /// Cancels the waiting attempt, or else the one in progress.
  mutating func giveUp(_ cause: Cause) -> [HostPartAction] {
    switch state {
    case .requesting:
      state = .ending(.requested(cause), next: nil)
      return []
    case .initiating:
      return cancel(cause, next: nil)
    case .ending(let ending, _?):
      state = .ending(ending, next: nil)
      return [.report(.connectionFailed(cause.status))]
    case .idle, .ending(_, nil):
      return []
    }
  }

  /// Handles the timeout of an attempt, or of its end.
  mutating func deadlinePassed() -> [HostPartAction] {
    switch state {
    case .ending(.cancelling(let cause, _), let next): end(cause.status, next)
    case .idle, .requesting, .initiating, .ending(.requested, _), .ending(.overtaken, _): giveUp(.timeout)
    }
  }

  /// Receives the response to LE Create Connection.
  mutating func answered(_ status: HCIErrorCode) -> [HostPartAction] {
    switch (state, status) {
    case (.requesting(let attempt), .success):
      state = .initiating(attempt)
      return []
    case (.requesting, _):
      return end(status, nil)
    case (.ending(.requested(let cause), let next), .success):
      return cancel(cause, next: next)
    case (.ending(.requested(let cause), let next), _):
      return end(cause.status, next)
    case (.ending(.overtaken, let next), _):
      return begin(next)
    case (.idle, _), (.initiating, _), (.ending(.cancelling, _), _):
      return []
    }
  }

  /// Receives the response to LE Create Connection Cancel, which is not decisive: the event that ends the attempt is.
  mutating func cancelAnswered(deadline: Instant) {
    guard case .ending(.cancelling(let cause, _), let next) = state else { return }
    state = .ending(.cancelling(cause, deadline: deadline), next: next)
  }

  /// Reports that a link was established.
  mutating func connected(_ connection: ConnectionComplete) -> [HostPartAction] {
    let unseen = [
      HostPartAction.report(.connectionFailed(.cancelledByHost)), .adopt(connection, isWanted: false),
    ]
    switch state {
    case .requesting:
      state = .ending(.overtaken, next: nil)
      return [.adopt(connection, isWanted: true)]
    case .ending(.requested(let cause), let next):
      state = .ending(.overtaken, next: next)
      return cause == .user ? unseen : [.adopt(connection, isWanted: true)]
    case .initiating:
      state = .idle
      return [.adopt(connection, isWanted: true)]
    case .ending(.cancelling(let cause, _), let next):
      return (cause == .user ? unseen : [.adopt(connection, isWanted: true)]) + begin(next)
    case .idle, .ending(.overtaken, _):
      return [
        .reportViolation("a link to \(connection.peer), that this host did not request"),
        .adopt(connection, isWanted: false),
      ]
    }
  }

  /// Reports that an attempt failed.
  mutating func failed(_ status: HCIErrorCode) -> [HostPartAction] {
    switch (state, status) {
    case (.ending(.cancelling(let cause, _), let next), _):
      return end(cause.status, next)
    case (.initiating, .unknownConnection), (.requesting, .unknownConnection),
      (.ending(.requested, _), .unknownConnection), (.idle, _), (.ending(.overtaken, _), _):
      // The end of a cancelled attempt that is no longer awaited.
      return [.reportViolation("an attempt to connect that failed, \(status), and is not under way")]
    case (.initiating, _):
      return end(status, nil)
    case (.requesting, _):
      state = .ending(.overtaken, next: nil)
      return [.report(.connectionFailed(status))]
    case (.ending(.requested(let cause), let next), _):
      state = .ending(.overtaken, next: next)
      return [.report(.connectionFailed(cause.status))]
    }
  }

  private mutating func begin(_ attempt: Attempt?) -> [HostPartAction] {
    guard let attempt else {
      state = .idle
      return []
    }
    state = .requesting(attempt)
    let request = ConnectionRequest(peer: attempt.peer, parameters: attempt.parameters)
    return [.send(.leCreateConnection(request), .initiator)]
  }

  private mutating func cancel(_ cause: Cause, next: Attempt?) -> [HostPartAction] {
    state = .ending(.cancelling(cause, deadline: .never), next: next)
    return [.send(.leCreateConnectionCancel(), .cancellation)]
  }

  /// Ends an attempt without a link.
  private mutating func end(_ status: HCIErrorCode, _ next: Attempt?) -> [HostPartAction] {
    [.report(.connectionFailed(status))] + begin(next)
  }
}

extension BluetoothHost {
  /// Whether an attempt to connect is in progress and was not cancelled: a second one is not possible.
  public var isConnecting: Bool { initiator.isBusy }

  /// Connects to a device; ``HostEvent/connected(_:_:)`` or ``HostEvent/connectionFailed(_:)`` follows.
  ///
  /// The failure is 0x3E if the device was not found in time, and 0x44 after ``cancelConnecting(at:)``. An
  /// attempt that begins while the one before is being cancelled waits for its end.
  ///
  /// - Precondition: ``isConnecting`` is false and the parameters are valid.
  public mutating func connect(
    to peer: PeerAddress, _ parameters: ConnectionParameters, timeout: Interval, at now: Instant
  ) -> [HostAction] {
    precondition(parameters.isValid, "the connection parameters do not fit each other")
    guard mayAct() else { return [] }
    precondition(!isConnecting, "a host connects to one device at a time")
    let attempt = Initiator.Attempt(peer: peer, parameters: parameters, deadline: now + timeout)
    carryOut(initiator.connect(attempt), at: now)
    return takeActions()
  }

  /// Cancels the attempt to connect; ``HostEvent/connectionFailed(_:)`` follows if there was one.
  public mutating func cancelConnecting(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    carryOut(initiator.giveUp(.user), at: now)
    return takeActions()
  }

  /// Reports that a link was established, or that an attempt failed.
  mutating func connectionCompleted(_ connection: ConnectionComplete, at now: Instant) {
    switch (connection.status, connection.role) {
    case (.success, _) where index(of: connection.handle) != nil:
      reportViolation(nil, "a second link of handle \(connection.handle)")
    case (.success, .peripheral):
      addLink(connection, isWanted: true, at: now)
      carryOut(advertiser.ended(.success), at: now)
    case (.success, .central):
      carryOut(initiator.connected(connection), at: now)
    case (.advertisingTimeout, _):
      carryOut(advertiser.ended(.advertisingTimeout), at: now)
    case (let status, _):
      carryOut(initiator.failed(status), at: now)
    }
  }
}
