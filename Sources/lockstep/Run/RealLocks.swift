import Conformance
import Emulator
import Harness
import Lab
import Sesame
import Simulation

extension DeviceSpec {
  /// Whether a governor stands between it and whoever drives it: a real lock, or one that is emulated here and driven as
  /// if it were real.
  var isGoverned: Bool {
    kind == .lock || kind == .emulator && settings.last { $0.name == "as" }?.value == LockRole.real.rawValue
  }
}

extension DeviceDescription {
  /// What is known of a real lock before it is used.
  ///
  /// - Parameter given: what is known of how it will be found.
  static func realLock(
    _ model: ProductModel, slack: Interval, given: [Argument], under settings: GovernorSettings
  ) -> DeviceDescription {
    typealias Lock = AirDevice<RadioCarrier, LoneLock<KeyInMemory>>
    let withheld = GovernedStimuli.names.filter { !settings.allowed.contains($0) }
    return DeviceDescription(
      family: model.generation == .os2 ? "sesame-os2" : "sesame-os3", machines: ["sesame"],
      abilities: Lock.abilities(
        stimuli: [], faults: [], settings: LoneLockFacts.settings, circumstances: LoneLockFacts.circumstances,
        slack: slack),
      readings: EmulatedDevice.lockReadings, given: given,
      withheld: withheld.map { ($0, "a real lock is given it only with --allow \($0)") })
  }
}

/// What needs to be allowed by name with a real lock.
enum GovernedStimuli {
  static let names = Governor<AirDevice<RadioCarrier, LoneLock<KeyInMemory>>>.guarded
}

/// Emulated locks that are driven exactly as real ones are, in virtual time: a governor counts and spares their motors,
/// nobody stands beside them, and each goes on from case to case as it is.
final class PlayedLocks {
  typealias Lock = Governor<AirDevice<RadioCarrier, LoneLock<KeyInMemory>>>

  private let settings: GovernorSettings
  private var locks: [(spec: DeviceSpec, lock: Lock)] = []

  init(_ settings: GovernorSettings) { self.settings = settings }

  /// The lock of a description; made, with a seed, for the first case that names it.
  func lock(
    _ spec: DeviceSpec, _ specification: EmulatedLockSpecification, seed: UInt64
  ) throws(LabFault) -> Lock {
    if let known = locks.first(where: { $0.spec == spec }) { return known.lock }
    let lock = try Self.lock(specification, settings, seed: seed)
    locks.append((spec, lock))
    return lock
  }

  /// Puts a lock on an emulated radio, in the condition in which it is found, and a governor before it.
  private static func lock(
    _ specification: EmulatedLockSpecification, _ settings: GovernorSettings, seed: UInt64
  ) throws(LabFault) -> Lock {
    let world = RadioWorld(specification, seed: seed)
    let key = try world.begin(specification.found.condition)
    let birth = specification.options.epoch
    let device = AirDevice(
      world.carrier, LoneLock(KeyInMemory(key)), target: .deviceID(world.deviceID),
      AirDeviceSettings(
        circumstances: LoneLockFacts.circumstances, slack: .zero, host: RadioWorld.clientHost,
        epoch: { birth &+ UInt32(truncatingIfNeeded: world.now.nanoseconds / 1_000_000_000) },
        secrets: { test in { SeededGenerator(seed: seed, for: "client of test \(test)") } }))
    let odometer = Odometer {
      BenchTime(
        wall: WallTime(nanoseconds: Int64(birth) * 1_000_000_000) + (world.now - .zero), boot: "emulated",
        uptime: world.now)
    }
    return Governor(device, settings, odometer)
  }

  /// Leaves each as it would be left on the air.
  func leave() -> Leave {
    var all = Leave()
    for (spec, lock) in locks { all.add(lock.leave(), of: spec.description) }
    return all
  }
}

extension Leave {
  /// Adds how one lock was left.
  mutating func add(
    _ one: (remarks: [String], left: LockLeave?, fault: LabFault?), of name: String
  ) {
    remarks += one.remarks
    if let left = one.left { locks.append((name, left)) }
    fault = fault ?? one.fault
  }

  /// Adds how others were left.
  mutating func add(_ other: Leave) {
    remarks += other.remarks
    locks += other.locks
    fault = fault ?? other.fault
  }
}
