import Glibc
import Secrets

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
  private var buffer = [UInt8](repeating: 0, count: largest)
  /// The file offset of the buffer's first byte.
  private var base = 0
  private var filled = 0
  private var start = 0
  private var end = 0
  private var next = 0
  /// How much is read at a time: less where lines are picked here and there.
  private var portion = 1 << 18

  private static let (smallest, largest) = (1 << 13, 1 << 18)

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
    let isNear = offset > base && offset < base + filled + Self.largest
    portion = isNear ? Self.largest : Self.smallest
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
      let (place, count) = (filled, min(buffer.count - filled, portion))
      let result = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + place }, count)
      }
      if result >= 0 {
        filled += result
        portion = min(portion * 4, Self.largest)
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
/// path that is no regular file, such as a pipe, is written directly. Secrets are taken out of what is
/// added at once, so that ``count`` is where the next bytes go.
struct OutputFile: ~Copyable {
  private let path: String
  /// Where the bytes go until they are all there; the path itself where it is no regular file.
  private let target: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var flushed = 0
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

  /// How many bytes were added.
  var count: Int { flushed + buffer.count }

  /// Whether the bytes go where they are read at once, as into a pipe, and none can be changed again.
  var isDirect: Bool { target == path }

  /// Adds bytes.
  mutating func write(_ bytes: [UInt8]) throws(ReportError) {
    buffer += Redactor.shared.redacted(bytes)
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Puts other bytes in the place of as many that were added.
  mutating func overwrite(at offset: Int, _ bytes: [UInt8]) throws(ReportError) {
    try flush()
    let bytes = Redactor.shared.masked(bytes)
    let written = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset) }
    if written != bytes.count { throw .cannotWrite(path, reason: lastError()) }
  }

  /// Puts the file in its place; nothing may be written after that.
  mutating func commit() throws(ReportError) {
    try finish().place()
  }

  /// Completes the file, which stands beside its place then; nothing may be written after that.
  mutating func finish() throws(ReportError) -> FinishedFile {
    try flush()
    // A pipe cannot be flushed to a disk, and need not be.
    guard isDirect || fsync(descriptor) == 0 else { throw .cannotWrite(path, reason: lastError()) }
    isCommitted = true
    guard close(descriptor) == 0 else {
      let reason = lastError()
      if !isDirect { _ = unsafe unlink(target) }
      throw .cannotWrite(path, reason: reason)
    }
    return FinishedFile(path: path, target: target)
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
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}

/// A file that is complete and has still to take its name.
struct FinishedFile {
  fileprivate let path: String
  fileprivate let target: String

  /// Gives it its name, in one step.
  func place() throws(ReportError) {
    if target == path { return }
    guard unsafe rename(target, path) == 0 else {
      let reason = lastError()
      discard()
      throw .cannotWrite(path, reason: reason)
    }
    let directory = unsafe open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }
    _ = fsync(directory)
    _ = close(directory)
  }

  /// Leaves what stands in its place.
  func discard() {
    if target != path { _ = unsafe unlink(target) }
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

/// How many bytes a regular file has; `nil` for anything else, which might never end.
func sizeOfFile(_ path: String) -> Int? {
  var status = stat()
  guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
  return Int(status.st_size)
}

private func isDirectlyWritten(_ path: String) -> Bool {
  var status = stat()
  return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
}

func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Makes what is missing of the directories that a file stands in; opening the file reports a failure.
func makeDirectories(above path: String) {
  let directory = parent(of: path)
  guard directory != ".", directory != "/", unsafe access(directory, F_OK) != 0 else { return }
  makeDirectories(above: directory)
  _ = unsafe mkdir(directory, 0o777)
}

func lastError() -> String {
  unsafe String(cString: strerror(errno))
}

/// Removes a file that begins as a text does; `false` when there is none such.
func removeFile(_ path: String, beginning: String) -> Bool {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return false }
  defer { _ = close(descriptor) }
  var start = [UInt8](repeating: 0, count: beginning.utf8.count)
  let count = unsafe start.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
  guard count == start.count, start.elementsEqual(beginning.utf8) else { return false }
  return unsafe unlink(path) == 0
}

/// The path of a folder from the root, or from where we are, as asked; with a slash at its end.
func folderPath(_ folder: String, isAbsolute: Bool) -> String {
  var here =
    unsafe getcwd(nil, 0).map { cwd in
      defer { unsafe free(cwd) }
      return unsafe String(cString: cwd)
    } ?? ""
  if !here.hasSuffix("/") { here += "/" }
  var path = folder
  while path.hasPrefix("./") { path = String(path.dropFirst(2)) }
  if path == "." { path = "" }
  if !path.isEmpty, !path.hasSuffix("/") { path += "/" }
  if isAbsolute { return path.hasPrefix("/") ? path : here + path }
  return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
}
