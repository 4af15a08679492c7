import Basics
import Glibc
import Secrets

/// A file that takes the place of another whole or not at all.
///
/// What is written goes to a temporary file beside it, which is flushed to the disk and takes the name in one step;
/// the folder is flushed after that. A reader sees the old file or the new one, after a loss of power too. A
/// path that is no regular file, such as a pipe, is written directly. Secrets are taken out of what is
/// added at once, so that ``count`` is where the next bytes go.
public struct Replacement: ~Copyable {
  private let path: String
  /// Where the bytes go until they are all there; the path itself where it is no regular file.
  private let place: String
  /// What a fault says that could not be written.
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

  /// The descriptor to write to that a path names, as `/dev/stdout` does; `nil` for what names none.
  ///
  /// It may be a regular file, which must not be emptied, and its name is not ours to give to another one.
  private static func stream(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdout": STDOUT_FILENO
    case "/dev/stderr": STDERR_FILENO
    default: numberedStream(path)
    }
  }

  /// Whether a path is written directly: what is there is no file whose place another one could take.
  public static func isDirect(_ path: String) -> Bool {
    stream(path) != nil || ![.missing, .file].contains(fileKind(path)) || isSystems(path)
  }

  /// Whether a path stands where the system has its devices and processes.
  private static func isSystems(_ path: String) -> Bool {
    let folder = realPath(Path.folder(of: path)) ?? ""
    return ["/dev", "/proc", "/sys"].contains { folder == $0 || folder.hasPrefix($0 + "/") }
      && !folder.hasPrefix("/dev/shm")
  }

  /// How long to wait for the reader of a pipe: 30 s, and 5 s after the program was asked to stop.
  private static var readerTimeout: Interval { .seconds(EndingSignals.requestCount > 0 ? 5 : 30) }

  /// Opens something other than a regular file.
  ///
  /// A pipe opens once it has a reader; the wait is bounded, and ends when the program is asked to stop. The reader
  /// may then take its time.
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

  /// The file whose place a file was to take, by its name; `nil` for a name that no temporary file has.
  public static func target(ofTemporary name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts.last == "new", let word = parts.dropLast().last,
      (1...13).contains(word.count), word.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLowercase) })
    else { return nil }
    return parts.dropLast(2).joined(separator: ".")
  }

  /// How many bytes were added.
  public var count: Int { flushed + buffer.count }

  /// Whether the bytes go where they are read at once, as into a pipe, and none can be changed again.
  public var isDirect: Bool { place == path }

  /// Adds bytes.
  public mutating func write(_ bytes: [UInt8]) throws(FileFault) {
    try write(asTheyAre: Redactor.shared.redacted(bytes))
  }

  /// Adds a text.
  public mutating func write(_ text: String) throws(FileFault) { try write(Array(text.utf8)) }

  /// Adds bytes that may be secret, or that hold no secret any more.
  public mutating func write(asTheyAre bytes: [UInt8]) throws(FileFault) {
    buffer += bytes
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Puts other bytes in the place of as many that were added.
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

  /// Completes the file, which stands beside its place then; nothing may be written after that.
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

/// A file that is complete and on the disk, and has still to take its place.
public struct FinishedFile: Sendable {
  private let path: String
  /// What it is called until then.
  public let name: String
  private let attempt: FileFault.Attempt?

  fileprivate init(path: String, name: String, attempt: FileFault.Attempt?) {
    (self.path, self.name, self.attempt) = (path, name, attempt)
  }

  /// Gives it its name, in one step. Where that fails, it stays beside its place.
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

/// Gives a file or a folder another name, at once.
///
/// - Returns: whether it has it; false when there is a folder of that name that is not empty.
public func rename(_ path: String, to name: String) throws(FileFault) -> Bool {
  if Kernel.rename(path, name) == 0 {
    synchronizeFolder(of: name)
    return true
  }
  guard errno == EEXIST || errno == ENOTEMPTY else { throw FileFault(path: name, code: errno) }
  return false
}
