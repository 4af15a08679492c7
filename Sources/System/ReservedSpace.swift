import Basics
import Glibc

/// Room on a disk that is kept for a file to come: whatever else fills the disk leaves it alone.
///
/// It belongs to a file without a name, so nothing stays of it when the process ends, however it ends.
public final class ReservedSpace {
  private var descriptor: Int32

  /// Keeps room where a file is to be.
  ///
  /// Where the file system cannot keep any, or the path leads to no regular file, none is kept.
  ///
  /// - Parameters:
  ///   - path: where the file is to be; folders that are missing are made.
  ///   - bytes: how much room.
  /// - Throws: when there is not as much.
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

  /// Gives the room back, for the file that it was kept for.
  public func release() {
    if descriptor >= 0 { Kernel.close(descriptor) }
    descriptor = -1
  }

  private static func isFull(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
