import Basics
import Glibc

/// A file of lines that survive any crash: lines are only appended, and each is on the disk before the call
/// returns.
public final class LineFile {
  /// The length of the end that is read. It contains more movements than a motor can make in a night.
  private static let tail = 4 << 20

  /// The path.
  public let path: String
  private let descriptor: Int32
  /// Whether the file ends in the middle of a line.
  public private(set) var isTorn = false

  /// Opens a file, and creates it if it does not exist.
  public convenience init(_ path: String) throws(FileFault) {
    try self.init(path, O_RDWR | O_CREAT | O_APPEND)
  }

  /// Opens a file to read it.
  public convenience init(reading path: String) throws(FileFault) { try self.init(path, O_RDONLY) }

  private init(_ path: String, _ flags: Int32) throws(FileFault) {
    self.path = path
    descriptor = Kernel.open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    // Another kind of file may never end, and stores no lines.
    var status = stat()
    if Kernel.fstat(descriptor, &status) == 0, case .other(let strange) = FileKind(status) {
      var fault = FileFault(path: path, code: EINVAL)
      fault.cause = .strange(strange)
      throw fault
    }
  }

  deinit { if descriptor >= 0 { Kernel.close(descriptor) } }

  /// Locks the file for this process, unless another one has locked it.
  ///
  /// A newly started child of the previous holder may hold it for a moment.
  ///
  /// - Returns: whether the lock was acquired.
  public func lock() throws(FileFault) -> Bool {
    do {
      try Descriptors.lock(descriptor, for: .milliseconds(20))
      return true
    } catch {
      guard error.code == EWOULDBLOCK else { throw FileFault(path: path, error) }
      return false
    }
  }

  /// Whether the open file is still the one at its path: lines in a deleted or replaced file are lost.
  public var isInPlace: Bool {
    var (open, there) = (stat(), stat())
    guard Kernel.fstat(descriptor, &open) == 0, Kernel.stat(path, &there) == 0 else { return false }
    return open.st_dev == there.st_dev && open.st_ino == there.st_ino
  }

  /// Appends lines and waits until they are on the disk.
  public func append(_ added: [String]) throws(FileFault) {
    let text = (isTorn ? "\n" : "") + added.map { $0 + "\n" }.joined()
    isTorn = true
    do {
      try Descriptors.append(Array(text.utf8), to: descriptor)
    } catch {
      throw FileFault(path: path, error)
    }
    isTorn = false
  }

  /// The number of lines, and the last of them; `nil` for each that cannot be parsed.
  ///
  /// - Parameters:
  ///   - parse: parses a line.
  ///   - isEnough: whether the lines above a line are not needed.
  public func read<Line>(
    _ parse: (String) -> Line?, until isEnough: (Line) -> Bool = { _ in false }
  ) throws(FileFault) -> (count: Int, lines: [Line?]) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var end: [UInt8] = []
    var count = 0
    var last = UInt8(ascii: "\n")
    while true {
      let size: Int
      do {
        size = try Descriptors.read(into: &buffer, from: descriptor)
      } catch {
        throw FileFault(path: path, error)
      }
      guard size > 0 else { break }
      for byte in buffer[..<size] where byte == UInt8(ascii: "\n") { count += 1 }
      last = buffer[size - 1]
      end += buffer[..<size]
      if end.count > 2 * Self.tail { end.removeFirst(end.count - Self.tail) }
    }
    isTorn = last != UInt8(ascii: "\n")
    var parts = end.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // Text after the last line feed is no line, unless it is an incomplete one; the first line may be
    // incomplete.
    if !isTorn { parts.removeLast() }
    let total = count + (isTorn ? 1 : 0)
    if parts.count < total { parts.removeFirst() }
    var lines: [Line?] = []
    for part in parts.reversed() {
      let line = parse(String(decoding: part, as: UTF8.self))
      lines.append(line)
      if let line, isEnough(line) { break }
    }
    return (total, lines.reversed())
  }
}
