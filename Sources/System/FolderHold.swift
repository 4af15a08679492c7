import Glibc
import Basics

/// Exclusive use of a folder by a process for its lifetime: the system releases it, however the process ends.
///
/// It is a lock by flock(2) on a file in the folder, which contains the holder. No child inherits it. Over
/// NFS its scope depends on the mount: all hosts, or this host only with `nolock` or `local_lock`.
public final class FolderHold {
  /// The file that is locked.
  public static let file = ".held"

  /// How long to retry a held folder: a process that checks whether it is held locks it for a moment, and so
  /// does a newly started process.
  private static let chanceTime = Interval.milliseconds(300)

  private let descriptor: Int32

  /// The previous holder, if it died without releasing the folder; `nil` otherwise.
  public let left: Holder?

  /// A process that holds a folder.
  public struct Holder: Hashable, Sendable, CustomStringConvertible {
    /// The number of the process, on its host.
    public var process: Int32
    /// The host that it runs on.
    public var host: String
    /// The start time, in UTC.
    public var since: String

    fileprivate init?(_ descriptor: Int32) {
      let lines = String(decoding: Descriptors.beginning(of: descriptor, count: 1024), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
      guard lines.count == 4, let process = Int32(lines[0]) else { return nil }
      (self.process, host, since) = (process, String(lines[1]), String(lines[2]))
    }

    /// `process 4711 on bench-01, since 2026-11-21T00:50:17Z`.
    public var description: String { "process \(process) on \(host), since \(since)" }
  }

  /// Why a folder is not available.
  public enum Refusal: Error, Hashable, Sendable {
    /// Another process holds it; `nil` if it has not written its name yet.
    case held(Holder?)
    /// It cannot be locked.
    case fault(FileFault)
  }

  /// Acquires a folder.
  public init(_ folder: String) throws(Refusal) {
    let path = folder + "/" + Self.file
    let descriptor = Kernel.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, Secrecy.fileMode)
    guard descriptor >= 0 else { throw .fault(FileFault(path: path, code: errno)) }
    do throws(SystemError) {
      try Descriptors.lock(descriptor, for: Self.chanceTime)
    } catch {
      defer { Kernel.close(descriptor) }
      if error.code == EWOULDBLOCK { throw .held(Holder(descriptor)) }
      throw .fault(FileFault(path: path, code: error.code))
    }
    self.descriptor = descriptor
    left = Holder(descriptor)
    Descriptors.overwrite(descriptor, with: "\(getpid())\n\(Host.name)\n\(WallClock.now)\n")
  }

  deinit {
    // A holder that releases the folder removes its name.
    Descriptors.overwrite(descriptor, with: "")
    Kernel.close(descriptor)
  }

  /// The state of a folder.
  public enum State: Hashable, Sendable {
    case free
    /// A process holds it; `nil` if its name is unknown.
    case held(Holder?)
    /// It cannot be checked, and so may be held.
    case unknown(FileFault)

    /// Whether a process holds it.
    ///
    /// - Throws: if that cannot be determined.
    public func isHeld() throws(FileFault) -> Bool {
      switch self {
      case .free: return false
      case .held: return true
      case .unknown(let fault): throw fault
      }
    }
  }

  /// Checks whether a folder is held.
  public static func state(at folder: String) -> State {
    state(atFile: folder + "/" + file)
  }

  /// Checks whether a file is held: a folder's lock file, or the held file of a child.
  public static func state(atFile path: String) -> State {
    let descriptor = Kernel.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      return [ENOENT, ENOTDIR, ELOOP].contains(errno) ? .free : .unknown(FileFault(path: path, code: errno))
    }
    defer { Kernel.close(descriptor) }
    do {
      return try Descriptors.isLocked(descriptor) ? .held(Holder(descriptor)) : .free
    } catch {
      return .unknown(FileFault(path: path, error))
    }
  }
}

/// The use of a folder, shared by any number of processes, each for the lifetime of this object.
///
/// The first user may clean up: unfinished files were then left by dead processes.
public final class FolderUse {
  /// The file that is locked.
  public static let file = ".in-use"

  /// How long to wait for a process that cleans up.
  private static let tidyingTime = Interval.seconds(10)

  private let descriptor: Int32

  /// Begins to use a folder, which must exist.
  ///
  /// - Parameter tidy: called if no other process uses the folder; no other can begin until it returns.
  /// - Returns: `nil` if the folder cannot be locked, so that other users are not detected.
  public init?(of folder: String, tidy: () -> Void) {
    descriptor = Kernel.open(
      folder + "/" + Self.file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, Secrecy.fileMode)
    guard descriptor >= 0 else { return nil }
    if Kernel.flock(descriptor, LOCK_EX | LOCK_NB) == 0 { tidy() }
    let limit = MonotonicClock.now + Self.tidyingTime
    while Kernel.flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, MonotonicClock.now < limit else { return nil }
      rest(for: .milliseconds(5))
    }
  }

  deinit { if descriptor >= 0 { Kernel.close(descriptor) } }
}
