import Glibc
public import Basics

/// The machine that this process runs on.
public enum Host {
  /// Its name.
  public static var name: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The current folder.
  public static var folder: String { realPath(".") ?? "." }

  /// The number of this process.
  public static var processNumber: Int32 { getpid() }

  /// Kills this process at once.
  public static func killProcess() -> Never {
    _ = Glibc.kill(getpid(), SIGKILL)
    while true { pause() }
  }

  /// Ends this process with a status.
  public static func exit(_ status: Int32) -> Never { Glibc.exit(status) }

  /// Ends this process with a status at once, as is permitted in a signal handler.
  public static func exitAtOnce(_ status: Int32) -> Never { _exit(status) }

  /// The path of the running program; `nil` if the system does not provide it.
  public static var program: String? { realPath("/proc/self/exe") }

  /// Whether a path leads to a readable file.
  public static func isFile(_ path: String) -> Bool {
    fileKind(path) == .file && Kernel.access(path, R_OK) == 0
  }

  /// The value of an environment variable; `nil` if it is not set, or empty.
  public static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}

extension Host {
  /// Whether the locale supports more characters than ASCII.
  public static var isUnicode: Bool { isUnicode(variable) }

  /// The same for given variables; the first one that is set counts (POSIX, 8.2).
  static func isUnicode(_ variable: (String) -> String?) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first ?? "C"
    let charset = locale.lowercased().filter { $0.isLetter || $0.isNumber }
    return charset.contains("utf8")
  }
}

/// The resources that a run of a program used.
public struct Measurement: Equatable, Sendable {
  /// The elapsed time.
  public var time: Interval
  /// The maximum memory use, in bytes.
  public var memory: Int
  /// The exit status; 128 plus the signal's number after a signal.
  public var status: Int32

  /// Runs a program without input and output, and measures it.
  ///
  /// Returns `nil` if it cannot be started.
  public static func run(_ program: String, _ arguments: [String]) -> Measurement? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var process: pid_t = 0
    let start = MonotonicClock.now
    let started = unsafe withArguments([program] + arguments) { list in
      unsafe withEnvironment { unsafe Kernel.spawn(&process, program, &actions, nil, list, $0) }
    }
    guard started == 0 else { return nil }
    var status: Int32 = 0
    var usage = rusage()
    while unsafe wait4(process, &status, 0, &usage) < 0 {
      guard errno == EINTR else { return nil }
    }
    let signal = status & 0x7F
    return Measurement(
      time: MonotonicClock.now - start, memory: usage.ru_maxrss * 1024,
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
  }
}
