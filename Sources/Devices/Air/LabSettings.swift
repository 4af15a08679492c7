public import Bench
public import Basics
import Conformance
public import Harness
import LockFiles

/// The transports and rules of a lock, after validation.
public struct LabSettings {
  /// The transports to the client's controller, in order of preference.
  public var transports: [TransportChoice] = []
  /// The path of the capture of its traffic.
  public var capture: String?
  /// The control socket of the lock's emulator.
  public var control: String?
  /// The rules for a real lock.
  public var interlock = InterlockSettings(of: .usual)
  /// The lock, if it is in an inventory.
  public var lock: BenchLock?
  /// The reservation of a lab place, if there is one.
  public var reservation: Reservation?
  /// The maximum time to wait for a resource that another process uses.
  public var wait = Interval.zero

  /// Creates settings without a lock and without a transport.
  public init() {}
}

extension LabSettings {
  /// The device that replaces that of the scenarios, if the lock is in an inventory.
  public var device: DeviceSpec? {
    guard let lock else { return nil }
    switch lock.lock.source {
    case .file: return DeviceSpec(.lock, lock.lock.name)
    case .device(let text): return try? DeviceSpec(text: text).placed(in: Path.folder(of: lock.bench.path))
    }
  }
}

extension LabSettings {
  /// The default limit on the motor movements of a real lock in a run.
  public static let usualActuations = 100

  /// Creates the settings of a named lock, whatever its transport.
  ///
  /// The motor of an emulated lock does not wear out: only explicit limits apply to it.
  ///
  /// - Parameters:
  ///   - lock: The lock in the inventory, if it is there.
  ///   - isNamed: Whether the user named the lock: in the inventory, or by its own file.
  ///   - actuations: The maximum number of motor movements.
  ///   - park: Its park position.
  ///   - allowed: The stimuli that the user allowed by name.
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
