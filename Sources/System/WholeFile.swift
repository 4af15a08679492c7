import Glibc
import Secrets

/// Files that are read or written as a whole.
public enum WholeFile {
  /// The bytes of a file.
  ///
  /// - Parameter limit: the maximum size.
  public static func bytes(of path: String, limit: Int = .max) throws(FileFault) -> [UInt8] {
    let descriptor = try open(path)
    defer { Kernel.close(descriptor) }
    do {
      return try Descriptors.readWhole(descriptor, limit: limit)
    } catch {
      throw FileFault(path: path, error)
    }
  }

  /// Opens a file for reading, unless reading could block for ever.
  ///
  /// A pipe, a socket or a device is refused, since its writer may never come. A path to a descriptor that was opened
  /// for us, such as `/dev/stdin` and the `<(…)` of a shell, is accepted, since the user intended it;
  /// `/dev/null` is empty.
  public static func open(
    _ path: String, saying attempt: FileFault.Attempt? = nil
  ) throws(FileFault) -> Int32 {
    let descriptor = Kernel.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    var fault = FileFault(attempt, path: path, code: errno)
    guard descriptor >= 0 else {
      if case .other(let strange) = fileKind(path) { fault.cause = .strange(strange) }
      throw fault
    }
    var status = stat()
    guard Kernel.fstat(descriptor, &status) == 0 else {
      fault.code = errno
      Kernel.close(descriptor)
      throw fault
    }
    guard case .other(let strange) = FileKind(status) else { return descriptor }
    guard ["/dev/stdin", "/dev/null"].contains(path) || numberedStream(path) != nil else {
      Kernel.close(descriptor)
      fault.code = EINVAL
      fault.cause = .strange(strange)
      throw fault
    }
    // The writer may take its time.
    let flags = Kernel.fcntl(descriptor, F_GETFL, 0)
    if flags >= 0 { _ = Kernel.fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
    return descriptor
  }

  /// Replaces a file with a text, as a whole or not at all; secrets become marks.
  public static func replace(_ path: String, with text: String) throws(FileFault) {
    try replace(path, with: Redactor.shared.redacted(Array(text.utf8)), mode: nil)
  }

  /// Replaces a file with one that only its owner can read, as a whole or not at all; secrets become stars.
  public static func replacePrivate(_ path: String, with bytes: [UInt8]) throws(FileFault) {
    try replace(path, with: Redactor.shared.masked(bytes), mode: 0o600)
  }

  private static func replace(_ path: String, with bytes: [UInt8], mode: UInt32?) throws(FileFault) {
    var file = try Replacement(of: path, mode: mode)
    try file.write(asTheyAre: bytes)
    try file.commit()
  }
}
