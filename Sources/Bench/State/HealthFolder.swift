import System
public import Conformance
import Glibc
import Basics

/// Where the health of locks and dongles is kept: a file for each in the ``StateFolder``, `health/IDENTITY.json`.
///
/// A file is replaced whole or not at all, and whoever changes several does so alone. What is known of something whose
/// file cannot be read or understood is that it must not be used: somebody has to look.
public enum HealthFolder {
  /// What is known of something now.
  public static func health(of identity: String) -> DeviceHealth {
    guard let folder = StateFolder.path.map({ $0 + "/health" }) else { return DeviceHealth() }
    return record(folder, Lease.name(identity) + ".json")?.health ?? DeviceHealth()
  }

  /// Everything that is known.
  ///
  /// - Throws: why nobody can say what that is; where nothing was ever written down, nothing is known.
  public static func book() throws(LabFault) -> HealthBook {
    guard let folder = StateFolder.path.map({ $0 + "/health" }) else { return HealthBook() }
    do throws(FileFault) {
      let names = try FolderNames.listed(in: folder).filter(isRecord)
      return HealthBook(names.compactMap { record(folder, $0) })
    } catch {
      throw LabFault(.noDevice, "the health of locks and dongles is not known: \(error)")
    }
  }

  /// Changes what is known; nobody else does so meanwhile.
  ///
  /// - Throws: why it cannot be kept; also where what was known before cannot be read, which would be lost.
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
    let before: HealthBook
    do throws(FileFault) {
      before = try book(in: folder)
    } catch {
      throw fault(error)
    }
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

  private static func isRecord(_ name: String) -> Bool { name.hasSuffix(".json") && !name.hasPrefix(".") }

  private static func book(in folder: String) throws(FileFault) -> HealthBook {
    var records: [(identity: String, health: DeviceHealth)] = []
    for name in try FolderNames.listed(in: folder) where isRecord(name) {
      if let record = try read(folder, name) { records.append(record) }
    }
    return HealthBook(records)
  }

  /// What a file says; of one that cannot be read, that what it is about must not be used.
  private static func record(_ folder: String, _ name: String) -> (identity: String, health: DeviceHealth)? {
    do throws(FileFault) {
      return try read(folder, name)
    } catch {
      return unknown(name, "\(error.path) cannot be read: \(errorText(error.code))")
    }
  }

  /// What a file says; `nil` where there is none.
  private static func read(
    _ folder: String, _ name: String
  ) throws(FileFault) -> (identity: String, health: DeviceHealth)? {
    let path = "\(folder)/\(name)"
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try WholeFile.bytes(of: path)
    } catch {
      guard error.code == ENOENT else { throw error }
      return nil
    }
    if let json = try? JSON(parsing: bytes), let record = DeviceHealth.read(json) { return record }
    return unknown(name, "\(path) cannot be understood")
  }

  private static func unknown(_ name: String, _ reason: String) -> (identity: String, health: DeviceHealth) {
    var health = DeviceHealth()
    health.outOfUse = DeviceHealth.OutOfUse(since: WallClock.time, reason: reason)
    return (String(name.dropLast(5)), health)
  }
}
