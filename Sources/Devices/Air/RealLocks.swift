import Basics
import Bench
import Conformance
import Emulator
public import Harness

extension DeviceSpec {
  /// Whether it has an interlock: a real lock, or an emulated one that is used like a real one.
  public var isInterlocked: Bool {
    kind == .lock || kind == .emulator && settings.last { $0.name == "as" }?.value == LockRole.real.rawValue
  }
}

extension DeviceDescription {
  /// Returns what is known about a real lock of any family before it is used.
  ///
  /// - Parameters:
  ///   - name: The family of devices that can replace it in scenarios.
  ///   - machine: The machine of its model.
  ///   - abilities: Its abilities without start settings.
  ///   - readings: The values that it reports.
  ///   - isRegistered: Whether it has an owner, if the locks of its family have owners.
  ///   - isConfigured: Whether its positions are set; `nil` if unknown.
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
      safe.missingPermission(for: fault).map { "a real lock gets it only with --allow \($0)" }
    }
    description.usual = [UsualSetting(Argument("bolt", .text("locked")))]
    if let readHistory = family.name(of: .readHistory) {
      description.usual.append(UsualSetting(Argument("history", .text("empty")), with: readHistory))
    }
    return description
  }
}

extension InterlockSettings {
  /// Returns the same settings for a lock of a family.
  func of(_ family: LockFamily) -> InterlockSettings {
    var settings = self
    settings.family = family
    return settings
  }

  /// Returns the reason why a real lock may not receive a stimulus.
  fileprivate func reason(for stimulus: String) -> String {
    guard allowed.contains(stimulus) else { return "a real lock gets it only with --allow \(stimulus)" }
    guard let register = family.name(of: .register) else {
      return "a real lock does not get it, since nothing would give it an owner again"
    }
    return
      "a real lock gets it only with --allow \(register) too, so that it is not left without an owner"
  }
}

/// Emulated locks that are used exactly like real ones, in virtual time: an interlock counts and limits their
/// movements, they have no fixture, and they keep their state between cases.
final class SimulatedLocks {
  private let settings: InterlockSettings
  private var locks: [(spec: DeviceSpec, lock: any ManagedLock)] = []

  init(_ settings: InterlockSettings) { self.settings = settings }

  /// Returns the lock of a device specification; the first case that names the lock creates it, with a seed.
  func lock(
    _ spec: DeviceSpec, _ emulation: any RealLockEmulation, seed: UInt64
  ) throws(LabFault) -> any ManagedLock {
    if let known = locks.first(where: { $0.spec == spec }) { return known.lock }
    let lock = try another(emulation, seed: seed)
    locks.append((spec, lock))
    return lock
  }

  /// Returns a new lock that has not received any request.
  func another(_ emulation: any RealLockEmulation, seed: UInt64) throws(LabFault) -> any ManagedLock {
    try emulation.lock(under: settings, seed: seed)
  }

  /// Parks all locks, like real ones.
  func park() -> ParkReport {
    var all = ParkReport()
    for (spec, lock) in locks { all.add(lock.park(), of: spec.description) }
    return all
  }
}

extension ParkReport {
  /// Adds the result of parking one lock.
  mutating func add(
    _ one: (diagnostics: [String], left: ParkState?, fault: LabFault?), of name: String
  ) {
    diagnostics += one.diagnostics
    if let left = one.left { locks.append((name, left)) }
    fault = fault ?? one.fault
  }
}
