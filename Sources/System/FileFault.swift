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
  /// The operating system's number of the error, or that of a ``VainWait``.
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
    code == VainWait.room.rawValue
      || [ENOSPC, EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOMEM, EROFS, ENOLCK, ESTALE, ETIMEDOUT].contains(code)
  }

  init(_ attempt: Attempt? = nil, path: String, _ error: SystemError) {
    self.init(attempt, path: path, code: error.code)
  }

  /// What cannot be done, with which file, and what the system says: `cannot read lock.yaml: No such file or directory`.
  public var description: String {
    (attempt.map { "cannot \($0) " } ?? "") + (path.isEmpty ? "" : path + ": ") + errorText(code)
  }
}

/// What was waited for in vain, for as long as it is waited for; the system has no numbers for it.
enum VainWait: Int32 {
  /// Somebody who reads a pipe.
  case reader = -1
  /// Somebody who writes to a pipe.
  case writer = -2
  /// Room for more of what is written, in a pipe that is read too slowly or not at all.
  case room = -3

  fileprivate var text: String {
    switch self {
    case .reader: "nobody reads this pipe"
    case .writer: "nobody writes to this pipe"
    case .room: "nothing more is taken of what is written"
    }
  }
}

/// What a call of the operating system ended with.
public struct SystemError: Error, Hashable, Sendable {
  /// The number of the error, or that of a ``VainWait``.
  public var code: Int32

  /// Makes one of a number.
  public init(code: Int32) { self.code = code }

  /// The error of the call that failed last in this thread.
  public static var last: SystemError { SystemError(code: errno) }
}

/// What the operating system calls an error.
public func errorText(_ code: Int32) -> String {
  if let wait = VainWait(rawValue: code) { return wait.text }
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}
