public import Bluetooth
import Documents
import Glibc
import Secrets
import System
public import Basics

/// The file that describes a real lock and holds what opens it: YAML, readable for its owner alone.
///
/// What it says first tells what kind of lock it is:
///
/// ```yaml
/// lock: sesame5
/// name: Front door
/// uuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10
/// key: ssm://UI?t=sk&sk=…&l=0&n=…        # as the vendor's app shares it; or secret:, and public-key: for OS2
/// key: env:FRONT_DOOR                    # or either of them, from an environment variable
/// timeouts: { connecting: 20 s }
/// quirks: [before-token]                 # what this one is known to do though its protocol forbids it
/// gap: 0 s                               # what its motor rests between movements: none, since it bears that
/// ```
/// ```yaml
/// driver: python3 keypad-driver.py       # the program that speaks to the lock, run in the folder of this file
/// machine: keypad.yaml                   # the machine that it is compared with: a file beside this one, or a name
/// name: Back door
/// address: c7:e6:da:90:f5:f9
/// id: KP-0042                            # what the lock is known by; else its address
/// secrets: { pin: env:PIN }              # what the program is given
/// ```
public struct LockFile: Sendable {
  /// What only locks of one kind have.
  public enum Kind: Sendable {
    /// A lock that this program speaks to by itself.
    case sesame(SesameLock)
    /// A lock that a program of its owner's speaks to.
    case driver(DriverLock)
  }

  /// Where the file is, links followed.
  public let path: String
  /// What people call the lock.
  public let name: String?
  /// Where it advertises, if that is known.
  public let address: PeerAddress?
  /// How long its motor rests between two movements, where the owner says that it bears less than usual, or needs more.
  public let gap: Interval?
  /// What kind of lock it is.
  public let kind: Kind
}

/// Why a lock file cannot be used. It never shows a key.
public struct LockFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong and, where there is something, what to do.
  public var description: String

  init(_ description: String) { self.description = description }
}

extension LockFile {
  /// What the lock is known by, whatever its users call it: of a Sesame its UUID, of a driver's its `id`, or else its address.
  public var identity: String {
    let own: String? =
      switch kind {
      case .sesame(let lock): lock.deviceID.map { "\($0)" }
      case .driver(let lock): lock.id
      }
    return own ?? address.map { "\($0.address)" } ?? "lock"
  }

  /// Whether a file is that of a driver's lock; one that cannot be read is none.
  public static func isDriven(_ path: String) -> Bool {
    if case .driver = (try? LockFile(reading: path))?.kind { true } else { false }
  }

  /// The lock, and what keeps its key, for who knows Sesames alone.
  ///
  /// - Parameter reason: why a driver's lock is of no use, after a colon.
  /// - Throws: that it is one.
  public func sesame(or reason: String) throws(LockFileError) -> SesameLockFile {
    switch kind {
    case .sesame(let lock): return SesameLockFile(path: path, name: name, address: address, lock: lock)
    case .driver: throw LockFileError("\(path): this is the lock of a driver: \(reason)")
    }
  }
}

// MARK: - Reading

extension LockFile {
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
    let (isDriven, isSesame) = (names.contains("driver"), names.contains("lock"))
    // A file that says both or neither may have every key: what is wrong with it is that alone.
    let own = isDriven ? DriverLock.keys : SesameLock.keys
    guard let fields = cursor.fields(isDriven == isSesame ? SesameLock.keys + DriverLock.keys : own) else {
      return nil
    }
    if isDriven, isSesame {
      fields.key("driver")?.report("`driver` stands in place of `lock`, and both are given")
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
    let kind: Kind
    if isDriven {
      guard let lock = DriverLock(cursor, fields, folder: Path.folder(of: path)) else { return nil }
      kind = .driver(lock)
    } else if isSesame {
      guard let lock = SesameLock(cursor, fields) else { return nil }
      kind = .sesame(lock)
    } else {
      cursor.report(
        "missing key `lock`", hint: "or `driver`, of a lock that a program of your own speaks to")
      return nil
    }
    self.init(path: path, name: name, address: address, gap: gap ?? nil, kind: kind)
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
