import Glibc

/// Why a file that was found implicitly is not read.
public struct DistrustedFile: Error, Equatable, CustomStringConvertible {
  /// The reason as a sentence.
  public let description: String
}

extension WholeFile {
  /// The bytes of a file that was found implicitly: its owner must be this user, the owner of its folder or root, and
  /// no other user may be able to write it.
  ///
  /// - Throws: a ``FileFault``, or a ``DistrustedFile``.
  public static func trustedBytes(of path: String, limit: Int = .max) throws -> [UInt8] {
    let descriptor = try open(path)
    defer { Kernel.close(descriptor) }
    var file = stat()
    guard Kernel.fstat(descriptor, &file) == 0 else { throw FileFault(path: path, code: errno) }
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let owners = [geteuid(), 0] + (statusOfFile(parent).map { [$0.st_uid] } ?? [])
    guard owners.contains(file.st_uid) else {
      throw DistrustedFile(
        description:
          "\(path) belongs to another user, and is not read: make it yours, or name it with --config")
    }
    guard file.st_mode & S_IWOTH == 0 else {
      throw DistrustedFile(
        description: "\(path) may be written by everybody, and is not read: chmod o-w \(path)")
    }
    do {
      return try Descriptors.readWhole(descriptor, limit: limit)
    } catch {
      throw FileFault(path: path, error)
    }
  }
}
