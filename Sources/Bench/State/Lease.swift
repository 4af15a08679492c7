import System
import CShims
public import Conformance
import Glibc
import Basics

/// The exclusive use of a lock or a dongle by one process on a machine.
///
/// The lease belongs to an identity: a lock's UUID or address, a dongle's serial number or bus position, never a name
/// from an inventory. It consists of two objects that the kernel releases when the process ends, however it ends:
///
/// - `flock(2)` on `leases/IDENTITY.lease` in the ``StateFolder``;
/// - an abstract socket whose name depends on the identity alone. It excludes every user of the machine, whatever
///   their home and state folder, and every container that shares the machine's network, as one with access to its
///   Bluetooth does. Deleting or replacing the file does not release the lease: the name stays taken.
///
/// Each acquisition has a ``token``, one greater than the previous one, which is on the disk before it is used:
/// records with different tokens belong to different acquisitions, and the greater token is the later one. The file
/// holds a line for each acquisition; the last line names the holder while the lease is held. Child processes inherit
/// neither object.
public final class Lease {
  /// The leased identity, as the name of its file: a UUID, an address, `usb-1-2.3`.
  public let identity: String
  /// The number of this acquisition.
  public let token: UInt64
  /// The path of the lease's file.
  public let path: String
  private let command: String
  private var file: Int32
  private let socket: Int32

  /// Acquires a lease.
  ///
  /// - Parameters:
  ///   - identity: the identity; characters that are not allowed in file names become hyphens.
  ///   - command: the command that uses the device, shown to other users who want it.
  ///   - folder: the folder of the files; the default folder if omitted.
  /// - Throws: a ``Conformance/LabFault`` that names the holder and the time, or says why the lease cannot be
  ///   acquired.
  public init(
    of identity: String, for command: String, in folder: String? = nil
  ) throws(LabFault) {
    let name = Self.name(identity)
    var place = folder
    if place == nil { place = try StateFolder.folder("leases") }
    path = "\(place ?? ".")/\(name).lease"
    self.identity = identity
    self.command = command
    var attempt = 1
    while true {
      switch Self.hold(path, Self.address(name, in: folder)) {
      case .held(let file, let socket):
        (self.file, self.socket) = (file, socket)
        do throws(FileFault) {
          token = try Self.sign(file, path, for: command, token: nil)
        } catch {
          Self.drop(file, socket)
          throw Self.fault(identity, path, error)
        }
        return
      case .failed(let code):
        throw Self.fault(identity, path, FileFault(path: path, code: code))
      case .busy:
        // A process that is terminating needs a moment. If the name is free, another process is only probing the file
        // and may have been suspended, or the holder is in a network namespace of its own.
        let isTaken = Self.isNameTaken(Self.address(name, in: folder))
        guard attempt < (isTaken ? 20 : 400) else { throw Self.refusal(identity, path, in: folder) }
        Waiting.wait(for: [], until: Waiting.now + .milliseconds(5))
        attempt += 1
      }
    }
  }

  deinit { Self.drop(file, socket) }

  /// Verifies that the file is still locked, and restores the file if it was deleted.
  ///
  /// - Throws: if another process has locked the file that is now at the path.
  public func confirm() throws(LabFault) {
    guard !Self.isAt(path, file) else { return }
    switch Self.lockFile(path) {
    case .success(let new):
      if let last = Self.lastLine(of: new).holder, last.token > token {
        Kernel.close(new)
        throw LabFault(.noDevice, "\(identity) is no longer ours: \(path) was replaced, and used by \(last)")
      }
      Kernel.close(file)
      file = new
      do throws(FileFault) {
        _ = try Self.sign(new, path, for: command, token: token)
      } catch {
        throw Self.fault(identity, path, error)
      }
    case .failure(let code):
      guard code.isBusy else { throw Self.fault(identity, path, FileFault(path: path, code: code.number)) }
      throw LabFault(
        .noDevice,
        "\(identity) is no longer ours: \(path) was replaced, and is held by "
          + "\(Self.lastHolder(path) ?? .unknown)")
    }
  }
}

// MARK: - Acquiring

extension Lease {
  private enum Attempt {
    case held(file: Int32, socket: Int32)
    case busy
    case failed(Int32)
  }

  private struct Code: Error {
    var number: Int32
    /// Whether another process holds the lease; false for any other failure.
    var isBusy = false
  }

  private static func hold(_ path: String, _ name: String) -> Attempt {
    let file: Int32
    switch lockFile(path) {
    case .success(let descriptor): file = descriptor
    case .failure(let code): return code.isBusy ? .busy : .failed(code.number)
    }
    let socket = newSocket()
    // On a system without such sockets the file must suffice.
    guard socket >= 0 else { return .held(file: file, socket: -1) }
    let isBound =
      unsafe withSocketAddress(name, isAbstract: true) { address, size in
        unsafe Kernel.bind(socket, address, size)
      }
      == 0
    // A process that connects learns the holder's credentials.
    if isBound, Kernel.listen(socket, SOMAXCONN) == 0 { return .held(file: file, socket: socket) }
    let code = errno
    drop(file, socket)
    return code == EADDRINUSE ? .busy : .failed(code)
  }

  /// Locks the file at a path, rather than one that was there before.
  private static func lockFile(_ path: String) -> Result<Int32, Code> {
    for _ in 0..<100 {
      let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
      let descriptor = Kernel.open(path, flags, 0o600)
      guard descriptor >= 0 else { return .failure(Code(number: errno)) }
      do {
        try Descriptors.lock(descriptor)
      } catch {
        Kernel.close(descriptor)
        return .failure(Code(number: error.code, isBusy: error.code == EWOULDBLOCK))
      }
      StateFolder.share(path)
      if isAt(path, descriptor) { return .success(descriptor) }
      Kernel.close(descriptor)
    }
    return .failure(Code(number: EAGAIN, isBusy: true))
  }

  /// Whether an open file is still the one at a path.
  private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
    var open = stat()
    var there = stat()
    guard Kernel.fstat(descriptor, &open) == 0, Kernel.lstat(path, &there) == 0 else { return false }
    return open.st_dev == there.st_dev && open.st_ino == there.st_ino
  }

  /// Closes the socket first, so that the next process that locks the file finds the name free.
  private static func drop(_ file: Int32, _ socket: Int32) {
    if socket >= 0 { Kernel.close(socket) }
    Kernel.close(file)
  }

  private static func newSocket() -> Int32 {
    Kernel.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
  }

  /// The abstract socket name of an identity: one for the machine, and a separate one for each explicitly named
  /// folder.
  private static func address(_ name: String, in folder: String?) -> String {
    let named = folder ?? (StateFolder.place?.reach == .named ? StateFolder.path : nil)
    let room = named.map { realPath($0) ?? $0 } ?? ""
    return "lockstep-\(name.prefix(60))-\(Fingerprint(room + "\n" + name))"
  }
}

// MARK: - Contents of the file

extension Lease {
  /// The file name of an identity.
  public static func name(_ identity: String) -> String {
    let plain = String(
      identity.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" })
    return plain.utf8.count <= 100 ? plain : "\(plain.prefix(80))-\(Fingerprint(identity))"
  }

  /// Appends a line for the new holder, and returns the acquisition's number once the line is on the disk.
  ///
  /// A new file begins with the time of day in milliseconds, so that a number exceeds all earlier ones even if the
  /// file was deleted.
  ///
  /// - Parameter token: the number of an acquisition whose file was deleted.
  private static func sign(
    _ descriptor: Int32, _ path: String, for command: String, token: UInt64?
  ) throws(FileFault) -> UInt64 {
    let (last, isTorn) = lastLine(of: descriptor)
    let next = max(token ?? 0, last.map { $0.token + (token == nil ? 1 : 0) } ?? firstToken)
    let holder = LeaseHolder(
      token: next, process: getpid(), host: Host.name, since: WallClock.now, command: command)
    do throws(FileFault) {
      do {
        try Descriptors.append(Array(((isTorn ? "\n" : "") + holder.line + "\n").utf8), to: descriptor)
      } catch {
        throw FileFault(path: path, code: error.code)
      }
      // The directory entry of a new file must be on the disk too.
      if last == nil { try keepName(of: path) }
    } catch {
      // If that fails, the next process must try it again.
      if last == nil { _ = Kernel.ftruncate(descriptor, 0) }
      throw error
    }
    forgetOld(in: descriptor)
    return next
  }

  /// Releases the space of old lines now and then, since each case adds a line to a file that may exist for years.
  ///
  /// It punches a hole and moves nothing, so that neither a kill nor a concurrent reader sees a partial file. On a
  /// file system without holes the lines stay.
  private static func forgetOld(in descriptor: Int32) {
    let end = Kernel.lseek(descriptor, 0, SEEK_END)
    let start = end - end % Self.kept - Self.kept
    // A line is shorter than this remainder, so that no boundary is skipped.
    guard start > 0, end % Self.kept < 8192 else { return }
    _ = lockstep_punch_hole(descriptor, Int64(start))
  }

  /// The minimum number of octets to keep.
  private static let kept: off_t = 65_536

  /// The number of the first acquisition in a new file.
  private static var firstToken: UInt64 { UInt64(clamping: WallClock.time.nanoseconds / 1_000_000) }

  /// The last valid complete line, and whether the file ends with a partial one.
  private static func lastLine(of descriptor: Int32) -> (holder: LeaseHolder?, isTorn: Bool) {
    let end = Kernel.lseek(descriptor, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = unsafe Kernel.pread(descriptor, &bytes, bytes.count, max(0, end - off_t(bytes.count)))
    let text = bytes[..<max(0, count)]
    let isTorn = text.last.map { $0 != UInt8(ascii: "\n") } ?? false
    var lines = text.split(separator: UInt8(ascii: "\n"))
    if isTorn { _ = lines.popLast() }
    let holder = lines.reversed().lazy.compactMap { LeaseHolder(String(decoding: $0, as: UTF8.self)) }.first
    return (holder, isTorn)
  }

  private static func lastHolder(_ path: String) -> LeaseHolder? {
    let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { Kernel.close(descriptor) }
    return lastLine(of: descriptor).holder
  }

  private static func refusal(_ identity: String, _ path: String, in folder: String?) -> LabFault {
    LabFault(
      .noDevice, "\(identity) is in use by \(currentHolder(path, address(name(identity), in: folder)))")
  }

  /// The current holder according to the file; if that belongs to another file, what the system knows of the socket's
  /// owner.
  private static func currentHolder(_ path: String, _ name: String) -> LeaseHolder {
    let peer = peer(name)
    guard let last = lastHolder(path), peer == nil || peer?.process == last.process || peer?.process == 0
    else {
      return peer ?? .unknown
    }
    return last
  }

  private static func fault(_ identity: String, _ path: String, _ fault: FileFault) -> LabFault {
    LabFault(
      .noDevice, "\(identity) cannot be protected from other processes, and so it is not used: \(fault)")
  }
}

// MARK: - Holder

/// The current or last holder of a lease.
public struct LeaseHolder: Equatable, Sendable {
  /// The number of the acquisition.
  public var token: UInt64
  /// The process.
  public var process: Int32
  /// The machine's host name.
  public var host: String
  /// The time of the acquisition, in UTC.
  public var since: String
  /// The command that uses the device.
  public var command: String

  /// A holder whose file was deleted.
  static let unknown = LeaseHolder(token: 0, process: 0, host: "", since: "", command: "")
}

extension LeaseHolder {
  /// Reads a line of a lease's file: number, process, time, machine and command, separated by spaces.
  public init?(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, let token = UInt64(parts[0]), let process = Int32(parts[1]) else { return nil }
    self.init(token: token, process: process, host: parts[3], since: parts[2], command: parts[4])
  }

  /// The line that ``init(_:)`` reads.
  public var line: String {
    let words = printable(command.utf8).map { $0 == "\n" ? " " : $0 }
    let host = String(host.map { $0 == " " || $0 == "\n" ? "-" : $0 })
    return "\(token) \(process) \(since) \(host) \(String(words).prefix(2000))"
  }
}

extension LeaseHolder: CustomStringConvertible {
  /// The process and since when: `process 4711 on lab-1 (lockstep run --repeat 5) since 2026-11-21T00:50:17.042Z`.
  public var description: String {
    guard process != 0 else { return "another process, of which nothing more is known here" }
    let what = command.isEmpty ? "" : " (\(command))"
    return "process \(process) on \(host)\(what)" + (since.isEmpty ? "" : " since \(since)")
  }
}

extension Lease {
  /// The current holder of an identity's lease; `nil` if it is free.
  ///
  /// The result may be out of date at once: reading it excludes no other process.
  public static func holder(of identity: String, in folder: String? = nil) -> LeaseHolder? {
    guard let place = folder ?? StateFolder.path.map({ $0 + "/leases" }) else { return nil }
    let path = place + "/\(name(identity)).lease"
    let address = address(name(identity), in: folder)
    guard isNameTaken(address) || isHeld(path) else { return nil }
    return currentHolder(path, address)
  }

  /// Whether a process listens under a name.
  private static func isNameTaken(_ name: String) -> Bool { peer(name) != nil }

  /// The process that listens under a name, with its user, as far as the system reveals it: its number, or 0 for a
  /// process outside this container.
  private static func peer(_ name: String) -> LeaseHolder? {
    let socket = newSocket()
    guard socket >= 0 else { return nil }
    defer { Kernel.close(socket) }
    let status = unsafe withSocketAddress(name, isAbstract: true) { address, size in
      unsafe Kernel.connect(socket, address, size)
    }
    guard status == 0 || errno == EAGAIN else { return nil }
    var user: UInt32 = 0
    let process = unsafe lockstep_peer(socket, &user)
    guard status == 0, process > 0 else { return .unknown }
    return LeaseHolder(
      token: 0, process: process, host: Host.name, since: "", command: "of user \(user)")
  }

  private static func isHeld(_ path: String) -> Bool {
    // A process in a network namespace of its own shares only the file.
    let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return false }
    defer { Kernel.close(descriptor) }
    return (try? Descriptors.isLocked(descriptor)) ?? true
  }
}
