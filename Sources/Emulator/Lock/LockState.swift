import Sesame
import Basics

extension EmulatedLock {
  /// Where the lock is with its radio.
  enum State: Sendable {
    /// Without power.
    case off
    /// Not to be heard until it has restarted.
    case restarting(until: Instant)
    case advertising
    /// Not to be heard until its power is cycled: only a defect leads here.
    case mute
    /// Connected, without notifications.
    case connected
    /// The token was sent; a login or a registration is awaited.
    case waiting(Opening)
    case open(Session)
    /// A reset was answered: the lock is about to restart.
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

  /// A connection in which no session was opened yet.
  struct Opening: Sendable {
    /// The token that was sent.
    var token: Token
    /// When the client's time is up.
    var deadline: Instant?
    /// How many bytes of its proof a login has, all but with ``LockDefect/shortProofAccepted``.
    var proofLength = 4
  }

  /// An open session.
  struct Session: Sendable {
    var cipher: SessionCipher
    /// What a login on this connection still refers to: after a registration one may follow.
    var opening: Opening?
    /// When it was opened.
    var opened: Instant
    /// When the client was last heard.
    var lastHeard: Instant
  }

  /// What survives power cycles, beside the positions of the bolt and the history.
  struct Storage: Equatable, Sendable {
    /// The owner's secret key, or `nil` without an owner.
    var owner: SecretKey?
    /// The autolock delay in seconds; 0 is off.
    var autolock: Int16 = 0
  }

  /// What is lost with the power. Much of it is there for defects alone.
  struct Memory: Sendable {
    /// What the last commands were that count for ``LockDefect/deafUnlock`` and
    /// ``LockDefect/jamAfterAbortedLogins``, the latest first.
    var recent = (Accepted.other, Accepted.other, Accepted.other)
    /// Whether a reset was accepted.
    var wasReset = false
    /// How many connections in a row ended before a login, and how many had when the last login came.
    var abortedConnections = 0
    var abortedBeforeLogin = 0
    /// How many connections turned notifications on.
    var connections = 0
    /// The token of ``LockDefect/tokenRepeated``.
    var token: Token?
    /// The app token of the last OS2 login.
    var appToken: Token?
    /// Proofs that opened a session, of which ``LockDefect/loginProofReplayed`` takes any again.
    var proofs: [Proof] = []
    /// The cipher of the last session.
    var lastCipher: SessionCipher?
    /// The ciphers of the last sessions, of which ``LockDefect/earlierSessionReplayed`` takes messages again.
    var ciphers: [SessionCipher] = []
    /// The owners before the last resets, for ``LockDefect/oldKeyAcceptedAfterReset``.
    var formerOwners: [SecretKey] = []
    /// The request before, for ``LockDefect/answerNamesAnotherRequest``.
    var lastRequest: Request?
    /// The status of the last publish, for ``LockDefect/statusLagsOneBehind``.
    var lastStatus: MechStatus?
    /// The outdated reading that ``LockDefect/staleStatusAfterHandTurn`` reports for the bolt.
    var staleReading: BoltReading?
    /// Whether the running motor was turned round.
    var isTurnedRound = false

    /// Notes what was accepted.
    mutating func accept(_ command: Accepted) {
      recent = (command, recent.0, recent.1)
    }
  }

  /// What a lock accepted, as far as defects tell it apart.
  enum Accepted: Equatable, Sendable {
    case login
    case configure
    case lock
    case unlock
    case other
  }
}

/// What a lock tells of its bolt, in either generation.
struct BoltReading: Equatable, Sendable {
  var position: BoltAngle
  var target: BoltAngle?
  var isInLockRange = false
  var isInUnlockRange = false
  /// Whether the motor gave up.
  var isCritical = false
  var isClockwise = false
  /// What OS2 tells of the motor.
  var result = MoveResult.none
}
