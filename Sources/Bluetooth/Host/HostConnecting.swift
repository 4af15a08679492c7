public import Basics

/// The attempt to connect, of which there is one at a time (Core 5.4, Vol 4 Part E §7.8.12, §7.8.13).
///
///                      accepted                 link up, or refused
///     requesting ────────────────▶ initiating ──────────────────────▶ idle
///       │    │ link up already          │ time is up, or the user cancels
///       │    └──▶ overtaken ──▶ idle    ▼
///       └── accepted, but    ─────▶ cancelling ─────────────────────▶ idle
///           no longer wanted
///
/// Cancelling is a race: the link may come up all the same, which the controller says either by refusing to cancel
/// or, when the event was already on its way, not at all. Such a link is kept if only the time was up, and ended
/// unseen if the user wanted no more of it.
struct Initiator: Sendable {
  struct Attempt: Sendable {
    var peer: PeerAddress
    var parameters: ConnectionParameters
    var deadline: Instant
  }

  /// Why an attempt is given up.
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

  enum State: Sendable {
    case idle
    /// The command has no answer yet; the attempt may already have been given up.
    case requesting(Attempt, givenUp: Cause?)
    case initiating(Attempt)
    /// The link came up before the command was answered.
    case overtaken
    /// The controller was told to stop. After a while without an event it is taken to have stopped.
    case cancelling(Cause, patience: Instant)
  }

  var state = State.idle
  /// What is to be tried once an attempt that was given up is over.
  var next: Attempt?

  /// When something is to be done, or never.
  var deadline: Instant {
    switch state {
    case .requesting(let attempt, nil), .initiating(let attempt): attempt.deadline
    case .cancelling(_, let patience): patience
    case .idle, .requesting, .overtaken: next?.deadline ?? .never
    }
  }
}

extension BluetoothHost {
  /// Whether an attempt to connect is under way that was not given up: a second one is not possible.
  public var isConnecting: Bool {
    if initiator.next != nil { return true }
    return switch initiator.state {
    case .requesting(_, nil), .initiating: true
    case .idle, .requesting, .overtaken, .cancelling: false
    }
  }

  /// Connects to a device; ``HostEvent/connected(_:_:)`` or ``HostEvent/connectionFailed(_:)`` follows.
  ///
  /// The failure is 0x3E when the device was not heard in time, and 0x44 after ``cancelConnecting(at:)``. An attempt
  /// that begins while the one before is being given up waits until that is over.
  ///
  /// - Precondition: ``isConnecting`` is false and the parameters are valid.
  public mutating func connect(
    to peer: PeerAddress, _ parameters: ConnectionParameters, timeout: Interval, at now: Instant
  ) -> [HostAction] {
    precondition(parameters.isValid, "the connection parameters do not fit each other")
    guard mayAct() else { return [] }
    precondition(!isConnecting, "a host connects to one device at a time")
    initiator.next = Initiator.Attempt(peer: peer, parameters: parameters, deadline: now + timeout)
    beginConnecting(at: now)
    return takeActions()
  }

  /// Gives the attempt to connect up; ``HostEvent/connectionFailed(_:)`` follows. Without an attempt, nothing does.
  public mutating func cancelConnecting(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    giveUpConnecting(.user, at: now)
    return takeActions()
  }

  /// Begins what waits, unless an attempt is not over.
  private mutating func beginConnecting(at now: Instant) {
    guard case .idle = initiator.state, let attempt = initiator.next.take() else { return }
    initiator.state = .requesting(attempt, givenUp: nil)
    send(
      .leCreateConnection(ConnectionRequest(peer: attempt.peer, parameters: attempt.parameters)),
      for: .initiator, at: now)
  }

  private mutating func giveUpConnecting(_ cause: Initiator.Cause, at now: Instant) {
    if initiator.next.take() != nil {
      return report(.connectionFailed(cause.status))
    }
    switch initiator.state {
    case .requesting(let attempt, nil):
      initiator.state = .requesting(attempt, givenUp: cause)
    case .initiating:
      cancel(cause, at: now)
    case .idle, .requesting, .overtaken, .cancelling:
      break
    }
  }

  private mutating func cancel(_ cause: Initiator.Cause, at now: Instant) {
    initiator.state = .cancelling(cause, patience: .never)
    send(.leCreateConnectionCancel(), for: .cancellation, at: now)
  }

  /// The time for an attempt, or for its end, is up.
  mutating func connectDeadlinePassed(at now: Instant) {
    switch initiator.state {
    case .cancelling(let cause, _): endAttempt(cause.status, at: now)
    case .idle, .requesting, .initiating, .overtaken: giveUpConnecting(.timeout, at: now)
    }
  }

  /// An attempt came to nothing.
  private mutating func endAttempt(_ status: HCIErrorCode, at now: Instant) {
    initiator.state = .idle
    report(.connectionFailed(status))
    beginConnecting(at: now)
  }
}

extension BluetoothHost {
  /// Takes in the answer to LE Create Connection.
  mutating func connectCommandAnswered(_ status: HCIErrorCode, at now: Instant) {
    switch (initiator.state, status) {
    case (.requesting(let attempt, nil), .success):
      initiator.state = .initiating(attempt)
    case (.requesting(_, let cause?), .success):
      cancel(cause, at: now)
    case (.requesting(_, let cause), _):
      endAttempt(cause?.status ?? status, at: now)
    case (.overtaken, _):
      initiator.state = .idle
      beginConnecting(at: now)
    case (.idle, _), (.initiating, _), (.cancelling, _):
      break
    }
  }

  /// Takes in the answer to LE Create Connection Cancel, which says little: the event that ends the attempt counts.
  mutating func cancelCommandAnswered(at now: Instant) {
    guard case .cancelling(let cause, _) = initiator.state else { return }
    initiator.state = .cancelling(cause, patience: now + settings.commandTimeout)
  }

  /// Takes in that a link came up, or that an attempt failed.
  mutating func connectionCompleted(_ connection: ConnectionComplete, at now: Instant) {
    switch (connection.status, connection.role) {
    case (.success, _) where index(of: connection.handle) != nil:
      complain(nil, "a second link of handle \(connection.handle)")
    case (.success, .peripheral):
      addLink(connection, isWanted: true, at: now)
      advertisingEnded(.success, at: now)
    case (.success, .central):
      connectedAsCentral(connection, at: now)
    case (.advertisingTimeout, _):
      advertisingEnded(.advertisingTimeout, at: now)
    case (let status, _):
      connectingFailed(status, at: now)
    }
  }

  private mutating func connectedAsCentral(_ connection: ConnectionComplete, at now: Instant) {
    switch initiator.state {
    case .initiating, .cancelling(.timeout, _):
      initiator.state = .idle
      addLink(connection, isWanted: true, at: now)
    case .requesting(_, nil), .requesting(_, .timeout?):
      initiator.state = .overtaken
      addLink(connection, isWanted: true, at: now)
    case .requesting(_, .user?):
      initiator.state = .overtaken
      report(.connectionFailed(.cancelledByHost))
      addLink(connection, isWanted: false, at: now)
    case .cancelling(.user, _):
      initiator.state = .idle
      report(.connectionFailed(.cancelledByHost))
      addLink(connection, isWanted: false, at: now)
    case .idle, .overtaken:
      complain(nil, "a link to \(connection.peer), to which nobody connected")
      addLink(connection, isWanted: false, at: now)
    }
    beginConnecting(at: now)
  }

  private mutating func connectingFailed(_ status: HCIErrorCode, at now: Instant) {
    switch (initiator.state, status) {
    case (.cancelling(let cause, _), _):
      endAttempt(cause.status, at: now)
    case (.initiating, .unknownConnection), (.requesting, .unknownConnection), (.idle, _), (.overtaken, _):
      // The end of an attempt that was cancelled, which is no longer waited for.
      complain(nil, "an attempt to connect that failed, \(status), and is not under way")
    case (.initiating, _):
      endAttempt(status, at: now)
    case (.requesting(_, let cause), _):
      initiator.state = .overtaken
      report(.connectionFailed(cause?.status ?? status))
    }
  }
}
