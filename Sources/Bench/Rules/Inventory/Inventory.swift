public import Basics

/// What a bench has: dongles, switches for their power, locks, and what of it is in quarantine.
///
/// It is read from a file, `bench.yaml`, by ``init(_:name:checks:)``. Names are people's: what a lock or a dongle *is*,
/// and by what two programs are kept from it, its own identity says.
public struct Inventory: Equatable, Sendable {
  /// What the bench is called.
  public var name: String
  /// The ways to controllers, in the order in which they are tried.
  public var dongles: [Dongle] = []
  /// What turns the power of dongles off and on.
  public var switches: [PowerSwitch] = []
  /// The locks.
  public var locks: [Lock] = []
  /// What is known to fail.
  public var quarantine: [Quarantine] = []
}

extension Inventory {
  /// A way to a controller.
  public struct Dongle: Equatable, Sendable {
    /// What people call it.
    public var name: String
    /// The transport, as `--transport` takes it: `usb:0A12:0001/SERIAL`, `usb:1-2.3`, `tcp-client:HOST:PORT`.
    public var transport: String
    /// The name of the switch of its power.
    public var power: String?
  }

  /// Commands that turn the power of a dongle off and on.
  public struct PowerSwitch: Equatable, Sendable {
    /// What people call it.
    public var name: String
    /// The command that turns it off.
    public var off: String
    /// The command that turns it on.
    public var on: String
    /// A command that ends with 0 while there is power; `nil` where nobody can tell.
    public var check: String?
    /// How long power needs to fall and to come back.
    public var settle = Interval.seconds(3)
    /// The folder that the commands run in; `nil` for where we are.
    public var folder: String?
  }

  /// A lock, and what may be asked of it.
  public struct Lock: Equatable, Sendable {
    /// How it is described.
    public enum Source: Equatable, Sendable {
      /// By the lock file at a path.
      case file(String)
      /// As a device that is played here: `emulator:sesame5?defect=deaf-unlock`, `driver:…?peripheral=…`, `exec:…`.
      case device(String)
    }

    /// What people call it.
    public var name: String
    /// How it is described.
    public var source: Source
    /// The socket of the emulator that plays it, as `--control` takes it; `nil` for a real lock.
    public var control: String?
    /// The firmware that it runs.
    public var firmware: String?
    /// Where it is left.
    public var park = ParkPosition.locked
    /// Words to select it by.
    public var tags: [String] = []
    /// The names of the dongles that reach it; `nil` for all.
    public var dongles: [String]?
    /// The stimuli that are allowed, of those that need to be allowed by name.
    public var allow: [String] = []
    /// What its motor, its battery and its door are owed.
    public var limits = LockLimits()
  }
}

extension Inventory {
  /// The lock of a name.
  public func lock(_ name: String) -> Lock? { locks.first { $0.name == name } }

  /// The dongle of a name.
  public func dongle(_ name: String) -> Dongle? { dongles.first { $0.name == name } }

  /// The switch of a dongle's power.
  public func powerSwitch(of dongle: Dongle) -> PowerSwitch? {
    dongle.power.flatMap { name in switches.first { $0.name == name } }
  }

  /// The dongles that reach a lock, in the order in which they are tried.
  ///
  /// A lock that this program plays itself needs none.
  public func dongles(reaching lock: Lock) -> [Dongle] {
    guard case .file = lock.source else { return [] }
    guard let names = lock.dongles else { return dongles }
    return names.compactMap { dongle($0) }
  }

  /// The entry about a scenario on a lock, of several the one that holds longest.
  public func quarantine(of file: String, on lock: String) -> Quarantine? {
    quarantine.filter { $0.covers(scenario: file, on: lock) }.max { $0.expires < $1.expires }
  }
}

extension Inventory {
  /// What a device begins with that is played here.
  static let playedKinds = ["emulator:", "driver:", "exec:"]
}
