import Basics
import Glibc

/// Disk space that is reserved for a later file: other files cannot use it.
///
/// It belongs to a file without a name, so that nothing remains when the process ends, however it ends.
public final class ReservedSpace {
  private var descriptor: Int32

  /// Reserves space where a file is to be written.
  ///
  /// Does nothing if the file system does not support it, or if the path leads to no regular file.
  ///
  /// - Parameters:
  ///   - path: the path of the file; missing folders are created.
  ///   - bytes: the size.
  /// - Throws: if there is not enough space.
  public init(for path: String, bytes: Int) throws(FileFault) {
    guard !Replacement.isDirect(path) else {
      descriptor = -1
      return
    }
    makeFolders(above: path)
    let name = Replacement.uniqueName(beside: path)
    descriptor = Kernel.open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, Secrecy.fileMode)
    guard descriptor >= 0 else {
      // Other errors appear when the file is written, and are reported then.
      if Self.isFull(errno) { throw FileFault(path: Path.folder(of: path), code: errno) }
      return
    }
    Kernel.unlink(name)
    guard Kernel.allocate(descriptor, bytes) != 0 else { return }
    let code = errno
    release()
    if Self.isFull(code) { throw FileFault(path: Path.folder(of: path), code: code) }
  }

  deinit { release() }

  /// Releases the space for the file.
  public func release() {
    if descriptor >= 0 { Kernel.close(descriptor) }
    descriptor = -1
  }

  private static func isFull(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
