import System
public import Conformance
import Glibc
public import Lab
import Basics

/// Where the health of locks and dongles is kept: a file for each in the ``StateFolder``, `health/IDENTITY.json`.
///
/// A file is replaced whole or not at all, and whoever changes several does so alone. What is known of something whose
/// file cannot be understood is that it must not be used: somebody has to look.
public enum HealthFolder {
  /// What is known of something now.
  public static func health(of identity: String) -> DeviceHealth {
    guard let folder = StateFolder.path.map({ $0 + "/health" }) else { return DeviceHealth() }
    return read(folder, Lease.name(identity) + ".json")?.health ?? DeviceHealth()
  }

  /// Everything that is known.
  public static var book: HealthBook {
    guard let folder = StateFolder.path.map({ $0 + "/health" }) else { return HealthBook() }
    return book(in: folder)
  }

  /// Changes what is known; nobody else does so meanwhile.
  ///
  /// - Throws: why it cannot be kept.
  public static func update<Result>(
    _ body: (inout HealthBook) -> Result
  ) throws(LabFault) -> Result {
    let folder = try StateFolder.folder("health")
    let path = folder + "/.lock"
    let descriptor = Kernel.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw fault(FileFault(path: path, code: errno)) }
    defer { Kernel.close(descriptor) }
    StateFolder.share(path)
    do {
      try Descriptors.lock(descriptor, for: .seconds(10))
    } catch {
      throw fault(FileFault(path: path, code: error.code))
    }
    let before = book(in: folder)
    var after = before
    let result = body(&after)
    for (identity, health) in after.records where before[identity] != health {
      do throws(FileFault) {
        let path = "\(folder)/\(Lease.name(identity)).json"
        try WholeFile.replacePrivate(path, with: Array(health.json(identity).pages.utf8))
        StateFolder.share(path)
      } catch {
        throw fault(error)
      }
    }
    return result
  }

  private static func fault(_ fault: FileFault) -> LabFault {
    LabFault(.noDevice, "the health of locks and dongles cannot be kept: \(fault)")
  }

  private static func book(in folder: String) -> HealthBook {
    let names = (folderEntries(folder) ?? []).filter { $0.hasSuffix(".json") }
    return HealthBook(names.compactMap { read(folder, $0) })
  }

  private static func read(_ folder: String, _ name: String) -> (identity: String, health: DeviceHealth)? {
    let path = "\(folder)/\(name)"
    guard let bytes = try? WholeFile.bytes(of: path) else { return nil }
    if let json = try? JSON(parsing: bytes), let record = DeviceHealth.read(json) { return record }
    var health = DeviceHealth()
    health.outOfUse = DeviceHealth.OutOfUse(since: WallClock.time, reason: "\(path) cannot be understood")
    return (String(name.dropLast(5)), health)
  }
}
