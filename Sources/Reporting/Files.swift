import Glibc

/// A file that could not be read or written.
public enum ReportError: Error, Hashable, Sendable {
  /// The file at a path cannot be read.
  case cannotRead(String, reason: String)
  /// The file at a path cannot be written.
  case cannotWrite(String, reason: String)
}

extension ReportError: CustomStringConvertible {
  /// What cannot be done, with which file, and what the system says.
  public var description: String {
    switch self {
    case .cannotRead(let path, let reason): "cannot read \(path): \(reason)"
    case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
    }
  }
}

/// Reads a file line by line, from any line on, without ever holding more than the longest line and a chunk.
struct LineReader: ~Copyable {
  /// Which line this is, from 1; after a ``seek(to:line:)``, counted from there.
  private(set) var number = 0

  /// Whether the line ends with a line feed; only the last one of a file may not.
  private(set) var isTerminated = true

  /// Whether the line is longer than ``longest``; then its content is left out.
  private(set) var isTooLong = false

  private let descriptor: Int32
  private let path: String
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)
  /// The file offset of the buffer's first byte.
  private var base = 0
  private var filled = 0
  private var start = 0
  private var end = 0
  private var next = 0

  /// The longest line in bytes.
  static let longest = 1 << 24

  init(_ path: String) throws(ReportError) {
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    self.path = path
    if descriptor < 0 { throw .cannotRead(path, reason: lastError()) }
  }

  deinit {
    if descriptor >= 0 { _ = close(descriptor) }
  }

  /// The line without its line feed.
  var line: Span<UInt8> {
    @_lifetime(borrow self)
    get { buffer.span.extracting(start..<end) }
  }

  /// Where the line starts in the file, in bytes.
  var offset: Int { base + start }

  /// Goes to the next line; `false` at the end of the file.
  mutating func advance() throws(ReportError) -> Bool {
    start = next
    isTooLong = false
    var searched = start
    while true {
      if let found = lineFeed(from: searched) {
        if found - start > Self.longest { isTooLong = true }
        end = isTooLong ? start : found
        next = found + 1
        isTerminated = true
        number += 1
        return true
      }
      searched = filled
      if filled - start > Self.longest {
        isTooLong = true
        start = filled
      }
      if filled == buffer.count { makeRoom(&searched) }
      let count = try fill()
      if count == 0 {
        end = isTooLong ? start : filled
        next = filled
        isTerminated = false
        guard end > start || isTooLong else { return false }
        number += 1
        return true
      }
    }
  }

  /// Makes the line that starts at an offset the next one.
  mutating func seek(to offset: Int, line: Int) throws(ReportError) {
    number = line - 1
    if (base...base + filled).contains(offset) {
      next = offset - base
      return
    }
    guard lseek(descriptor, offset, SEEK_SET) == offset else { throw .cannotRead(path, reason: lastError()) }
    (base, filled, next) = (offset, 0, 0)
  }

  private func lineFeed(from place: Int) -> Int? {
    unsafe buffer.withUnsafeBytes { bytes -> Int? in
      guard place < filled, let first = bytes.baseAddress else { return nil }
      guard let found = unsafe memchr(first + place, 0x0A, filled - place) else { return nil }
      return unsafe UnsafeRawPointer(found) - first
    }
  }

  /// Moves the line to the front of the buffer, which grows when the line fills it.
  private mutating func makeRoom(_ searched: inout Int) {
    if start == 0 {
      buffer += [UInt8](repeating: 0, count: buffer.count)
      return
    }
    let (from, count) = (start, filled - start)
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let first = bytes.baseAddress else { return }
      _ = unsafe memmove(first, first + from, count)
    }
    base += start
    filled -= start
    searched -= start
    start = 0
  }

  private mutating func fill() throws(ReportError) -> Int {
    while true {
      let (place, count) = (filled, buffer.count - filled)
      let result = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + place }, count)
      }
      if result >= 0 {
        filled += result
        return result
      }
      if errno != EINTR { throw .cannotRead(path, reason: lastError()) }
    }
  }
}

/// A file that appears whole or not at all.
///
/// What is written goes to a temporary file beside it, which is flushed to the disk and takes the name in one step;
/// the directory is flushed after that. A reader sees the old file or the new one, after a loss of power too. A
/// path that is no regular file, such as a pipe, is written directly.
struct OutputFile: ~Copyable {
  private let path: String
  /// Where the bytes go until they are all there; the path itself where it is no regular file.
  private let target: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isCommitted = false

  private static let chunk = 1 << 16

  init(_ path: String) throws(ReportError) {
    self.path = path
    target = isDirectlyWritten(path) ? path : "\(path).\(getpid()).tmp"
    makeDirectories(above: path)
    descriptor = unsafe open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw .cannotWrite(path, reason: lastError()) }
    buffer.reserveCapacity(2 * Self.chunk)
  }

  deinit {
    guard !isCommitted, descriptor >= 0 else { return }
    _ = close(descriptor)
    if target != path { _ = unsafe unlink(target) }
  }

  /// Adds text.
  mutating func write(_ text: String) throws(ReportError) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Puts the file in its place; nothing may be written after that.
  mutating func commit() throws(ReportError) {
    try flush()
    let isDirect = target == path
    // A pipe cannot be flushed to a disk, and need not be.
    guard isDirect || fsync(descriptor) == 0 else { throw .cannotWrite(path, reason: lastError()) }
    isCommitted = true
    guard close(descriptor) == 0 else { throw .cannotWrite(path, reason: lastError()) }
    if isDirect { return }
    guard unsafe rename(target, path) == 0 else {
      let reason = lastError()
      _ = unsafe unlink(target)
      throw .cannotWrite(path, reason: reason)
    }
    let directory = unsafe open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }
    _ = fsync(directory)
    _ = close(directory)
  }

  private mutating func flush() throws(ReportError) {
    var written = 0
    while written < buffer.count {
      let start = written
      let result = unsafe buffer.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if result >= 0 {
        written += result
      } else if errno != EINTR {
        throw .cannotWrite(path, reason: lastError())
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// The whole of a small file, or `nil` when it cannot be read or is larger than a limit.
func contents(of path: String, limit: Int) -> [UInt8]? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { _ = close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 14)
  while bytes.count <= limit {
    let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    if count == 0 { return bytes }
    if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { return nil }
  }
  return nil
}

private func isDirectlyWritten(_ path: String) -> Bool {
  var status = stat()
  return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
}

private func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Makes what is missing of the directories that a file stands in; opening the file reports a failure.
private func makeDirectories(above path: String) {
  let directory = parent(of: path)
  guard directory != ".", directory != "/", unsafe access(directory, F_OK) != 0 else { return }
  makeDirectories(above: directory)
  _ = unsafe mkdir(directory, 0o777)
}

private func lastError() -> String {
  unsafe String(cString: strerror(errno))
}
