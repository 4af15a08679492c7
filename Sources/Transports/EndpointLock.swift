import System
import Bluetooth
import Glibc
import Basics

/// Reserves a controller for one program: a file that is locked while the controller is in use.
///
/// The system releases the lock when the program ends, for any reason; the file stays. Servers that accept several
/// clients are not locked. Neither are ports, which only one program can bind anyway.
final class EndpointLock {
  /// The name of the controller in the folder: `usb-1-2.3`, `hci0`, `dev-ttyUSB0`.
  let endpoint: String
  private let descriptor: Int32

  /// Locks a controller.
  ///
  /// - Throws: `busy` with the current holder, or `unavailable` if the folder cannot be used.
  init(_ endpoint: String, in folder: String) throws(TransportFault) {
    try Self.prepare(folder)
    let path = Self.path(of: endpoint, in: folder)
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    let descriptor = Kernel.open(path, flags, 0o600)
    guard descriptor >= 0 else {
      throw TransportFault(
        .unavailable, "\(path) cannot be opened, to lock \(endpoint) (\(errorText(errno)))")
    }
    do {
      try Descriptors.lock(descriptor, for: .milliseconds(20))
    } catch {
      let holder = LockHolder(of: endpoint, in: contents(of: descriptor))
      Kernel.close(descriptor)
      guard error.code == EWOULDBLOCK else {
        throw TransportFault(
          .unavailable,
          "\(path) cannot be locked, to keep other programs from \(endpoint) (\(errorText(error.code)))")
      }
      throw TransportFault(.busy, "\(endpoint) is in use by \(holder)")
    }
    Descriptors.overwrite(descriptor, with: "\(getpid())\n\(WallClock.now)\n")
    self.endpoint = endpoint
    self.descriptor = descriptor
  }

  deinit {
    _ = Kernel.ftruncate(descriptor, 0)
    Kernel.close(descriptor)
  }
}

extension EndpointLock {
  private static func path(of endpoint: String, in folder: String) -> String {
    let name = endpoint.map { $0 == "/" ? "-" : $0 }
    return folder + "/" + String(name) + ".lock"
  }

  /// Creates the folder with access for this user only, and rejects one that another user may have created.
  private static func prepare(_ folder: String) throws(TransportFault) {
    if Kernel.mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw TransportFault(
        .unavailable, "\(folder) cannot be made, to lock controllers in (\(errorText(errno)))")
    }
    // Check and change the same folder, even if its name refers to another one in the meantime.
    let descriptor = Kernel.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw refusal(folder, errno) }
    defer { Kernel.close(descriptor) }
    var status = stat()
    guard Kernel.fstat(descriptor, &status) == 0 else { throw refusal(folder, errno) }
    guard status.st_uid == getuid() else { throw refusal(folder, EACCES) }
    guard Kernel.fchmod(descriptor, 0o700) == 0 else { throw refusal(folder, errno) }
  }

  private static func refusal(_ folder: String, _ code: Int32) -> TransportFault {
    let place = "\(folder), where controllers are locked,"
    switch code {
    case ENOTDIR, ELOOP: return TransportFault(.unavailable, "\(place) is no folder; remove it")
    case EACCES: return TransportFault(.unavailable, "\(place) belongs to another user; remove it")
    default: return TransportFault(.unavailable, "\(place) cannot be used (\(errorText(code)))")
    }
  }
}

/// The user of a controller, as recorded in its lock file.
public struct LockHolder: Hashable, Sendable {
  /// The name of the controller.
  public var endpoint: String
  /// The process ID; `nil` if the file does not contain it.
  public var process: Int32?
  /// When the lock was taken, in UTC.
  public var since: String?

  init(of endpoint: String, in text: String) {
    self.endpoint = endpoint
    let lines = text.split(separator: "\n")
    process = lines.first.flatMap { Int32($0) }
    since = lines.count > 1 ? String(lines[1]) : nil
  }
}

extension LockHolder {
  /// Returns the current holders of the controllers whose lock files are in a folder.
  public static func all(in folder: String = TransportSettings.usualLockFolder) -> [LockHolder] {
    let names = folderEntries(folder) ?? []
    return names.filter { $0.hasSuffix(".lock") }.compactMap { name in
      let descriptor = Kernel.open(folder + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { return nil }
      defer { Kernel.close(descriptor) }
      guard (try? Descriptors.isLocked(descriptor)) == true else { return nil }
      return LockHolder(of: String(name.dropLast(5)), in: contents(of: descriptor))
    }
  }
}

extension LockHolder: CustomStringConvertible {
  /// The process and the time: `process 4711 since 2026-11-21T00:50:17.042Z`.
  public var description: String {
    let program = process.map { $0 == getpid() ? "this process" : "process \($0)" } ?? "another program"
    return program + (since.map { " since \($0)" } ?? "")
  }
}

/// Returns the first bytes of an open file, as printable text.
private func contents(of descriptor: Int32) -> String {
  printable(Descriptors.beginning(of: descriptor, count: 200))
}
