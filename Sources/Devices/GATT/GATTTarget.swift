public import Bench
import LockFiles
import Bluetooth
public import Journal
import Transports
import Conformance
import System

/// The device of a session, and the controllers to reach it.
public struct GATTTarget {
  /// The name that the user typed.
  public let name: String
  /// The device to find.
  public let device: DeviceTarget
  /// The identity of the lock, to lease it; `nil` if the lock is unknown.
  public let lockIdentity: String?
  /// The transports to it, in order of preference.
  public let transports: [TransportChoice]

  /// Parses the target: an address, a lock file, or the name of a bench's lock.
  ///
  /// - Parameters:
  ///   - transport: The transport from the command line; by default those that the bench has for its lock.
  ///   - bench: The inventory; the default one if omitted.
  public init(naming text: String, transport: String?, bench: String?) throws(UsageError) {
    self.name = text
    var lock: BenchLock?
    if let address = PeerAddress(text: text) {
      (device, lockIdentity) = (.address(address), nil)
    } else {
      let name = text.hasPrefix("lock:") ? String(text.dropFirst(5)) : text
      guard
        text.hasPrefix("lock:") || Host.isFile(name) || name.contains("/") || bench != nil
          || BenchFile.usual != nil
      else {
        throw UsageError(
          "'\(text)' is neither an address such as c7:e6:da:90:f5:f9, or with /P a public one, nor a lock file"
        )
      }
      lock = try BenchLock(named: name, on: bench)
      let file = try Self.file(name, lock)
      guard let target = Self.target(of: file) else {
        throw UsageError("\(file.path): the file does not say where the lock is: give its address")
      }
      (device, lockIdentity) = (target, file.identity)
    }
    transports = try Self.transports(to: lock, transport, bench)
  }

  /// Returns how to identify a lock among all advertisers: the lock of a driver only by its address.
  private static func target(of file: LockFile) -> DeviceTarget? {
    if let id = file.lock.id, builtInFamilies.contains(where: { $0.includes(file.lock) }) { return .id(id) }
    return file.address.map { .address($0) }
  }

  private static func file(_ name: String, _ lock: BenchLock?) throws(UsageError) -> LockFile {
    guard let lock else { return try checked { try LockFile(reading: name) } }
    guard case .file(let path) = lock.lock.source else {
      throw UsageError(
        "the lock '\(name)' is played by this program, and is on no air: 'lockstep emulate' serves one")
    }
    return try checked { try LockFile(reading: path) }
  }

  private static func transports(
    to lock: BenchLock?, _ transport: String?, _ bench: String?
  ) throws(UsageError) -> [TransportChoice] {
    guard let transport else {
      if let lock { return try lock.bench.transports(to: lock.lock) }
      throw UsageError(
        "a visit needs a controller: --transport usb:0, or another; 'lockstep doctor' says what there is")
    }
    let path = bench ?? (transport.hasPrefix("dongle:") ? BenchFile.usual : nil)
    return [
      try TransportChoice(
        naming: transport, on: try path.map { path throws(UsageError) in try BenchFile(reading: path) })
    ]
  }
}
