import Basics
import CShims
import Glibc
import Synchronization

/// The process group of the current device, for a signal handler that must kill it before this process ends.
///
/// A harness drives one device at a time; if there are several, only the latest is known here.
public enum RunningGroup {
  private static let current = Atomic<Int32>(0)

  static func set(_ group: Int32) {
    current.store(group, ordering: .relaxed)
  }

  static func clear(_ group: Int32) {
    _ = current.compareExchange(expected: group, desired: 0, ordering: .relaxed)
  }

  /// Kills the group. Safe in a signal handler.
  public static func end() {
    let group = current.load(ordering: .relaxed)
    if group > 0 { _ = Glibc.kill(-group, SIGKILL) }
  }
}

/// Makes writing to a pipe without a reader, or beyond a file size limit, an ordinary error instead of a
/// signal that ends the program.
public enum FailedWrites {
  private static let ignored: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
  }()

  /// Ignores the signals from now on.
  public static func ignore() { ignored }
}

/// Keeps the status of children that have ended until it is read, even if the parent process ignored the end
/// of its children, which is inherited.
enum EndedChildren {
  private static let kept: Void = { _ = signal(SIGCHLD, SIG_DFL) }()

  /// Installs this from now on.
  static func keep() { kept }
}

/// Signals that end a program.
public enum EndingSignals {
  /// All signals that end a program by default and do not indicate a defect in it: its terminal closed, its session
  /// ended, a timer or a limit expired. SIGKILL, which cannot be caught, and ``mistakes`` are excluded.
  public static let all: [Int32] =
    [
      SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR,
      SIGSTKFLT,
    ]
    + realTime

  /// The signals of a program's own errors. Another process may send them for other reasons, such as a
  /// watchdog that requests a backtrace.
  static let mistakes: [Int32] = [SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS]

  /// The real-time signals, which end a program that does not handle them. The C library uses the first two itself.
  private static let realTime = Array(Int32(34)...64)

  /// The signals that ask a program to stop.
  private static let asking: [Int32] = [SIGINT, SIGTERM]

  /// Unblocks the signals, whatever the parent process had blocked, and installs a handler. Signals that the
  /// parent ignored stay ignored, as nohup(1) intends, except for ``asking``.
  public static func handle(with handler: @escaping @convention(c) (Int32) -> Void) {
    decided.store(true, ordering: .relaxed)
    for number in all {
      let before = signal(number, handler)
      if !asking.contains(number), isIgnoring(before) { _ = signal(number, SIG_IGN) }
    }
    for number in mistakes { lockstep_take_sent_signal(number, handler) }
    unblock()
  }

  private static let requests = Atomic<Int>(0)

  private static let decided = Atomic<Bool>(false)

  /// Whether this process has decided how to handle them.
  static var isDecided: Bool { decided.load(ordering: .relaxed) }

  /// The number of requests to end.
  public static var requestCount: Int { requests.load(ordering: .relaxed) }

  /// The first signal, with its number and time, in nanoseconds of the monotonic clock.
  private static let firstSignal = Atomic<Int32>(0)
  private static let firstTime = Atomic<Int64>(0)

  /// Initializes everything that counting needs.
  static func prepare() {
    _ = (requestCount, firstSignal.load(ordering: .relaxed), firstTime.load(ordering: .relaxed))
  }

  /// Counts a request, also in a signal handler, unless it belongs to the first one.
  ///
  /// - Returns: the number of requests before.
  @discardableResult
  public static func countRequest(by signal: Int32 = 0) -> Int {
    let now = MonotonicClock.now
    let before = requests.load(ordering: .relaxed)
    if before == 0 {
      firstSignal.store(signal, ordering: .relaxed)
      firstTime.store(now.nanoseconds, ordering: .relaxed)
    } else if before == 1, signal == firstSignal.load(ordering: .relaxed),
      isSameRequest(after: now - Interval(nanoseconds: firstTime.load(ordering: .relaxed)))
    {
      return 0
    }
    return requests.add(1, ordering: .relaxed).oldValue
  }

  /// Whether two signals of the same kind at this interval are one request: a program that ends a process and
  /// then its whole group, such as timeout(1), sends two signals for one request.
  static func isSameRequest(after time: Interval) -> Bool { time < .milliseconds(50) }

  /// Ignores them, since the parent process receives them and decides when this one stops: stopping a service signals
  /// all of its processes at once. A defect of its own still ends the process.
  public static func ignore() {
    decided.store(true, ordering: .relaxed)
    for number in all { _ = signal(number, SIG_IGN) }
    for number in mistakes { lockstep_take_sent_signal(number) { _ in } }
    unblock()
  }

  private static func unblock() {
    var set = set
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// All of them as a signal set.
  static var set: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in all + mistakes { unsafe sigaddset(&set, number) }
    return set
  }

  private static func isIgnoring(_ handler: sighandler_t?) -> Bool {
    // Neither number is the address of a function.
    let numbers = [handler, SIG_IGN].map { unsafe unsafeBitCast($0, to: Int.self) }
    return numbers[0] == numbers[1]
  }
}

/// Text with all control characters written in the form `\u{1B}`; line feeds are kept.
public func printable(_ bytes: some Sequence<UInt8>) -> String {
  var text = ""
  for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars {
    switch scalar {
    case "\n", " "..."~": text.unicodeScalars.append(scalar)
    case "\t": text += " "
    case "\r": break
    case "\u{A0}"...: text.unicodeScalars.append(scalar)
    default: text += escaped(scalar.value)
    }
  }
  return text
}

/// Passes strings as a C array of program arguments.
public func withArguments<Result>(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}

/// Passes the environment, or a part of it, in that form, with additional variables as `NAME=VALUE`.
public func withEnvironment<Result>(
  without withheld: [String] = [], adding added: [String] = [],
  _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var variables: [String] = []
  var next = unsafe lockstep_environment()
  while let place = unsafe next, let text = unsafe place.pointee {
    variables.append(unsafe String(cString: text))
    unsafe next = place + 1
  }
  let replaced = withheld + added.map { String($0.prefix { $0 != "=" }) }
  variables.removeAll { replaced.contains(String($0.prefix { $0 != "=" })) }
  variables += added
  variables.sort()
  return unsafe withArguments(variables, body)
}

/// A word for the shell, quoted if necessary.
public func shellWord(_ word: String) -> String {
  let isPlain =
    !word.isEmpty
    && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-./:=,@%+".contains($0)) }
  return isPlain
    ? word
    : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
