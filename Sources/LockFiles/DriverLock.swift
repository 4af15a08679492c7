import Bluetooth
public import Conformance
public import Documents
public import Secrets
import System
import Basics

/// What is known of a lock that a program of its owner's speaks to, a *driver*, beside what is known of every lock.
public struct DriverLock: FamilyLock {
  /// What the shell runs.
  public let command: String
  /// The folder of the lock file, in which it is run.
  public let folder: String
  /// The machine that the lock is compared with: the path of its file, or its name.
  public let machine: String
  /// What the lock is known by; its address unless given.
  public let id: String?
  /// What the program is given that nobody else may see, in the order of the file.
  public let secrets: [(name: String, value: Secret)]
}

// MARK: - Reading

extension DriverLock {
  public static var distinction: (key: String, use: String) {
    ("driver", "a lock that a program of your own speaks to")
  }
  /// Its driver says it.
  public static var family: LockFamily? { nil }
  public static let openKeys = ["machine", "id"]
  public static let keys = ["driver", "machine", "name", "address", "id", "secrets", "gap"]

  /// Reads what a file says of a driver's lock.
  public init?(_ cursor: Cursor, _ fields: Fields, folder: String) {
    let command = fields.required("driver")?.value("a command") { $0.isEmpty ? nil : $0 }
    let machine = fields.required("machine")?.machine(in: folder)
    var others = OptionalFields(fields)
    let id = others.read("id") { $0.plainName("an identity") }
    let secrets = others.read("secrets") { $0.secrets() } ?? []
    if fields.optional("id") == nil, fields.optional("address") == nil {
      cursor.report(
        "which lock is it?", hint: "give its `id` or its `address`; `lockstep scan` shows addresses")
      return nil
    }
    guard let command, let machine, others.isWhole else { return nil }
    self.init(command: command, folder: folder, machine: machine, id: id, secrets: secrets)
  }
}

extension Cursor {
  /// A machine: what has a slash or a dot in it is the path of a file.
  fileprivate func machine(in folder: String) -> String? {
    guard let text = value("a machine, such as keypad.yaml", { $0.isEmpty ? nil : $0 }) else { return nil }
    guard text.contains("/") || text.contains(".") else { return text }
    let path = Path.join(folder, text)
    guard Host.isFile(path) else {
      report("there is no such machine", hint: "its path begins in the folder of this file")
      return nil
    }
    return path
  }

  fileprivate func secrets() -> [(name: String, value: Secret)]? {
    // Messages never quote what may be a secret.
    guard node.entries != nil, let entries = entries() else {
      report("expected names, each with its secret", hint: "secrets: { pin: env:PIN }")
      return nil
    }
    let secrets = entries.compactMap { key, value -> (name: String, value: Secret)? in
      guard let name = key.text("the name of a secret"), let secret = value.namedSecret() else { return nil }
      return (name, secret)
    }
    return secrets.count == entries.count ? secrets : nil
  }

  /// A secret of a program, kept out of everything that is written from now on.
  private func namedSecret() -> Secret? {
    // What is quoted may be anything; nothing at all is no secret, and neither are lists.
    guard !isNull, let text = node.text, !text.isEmpty else {
      report("expected a text, or env:NAME")
      return nil
    }
    guard let secret = secret(text) else { return nil }
    Secrecy.keep(secret)
    // Digits may stand for bytes, which look otherwise elsewhere.
    if let bytes = try? [UInt8](hex: secret.revealed) { Secrecy.keep(Secret(bytes)) }
    return secret
  }

  /// What a text says that may name an environment variable: `env:NAME`.
  func secret(_ text: String) -> Secret? {
    guard text.hasPrefix("env:") else { return Secret(text: text) }
    guard let secret = Secrecy.variable(String(text.dropFirst(4))) else {
      report("this environment variable is not set, or empty")
      return nil
    }
    return secret
  }
}
