import Basics
import CShims
import Glibc

/// `POSIX_SPAWN_SETSID` of glibc's spawn.h, which defines it for GNU's extensions only.
private let setSession: Int16 = 0x80

/// The parameters of a new process, which has a process group of its own and ignores no signal.
struct Spawning {
  /// The path of the program.
  var program: String
  var words: [String]
  /// The environment variables to remove.
  var withheld: [String] = []
  /// The variables to add, as `NAME=VALUE`.
  var added: [String] = []
  /// Whether it has a session of its own, so that signals to our session do not reach it.
  var inSession = false
  /// Whether it is this program again, with ``EndingSignals`` blocked until it handles them.
  var isOurs = false
  /// The inherited descriptors, with their numbers in the child; all others are closed, except the standard
  /// streams.
  var streams: [(ours: Int32, own: Int32)] = []
  /// Its working directory; `nil` for the current one.
  var folder: String?

  /// Starts the process.
  ///
  /// - Returns: its process number, which is also that of its group.
  func start() throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (ours, own) in streams { unsafe posix_spawn_file_actions_adddup2(&actions, ours, own) }
    if let folder { _ = unsafe lockstep_start_in_folder(&actions, folder) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The child starts like any program, with no signals ignored or blocked, unless it is this program.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    if isOurs {
      signals = EndingSignals.set
      // It may write in the background of a terminal, whatever the terminal's settings.
      unsafe sigaddset(&signals, SIGTTOU)
    }
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    // A session leader is also a group leader.
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
