import Conformance
import Glibc
import Lab
import Basics

/// Lines that outlive every process, and are only ever added to, each on the disk before anybody goes on.
final class LineFile {
  /// How much of the end is looked at. It holds more movements than a motor can make in a night.
  private static let tail = 4 << 20

  private let path: String
  private let descriptor: Int32
  /// Whether the file ends in the middle of a line.
  private(set) var isTorn = false

  /// Opens a file, and makes it where there is none.
  convenience init(_ path: String) throws(LabFault) {
    try self.init(path, O_RDWR | O_CREAT | O_APPEND)
  }

  /// Opens a file to read it.
  convenience init(reading path: String) throws(LabFault) { try self.init(path, O_RDONLY) }

  private init(_ path: String, _ flags: Int32) throws(LabFault) {
    self.path = path
    descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.fault(path, errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Keeps other programs away, unless one has it.
  ///
  /// A program that was just started by the one before may hold it for a moment, until it is on its own.
  func lock() -> Bool {
    for attempt in 0..<5 {
      if attempt > 0 { Waiting.wait(for: [], until: Waiting.now + .milliseconds(5)) }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    }
    return false
  }

  /// Adds lines and waits until they are on the disk.
  func append(_ added: [WearLine]) throws(LabFault) {
    let text = added.map { "\($0)\n" }.joined()
    var bytes = Array(((isTorn ? "\n" : "") + text).utf8)[...]
    isTorn = true
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR { throw Self.fault(path, errno) }
    }
    guard fdatasync(descriptor) == 0 else { throw Self.fault(path, errno) }
    isTorn = false
  }

  /// How many lines there are, and the last of them; `nil` for each that cannot be read.
  ///
  /// - Parameter isEnough: whether what stands above a line is of no interest.
  func read(
    until isEnough: (WearLine) -> Bool = { _ in false }
  ) throws(LabFault) -> (count: Int, lines: [WearLine?]) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var end: [UInt8] = []
    var count = 0
    var last = UInt8(ascii: "\n")
    while true {
      let size = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if size < 0, errno == EINTR { continue }
      guard size >= 0 else { throw Self.fault(path, errno) }
      guard size > 0 else { break }
      for byte in buffer[..<size] where byte == UInt8(ascii: "\n") { count += 1 }
      last = buffer[size - 1]
      end += buffer[..<size]
      if end.count > 2 * Self.tail { end.removeFirst(end.count - Self.tail) }
    }
    isTorn = last != UInt8(ascii: "\n")
    var parts = end.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // What follows the last end of a line is none, unless it was torn; what precedes the first may not be whole.
    if !isTorn { parts.removeLast() }
    let total = count + (isTorn ? 1 : 0)
    if parts.count < total { parts.removeFirst() }
    var lines: [WearLine?] = []
    for part in parts.reversed() {
      let line = WearLine(text: String(decoding: part, as: UTF8.self))
      lines.append(line)
      if let line, isEnough(line) { break }
    }
    return (total, lines.reversed())
  }

  private static func fault(_ path: String, _ code: Int32) -> LabFault {
    LabFault(
      .safetyLimit, "movements cannot be counted, and so nothing is moved: \(path): \(errorText(code))")
  }
}
