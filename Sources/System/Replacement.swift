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
  ///   - mode: who may read it, before the user's mask; what ``Secrecy`` asks for unless given.
  ///   - name: what the temporary file is called, by the number of the try, from 1; the first name that is free is taken.
  ///     A name that nobody else has unless given.
  ///   - attempt: what faults say was tried, for callers who do not say it themselves.
  public init(
    of path: String, mode: UInt32? = nil, named name: ((Int) -> String)? = nil,
    saying attempt: FileFault.Attempt? = nil
  ) throws(FileFault) {
    let mode = mode ?? Secrecy.fileMode
    self.path = path
    self.attempt = attempt
    var place = path
    var descriptor: Int32
    if name == nil, ![.missing, .file].contains(fileKind(path)) {
      descriptor = Kernel.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    } else {
      var number = 0
      repeat {
        number += 1
        place = name?(number) ?? "\(path).\(Self.uniqueWord).new"
        descriptor = Kernel.open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
      } while descriptor < 0 && errno == EEXIST && number < 10_000
    }
    (self.place, self.descriptor) = (place, descriptor)
    named = name == nil ? path : place
    if descriptor < 0 { throw FileFault(attempt, path: named, code: errno) }
  }

  deinit {
    guard !isFinished, descriptor >= 0 else { return }
    Kernel.close(descriptor)
    if !isDirect { Kernel.unlink(place) }
  }

  private static var uniqueWord: String { String(SystemEntropy().next(), radix: 36) }

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

  /// Puts the file in its place; nothing may be written after that.
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
