import Bench
import SesameDevice
import Conformance
import Emulator
public import Harness
import Sesame
import Basics

extension DeviceSpec {
  /// Whether a governor stands between it and whoever drives it: a real lock, or one that is emulated here and driven as
  /// if it were real.
  public var isGoverned: Bool {
    kind == .lock || kind == .emulator && settings.last { $0.name == "as" }?.value == LockRole.real.rawValue
  }
}

extension DeviceDescription {
  /// What is known of a real lock before it is used.
  ///
  /// - Parameters:
  ///   - isRegistered: whether its key is known.
  ///   - isConfigured: whether its positions are set, where that is known.
  static func realLock(
    _ model: ProductModel, slack: Interval, isRegistered: Bool, isConfigured: Bool?,
    under settings: GovernorSettings
  ) -> DeviceDescription {
    let allowed = settings.safe.allowed
    var given: [Argument] = []
    if !allowed.contains(isRegistered ? "reset" : "register") {
      given.append(Argument("registered", .flag(isRegistered)))
    }
    if isRegistered, let isConfigured, !allowed.contains(isConfigured ? "reset" : "configure") {
      given.append(Argument("configured", .flag(isConfigured)))
    }
    var description = DeviceDescription(
      family: model.generation == .os2 ? "sesame-os2" : "sesame-os3", machines: ["sesame"],
      abilities: PlayedLocks.Device.abilities(
        stimuli: [], faults: [], settings: RealAir.settings, circumstances: RealAir.circumstances,
        slack: slack),
      readings: EmulatedDevice.lockReadings, given: given,
      withheld: GovernedStimuli.names.filter { !allowed.contains($0) }.map { name in
        let isUnsafe = settings.allowed.contains(name)
        let words = isUnsafe ? "register too, so that it is not left without an owner" : name
        return (name, "a real lock is given it only with --allow \(words)")
      })
    let safe = settings.safe
    description.reason = { fault in
      safe.missingPermission(for: fault).map { "a real lock is given it only with --allow \($0)" }
    }
    description.usual = [
      UsualSetting(Argument("bolt", .text("locked"))),
      UsualSetting(Argument("history", .text("empty")), with: "readHistory"),
    ]
    return description
  }
}

/// What needs to be allowed by name with a real lock.
public enum GovernedStimuli {
  public static let names = Governor<PlayedLocks.Device>.guarded
}

/// Emulated locks that are driven exactly as real ones are, in virtual time: a governor counts and spares their motors,
/// nobody stands beside them, and each goes on from case to case as it is.
final class PlayedLocks {
  typealias Device = AirDevice<RadioWorld, LoneLock<KeyInMemory>>
  typealias Lock = RealLock<Device>

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

  /// Another lock of a description, of which nothing was asked yet.
  func another(_ specification: EmulatedLockSpecification, seed: UInt64) throws(LabFault) -> Lock {
    try Self.lock(specification, settings, seed: seed)
  }

  /// Puts a lock on an emulated radio, in the condition in which it is found, and a governor before it.
  private static func lock(
    _ specification: EmulatedLockSpecification, _ settings: GovernorSettings, seed: UInt64
  ) throws(LabFault) -> Lock {
    let world = RadioWorld(specification, seed: seed)
    let key = try world.prepare(specification.found.condition)
    let birth = specification.options.epoch
    var air = AirDeviceSettings(
      circumstances: RealAir.circumstances, slack: .zero, host: RadioWorld.clientHost,
      epoch: { birth &+ UInt32(truncatingIfNeeded: world.now.nanoseconds / 1_000_000_000) },
      secrets: { test in { SeededGenerator(seed: seed, for: "client of test \(test)") } })
    air.numbersRecordsFromOne = true
    let device = AirDevice(
      world, LoneLock(KeyInMemory(key)), target: .deviceID(world.deviceID), air)
    let odometer = Odometer {
      BenchTime(
        wall: WallTime(nanoseconds: Int64(birth) * 1_000_000_000) + (world.now - .zero), boot: "emulated",
        uptime: world.now)
    }
    return RealLock(
      device, settings, odometer,
      positions: SesameDisturbances.positionsWithoutAHand(of: specification.model))
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
