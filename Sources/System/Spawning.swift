import Basics
import CShims
import Glibc

/// `POSIX_SPAWN_SETSID` of glibc's spawn.h, which defines it for GNU's extensions only.
private let setSession: Int16 = 0x80

/// How a program is started: in a process group of its own, with nothing ignored.
struct Spawning {
  /// Its path.
  var program: String
  var words: [String]
  /// Variables of our environment that it does not get.
  var withheld: [String] = []
  /// Variables that it gets beside them, as `NAME=VALUE`.
  var added: [String] = []
  /// Whether it gets a session of its own, so that what ends ours leaves it alone.
  var inSession = false
  /// Whether it is this program again, with ``EndingSignals`` blocked until it handles them.
  var isOurs = false
  /// Which descriptors of ours become which of its own; all others are closed, but for the streams.
  var streams: [(ours: Int32, own: Int32)] = []
  /// Where it is run; `nil` for where we are.
  var folder: String?

  /// Starts it.
  ///
  /// - Returns: the number of its process, which is that of its group.
  func start() throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (ours, own) in streams { unsafe posix_spawn_file_actions_adddup2(&actions, ours, own) }
    if let folder { _ = unsafe lockstep_start_in_folder(&actions, folder) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The child starts as any program does: nothing ignored, and nothing blocked, but in one of ours.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    if isOurs {
      signals = EndingSignals.set
      // In the background of a terminal it may write all the same, whatever that terminal is set to.
      unsafe sigaddset(&signals, SIGTTOU)
    }
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    // A session leader is a group leader too.
    let place = inSession ? setSession : Int16(POSIX_SPAWN_SETPGROUP)
    unsafe posix_spawnattr_setflags(
      &attributes, place | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let status = unsafe withArguments([program] + words) { arguments in
      unsafe withEnvironment(without: withheld, adding: added) {
        unsafe Kernel.spawn(&process, program, &actions, &attributes, arguments, $0)
      }
    }
    guard status == 0 else { throw SystemError(code: status) }
    return process
  }
}
