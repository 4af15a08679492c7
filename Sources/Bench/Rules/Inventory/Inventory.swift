public import Basics

/// The inventory of a bench: its dongles, their power switches, its locks, and the quarantine.
///
/// ``init(_:name:checks:)`` reads it from a file, `bench.yaml`. The names in it are for people. A device's identity,
/// by which a lease excludes other programs, comes from the device.
public struct Inventory: Equatable, Sendable {
  /// The bench's name.
  public var name: String
  /// The transports to controllers, in the order in which they are tried.
  public var dongles: [Dongle] = []
  /// The switches for the dongles' power.
  public var switches: [PowerSwitch] = []
  /// The locks.
  public var locks: [Lock] = []
  /// The known failures.
  public var quarantine: [Quarantine] = []
}

extension Inventory {
  /// A transport to a controller.
  public struct Dongle: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The transport, in the form of `--transport`: `usb:0A12:0001/SERIAL`, `usb:1-2.3`,
    /// `tcp-client:HOST:PORT`.
    public var transport: String
    /// The name of the switch of its power.
    public var power: String?
  }

  /// The commands that switch the power of a dongle.
  public struct PowerSwitch: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The command that switches it off.
    public var off: String
    /// The command that switches it on.
    public var on: String
    /// A command that exits with 0 while the power is on; `nil` without one.
    public var check: String?
    /// How long the voltage takes to drop and to return.
    public var settle = Interval.seconds(3)
    /// The commands' working directory; `nil` for the current one.
    public var folder: String?
  }

  /// A lock, its permissions and its limits.
  public struct Lock: Equatable, Sendable {
    /// The source of the lock's description.
    public enum Source: Equatable, Sendable {
      /// The lock file at a path.
      case file(String)
      /// An emulated device: `emulator:sesame5?defect=deaf-unlock`, `driver:…?peripheral=…`, `exec:…`.
      case device(String)
    }

    /// The name.
    public var name: String
    /// The source of its description.
    public var source: Source
    /// The control socket of the emulator that simulates it, as for `--control`; `nil` for a real lock.
    public var control: String?
    /// The firmware that it runs.
    public var firmware: String?
    /// The position in which a run leaves it.
    public var park = ParkPosition.locked
    /// The tags by which it can be selected.
    public var tags: [String] = []
    /// The names of the dongles that reach it; `nil` for all.
    public var dongles: [String]?
    /// The allowed stimuli, of those that need a permission.
    public var allow: [String] = []
    /// The limits that protect it.
    public var limits = LockLimits()
  }
}

extension Inventory {
  /// The lock with a name.
  public func lock(_ name: String) -> Lock? { locks.first { $0.name == name } }

  /// The dongle with a name.
  public func dongle(_ name: String) -> Dongle? { dongles.first { $0.name == name } }

  /// The switch of a dongle's power.
  public func powerSwitch(of dongle: Dongle) -> PowerSwitch? {
    dongle.power.flatMap { name in switches.first { $0.name == name } }
  }

  /// The dongles that reach a lock, in the order in which they are tried.
  ///
  /// A lock that this program emulates needs none.
  public func dongles(reaching lock: Lock) -> [Dongle] {
    guard case .file = lock.source else { return [] }
    guard let names = lock.dongles else { return dongles }
    return names.compactMap { dongle($0) }
  }

  /// The quarantine entry for a scenario on a lock; of several, the one that expires last.
  public func quarantine(of file: String, on lock: String) -> Quarantine? {
    quarantine.filter { $0.covers(scenario: file, on: lock) }.max { $0.expires < $1.expires }
  }
}

extension Inventory {
  /// The prefixes of emulated devices.
  static let emulatedKinds = ["emulator:", "driver:", "exec:"]
}
