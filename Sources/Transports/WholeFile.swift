import Glibc
import Secrets

/// Files that are read or written as a whole.
public enum WholeFile {
  /// The bytes of a file.
  public static func bytes(of path: String) throws(FileFault) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFault(path: path, code: errno) }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Puts a file that its owner alone can read in the place of another, whole or not at all; secrets become stars.
  public static func replacePrivate(_ path: String, with bytes: [UInt8]) throws(FileFault) {
    let new = "\(path).\(getpid()).new"
    _ = unsafe unlink(new)
    let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    let isWritten = write(Redactor.shared.masked(bytes), to: descriptor)
    let code = errno
    close(descriptor)
    guard isWritten else {
      _ = unsafe unlink(new)
      throw FileFault(path: path, code: code)
    }
    guard unsafe Glibc.rename(new, path) == 0 else { throw FileFault(path: path, code: errno) }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(descriptor, buffer.baseAddress! + start, buffer.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      start += count
    }
    return fsync(descriptor) == 0
  }
}
