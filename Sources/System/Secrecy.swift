import CShims
import Glibc
public import Secrets
import Synchronization

/// What this process owes to the keys that it holds.
///
/// It begins when a lock file is read or a key is to be written: from then on the system makes no core dump of the
/// process and lets no other program of the user look into its memory or its environment; every file that it makes is
/// for its owner alone; and what was taken in with ``keep(_:)`` is taken out of everything that it writes.
public enum Secrecy {
  private static let hasBegun = Atomic<Bool>(false)
  /// The environment variables that hold secrets.
  private static let variables = Mutex(["PGPASSWORD"])

  /// Begins; a second time does nothing.
  public static func begin() {
    guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    lockstep_forbid_dumps()
  }

  /// Keeps a secret out of everything that is written from now on.
  ///
  /// What cannot be told from ordinary text, such as a key of zeros, is no secret.
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

  /// The variables that are not handed on to programs of others.
  public static var withheldVariables: [String] { variables.withLock { $0 } }

  /// What the mode of a new file is, before the user's mask.
  static var fileMode: mode_t { hasBegun.load(ordering: .relaxed) ? 0o600 : 0o644 }
}
