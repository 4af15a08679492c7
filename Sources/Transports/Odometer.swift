public import Conformance
import Glibc

/// How often the motor of one lock has moved, in a file that outlives every run.
///
/// Each movement is a line, `2026-11-21T03:40:00.123Z lock`, which is on the disk *before* the motor starts: however
/// a run ends, the file never counts less than the truth. A line torn by a crash counts as one. One run at a time
/// may count: the file is locked as long as the odometer is open.
public final class Odometer {
  /// Where the file is.
  public let path: String
  /// The movements of all runs.
  public private(set) var total: Int
  private let descriptor: Int32
  /// Whether the file ends in the middle of a line.
  private var isTorn: Bool

  /// Opens the odometer of a lock, and makes it where there is none.
  ///
  /// - Throws: a ``Conformance/LabFault`` when it cannot be written, or another run counts.
  public init(opening path: String) throws(LabFault) {
    self.path = path
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.fault(path, errno) }
    var ending = (lines: 0, isTorn: false)
    do throws(LabFault) {
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw LabFault(.noDevice, "another run uses this lock: it holds \(path)")
      }
      ending = try Self.read(descriptor, path)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    total = ending.lines + (ending.isTorn ? 1 : 0)
    isTorn = ending.isTorn
    synchronizeFolder(of: path)
  }

  deinit { close(descriptor) }

  /// Counts movements that are about to begin. After a throw nothing may move.
  ///
  /// - Parameter name: what moves the motor, one word.
  public func count(_ name: String, times: Int = 1) throws(LabFault) {
    let line = "\(WallClock.now) \(name)\n"
    var bytes = Array(((isTorn ? "\n" : "") + String(repeating: line, count: times)).utf8)[...]
    isTorn = true
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR { throw Self.fault(path, errno) }
    }
    guard fdatasync(descriptor) == 0 else { throw Self.fault(path, errno) }
    isTorn = false
    total += times
  }

  private static func read(
    _ descriptor: Int32, _ path: String
  ) throws(LabFault) -> (lines: Int, isTorn: Bool) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var lines = 0
    var last = UInt8(ascii: "\n")
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(path, errno) }
      guard count > 0 else { return (lines, last != UInt8(ascii: "\n")) }
      for byte in buffer[..<count] where byte == UInt8(ascii: "\n") { lines += 1 }
      last = buffer[count - 1]
    }
  }

  private static func fault(_ path: String, _ code: Int32) -> LabFault {
    LabFault(
      .safetyLimit, "movements cannot be counted, and so nothing is moved: \(path): \(errorText(code))")
  }
}

/// Where Lockstep keeps what outlives a run and belongs to this machine.
public enum StateFolder {
  /// `$XDG_STATE_HOME/lockstep`, or `~/.local/state/lockstep`; `nil` where there is no home either.
  public static var path: String? {
    // A relative path in the variable counts as none (XDG Base Directory Specification).
    if let state = Host.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/lockstep" }
    return Host.variable("HOME").map { $0 + "/.local/state/lockstep" }
  }

  /// Makes a folder in it, and gives its path.
  public static func folder(_ name: String) throws(LabFault) -> String {
    guard let path else {
      throw LabFault(.noDevice, "there is no place for what outlives a run: set HOME or XDG_STATE_HOME")
    }
    do {
      try makeFolder("\(path)/\(name)")
    } catch {
      throw LabFault(.noDevice, "what outlives a run cannot be kept: \(error)")
    }
    return "\(path)/\(name)"
  }
}

/// Waits until the names in the folder of a file are on the disk.
func synchronizeFolder(of path: String) {
  let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { return }
  _ = fsync(descriptor)
  close(descriptor)
}
