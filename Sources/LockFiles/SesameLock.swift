public import Bluetooth
public import Conformance
public import Documents
import Secrets
import SesameDevice
public import Sesame
public import System
import Basics

/// The part of a lock file for a Sesame.
///
/// Without a key, the lock has no owner. A run writes each key that it receives to the file before the client uses
/// the key, and never deletes a key: see ``SesameLockFile``.
public struct SesameLock: FamilyLock {
  /// The product.
  public var model: ProductModel
  /// The UUID that it advertises.
  public var deviceID: UUID128?
  /// Its owner's key; `nil` for a lock without an owner.
  public var key: LockKey?
  /// The client's timeouts.
  public var times = ClientTimes()
  /// The protocol violations that this lock is known for: they are diagnostics, not divergences.
  public var quirks: [SesameViolation] = []

  /// Its UUID.
  public var id: String? { deviceID.map { "\($0)" } }

  /// Describes a lock.
  public init(model: ProductModel, deviceID: UUID128? = nil, key: LockKey? = nil) {
    self.model = model
    self.deviceID = deviceID ?? key?.deviceID
    self.key = key
  }

  /// The lock models and their names: `sesame5pro` for a Sesame 5 Pro.
  public static let models: [(name: String, model: ProductModel)] =
    ProductModel.allCases.filter { $0.kind == .lock }.map { model in
      (model.description.filter { $0 != " " }.lowercased(), model)
    }
}

extension Secrecy {
  /// Redacts a lock's key in all output from now on.
  public static func keep(_ key: LockKey) { keep(Secret(key.secret.exposedBytes)) }
}

// MARK: - Reading

extension SesameLock {
  public static var distinction: (key: String, use: String) { ("lock", "a Sesame") }
  public static var family: LockFamily? { .sesame }
  public static let openKeys = ["lock", "uuid", "index", "timeouts", "quirks"]
  public static let openKeysBelow = ClientTimes.names.map(\.name)
  public static let keys = [
    "lock", "name", "uuid", "address", "key", "secret", "public-key", "index", "timeouts", "quirks",
    "gap",
  ]

  /// Reads the part of a lock file for a Sesame.
  public init?(_ cursor: Cursor, _ fields: Fields, folder: String) {
    let product = fields.optional("lock")?.name("lock", of: Self.models.map(\.name))
    let deviceID = fields.optional("uuid")?.value("a UUID") { try? UUID128(text: $0) }
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
    self.init(model: model, deviceID: deviceID)
    self.times = times
    self.quirks = quirks
    if fields.optional("key") != nil || fields.optional("secret") != nil {
      guard let key = readKey(fields) else { return nil }
      Secrecy.keep(key)
      self.key = key
      self.deviceID = key.deviceID
    } else {
      for extra in ["public-key", "index"] { fields.key(extra)?.report("`\(extra)` goes with `secret`") }
    }
    guard self.deviceID != nil || fields.optional("address") != nil else {
      cursor.report(
        "which lock is it?", hint: "give its `uuid`, its `address` or its `key`; `lockstep scan` shows them")
      return nil
    }
  }

  private func readKey(_ fields: Fields) -> LockKey? {
    guard let share = fields.optional("key") else { return readSecret(fields, fields.optional("secret")) }
    for extra in ["secret", "public-key", "index"] {
      fields.key(extra)?.report("`\(extra)` repeats what `key` says", hint: "remove one of them")
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
    guard key.model.generation == model.generation, key.model.kind == .lock else {
      share.report("this is the key of a \(key.model), and the lock is a \(model)")
      return nil
    }
    guard deviceID == nil || deviceID == key.deviceID else {
      share.report("this is the key of another lock", hint: "its UUID is \(key.deviceID)")
      return nil
    }
    guard key.level != .guest, !key.secret.isOfGuest else {
      share.report("this is the key of a guest, which does not hold the lock's secret", hint: Self.guestHint)
      return nil
    }
    var publicKey: PublicKey?
    if case .os2(let lockKey) = key.credential { publicKey = lockKey }
    return LockKey(
      deviceID: key.deviceID, secret: key.secret, lockPublicKey: publicKey, index: key.keyIndex)
  }

  /// Only the vendor's server can compute a guest's login; `l=2` in a share key marks a guest.
  private static let guestHint: Advice = "take the key of the owner (l=0) or of a manager (l=1)"

  /// Returns the text of a key, which may come from an environment variable: `env:NAME`.
  private func value(of cursor: Cursor, _ form: String) -> (value: String, isFromEnvironment: Bool)? {
    cursor.text(form).flatMap { text in
      cursor.secret(text).map { ($0.revealed, text.hasPrefix("env:")) }
    }
  }

  private func readSecret(_ fields: Fields, _ field: Cursor?) -> LockKey? {
    // Messages never quote what may be a key.
    let secret = field.flatMap { cursor -> SecretKey? in
      guard let text = value(of: cursor, "a secret")?.value else { return nil }
      if let bytes = try? [UInt8](hex: text),
        let key = try? SecretKey(bytes: bytes)
      {
        guard key.isOfGuest else { return key }
        cursor.report("this is the secret of a guest's key, and not the lock's", hint: Self.guestHint)
        return nil
      }
      cursor.report("expected the secret as 32 hexadecimal digits")
      return nil
    }
    let index = fields.optional("index").map { $0.integer(as: UInt16.self) } ?? 0
    var publicKey: PublicKey?
    if model.generation == .os2 {
      guard let field = fields.required("public-key") else { return nil }
      publicKey = field.node.text.flatMap { try? PublicKey(bytes: [UInt8](hex: $0)) }
      guard publicKey?.isOnCurve == true else {
        field.report("expected the lock's public key as 128 hexadecimal digits")
        return nil
      }
    } else {
      fields.optional("public-key")?.report("a \(model) has no public key to keep")
    }
    guard let deviceID else {
      field?.report("a secret does not say which lock it belongs to", hint: "give the lock's `uuid` too")
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
      guard let field = fields.optional(name) else { continue }
      let time = field.value("a duration such as 20 s") { text in
        Interval(text: text).flatMap { $0 > .zero && $0 <= .seconds(600) ? $0 : nil }
      }
      guard let time else { return nil }
      self[keyPath: path] = time
    }
  }
}
