import CShims
import Glibc
public import Secrets
import Synchronization

/// The protection of secrets in this process.
///
/// It begins when a lock file is read or a key is to be written. From then on the system makes no core dump
/// of the process and lets no other program of the user read its memory or its environment; new files are
/// readable only by their owner; and secrets passed to ``keep(_:)`` are redacted in all output.
public enum Secrecy {
  private static let hasBegun = Atomic<Bool>(false)
  /// The environment variables that hold secrets.
  private static let variables = Mutex(["PGPASSWORD"])

  /// Begins the protection; later calls do nothing.
  public static func begin() {
    guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    lockstep_forbid_dumps()
  }

  /// Redacts a secret in all output from now on.
  ///
  /// A value that cannot be distinguished from ordinary text, such as a key of zeros, is not redacted.
  public static func keep(_ secret: Secret) {
    begin()
    try? Redactor.shared.register(secret)
  }

  /// Redacts likely secrets in user-supplied text from everything that is written from now on.
  public static func conceal(_ words: String) {
    for line in words.split(separator: "\n") {
      for password in Passwords.secrets(in: String(line)) { try? Redactor.shared.register(password) }
    }
    Redactor.shared.registerLookalikes(in: Array(words.utf8))
  }

  /// The value of an environment variable that holds a secret; programs that are devices do not inherit it.
  public static func variable(_ name: String) -> Secret? {
    guard let value = Host.variable(name) else { return nil }
    variables.withLock { $0.append(name) }
    return Secret(text: value)
  }

  /// The variables that programs of users do not inherit.
  public static var withheldVariables: [String] { variables.withLock { $0 } }

  /// The mode of new files before the umask.
  static var fileMode: mode_t { hasBegun.load(ordering: .relaxed) ? 0o600 : 0o644 }
}
