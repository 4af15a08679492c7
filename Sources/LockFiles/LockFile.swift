public import Bluetooth
public import Conformance
import Documents
import Glibc
import Secrets
import System
public import Basics

/// The file that describes a real lock and contains its secrets: YAML, readable by its owner only.
///
/// The key `lock` or `driver` determines the kind of lock:
///
/// ```yaml
/// lock: sesame5
/// name: Front door
/// uuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10
/// key: ssm://UI?t=sk&sk=…&l=0&n=…        # as the vendor's app shares it; or secret:, and public-key: for OS2
/// key: env:FRONT_DOOR                    # or either of them from an environment variable
/// timeouts: { connecting: 20 s }
/// quirks: [before-token]                 # the protocol violations that this lock is known for
/// gap: 0 s                               # how long its motor rests between movements: not at all
/// ```
/// ```yaml
/// driver: python3 keypad-driver.py       # the program that communicates with the lock, run in the folder of this file
/// machine: keypad.yaml                   # the machine that is its model: a file next to this one, or a name
/// name: Back door
/// address: c7:e6:da:90:f5:f9
/// id: KP-0042                            # the lock's identity; by default its address
/// secrets: { pin: env:PIN }              # secrets for the program
/// ```
public struct LockFile: Sendable {
  /// The path of the file, with links resolved.
  public let path: String
  /// The user's name for the lock.
  public let name: String?
  /// The address at which the lock advertises, if known.
  public let address: PeerAddress?
  /// How long the motor rests between two movements, if the owner sets another time than the default.
  public let gap: Interval?
  /// The part of the file that belongs to the lock's family.
  public let lock: any FamilyLock
}

/// Why a lock file cannot be used. It never shows a key.
public struct LockFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The problem and, if there is one, the remedy.
  public var description: String

  /// Makes an error.
  public init(_ description: String) { self.description = description }
}

extension LockFile {
  /// The lock's identity, independent of its name: the UUID of a Sesame or the `id` of a lock with a driver,
  /// otherwise the address.
  public var identity: String { lock.id ?? address.map { "\($0.address)" } ?? "lock" }

  /// The description that the management of the lock needs; `nil` if its driver provides it.
  public var family: LockFamily? { type(of: lock).family }

  /// Returns whether a file describes a lock with a driver; false for a file that cannot be read.
  public static func isDriven(_ path: String) -> Bool {
    (try? LockFile(reading: path)).map { $0.family == nil } ?? false
  }
}

// MARK: - Reading

extension LockFile {
  /// Reads a lock file.
  ///
  /// - Throws: a ``LockFileError`` if other users can read the file, or with every problem of its text and its
  ///   position.
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
  }

  private static func realPath(_ path: String) throws(LockFileError) -> String {
    guard let real = System.realPath(path) else {
      throw LockFileError("\(FileFault(path: path, code: errno))")
    }
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
      throw LockFileError("\(FileFault(path: path, code: error.code))")
    }
  }

  private init?(_ cursor: Cursor, path: String) {
    let names = cursor.node.entries?.compactMap(\.key.text) ?? []
    let own = Self.families.filter { names.contains($0.distinction.key) }
    // A file with the keys of several families, or of none, may have any key: that alone is reported.
    let allowed = own.count == 1 ? own : Self.families
    guard let fields = cursor.fields(allowed.flatMap { $0.keys }) else { return nil }
    if own.count > 1 {
      let (first, second) = (own[0].distinction.key, own[1].distinction.key)
      fields.key(second)?.report("`\(second)` stands in place of `\(first)`, and both are given")
      return nil
    }
    let name = fields.optional("name")?.text("a name")
    let address = fields.optional("address")?.value(
      "an address such as c7:e6:da:90:f5:f9, or with /P a public one"
    ) {
      PeerAddress(text: $0)
    }
    let gap = fields.optional("gap").map { $0.duration() }
    if let gap, gap == nil { return nil }
    guard let family = own.first else {
      let others = Self.families.dropFirst().map { "`\($0.distinction.key)`, of \($0.distinction.use)" }
      cursor.report(
        "missing key `\(Self.families[0].distinction.key)`", hint: "or \(others.joined(separator: ", or "))")
      return nil
    }
    guard let lock = family.init(cursor, fields, folder: Path.folder(of: path)) else { return nil }
    self.init(path: path, name: name, address: address, gap: gap ?? nil, lock: lock)
  }
}

extension PeerAddress {
  /// Reads `c7:e6:da:90:f5:f9`, with `/P` after a public address; the inverse of ``description``.
  public init?(text: String) {
    let isPublic = text.hasSuffix("/P")
    guard let address = try? BluetoothAddress(text: isPublic ? text.dropLast(2) : text[...]) else {
      return nil
    }
    self.init(isPublic ? .publicDevice : .randomDevice, address)
  }
}
