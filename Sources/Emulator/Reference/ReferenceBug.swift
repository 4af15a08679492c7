extension ReferenceLock {
  /// A bug that a harness is measured by. The first two are those of the benchmark; the others have other shapes.
  ///
  /// The length of a shortest trace counts everything that a tester does, waits too, and is proved by breadth-first
  /// search. A session lasts from a login to the end of its link, and its commands are `lock`, `unlock` and `toggle`.
  public enum Bug: String, CaseIterable, Sendable {
    /// After a reset earlier in the test, an unlock that follows a lock as the first commands after a login
    /// or a configuration is ignored. The shortest trace that shows it has 16 events.
    case deafUnlock = "deaf-unlock"
    /// After four or more logins in a row that were left, a login, two toggles and a lock leave the bolt
    /// between its positions. The shortest trace that shows it has 28 events.
    case jamAfterAbortedLogins = "jam-after-aborted-logins"

    /// After two logins in a row that found the bolt between its positions, a toggle as the first command is
    /// ignored. It depends on what the lock answers. The shortest trace has 21 events.
    case stuckAfterTwoMoved = "stuck-after-two-moved"
    /// A lock within 100 ms of an unlock, which itself came more than a second after what was accepted before it,
    /// leaves the bolt between its positions. The shortest trace has 8 events.
    case bouncingLock = "bouncing-lock"
    /// After ten minutes in which a lock that is logged in was told nothing, an unlock is ignored. The shortest trace
    /// has 7 events.
    case dozingUnlock = "dozing-unlock"
    /// Where the last command of the session before the last one was a toggle, and that of the last one an unlock,
    /// a lock as the first command leaves the bolt between its positions. The shortest trace has 20 events.
    case echoOfOldSession = "echo-of-old-session"
    /// A lock and then a login that is not due, and ignored, make an unlock lock. The shortest trace has 8 events.
    case offendedByReplay = "offended-by-replay"
    /// A reset that comes before the login is done, and is ignored, makes the session deaf to resets. The shortest
    /// trace has 7 events.
    case staleReset = "stale-reset"
    /// Every sixteenth lock of a test leaves the bolt between its positions. The shortest trace has 21 events.
    case wornBolt = "worn-bolt"
    /// After two resets, or four, or any other even number, a toggle that follows a configuration is ignored. The
    /// shortest trace has 23 events.
    case evenResets = "even-resets"
    /// A lock that was not registered when the test began answers a lock, as the first command of its first login,
    /// with a bolt between its positions. The shortest trace has 14 events.
    case newbornLock = "newborn-lock"
    /// Lock, unlock, unlock, lock and toggle, with nothing between them, end with a toggle that is ignored. The
    /// shortest trace has 10 events.
    case combination
    /// Once the link was ended in `nosetting` twice, with no configuration between, the positions cannot be
    /// configured any more. The shortest trace has 19 events.
    case forgottenPositions = "forgotten-positions"
    /// A session with twenty commands or more cannot be ended by its client. The shortest trace has 26 events.
    case longSession = "long-session"

    /// The length of a shortest trace that shows it.
    public var shortest: Int {
      switch self {
      case .deafUnlock: 16
      case .jamAfterAbortedLogins: 28
      case .stuckAfterTwoMoved: 21
      case .bouncingLock: 8
      case .dozingUnlock: 7
      case .echoOfOldSession: 20
      case .offendedByReplay: 8
      case .staleReset: 7
      case .wornBolt: 21
      case .evenResets: 23
      case .newbornLock: 14
      case .combination: 10
      case .forgottenPositions: 19
      case .longSession: 26
      }
    }

    /// Whether it is one of the benchmark's.
    public var isOfBenchmark: Bool { self == .deafUnlock || self == .jamAfterAbortedLogins }
  }
}
