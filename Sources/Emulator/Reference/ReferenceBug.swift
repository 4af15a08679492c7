extension ReferenceLock {
  /// A defect by which a harness is measured. The first two are those of the benchmark; the others differ in
  /// kind.
  ///
  /// The length of a shortest trace counts all events of a tester, including waits, and is proved by
  /// breadth-first search. A session lasts from a login to the end of its link, and its commands are `lock`,
  /// `unlock` and `toggle`.
  public enum Bug: String, CaseIterable, Sendable {
    /// After a reset earlier in the test, an unlock after a lock is ignored if these are the first commands
    /// after a login or a configuration. The shortest trace that shows it has 16 events.
    case deafUnlock = "deaf-unlock"
    /// After four or more consecutive logins that were left, a login, two toggles and a lock leave the bolt
    /// between its positions. The shortest trace that shows it has 28 events.
    case jamAfterAbortedLogins = "jam-after-aborted-logins"

    /// After two consecutive logins that found the bolt between its positions, a toggle as the first command
    /// is ignored. It depends on the lock's responses. The shortest trace has 21 events.
    case stuckAfterTwoMoved = "stuck-after-two-moved"
    /// A lock within 100 ms after an unlock, which itself came more than a second after the previous accepted
    /// event, leaves the bolt between its positions. The shortest trace has 8 events.
    case bouncingLock = "bouncing-lock"
    /// After ten minutes without a stimulus to a lock that is logged in, an unlock is ignored. The shortest
    /// trace has 7 events.
    case dozingUnlock = "dozing-unlock"
    /// If the last command of the session before the last one was a toggle, and that of the last one an
    /// unlock, a lock as the first command leaves the bolt between its positions. The shortest trace has 20
    /// events.
    case echoOfOldSession = "echo-of-old-session"
    /// After a lock and an unexpected login, which is ignored, an unlock locks. The shortest trace has 8
    /// events.
    case offendedByReplay = "offended-by-replay"
    /// After a reset before the end of the login, which is ignored, the session ignores resets. The shortest
    /// trace has 7 events.
    case staleReset = "stale-reset"
    /// Every sixteenth lock of a test leaves the bolt between its positions. The shortest trace has 21 events.
    case wornBolt = "worn-bolt"
    /// After an even number of resets, a toggle after a configuration is ignored. The shortest trace has 23
    /// events.
    case evenResets = "even-resets"
    /// If a lock was not registered when the test began, a lock as the first command of its first login
    /// leaves the bolt between its positions. The shortest trace has 14 events.
    case newbornLock = "newborn-lock"
    /// In the sequence lock, unlock, unlock, lock and toggle, without anything between, the toggle is
    /// ignored. The shortest trace has 10 events.
    case combination
    /// After the link ended twice in `nosetting`, without a configuration between, the positions cannot be
    /// configured any more. The shortest trace has 19 events.
    case forgottenPositions = "forgotten-positions"
    /// A client cannot end a session with twenty or more commands. The shortest trace has 26 events.
    case longSession = "long-session"

    /// The length of the shortest trace that shows it.
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

    /// Whether it belongs to the benchmark.
    public var isOfBenchmark: Bool { self == .deafUnlock || self == .jamAfterAbortedLogins }
  }
}
