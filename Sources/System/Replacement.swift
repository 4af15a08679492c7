import Basics
import Glibc
import Secrets

/// A file that replaces another one as a whole or not at all.
///
/// The contents go to a temporary file beside it, which is flushed to the disk and then renamed in one step;
/// the folder is flushed afterwards. A reader sees the old file or the new one, even after a power failure. A
/// path that is no regular file, such as a pipe, is written directly. Secrets are redacted when bytes are
/// added, so that ``count`` is the offset of the next bytes.
public struct Replacement: ~Copyable {
  private let path: String
  /// The path of the temporary file; the target path itself if that is no regular file.
  private let place: String
  /// The path in faults.
  private let named: String
  private let attempt: FileFault.Attempt?
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var flushed = 0
  private var isFinished = false

  private static let chunk = 1 << 16

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - mode: the permissions before the umask; those of ``Secrecy`` by default.
  ///   - name: the name of the temporary file, by the number of the attempt, from 1; the first free name is used. By
  ///     default a unique name.
  ///   - attempt: the operation to name in errors, for callers that do not name it themselves.
  public init(
    of path: String, mode: UInt32? = nil, named name: ((Int) -> String)? = nil,
    saying attempt: FileFault.Attempt? = nil
  ) throws(FileFault) {
    let mode = mode ?? Secrecy.fileMode
    self.path = path
    self.attempt = attempt
    var place = path
    var descriptor: Int32
    if name == nil, let stream = Self.stream(path) {
      descriptor = Kernel.fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    } else if name == nil, Self.isDirect(path) {
      descriptor = Self.openDirectly(path, mode)
    } else {
      var number = 0
      repeat {
        number += 1
        place = name?(number) ?? Self.uniqueName(beside: path)
        descriptor = Kernel.open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
      } while descriptor < 0 && errno == EEXIST && number < 10_000
    }
    (self.place, self.descriptor) = (place, descriptor)
    named = name == nil ? path : place
    if descriptor < 0 {
      var fault = FileFault(attempt, path: named, code: errno)
      if fault.code == ENXIO {
        switch fileKind(path) {
        case .other(.pipe): fault.cause = .unreadPipe
        case .other(.socket): fault.cause = .strange(.socket)
        default: break
        }
      }
      throw fault
    }
  }

  deinit {
    guard !isFinished, descriptor >= 0 else { return }
    Kernel.close(descriptor)
    if !isDirect { Kernel.unlink(place) }
  }

  /// The descriptor that a path such as `/dev/stdout` names; `nil` for other paths.
  ///
  /// It may be a regular file, which must not be truncated, and which must not be replaced by name.
  private static func stream(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdout": STDOUT_FILENO
    case "/dev/stderr": STDERR_FILENO
    default: numberedStream(path)
    }
  }

  /// Whether a path is written directly, since it is no file that could be replaced.
  public static func isDirect(_ path: String) -> Bool {
    stream(path) != nil || ![.missing, .file].contains(fileKind(path)) || isSystems(path)
  }

  /// Whether a path lies among the system's devices and processes.
  private static func isSystems(_ path: String) -> Bool {
    let folder = realPath(Path.folder(of: path)) ?? ""
    return ["/dev", "/proc", "/sys"].contains { folder == $0 || folder.hasPrefix($0 + "/") }
      && !folder.hasPrefix("/dev/shm")
  }

  /// How long to wait for the reader of a pipe: 30 s, and 5 s after the program was asked to stop.
  private static var readerTimeout: Interval { .seconds(EndingSignals.requestCount > 0 ? 5 : 30) }

  /// Opens something other than a regular file.
  ///
  /// A pipe opens once it has a reader; the wait is bounded, and ends when the program receives a stop request.
  /// After that the reader may take any time.
  private static func openDirectly(_ path: String, _ mode: UInt32) -> Int32 {
    let limit = MonotonicClock.now + readerTimeout
    let requests = EndingSignals.requestCount
    while true {
      let descriptor = Kernel.open(
        path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, mode)
      let code = errno
      let isWaitedFor =
        descriptor < 0 && code == ENXIO && isPipe(path) && MonotonicClock.now < limit
        && EndingSignals.requestCount == requests
      guard isWaitedFor else {
        errno = code
        return descriptor
      }
      rest(for: .milliseconds(20))
    }
  }

  /// A unique name for a temporary file; the next run deletes leftovers.
  static func uniqueName(beside path: String) -> String {
    "\(path).\(String(SystemEntropy().next(), radix: 36)).new"
  }

  /// The target of a temporary file, by its name; `nil` if the name is not that of a temporary file.
  public static func target(ofTemporary name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts.last == "new", let word = parts.dropLast().last,
      (1...13).contains(word.count), word.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLowercase) })
    else { return nil }
    return parts.dropLast(2).joined(separator: ".")
  }

  /// The number of added bytes.
  public var count: Int { flushed + buffer.count }

  /// Whether the bytes are written directly, as into a pipe, and cannot be changed afterwards.
  public var isDirect: Bool { place == path }

  /// Adds bytes.
  public mutating func write(_ bytes: [UInt8]) throws(FileFault) {
    try write(asTheyAre: Redactor.shared.redacted(bytes))
  }

  /// Adds a text.
  public mutating func write(_ text: String) throws(FileFault) { try write(Array(text.utf8)) }

  /// Adds bytes without redaction: secrets that belong there, or bytes that were redacted already.
  public mutating func write(asTheyAre bytes: [UInt8]) throws(FileFault) {
    buffer += bytes
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Overwrites added bytes with as many others.
  public mutating func overwrite(at offset: Int, _ bytes: [UInt8]) throws(FileFault) {
    try flush()
    let bytes = Redactor.shared.masked(bytes)
    let written = unsafe bytes.withUnsafeBytes {
      unsafe Kernel.pwrite(descriptor, $0.baseAddress, $0.count, offset)
    }
    if written != bytes.count { throw fault }
  }

  /// Moves the file to its path; nothing may be written after that.
  public mutating func commit() throws(FileFault) {
    let file = try finish()
    do throws(FileFault) {
      try file.place()
    } catch {
      file.discard()
      throw error
    }
  }

  /// Completes the temporary file; nothing may be written after that.
  public mutating func finish() throws(FileFault) -> FinishedFile {
    try flush()
    // A pipe cannot be flushed to a disk, and need not be.
    if !isDirect {
      do {
        try Descriptors.synchronize(descriptor)
      } catch {
        throw FileFault(attempt, path: named, error)
      }
    }
    isFinished = true
    guard Kernel.close(descriptor) == 0 else {
      let fault = fault
      if !isDirect { Kernel.unlink(place) }
      throw fault
    }
    return FinishedFile(path: path, name: place, attempt: attempt)
  }

  private mutating func flush() throws(FileFault) {
    do {
      try Descriptors.write(buffer, to: descriptor)
    } catch {
      throw FileFault(attempt, path: named, error)
    }
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  private var fault: FileFault { FileFault(attempt, path: named, code: errno) }
}

/// A complete temporary file on the disk, which has not replaced its target yet.
public struct FinishedFile: Sendable {
  private let path: String
  /// The name of the temporary file.
  public let name: String
  private let attempt: FileFault.Attempt?

  fileprivate init(path: String, name: String, attempt: FileFault.Attempt?) {
    (self.path, self.name, self.attempt) = (path, name, attempt)
  }

  /// Renames it to its target, in one step. If that fails, the temporary file stays.
  public func place() throws(FileFault) {
    if name == path { return }
    guard Kernel.rename(name, path) == 0 else { throw FileFault(attempt, path: path, code: errno) }
    synchronizeFolder(of: path)
  }

  /// Removes it.
  public func discard() {
    if name != path { Kernel.unlink(name) }
  }
}

/// Renames a file or a folder.
///
/// - Returns: whether it was renamed; false if a folder with that name exists and is not empty.
public func rename(_ path: String, to name: String) throws(FileFault) -> Bool {
  if Kernel.rename(path, name) == 0 {
    synchronizeFolder(of: name)
    return true
  }
  guard errno == EEXIST || errno == ENOTEMPTY else { throw FileFault(path: name, code: errno) }
  return false
}
