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

  /// Makes a fault of an error number.
  public init(_ attempt: Attempt? = nil, path: String, code: Int32) {
    self.path = path
    self.attempt = attempt
    self.code = code
  }

  /// Whether there is no such file, which is no trouble where there need not be one.
  public var isAbsence: Bool { code == ENOENT || code == ENOTDIR }

  /// Whether this machine is in trouble, and not the path wrong: a disk that is full or broken, a limit of what this
  /// process may write or open.
  public var isMachines: Bool {
    [ENOSPC, EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOMEM, EROFS, ESTALE, ETIMEDOUT].contains(code)
  }

  init(_ attempt: Attempt? = nil, path: String, _ error: SystemError) {
    self.init(attempt, path: path, code: error.code)
  }

  /// What cannot be done, with which file, and what the system says: `cannot read lock.yaml: No such file or directory`.
  public var description: String {
    (attempt.map { "cannot \($0) " } ?? "") + (path.isEmpty ? "" : path + ": ") + reason
  }

  private var reason: String {
    switch code {
    case ENXIO: "nobody reads this pipe"
    case ETIMEDOUT: "nothing more is taken of what is written"
    default: errorText(code)
    }
  }
}

/// What a call of the operating system ended with.
public struct SystemError: Error, Hashable, Sendable {
  /// The number of the error.
  public var code: Int32

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
