import Bench
import System
import Harness
import Transports

/// An inventory, and where it was read.
struct BenchFile {
  let path: String
  let inventory: Inventory

  /// Reads the inventory of a file.
  init(reading path: String) throws(UsageError) {
    let bytes = try namedFile(path)
    inventory = try checked { try Inventory(bytes, name: path, checks: Self.checks) }
    self.path = path
  }

  /// The file that is used where none is named, and that is there: `./bench.yaml`, then the user's own.
  static var usual: String? {
    (["bench.yaml"] + [own].compactMap(\.self)).first(where: Host.isFile)
  }

  /// `$XDG_CONFIG_HOME/lockstep/bench.yaml`, or below `~/.config`.
  private static var own: String? {
    if let folder = Host.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      return folder + "/lockstep/bench.yaml"
    }
    return Host.variable("HOME").map { $0 + "/.config/lockstep/bench.yaml" }
  }

  private static var checks: Inventory.Checks {
    Inventory.Checks(
      transport: { text in trouble { _ = try TransportSpec(text: text) } },
      device: { text in
        trouble {
          let spec = try DeviceSpec(text: text)
          guard EmulatedDevice.lockNames.contains(spec.name) else {
            throw DeviceProblem.unknown(.name, "lock", spec.name, of: EmulatedDevice.lockNames)
          }
          _ = try Devices().describe(spec)
        }
      })
  }

  /// What is wrong with something; `nil` for nothing.
  private static func trouble(_ check: () throws -> Void) -> String? {
    do { try check() } catch { return "\(error)" }
    return nil
  }
}

extension BenchFile {
  /// A lock of the bench.
  func lock(_ name: String) throws(UsageError) -> Inventory.Lock {
    if let lock = inventory.lock(name) { return lock }
    throw unknown("lock", name, of: inventory.locks.map(\.name))
  }

  /// A dongle of the bench.
  func dongle(_ name: String) throws(UsageError) -> Inventory.Dongle {
    if let dongle = inventory.dongle(name) { return dongle }
    throw unknown("dongle", name, of: inventory.dongles.map(\.name))
  }

  private func unknown(_ kind: String, _ name: String, of names: [String]) -> UsageError {
    let hint = names.isEmpty ? "it has none" : hint(for: name, of: names)
    return UsageError("\(path): the bench \(inventory.name) has no \(kind) '\(name)': \(hint)")
  }

  /// The ways to a lock, in the order in which they are tried.
  func transports(to lock: Inventory.Lock) throws(UsageError) -> [TransportChoice] {
    var choices: [TransportChoice] = []
    for dongle in inventory.dongles(reaching: lock) { choices.append(try choice(dongle)) }
    guard !choices.isEmpty else {
      throw UsageError(
        "\(path): no dongle reaches the lock '\(lock.name)': give the bench one, or name a way with --transport"
      )
    }
    return choices
  }

  /// The way through a dongle.
  func choice(_ dongle: Inventory.Dongle) throws(UsageError) -> TransportChoice {
    TransportChoice(
      dongle: dongle.name, spec: try transportSpec(dongle.transport, of: path),
      power: inventory.powerSwitch(of: dongle))
  }
}

/// A way to a controller.
struct TransportChoice {
  /// What the inventory calls it; `nil` for one that was named on the command line.
  var dongle: String?
  var spec: TransportSpec
  /// What turns its power off and on.
  var power: Inventory.PowerSwitch?

  /// As it is called where its transport is known.
  var shortName: String { dongle.map { "the dongle \($0)" } ?? "\(spec)" }

  /// As it is called in messages.
  var name: String { dongle.map { "the dongle \($0) (\(spec))" } ?? "\(spec)" }
}

/// A lock of an inventory.
struct BenchLock {
  var bench: BenchFile
  var lock: Inventory.Lock

  /// What it is known by where nobody but this program plays it.
  ///
  /// A lock in memory has no address: the bench and its name say which it is.
  var emulatedIdentity: String { "emulator-\(bench.inventory.name)-\(lock.name)" }

  /// Whether this program plays it.
  var isPlayed: Bool {
    if case .device = lock.source { return true }
    return false
  }
}
