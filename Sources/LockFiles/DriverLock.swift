import Bluetooth
public import Conformance
public import Documents
public import Secrets
import System
import Basics

/// The part of a lock file for a lock that a *driver*, a program of the user, communicates with.
public struct DriverLock: FamilyLock {
  /// The shell command that runs the driver.
  public let command: String
  /// The folder of the lock file, which is the driver's working directory.
  public let folder: String
  /// The machine that is the model of the lock: the path of its file, or its name.
  public let machine: String
  /// The lock's identity; `nil` if its address identifies it.
  public let id: String?
  /// The secrets that only the driver receives, in the order of the file.
  public let secrets: [(name: String, value: Secret)]
}

// MARK: - Reading

extension DriverLock {
  public static var distinction: (key: String, use: String) {
    ("driver", "a lock that a program of your own speaks to")
  }
  /// `nil`: the driver provides the description.
  public static var family: LockFamily? { nil }
  public static let openKeys = ["machine", "id"]
  public static let keys = ["driver", "machine", "name", "address", "id", "secrets", "gap"]

  /// Reads the part of a lock file for a lock with a driver.
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
    guard let command, let machine, others.isValid else { return nil }
    self.init(command: command, folder: folder, machine: machine, id: id, secrets: secrets)
  }
}

extension Cursor {
  /// Reads a machine: a text with a slash or a dot is the path of a file, any other text a name.
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

  /// Reads a secret of the driver, and redacts it in all output from now on.
  private func namedSecret() -> Secret? {
    // A quoted text may contain anything; null, an empty text and a list are not secrets.
    guard !isNull, let text = node.text, !text.isEmpty else {
      report("expected a text, or env:NAME")
      return nil
    }
    guard let secret = secret(text) else { return nil }
    Secrecy.keep(secret)
    // Hexadecimal digits may represent bytes, which other encodings show in another form.
    if let bytes = try? [UInt8](hex: secret.revealed) { Secrecy.keep(Secret(bytes)) }
    return secret
  }

  /// Returns the secret in a text: the text itself or, for `env:NAME`, the value of that environment variable.
  func secret(_ text: String) -> Secret? {
    guard text.hasPrefix("env:") else { return Secret(text: text) }
    guard let secret = Secrecy.variable(String(text.dropFirst(4))) else {
      report("this environment variable is not set, or empty")
      return nil
    }
    return secret
  }
}
