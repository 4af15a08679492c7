import Foundation

/// A folder that goes with its owner.
public final class TestFolder {
  /// Where it is.
  public let path: String

  /// Makes one.
  public init() {
    path = FileManager.default.temporaryDirectory.path + "/lockstep-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names in it, in order.
  public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// Writes a file of a mode and gives its path.
  @discardableResult
  public func write(_ name: String, _ text: String, mode: Int = 0o600) -> String {
    Self.write("\(path)/\(name)", text, mode: mode)
  }

  /// Writes a file of a mode, wherever it is, and gives its path.
  ///
  /// A program is written by another process: as long as one that was forked meanwhile has a descriptor of ours to write to it,
  /// it cannot be started.
  @discardableResult
  public static func write(_ file: String, _ text: String, mode: Int) -> String {
    let isProgram = mode & 0o111 != 0
    _ = FileManager.default.createFile(
      atPath: isProgram ? file + ".text" : file, contents: Data(text.utf8),
      attributes: [.posixPermissions: mode])
    if isProgram {
      _ = try? Program.run("/bin/cp", ["-p", file + ".text", file])
    }
    return file
  }

  /// The text of a file; none where there is no file.
  public func read(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data(), as: UTF8.self)
  }

  /// The mode of a file.
  public func mode(_ name: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)"))?[.posixPermissions] as? Int
  }
}
