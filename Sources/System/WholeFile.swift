import Glibc
import Secrets

/// Files that are read or written as a whole.
public enum WholeFile {
  /// The bytes of a file.
  ///
  /// - Parameter limit: the most that it may have.
  public static func bytes(of path: String, limit: Int = .max) throws(FileFault) -> [UInt8] {
    let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    defer { Kernel.close(descriptor) }
    do {
      return try Descriptors.readWhole(descriptor, limit: limit)
    } catch {
      throw FileFault(path: path, error)
    }
  }

  /// Puts a text in a file's place, whole or not at all; secrets become marks.
  public static func replace(_ path: String, with text: String) throws(FileFault) {
    try replace(path, with: Redactor.shared.redacted(Array(text.utf8)), mode: nil)
  }

  /// Puts a file that its owner alone can read in the place of another, whole or not at all; secrets become stars.
  public static func replacePrivate(_ path: String, with bytes: [UInt8]) throws(FileFault) {
    try replace(path, with: Redactor.shared.masked(bytes), mode: 0o600)
  }

  private static func replace(_ path: String, with bytes: [UInt8], mode: UInt32?) throws(FileFault) {
    var file = try Replacement(of: path, mode: mode)
    try file.write(asTheyAre: bytes)
    try file.commit()
  }
}
