import Glibc

/// A file that could not be read or written.
public struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried.
  public enum Attempt: String, Sendable {
    /// To read it.
    case read
    /// To write it.
    case write
  }

  /// The file, as far as it is known.
  public var path: String
  /// What was tried, where the text is to say it; who says so before it leaves it out.
  public var attempt: Attempt?
  /// The operating system's number of the error.
  public var code: Int32
  /// What is there that hinders, where that says more than the number does.
  public var cause: Cause?

  /// What may be in the way at a path.
  public enum Cause: Hashable, Sendable {
    /// A pipe without a reader.
    case unreadPipe
    /// A pipe whose reader has stopped reading.
    case fullPipe
    /// What is no file, where one is to be read.
    case strange(StrangeFile)
    /// Malformed contents.
    case misshapen
  }

  /// The fault of a file that says nothing which could be understood.
  public static func misshapen(_ path: String) -> FileFault {
    var fault = FileFault(path: path, code: EBADMSG)
    fault.cause = .misshapen
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

  /// Whether the machine is at fault rather than the path: a full or broken disk, a resource limit of this process.
  /// process may write or open.
  public var isMachines: Bool {
    [ENOSPC, EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOLCK, ENOMEM, EROFS, ESTALE, ETIMEDOUT].contains(code)
  }

  /// Whether who read a pipe has closed it, and wants no more.
  public var isReadersEnd: Bool { code == EPIPE }

  init(_ attempt: Attempt? = nil, path: String, _ error: SystemError) {
    self.init(attempt, path: path, code: error.code)
    if error.isUntaken { cause = .fullPipe }
  }

  /// The message for a path that does not exist.
  public static let absence = "there is no such file or folder"

  /// What cannot be done, with which file, and why: `cannot read lock.yaml: there is no such file or folder`.
  public var description: String {
    (attempt.map { "cannot \($0) " } ?? "") + (path.isEmpty ? "" : path + ": ") + reason
  }

  /// What is there, or else what the system says.
  public var reason: String {
    switch cause {
    case .unreadPipe: "nobody reads this pipe"
    case .fullPipe: "nothing more is taken of what is written"
    case .strange(let file): "expected a file, and it is \(file)"
    case .misshapen: "what it says cannot be understood"
    case nil: code == ENOENT ? Self.absence : errorText(code)
    }
  }
}

/// What a call of the operating system ended with.
public struct SystemError: Error, Hashable, Sendable {
  /// The number of the error.
  public var code: Int32
  /// Whether the reader did not accept the data within our timeout, without a failed call.
  private(set) var isUntaken = false

  /// Who was to take what is written takes nothing any more.
  static var untaken: SystemError {
    var error = SystemError(code: ETIMEDOUT)
    error.isUntaken = true
    return error
  }

  /// Makes one of a number.
  public init(code: Int32) { self.code = code }

  /// The error of the call that failed last in this thread.
  public static var last: SystemError { SystemError(code: errno) }
}

/// What the operating system calls an error.
public func errorText(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}
