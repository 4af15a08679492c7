import Glibc

/// A failure to read or write a file.
public struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation.
  public enum Attempt: String, Sendable {
    /// Reading.
    case read
    /// Writing.
    case write
  }

  /// The file, if known.
  public var path: String
  /// The operation, if the description must name it; `nil` if the caller does.
  public var attempt: Attempt?
  /// The error number of the operating system.
  public var code: Int32
  /// The cause, if it is more specific than the number.
  public var cause: Cause?

  /// The cause of a fault.
  public enum Cause: Hashable, Sendable {
    /// A pipe without a reader.
    case unreadPipe
    /// A pipe whose reader has stopped reading.
    case fullPipe
    /// Another kind of file than expected.
    case strange(StrangeFile)
    /// Malformed contents.
    case malformed
  }

  /// The fault of a file with malformed contents.
  public static func malformed(_ path: String) -> FileFault {
    var fault = FileFault(path: path, code: EBADMSG)
    fault.cause = .malformed
    return fault
  }

  /// Makes a fault of an error number.
  public init(_ attempt: Attempt? = nil, path: String, code: Int32) {
    self.path = path
    self.attempt = attempt
    self.code = code
  }

  /// Whether the file does not exist, which is no failure if it is optional.
  public var isAbsence: Bool { code == ENOENT || code == ENOTDIR }

  /// Whether the machine is at fault rather than the path: a full or broken disk, or a resource limit of this
  /// process.
  public var isMachines: Bool {
    [ENOSPC, EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOLCK, ENOMEM, EROFS, ESTALE, ETIMEDOUT].contains(code)
  }

  /// Whether the reader of a pipe has closed it, and needs no more data.
  public var isReadersEnd: Bool { code == EPIPE }

  init(_ attempt: Attempt? = nil, path: String, _ error: SystemError) {
    self.init(attempt, path: path, code: error.code)
    if error.isUntaken { cause = .fullPipe }
  }

  /// The message for a path that does not exist.
  public static let absence = "there is no such file or folder"

  /// The failed operation, the file and the reason: `cannot read lock.yaml: there is no such file or folder`.
  public var description: String {
    (attempt.map { "cannot \($0) " } ?? "") + (path.isEmpty ? "" : path + ": ") + reason
  }

  /// The cause, or else the system's text.
  public var reason: String {
    switch cause {
    case .unreadPipe: "no process reads this pipe"
    case .fullPipe: "nothing more is taken of what is written"
    case .strange(let file): "expected a file, and it is \(file)"
    case .malformed: "what it says cannot be understood"
    case nil: code == ENOENT ? Self.absence : errorText(code)
    }
  }
}

/// An error of a system call.
public struct SystemError: Error, Hashable, Sendable {
  /// The error number.
  public var code: Int32
  /// Whether the reader did not accept the data within our timeout, without a failed call.
  private(set) var isUntaken = false

  /// The error of a reader that accepts no more data.
  static var untaken: SystemError {
    var error = SystemError(code: ETIMEDOUT)
    error.isUntaken = true
    return error
  }

  /// Makes the error of a number.
  public init(code: Int32) { self.code = code }

  /// The error of the call that failed last in this thread.
  public static var last: SystemError { SystemError(code: errno) }
}

/// The operating system's text for an error.
public func errorText(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}
