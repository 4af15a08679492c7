import Conformance
import LockFiles
public import Journal
import System
public import Transports

/// An inventory, and the path that it was read from.
public struct BenchFile: Sendable {
  public let path: String
  public let inventory: Inventory

  /// Reads the inventory of a file.
  ///
  /// - Parameter device: checks an emulated device; returns what is wrong with it, or `nil`.
  public init(reading path: String, device: @escaping (String) -> String?) throws(UsageError) {
    let bytes = try namedFile(path)
    let checks = Inventory.Checks(
      transport: { text in
        do { _ = try TransportSpec(text: text) } catch { return "\(error)" }
        return nil
      }, device: device, guarded: LockFamily.allGuarded, isDriven: LockFile.isDriven)
    inventory = try checked { try Inventory(bytes, name: path, checks: checks) }
    self.path = path
  }

  /// The default inventory, if it exists: `./bench.yaml`, then the user's own.
  public static var usual: String? {
    (["bench.yaml"] + [own].compactMap(\.self)).first(where: Host.isFile)
  }

  /// `$XDG_CONFIG_HOME/lockstep/bench.yaml`, or below `~/.config`.
  private static var own: String? {
    if let folder = Host.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      return folder + "/lockstep/bench.yaml"
    }
    return Host.variable("HOME").map { $0 + "/.config/lockstep/bench.yaml" }
  }
}

extension BenchFile {
  /// The options that name the bench on a command line; empty for the default bench.
  public var words: [String] { path == Self.usual ? [] : ["--bench", path] }

  /// A command for the user to paste: it returns a lock or a dongle of the bench to use.
  public func restoring(_ name: String) -> String {
    let words = ["lockstep", "devices", "restore", name] + words
    return words.map(shellWord).joined(separator: " ")
  }

  /// A lock of the bench.
  public func lock(_ name: String) throws(UsageError) -> Inventory.Lock {
    if let lock = inventory.lock(name) { return lock }
    throw unknown("lock", name, of: inventory.locks.map(\.name))
  }

  /// A dongle of the bench.
  public func dongle(_ name: String) throws(UsageError) -> Inventory.Dongle {
    if let dongle = inventory.dongle(name) { return dongle }
    throw unknown("dongle", name, of: inventory.dongles.map(\.name))
  }

  private func unknown(_ kind: String, _ name: String, of names: [String]) -> UsageError {
    let hint = names.isEmpty ? "it has none" : hint(for: name, of: names)
    return UsageError("\(path): the bench \(inventory.name) has no \(kind) '\(name)': \(hint)")
  }

  /// The transports to a lock, in the order in which they are tried.
  public func transports(to lock: Inventory.Lock) throws(UsageError) -> [TransportChoice] {
    var choices: [TransportChoice] = []
    for dongle in inventory.dongles(reaching: lock) { choices.append(try choice(dongle)) }
    guard !choices.isEmpty else {
      throw UsageError(
        "\(path): no dongle reaches the lock '\(lock.name)': give the bench one, or name a way with --transport"
      )
    }
    return choices
  }

  /// The transport through a dongle.
  public func choice(_ dongle: Inventory.Dongle) throws(UsageError) -> TransportChoice {
    TransportChoice(
      dongle: dongle.name, spec: try transportSpec(dongle.transport, of: path),
      power: inventory.powerSwitch(of: dongle))
  }
}

/// A transport to a controller, with its name and its power switch.
public struct TransportChoice: Sendable {
  /// The name in the inventory; `nil` for a transport that the command line names.
  public var dongle: String?
  public var spec: TransportSpec
  /// The power switch of its dongle.
  public var power: Inventory.PowerSwitch?

  /// Makes a choice.
  public init(dongle: String? = nil, spec: TransportSpec, power: Inventory.PowerSwitch? = nil) {
    self.dongle = dongle
    self.spec = spec
    self.power = power
  }

  /// The name for messages in which the transport is known.
  public var shortName: String { dongle.map { "the dongle \($0)" } ?? "\(spec)" }

  /// The name for other messages.
  public var name: String { dongle.map { "the dongle \($0) (\(spec))" } ?? "\(spec)" }
}

/// A lock of an inventory.
public struct BenchLock: Sendable {
  public var bench: BenchFile
  public var lock: Inventory.Lock

  /// Makes the lock of a bench.
  public init(bench: BenchFile, lock: Inventory.Lock) {
    self.bench = bench
    self.lock = lock
  }

  /// The identity of a lock that this program emulates: a lock in memory has no address, so the identity
  /// consists of the bench's and its own name.
  public var emulatedIdentity: String { "emulator-\(bench.inventory.name)-\(lock.name)" }

  /// Whether this program emulates it.
  public var isEmulated: Bool {
    if case .device = lock.source { return true }
    return false
  }
}

/// Reads a transport from the command line.
public func transportSpec(
  _ text: String, of option: String = "--transport"
) throws(UsageError) -> TransportSpec {
  try checked("\(option): ") { try TransportSpec(text: text) }
}

/// Reads `unix:PATH`.
public func socketPath(_ text: String, of option: String) throws(UsageError) -> String {
  guard text.hasPrefix("unix:"), text.count > 5 else {
    throw UsageError("'\(option)' expects unix:PATH, not '\(text)'")
  }
  return String(text.dropFirst(5))
}
