public import Basics
import Glibc

/// Operations on open files.
public enum Descriptors {
  /// Writes all bytes, with as many calls as needed; waits for room.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    try write(bytes, to: descriptor, for: Site(#fileID, #line))
  }

  private static func write(
    _ bytes: [UInt8], to descriptor: Int32, for site: Site
  ) throws(SystemError) {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Kernel.write(
          descriptor, bytes.baseAddress! + start, bytes.count - start, file: site.file, line: site.line)
      }
      if count >= 0 {
        start += count
      } else if errno == EAGAIN {
        try awaitRoom(descriptor)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Waits until a pipe accepts bytes: without a limit, but no longer than 5 s after this program was asked
  /// to end.
  private static func awaitRoom(_ descriptor: Int32) throws(SystemError) {
    var last = MonotonicClock.now + .seconds(5)
    while true {
      var ready = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
      if Kernel.poll(&ready, for: Interval.milliseconds(100).nanoseconds) > 0 { return }
      if EndingSignals.requestCount == 0 { last = MonotonicClock.now + .seconds(5) }
      if MonotonicClock.now >= last { throw .untaken }
    }
  }

  /// Appends bytes to a file, and returns when they are on the disk.
  ///
  /// A fault names the caller's line as its site, since the consequences differ from caller to caller.
  public static func append(
    _ bytes: [UInt8], to descriptor: Int32, file: StaticString = #fileID, line: UInt = #line
  ) throws(SystemError) {
    try write(bytes, to: descriptor, for: Site(file, line))
    guard Kernel.fdatasync(descriptor, file: file, line: line) == 0 else { throw .last }
  }

  /// Returns when the whole file is on the disk.
  static func synchronize(_ descriptor: Int32) throws(SystemError) {
    guard Kernel.fsync(descriptor) == 0 else { throw .last }
  }

  /// Reads bytes into a part of a buffer; returns their number, which is 0 at the end.
  static func read(
    into buffer: inout [UInt8], at place: Int = 0, limit: Int = .max, from descriptor: Int32
  ) throws(SystemError) -> Int {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe Kernel.read(descriptor, bytes.baseAddress! + place, min(bytes.count - place, limit))
      }
      if count >= 0 { return count }
      if errno != EINTR { throw .last }
    }
  }

  /// Reads until the end.
  ///
  /// - Parameter limit: the maximum number of bytes; more are an error, `EFBIG`.
  public static func readWhole(_ descriptor: Int32, limit: Int = .max) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(1 << 20, max(limit, 1 << 12)))
    while true {
      let count = try read(into: &buffer, from: descriptor)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw SystemError(code: EFBIG) }
    }
  }

  /// The first bytes of a file, regardless of its read position.
  public static func beginning(of descriptor: Int32, count: Int) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = unsafe Kernel.pread(descriptor, &bytes, bytes.count, 0)
    return bytes.prefix(max(0, count))
  }

  /// Replaces the contents of a file with a text.
  public static func overwrite(_ descriptor: Int32, with text: String) {
    let bytes = Array(text.utf8)
    _ = Kernel.ftruncate(descriptor, 0)
    _ = unsafe Kernel.pwrite(descriptor, bytes, bytes.count, 0)
  }

  /// Locks a file exclusively by flock(2); the system releases the lock when this process ends.
  ///
  /// The call retries briefly, since a process that only probes the file (``isLocked(_:)``) holds it for a moment,
  /// which can be long on a busy machine.
  ///
  /// - Parameter timeout: how much longer to retry: a newly forked process shares its parent's locks until it
  ///   executes another program.
  public static func lock(_ descriptor: Int32, for timeout: Interval = .zero) throws(SystemError) {
    let start = MonotonicClock.now
    while Kernel.flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let error = SystemError.last
      guard error.code == EWOULDBLOCK || error.code == EINTR else { throw error }
      let isOnlyInspected = Kernel.flock(descriptor, LOCK_SH | LOCK_NB) == 0
      if isOnlyInspected { _ = Kernel.flock(descriptor, LOCK_UN) }
      guard MonotonicClock.now < start + max(timeout, isOnlyInspected ? .seconds(10) : .zero) else {
        throw error
      }
      rest(for: .milliseconds(5))
    }
  }

  /// Whether another process has locked a file.
  ///
  /// - Throws: if the system does not answer.
  public static func isLocked(_ descriptor: Int32) throws(SystemError) -> Bool {
    if Kernel.flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return false }
    guard errno == EWOULDBLOCK else { throw .last }
    return true
  }
}
