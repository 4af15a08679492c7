import Sesame
import Basics

extension EmulatedLock {
  /// The state of the lock on the air.
  enum State: Sendable {
    /// Without power.
    case off
    /// Silent until it has restarted.
    case restarting(until: Instant)
    case advertising
    /// Silent until its power is cycled: only a defect leads here.
    case mute
    /// Connected, without notifications.
    case connected
    /// The token was sent; a login or a registration is awaited.
    case waiting(Opening)
    case open(Session)
    /// A reset was confirmed: the lock is about to restart.
    case restartPending(until: Instant)
    /// The caller was asked to end the link.
    case ending(Cause)

    /// Why the lock ends a link.
    enum Cause: Sendable {
      case restart
      case beforeLogin
      case inSession
    }

    /// Whether there is power.
    var hasPower: Bool {
      if case .off = self { false } else { true }
    }

    /// When the state ends by itself.
    var end: Instant? {
      switch self {
      case .restarting(let until), .restartPending(let until): until
      case .waiting(let opening): opening.deadline
      case .off, .advertising, .mute, .connected, .open, .ending: nil
      }
    }
  }

  /// A connection on which no session was opened yet.
  struct Opening: Sendable {
    /// The token that was sent.
    var token: Token
    /// The client's time limit.
    var deadline: Instant?
    /// The number of compared bytes of a proof: all, except with ``LockDefect/shortProofAccepted``.
    var proofLength = 4
  }

  /// An open session.
  struct Session: Sendable {
    var cipher: SessionCipher
    /// The data for another login on this connection: one may follow a registration.
    var opening: Opening?
    /// When it was opened.
    var opened: Instant
    /// When the client last sent a message.
    var lastHeard: Instant
  }

  /// The data that survive a power cycle, beside the positions of the bolt and the history.
  struct Storage: Equatable, Sendable {
    /// The owner's secret key, or `nil` without an owner.
    var owner: SecretKey?
    /// The autolock delay in seconds; 0 is off.
    var autolock: Int16 = 0
  }

  /// The data that are lost with the power. Many of them exist for defects only.
  struct Memory: Sendable {
    /// The last commands that count for ``LockDefect/deafUnlock`` and ``LockDefect/jamAfterAbortedLogins``,
    /// the latest first.
    var recent = (Accepted.other, Accepted.other, Accepted.other)
    /// Whether a reset was accepted.
    var wasReset = false
    /// The number of consecutive connections that ended before a login, and that number at the last login.
    var abortedConnections = 0
    var abortedBeforeLogin = 0
    /// The number of connections that enabled notifications.
    var connections = 0
    /// The token of ``LockDefect/tokenRepeated``.
    var token: Token?
    /// The app token of the last OS2 login.
    var appToken: Token?
    /// The proofs that opened a session, all of which ``LockDefect/loginProofReplayed`` accepts again.
    var proofs: [Proof] = []
    /// The cipher of the last session.
    var lastCipher: SessionCipher?
    /// The ciphers of the last sessions, whose messages ``LockDefect/earlierSessionReplayed`` accepts again.
    var ciphers: [SessionCipher] = []
    /// The owners before the last resets, for ``LockDefect/oldKeyAcceptedAfterReset``.
    var formerOwners: [SecretKey] = []
    /// The request before, for ``LockDefect/answerNamesAnotherRequest``.
    var lastRequest: Request?
    /// The status of the last publish, for ``LockDefect/statusLagsOneBehind``.
    var lastStatus: MechStatus?
    /// The outdated reading that ``LockDefect/staleStatusAfterHandTurn`` reports for the bolt.
    var staleReading: BoltReading?
    /// Whether the running motor was reversed.
    var isReversed = false
    /// The tag of the last command, for ``LockDefect/tagOfCommandBefore``.
    var lastTag = HistoryTag.absent
    /// Whether records have no time, for ``LockDefect/recordTimeLost``.
    var hasLostTime = false
    /// Whether a request was refused since the last status, for ``LockDefect/batteryOfFailedRequest``.
    var hasFailedRequest = false

    /// Records an accepted command.
    mutating func accept(_ command: Accepted) {
      recent = (command, recent.0, recent.1)
    }
  }

  /// The accepted commands that defects distinguish.
  enum Accepted: Equatable, Sendable {
    case login
    case configure
    case lock
    case unlock
    case other
  }
}

/// A lock's reading of its bolt, for both generations.
struct BoltReading: Equatable, Sendable {
  var position: BoltAngle
  var target: BoltAngle?
  var isInLockRange = false
  var isInUnlockRange = false
  /// Whether the motor gave up.
  var isCritical = false
  var isClockwise = false
  /// The motor result of OS2.
  var result = MoveResult.none
}
