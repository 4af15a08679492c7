public import System
public import Bluetooth
public import Conformance
import Documents
import Glibc
public import Sesame
import Basics

/// The lock file of a Sesame, which stores the lock's key.
///
/// A run writes each key that it receives to the file before the client uses the key, and never deletes a key. A
/// replaced key stays in `FILE.old-N`, and a key that the lock has forgotten in `FILE.forgotten-N`.
public struct SesameLockFile: Sendable {
  /// The path of the file, which need not exist yet.
  public let path: String
  /// The user's name for the lock.
  public var name: String?
  /// The address at which the lock advertises, if known.
  public var address: PeerAddress?
  /// The contents of the file that are specific to a Sesame.
  public var lock: SesameLock
  /// Returns the folder for a key whose file cannot be written; `nil` if there is none.
  public var fallbackFolder: @Sendable () -> String? = { nil }
  /// The owner's key; `nil` for a lock without an owner.
  public var key: LockKey? { lock.key }

  /// Describes a lock and its file.
  public init(path: String, name: String? = nil, address: PeerAddress? = nil, lock: SesameLock) {
    self.path = path
    self.name = name
    self.address = address
    self.lock = lock
  }
}

extension LockFile {
  /// Returns the lock and its file, for operations that need a Sesame.
  ///
  /// - Parameter reason: why other locks are not supported, as text for the end of the error message.
  /// - Throws: a ``LockFileError`` if the lock is of another family.
  public func sesame(or reason: String) throws(LockFileError) -> SesameLockFile {
    guard let lock = lock as? SesameLock else {
      throw LockFileError("\(path): this is the lock of a driver: \(reason)")
    }
    return SesameLockFile(path: path, name: name, address: address, lock: lock)
  }
}

// MARK: - Writing

extension SesameLockFile {
  /// Writes the key of a lock that was just registered to the file.
  ///
  /// When this returns, the key is on the disk, and no earlier key is lost.
  ///
  /// - Throws: a fault that says where the key was stored instead, or that it could not be stored.
  public mutating func keep(_ key: LockKey) throws(LabFault) {
    Secrecy.keep(key)
    lock.key = key
    lock.deviceID = key.deviceID
    do throws(FileFault) {
      try save()
    } catch {
      throw LabFault(.transportLost, "the new key of the lock is not in \(error); \(keepElsewhere())")
    }
  }

  /// Removes the key from the file, since the lock has forgotten it; a copy stays in `FILE.forgotten-N`.
  public mutating func drop() throws(LabFault) {
    guard key != nil else { return }
    lock.key = nil
    do throws(FileFault) {
      try replace(keeping: "forgotten")
    } catch {
      throw LabFault(.transportLost, "the key that the lock has forgotten cannot be put aside: \(error)")
    }
  }

  /// Writes the file; a file that has another key, or cannot be read, stays as `FILE.old-N`.
  public func save() throws(FileFault) {
    if let key { Secrecy.keep(key) }
    let hasAnotherKey =
      if let file = try? LockFile(reading: path) {
        (file.lock as? SesameLock).map { $0.key != nil && $0.key != key } ?? true
      } else {
        Kernel.access(path, F_OK) == 0
      }
    try replace(keeping: hasAnotherKey ? "old" : nil)
  }

  /// Checks that a key could be stored, before the lock is asked for one.
  public func verifyStorage() throws(LabFault) {
    do throws(FileFault) {
      try write(to: "rehearsal").discard()
    } catch {
      throw LabFault(.noDevice, "a new key could not be kept: \(error)")
    }
  }

  /// The files next to this one that contain a key which a run could not move into place.
  public var leftovers: [String] {
    (1...9).map { "\(path).new-\($0)" }.filter { Kernel.access($0, F_OK) == 0 }
  }

  private func replace(keeping suffix: String?) throws(FileFault) {
    let new = try write(to: "new")
    if let suffix, Kernel.access(path, F_OK) == 0 { try link(path, as: suffix) }
    try new.place()
  }

  /// Gives a file a second name: `FILE.old-1`, or the next free one.
  private func link(_ file: String, as suffix: String) throws(FileFault) {
    var number = 1
    while Kernel.link(file, "\(path).\(suffix)-\(number)") != 0 {
      guard errno == EEXIST, number < 10_000 else { throw FileFault(path: path, code: errno) }
      number += 1
    }
    synchronizeFolder(of: path)
  }

  /// Writes the text to a new file next to the old one, `FILE.new-1` or the next free name, and synchronizes it to
  /// the disk.
  private func write(to suffix: String) throws(FileFault) -> FinishedFile {
    var file = try Replacement(of: path, mode: 0o600, named: { "\(path).\(suffix)-\($0)" })
    try file.write(asTheyAre: Array(text.utf8))
    return try file.finish()
  }

  /// Stores the key elsewhere if its file cannot be written, and returns a clause that says where.
  private func keepElsewhere() -> String {
    let name = lock.deviceID.map { "\($0)" } ?? "lock"
    guard let folder = fallbackFolder() else {
      return "there is no other place for it either: the lock is registered with a key that only this run had"
    }
    let copy = SesameLockFile(path: "\(folder)/\(name).yaml", name: self.name, address: address, lock: lock)
    do throws(FileFault) {
      try copy.save()
      return "it is in \(copy.path)"
    } catch {
      return "it is not in \(error) either: the lock is registered with a key that only this run had"
    }
  }

  /// The text of the file, including the key.
  private var text: String {
    let product = SesameLock.models.first { $0.model == lock.model }?.name ?? lock.model.description
    var entries: [(String, Node)] = [("lock", .plain(product))]
    if let name { entries.append(("name", .text(name))) }
    if let deviceID = lock.deviceID { entries.append(("uuid", .plain(deviceID.description))) }
    if let address { entries.append(("address", Node(.scalar(address.description, .quoted)))) }
    if let key {
      entries.append(("secret", Node(.scalar(key.secret.exposedBytes.hex, .quoted))))
      if let publicKey = key.lockPublicKey {
        entries.append(("public-key", Node(.scalar(publicKey.bytes.hex, .quoted))))
      }
      if key.index != 0 { entries.append(("index", .plain(String(key.index)))) }
    }
    let usual = ClientTimes()
    let waits = ClientTimes.names.filter { lock.times[keyPath: $0.path] != usual[keyPath: $0.path] }
    if !waits.isEmpty {
      entries.append(
        (
          "timeouts",
          .mapping(waits.map { ($0.name, .plain(lock.times[keyPath: $0.path].description)) }, layout: .flow)
        ))
    }
    if !lock.quirks.isEmpty {
      entries.append(("quirks", .list(lock.quirks.map { .plain($0.rawValue) }, layout: .flow)))
    }
    return Node.mapping(entries).yaml()
  }
}
