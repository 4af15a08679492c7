public import System
public import Bluetooth
import Documents
import Glibc
import Secrets
public import Sesame
import Basics

/// The file that describes a real lock and holds its key: YAML, readable for its owner alone.
///
/// ```yaml
/// lock: sesame5
/// name: Front door
/// uuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10
/// key: ssm://UI?t=sk&sk=…&l=0&n=…        # as the vendor's app shares it; or secret:, and public-key: for OS2
/// key: env:FRONT_DOOR                    # or either of them, from an environment variable
/// timeouts: { connecting: 20 s }
/// quirks: [before-token]                 # what this one is known to do though its protocol forbids it
/// ```
///
/// Without a key the lock has no owner. A key that a run receives is put in the file before the client uses it, and no
/// key is ever deleted: what was replaced stays as `FILE.old-N`, and what the lock has forgotten as
/// `FILE.forgotten-N`.
public struct LockFile: Sendable {
  /// Where the file is, links followed.
  public let path: String
  /// The product.
  public var model: ProductModel
  /// What people call the lock.
  public var name: String?
  /// The UUID that it advertises.
  public var deviceID: UUID128?
  /// Where it advertises, if that is known.
  public var address: PeerAddress?
  /// Its owner's key; `nil` for a lock without an owner.
  public var key: LockKey?
  /// How long the client waits.
  public var times = ClientTimes()
  /// What this lock is known to do though its protocol forbids it: diagnostics, and no divergences.
  public var quirks: [SesameViolation] = []

  /// Describes a lock, in a file that need not be there yet.
  public init(
    path: String, model: ProductModel, name: String? = nil, deviceID: UUID128? = nil,
    address: PeerAddress? = nil, key: LockKey? = nil
  ) {
    self.path = path
    self.model = model
    self.name = name
    self.deviceID = deviceID ?? key?.deviceID
    self.address = address
    self.key = key
  }

  /// The names of the products that are locks: `sesame5pro` for a Sesame 5 Pro.
  public static let models: [(name: String, model: ProductModel)] =
    ProductModel.allCases.filter { $0.kind == .lock }.map { model in
      (model.description.filter { $0 != " " }.lowercased(), model)
    }
}

extension Secrecy {
  /// Keeps a lock's key out of everything that is written from now on.
  public static func keep(_ key: LockKey) { keep(Secret(key.secret.exposedBytes)) }
}

/// Why a lock file cannot be used. It never shows a key.
public struct LockFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong and, where there is something, what to do.
  public var description: String

  init(_ description: String) { self.description = description }
}

// MARK: - Reading

extension LockFile {
  /// What the lock is known by, whatever its users call it: its UUID, or else its address.
  public var identity: String {
    deviceID.map { "\($0)" } ?? address.map { "\($0.address)" } ?? "lock"
  }

  /// Reads a lock file.
  ///
  /// - Throws: what is wrong with it: that others may read it, or every problem of its text with its place.
  public init(reading path: String) throws(LockFileError) {
    Secrecy.begin()
    let real = try Self.realPath(path)
    let bytes = try Self.contents(path)
    do {
      self = try Document.read(bytes, name: path, limits: Limits(bytes: 64 << 10)) { cursor in
        LockFile(cursor, path: real)
      }
    } catch {
      throw LockFileError(Redaction.hidingKeys(of: error).description)
    }
    if let key { Secrecy.keep(key) }
  }

  private static func realPath(_ path: String) throws(LockFileError) -> String {
    guard let real = System.realPath(path) else { throw LockFileError("\(path): \(errorText(errno))") }
    return real
  }

  private static func contents(_ path: String) throws(LockFileError) -> [UInt8] {
    let descriptor: Int32
    do {
      descriptor = try WholeFile.open(path)
    } catch {
      throw LockFileError(error.description)
    }
    defer { Kernel.close(descriptor) }
    var status = stat()
    guard Kernel.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw LockFileError("\(path): not a file")
    }
    guard status.st_mode & 0o077 == 0 else {
      let mode = String(status.st_mode & 0o7777, radix: 8)
      throw LockFileError(
        "\(path): others can read the key of this lock (mode 0\(mode)): chmod 600 \(shellWord(path))")
    }
    guard status.st_size <= 64 << 10 else { throw LockFileError("\(path): too long for a lock file") }
    do {
      return try Descriptors.readWhole(descriptor, limit: 64 << 10)
    } catch {
      throw LockFileError("\(path): \(errorText(error.code))")
    }
  }

  private static var keys: [String] {
    ["lock", "name", "uuid", "address", "key", "secret", "public-key", "index", "timeouts", "quirks"]
  }

  private init?(_ cursor: Cursor, path: String) {
    guard let fields = cursor.fields(Self.keys) else { return nil }
    let lock = fields.required("lock")
    let product = lock?.name("lock", of: Self.models.map(\.name))
    let name = fields.optional("name")?.text("a name")
    let deviceID = fields.optional("uuid")?.value("a UUID") { try? UUID128(text: $0) }
    let address = fields.optional("address")?.value(
      "an address such as c7:e6:da:90:f5:f9, or with /P a public one"
    ) {
      PeerAddress(text: $0)
    }
    let times = fields.optional("timeouts").map { ClientTimes($0) } ?? ClientTimes()
    let quirks =
      fields.optional("quirks").map { cursor in
        cursor.list()?.all { $0.choice("violation", as: SesameViolation.self) }
      } ?? []
    guard let product, let model = Self.models.first(where: { $0.name == product })?.model, let times,
      let quirks
    else {
      return nil
    }
    self.init(path: path, model: model, name: name, deviceID: deviceID, address: address)
    self.times = times
    self.quirks = quirks
    if fields.optional("key") != nil || fields.optional("secret") != nil {
      guard let key = readKey(fields) else { return nil }
      self.key = key
      self.deviceID = key.deviceID
    } else {
      for extra in ["public-key", "index"] { fields.key(extra)?.report("`\(extra)` goes with `secret`") }
    }
    guard self.deviceID != nil || address != nil else {
      cursor.report(
        "which lock is it?", hint: "give its `uuid`, its `address` or its `key`; `lockstep scan` shows them")
      return nil
    }
  }

  private func readKey(_ fields: Fields) -> LockKey? {
    guard let share = fields.optional("key") else { return readSecret(fields, fields.optional("secret")) }
    for extra in ["secret", "public-key", "index"] {
      fields.key(extra)?.report("`\(extra)` stands beside `key`, which says the same")
    }
    guard let text = value(of: share, "a share key") else { return nil }
    if text.isFromEnvironment, !text.value.hasPrefix("ssm:") { return readSecret(fields, share) }
    let key: ShareKey
    do {
      key = try ShareKey(url: text.value)
    } catch {
      share.report("this is no share key, \(error)", hint: "it looks like ssm://UI?t=sk&sk=…&l=0&n=…")
      return nil
    }
    guard key.model.generation == model.generation else {
      share.report("this is the key of a \(key.model), and the lock is a \(model)")
      return nil
    }
    guard deviceID == nil || deviceID == key.deviceID else {
      share.report("this is the key of another lock", hint: "its UUID is \(key.deviceID)")
      return nil
    }
    var publicKey: PublicKey?
    if case .os2(let lockKey) = key.credential { publicKey = lockKey }
    return LockKey(
      deviceID: key.deviceID, secret: key.secret, lockPublicKey: publicKey, index: key.keyIndex)
  }

  /// The text of a key, which may stand in an environment variable: `env:NAME`.
  private func value(of cursor: Cursor, _ form: String) -> (value: String, isFromEnvironment: Bool)? {
    guard let text = cursor.text(form) else { return nil }
    guard text.hasPrefix("env:") else { return (text, false) }
    guard let secret = Secrecy.variable(String(text.dropFirst(4))) else {
      cursor.report("this environment variable is not set, or empty")
      return nil
    }
    return (secret.revealed, true)
  }

  private func readSecret(_ fields: Fields, _ place: Cursor?) -> LockKey? {
    // Messages never quote what may be a key.
    let secret = place.flatMap { cursor -> SecretKey? in
      guard let text = value(of: cursor, "a secret")?.value else { return nil }
      if let bytes = try? [UInt8](hex: text),
        let key = try? SecretKey(bytes: bytes)
      {
        return key
      }
      cursor.report("expected the secret as 32 hexadecimal digits")
      return nil
    }
    let index = fields.optional("index").map { $0.integer(as: UInt16.self) } ?? 0
    var publicKey: PublicKey?
    if model.generation == .os2 {
      guard let place = fields.required("public-key") else { return nil }
      publicKey = place.node.text.flatMap { try? PublicKey(bytes: [UInt8](hex: $0)) }
      guard publicKey?.isOnCurve == true else {
        place.report("expected the lock's public key as 128 hexadecimal digits")
        return nil
      }
    } else {
      fields.optional("public-key")?.report("a \(model) has no public key to keep")
    }
    guard let deviceID else {
      place?.report("a secret says not whose it is", hint: "give the lock's `uuid` too")
      return nil
    }
    guard let secret, let index else { return nil }
    return LockKey(deviceID: deviceID, secret: secret, lockPublicKey: publicKey, index: index)
  }
}

extension ClientTimes {
  static var names: [(name: String, path: WritableKeyPath<ClientTimes, Interval>)] {
    [
      ("silence", \.silence), ("connecting", \.connecting), ("discovery", \.discovery),
      ("session", \.session), ("answer", \.answer),
    ]
  }

  fileprivate init?(_ cursor: Cursor) {
    self.init()
    guard let fields = cursor.fields(Self.names.map(\.name)) else { return nil }
    for (name, path) in Self.names {
      guard let place = fields.optional(name) else { continue }
      let time = place.value("a duration such as 20 s") { text in
        Interval(text: text).flatMap { $0 > .zero && $0 <= .seconds(600) ? $0 : nil }
      }
      guard let time else { return nil }
      self[keyPath: path] = time
    }
  }
}

extension PeerAddress {
  /// Reads `c7:e6:da:90:f5:f9`, with `/P` after a public address; the contrary of ``description``.
  public init?(text: String) {
    let isPublic = text.hasSuffix("/P")
    guard let address = try? BluetoothAddress(text: isPublic ? text.dropLast(2) : text[...]) else {
      return nil
    }
    self.init(isPublic ? .publicDevice : .randomDevice, address)
  }
}

/// Hides what may be a key in messages about a file that holds one.
enum Redaction {
  /// The keys of a lock file whose values are no secret.
  private static let open = [
    "lock", "name", "uuid", "address", "index", "timeouts", "silence", "connecting", "discovery", "session",
    "answer", "quirks",
  ]

  static func hidingKeys(of error: DocumentError) -> DocumentError {
    var error = error
    error.source.bytes = hidden(error.source.bytes)
    for index in error.problems.indices {
      error.problems[index].message = hidingLongWords(error.problems[index].message)
    }
    return error
  }

  /// The text with stars in place of every value that is not known to be open; nothing moves.
  private static func hidden(_ bytes: [UInt8]) -> [UInt8] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return Array(lines.map { hidingLongWords(hidingValue($0)) }.joined(separator: [UInt8(ascii: "\n")]))
  }

  private static func hidingValue(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    let key = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self).filter { $0 != " " }
    if key.isEmpty || key.hasPrefix("#") || colon != nil && open.contains(key) { return Array(line) }
    let start = colon ?? line.startIndex
    return line[..<start] + line[start...].map { isWord($0) ? UInt8(ascii: "*") : $0 }
  }

  /// No word that is meant for people is so long without a hyphen or a space, and every key is.
  private static let longestWord = 12

  private static func hidingLongWords(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var start = 0
    for index in 0...bytes.count where index == bytes.count || !isWord(bytes[index]) {
      if index - start > longestWord {
        for place in start..<index { bytes[place] = UInt8(ascii: "*") }
      }
      start = index + 1
    }
    return bytes
  }

  private static func hidingLongWords(_ text: String) -> String {
    String(decoding: hidingLongWords(Array(text.utf8)), as: UTF8.self)
  }

  /// Letters, digits and what base64 and percent signs need.
  private static func isWord(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "+/%=".utf8.contains(byte) }
}
