public import Bench
public import Basics
import Conformance
public import Harness
import LockFiles

/// A lock's way and rules, checked.
public struct LabSettings {
  /// The ways to the client's controller, in the order in which they are tried.
  public var transports: [TransportChoice] = []
  /// Where the traffic with it is written down.
  public var capture: String?
  /// The socket of the emulator of the lock.
  public var control: String?
  /// What may be done to a real lock.
  public var interlock = InterlockSettings(of: .usual)
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
  /// The default limit on the motor movements of a lock on the air in a run.
  public static let usualActuations = 100

  /// Makes the settings of a named lock, however it is reached.
  ///
  /// The motor of an emulated lock does not wear: only explicit limits apply to it.
  ///
  /// - Parameters:
  ///   - lock: the lock in the inventory, if it is there.
  ///   - isNamed: whether it is a real lock: named in the inventory, or by its own file.
  ///   - actuations: how often its motor may move.
  ///   - rest: its park position.
  ///   - allowed: the stimuli that were allowed by name.
  public init(
    of lock: BenchLock?, isNamed: Bool, actuations: Int? = nil, park: ParkPosition? = nil,
    allowing allowed: [String] = []
  ) {
    self.lock = lock
    let isOnTheAir = isNamed && lock?.isEmulated != true
    interlock = InterlockSettings(
      of: .usual, limits: lock?.lock.limits ?? .usual,
      budget: actuations ?? (isOnTheAir ? Self.usualActuations : nil),
      park: park ?? lock?.lock.park ?? .locked, allowed: allowed + (lock?.lock.allow ?? []))
  }
}
