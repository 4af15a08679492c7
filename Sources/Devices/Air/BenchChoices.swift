public import Bench
import Harness
public import Journal
import System
import Transports

extension BenchFile {
  /// Reads the inventory from a file.
  public init(reading path: String) throws(UsageError) {
    try self.init(reading: path) { text in
      do {
        let spec = try DeviceSpec(text: text)
        // Reading a file does not start programs: an error in a program shows when it is used.
        guard spec.kind == .emulator else { return nil }
        guard EmulatedDevice.lockNames.contains(spec.name) else {
          throw DeviceProblem.unknown(.name, "lock", spec.name, of: EmulatedDevice.lockNames)
        }
        _ = try Devices().describe(spec)
      } catch {
        return "\(error)"
      }
      return nil
    }
  }
}

extension BenchLock {
  /// Creates the lock with a name on the selected bench; `nil` if the name is that of a lock file.
  ///
  /// - Parameter path: The bench; the default one if omitted.
  public init?(named name: String, on path: String?) throws(UsageError) {
    if path == nil, Host.isFile(name) || name.contains("/") { return nil }
    guard let path = path ?? BenchFile.usual else { return nil }
    let bench = try BenchFile(reading: path)
    // A file with a name that the bench does not know is a lock file.
    if bench.inventory.lock(name) == nil, Host.isFile(name) { return nil }
    self.init(bench: bench, lock: try bench.lock(name))
  }
}

extension TransportChoice {
  /// Creates a transport choice from the command line: a transport, or the name of a bench's dongle.
  public init(naming text: String, on bench: BenchFile?) throws(UsageError) {
    guard text.hasPrefix("dongle:") else {
      self.init(spec: try transportSpec(text))
      return
    }
    guard let bench else {
      throw UsageError("'--transport \(text)' is a dongle of a bench: name the bench with --bench FILE")
    }
    self = try bench.choice(try bench.dongle(String(text.dropFirst(7))))
  }
}
