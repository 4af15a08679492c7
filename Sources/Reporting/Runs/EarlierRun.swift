public import System
public import Journal

/// The folder of an earlier run, which this process holds from now on: nobody else goes on with it.
public struct EarlierRun {
  public let folder: String
  let hold: FolderHold
  /// What it was; `nil` where nothing that is understood tells.
  public let manifest: Manifest?

  /// Takes the folder of a run that does not run any more.
  ///
  /// - Parameter head: what a message begins with.
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

  /// Takes the folder of a run that is named by its name under the reports or by its folder, and has a certain file.
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

  /// What there is to say before the run is gone on with: on another host it may run still, where locks do not reach.
  public var diagnostic: String? {
    guard let left = hold.left, left.host != Host.name else { return nil }
    return "\(folder) was last held by \(left), and not let go of; if it runs there still, stop it"
  }

  /// What is said of a run that is under way.
  public static func words(_ holder: FolderHold.Holder?) -> String {
    "still runs" + (holder.map { ": \($0)" } ?? "")
  }
}
