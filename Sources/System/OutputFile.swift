import Glibc
import Secrets

/// A file or a stream for writing, without a buffer: written data are passed to the system at once.
///
/// Secrets are redacted. A possible first half of a secret waits for the next write, or for the end.
public final class OutputFile {
  private var descriptor: Int32
  private let isOwned: Bool
  /// Why a standard stream has failed; `nil` if it has not.
  public private(set) var fault: FileFault?
  private var secrets = RedactingStream(isLive: true)

  /// Creates a file, or empties it.
  public init(creating path: String) throws(FileFault) {
    descriptor = Kernel.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, Secrecy.fileMode)
    isOwned = true
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
  }

  /// Opens a file to append to it; an incomplete last line is cut off.
  public init(appendingTo path: String) throws(FileFault) {
    descriptor = Kernel.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, Secrecy.fileMode)
    isOwned = true
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    var end = Kernel.lseek(descriptor, 0, SEEK_END)
    var byte: UInt8 = 0
    while end > 0, unsafe Kernel.pread(descriptor, &byte, 1, end - 1) == 1, byte != UInt8(ascii: "\n") {
      end -= 1
    }
    guard end >= 0, Kernel.ftruncate(descriptor, end) == 0 else { throw FileFault(path: path, code: errno) }
  }

  private init(descriptor: Int32) {
    self.descriptor = descriptor
    isOwned = false
  }

  deinit {
    try? finish()
    if isOwned, descriptor >= 0 { Kernel.close(descriptor) }
  }

  /// The standard output.
  public static func standardOutput() -> OutputFile { OutputFile(descriptor: STDOUT_FILENO) }

  /// The standard error.
  public static func standardError() -> OutputFile { OutputFile(descriptor: STDERR_FILENO) }

  /// Whether it is a terminal.
  public var isTerminal: Bool { descriptor >= 0 && isatty(descriptor) == 1 }

  /// The current columns and rows of the terminal; `nil` if there is none, or they are unknown.
  public var terminalSize: (columns: Int, rows: Int)? {
    var size = winsize()
    guard descriptor >= 0, unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0,
      size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Writes all of a text. A standard stream that has failed ignores later writes; the reason is in
  /// ``fault``.
  public func write(_ text: String) throws(FileFault) {
    try put(secrets.next(Array(text.utf8)))
  }

  /// Writes the text that waits for more; to be called at the end.
  public func finish() throws(FileFault) {
    try put(secrets.finish())
  }

  private func put(_ bytes: [UInt8]) throws(FileFault) {
    guard !bytes.isEmpty, descriptor >= 0 else { return }
    do {
      try Descriptors.write(bytes, to: descriptor)
    } catch {
      let fault = FileFault(path: "", error)
      if isOwned { throw fault }
      self.fault = fault
      descriptor = -1
    }
  }

  /// Waits until the system has the file on its disk.
  public func synchronize() {
    try? finish()
    if descriptor >= 0 { try? Descriptors.synchronize(descriptor) }
  }

  /// The same, for callers that must know whether it succeeded.
  public func synchronizeOrThrow() throws(FileFault) {
    try finish()
    guard descriptor >= 0 else { return }
    do {
      try Descriptors.synchronize(descriptor)
    } catch {
      throw FileFault(path: "", error)
    }
  }
}
