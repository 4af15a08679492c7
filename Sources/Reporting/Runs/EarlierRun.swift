public import System
public import Journal

/// The folder of an earlier run, which this process holds from now on: no other process can resume it.
public struct EarlierRun {
  public let folder: String
  let hold: FolderHold
  /// Its manifest; `nil` if it cannot be read.
  public let manifest: Manifest?

  /// Acquires the folder of a run that has ended.
  ///
  /// - Parameter head: the beginning of messages.
  public init(_ folder: String, saying head: String = "") throws(UsageError) {
    do throws(FolderHold.Refusal) {
      hold = try FolderHold(folder)
    } catch {
      switch error {
      case .held(let holder):
        throw UsageError("\(head)\(folder) \(Self.words(holder)); stop it, or wait for its end")
      case .fault(let fault):
        throw UsageError("\(head)\(folder) cannot be held for this process alone: \(fault)")
      }
    }
    self.folder = folder
    manifest = try checked(head) { try Manifest.read(folder + "/manifest.json") }
  }

  /// Acquires the folder of a run by its name under the reports or by its path; it must have a certain file.
  public init(
    _ run: String, out: String, with file: String, saying head: String = ""
  ) throws(UsageError) {
    let folders = [run.count > 1 && run.hasSuffix("/") ? String(run.dropLast()) : run, "\(out)/runs/\(run)"]
    guard let folder = folders.first(where: { Host.isFile($0 + "/" + file) }) else {
      throw UsageError(
        "\(head)there is no run \(run): neither \(folders.map { "\($0)/\(file)" }.joined(separator: " nor ")) is there"
      )
    }
    try self.init(folder, saying: head)
  }

  /// A warning before the run is resumed: it may still be running on another host, where locks have no
  /// effect.
  public var diagnostic: String? {
    guard let left = hold.left, left.host != Host.name else { return nil }
    return "\(folder) was last held by \(left), and not released; if that process still runs, stop it"
  }

  /// The message about a run in progress.
  public static func words(_ holder: FolderHold.Holder?) -> String {
    "still runs" + (holder.map { ": \($0)" } ?? "")
  }
}
