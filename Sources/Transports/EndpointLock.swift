import System
import Bluetooth
import Glibc
import Basics

/// One program at a time: a file that is locked while a controller is in use.
///
/// The system drops the lock when the program ends, however it ends; the file stays. Servers that take several
/// clients are not locked, nor are ports, which only one program can bind anyway.
final class EndpointLock {
  /// What the controller is called in the folder: `usb-1-2.3`, `hci0`, `dev-ttyUSB0`.
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

  /// Makes the folder for this user alone, and rejects one that another user could have made.
  private static func prepare(_ folder: String) throws(TransportFault) {
    if Kernel.mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw TransportFault(
        .unavailable, "\(folder) cannot be made, to lock controllers in (\(errorText(errno)))")
    }
    // What is looked at and what is changed is one folder, whatever takes its name meanwhile.
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

/// Who uses a controller, as its lock file says.
public struct LockHolder: Hashable, Sendable {
  /// What the controller is called.
  public var endpoint: String
  /// The program's number; `nil` where the file does not say.
  public var process: Int32?
  /// Since when, in UTC.
  public var since: String?

  init(of endpoint: String, in text: String) {
    self.endpoint = endpoint
    let lines = text.split(separator: "\n")
    process = lines.first.flatMap { Int32($0) }
    since = lines.count > 1 ? String(lines[1]) : nil
  }
}

extension LockHolder {
  /// Who holds a controller now, of those whose files lie in a folder.
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
  /// The program and since when: `process 4711 since 2026-11-21T00:50:17.042Z`.
  public var description: String {
    let program = process.map { $0 == getpid() ? "this process" : "process \($0)" } ?? "another program"
    return program + (since.map { " since \($0)" } ?? "")
  }
}

/// The first bytes of a file that is open, as text that can be shown.
private func contents(of descriptor: Int32) -> String {
  printable(Descriptors.beginning(of: descriptor, count: 200))
}
