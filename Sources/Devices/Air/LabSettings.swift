public import Bench
public import Basics
public import Harness

/// A lock's way and rules, checked.
public struct LabSettings {
  /// The ways to the client's controller, in the order in which they are tried.
  public var transports: [TransportChoice] = []
  /// Where the traffic with it is written down.
  public var capture: String?
  /// The socket of the emulator of the lock.
  public var control: String?
  /// What may be done to a real lock.
  public var interlock = InterlockSettings()
  /// The lock of an inventory, where it is one.
  public var lock: BenchLock?
  /// The place of a lab that is used, if one is.
  public var reservation: Reservation?
  /// How long what another process has is waited for.
  public var wait = Interval.zero

  /// Nothing is known of a lock, and no way leads to one.
  public init() {}
}

extension LabSettings {
  /// What is driven in place of the scenarios' own device, where that is a lock of an inventory.
  public var device: DeviceSpec? {
    guard let lock else { return nil }
    switch lock.lock.source {
    case .file: return DeviceSpec(.lock, lock.lock.name)
    case .device(let text): return try? DeviceSpec(text: text).placed(in: Path.folder(of: lock.bench.path))
    }
  }
}

extension LabSettings {
  /// How often the motor of a lock on the air may move in a run, unless somebody says otherwise.
  public static let usualActuations = 100

  /// What is known of a lock that is named, by whichever way it is reached.
  ///
  /// The motor of one that is emulated here does not wear: only what was asked for limits it.
  ///
  /// - Parameters:
  ///   - lock: the lock of an inventory, where it is one.
  ///   - isNamed: whether a real lock is meant: by the inventory, or by its own file.
  ///   - actuations: how often its motor may move.
  ///   - rest: where it is left.
  ///   - allowed: what needs to be allowed by name, and is.
  public init(
    of lock: BenchLock?, isNamed: Bool, actuations: Int? = nil, park: ParkPosition? = nil,
    allowing allowed: [String] = []
  ) {
    self.lock = lock
    let isOnTheAir = isNamed && lock?.isPlayed != true
    interlock = InterlockSettings(
      limits: lock?.lock.limits ?? .usual, budget: actuations ?? (isOnTheAir ? Self.usualActuations : nil),
      park: park ?? lock?.lock.park ?? .locked, allowed: allowed + (lock?.lock.allow ?? []))
  }
}
