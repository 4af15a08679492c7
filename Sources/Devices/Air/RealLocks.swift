import Bench
import Conformance
import Emulator
public import Harness

extension DeviceSpec {
  /// Whether an interlock guards it: a real lock, or an emulated one that is used as if it were real.
  public var isInterlocked: Bool {
    kind == .lock || kind == .emulator && settings.last { $0.name == "as" }?.value == LockRole.real.rawValue
  }
}

extension DeviceDescription {
  /// What is known of a real lock before it is used, whatever its family.
  ///
  /// - Parameters:
  ///   - name: what of its family can stand in for it.
  ///   - machine: the machine that it is compared with.
  ///   - abilities: what it can serve, but for its starts.
  ///   - readings: the values that it reports.
  ///   - isRegistered: whether it has an owner, where its family may have none.
  ///   - isConfigured: whether its positions are set, where that is known.
  static func realLock(
    _ name: String?, machine: String, _ abilities: Abilities, readings: [String], isRegistered: Bool,
    isConfigured: Bool?, under settings: InterlockSettings
  ) -> DeviceDescription {
    let family = settings.family
    let safe = settings.safe
    var abilities = abilities
    abilities.settings = family.startSettings
    func isForbidden(_ request: LockFamily.Request) -> Bool {
      !(family.name(of: request).map(safe.allowed.contains) ?? false)
    }
    var given: [Argument] = []
    if family.hasOwners, isForbidden(isRegistered ? .reset : .register) {
      given.append(Argument("registered", .flag(isRegistered)))
    }
    if family.hasPositions, isRegistered, let isConfigured, isForbidden(isConfigured ? .reset : .configure) {
      given.append(Argument("configured", .flag(isConfigured)))
    }
    var description = DeviceDescription(
      family: name, machines: [machine], abilities: abilities, readings: readings, given: given,
      withheld: family.guarded.filter { !safe.allowed.contains($0) }.map { ($0, settings.reason(for: $0)) })
    description.reason = { fault in
      safe.missingPermission(for: fault).map { "a real lock is given it only with --allow \($0)" }
    }
    description.usual = [UsualSetting(Argument("bolt", .text("locked")))]
    if let readHistory = family.name(of: .readHistory) {
      description.usual.append(UsualSetting(Argument("history", .text("empty")), with: readHistory))
    }
    return description
  }
}

extension InterlockSettings {
  /// The same, for a lock of a family.
  func of(_ family: LockFamily) -> InterlockSettings {
    var settings = self
    settings.family = family
    return settings
  }

  /// Why a real lock is not given a stimulus.
  fileprivate func reason(for stimulus: String) -> String {
    guard allowed.contains(stimulus) else { return "a real lock is given it only with --allow \(stimulus)" }
    guard let register = family.name(of: .register) else {
      return "a real lock is not given it, since nothing would give it an owner again"
    }
    return
      "a real lock is given it only with --allow \(register) too, so that it is not left without an owner"
  }
}

/// Emulated locks that are used exactly like real ones, in virtual time: an interlock counts and limits their
/// movements, they have no fixture, and each keeps its state between cases.
final class SimulatedLocks {
  private let settings: InterlockSettings
  private var locks: [(spec: DeviceSpec, lock: any ManagedLock)] = []

  init(_ settings: InterlockSettings) { self.settings = settings }

  /// The lock of a description; made, with a seed, for the first case that names it.
  func lock(
    _ spec: DeviceSpec, _ emulation: any RealLockEmulation, seed: UInt64
  ) throws(LabFault) -> any ManagedLock {
    if let known = locks.first(where: { $0.spec == spec }) { return known.lock }
    let lock = try another(emulation, seed: seed)
    locks.append((spec, lock))
    return lock
  }

  /// Another lock of a description, of which nothing was asked yet.
  func another(_ emulation: any RealLockEmulation, seed: UInt64) throws(LabFault) -> any ManagedLock {
    try emulation.lock(under: settings, seed: seed)
  }

  /// Leaves each as it would be left on the air.
  func park() -> ParkReport {
    var all = ParkReport()
    for (spec, lock) in locks { all.add(lock.park(), of: spec.description) }
    return all
  }
}

extension ParkReport {
  /// Adds how one lock was left.
  mutating func add(
    _ one: (diagnostics: [String], left: ParkState?, fault: LabFault?), of name: String
  ) {
    diagnostics += one.diagnostics
    if let left = one.left { locks.append((name, left)) }
    fault = fault ?? one.fault
  }
}
