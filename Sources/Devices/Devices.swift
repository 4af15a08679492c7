import System
import Bench
public import Conformance
import Emulator
public import Harness
import Basics

/// The devices that there are: emulated ones by name, any program, and locks on the air.
public final class Devices: DeviceProvider {
  private let answerTimeout: Interval
  /// Programs go on from case to case; each command has one.
  private var programs: [String: ExecDevice] = [:]
  private let known = EmulatedDevice.all
  /// Real locks, and those that another program emulates.
  public let bench: LockBench
  /// Emulated locks that are driven as real ones.
  private let played: PlayedLocks
  private let governor: GovernorSettings
  /// The place of a lab that locks stand at, if they do.
  private let reservation: Reservation?
  /// Who keeps what went over the links of cases, if somebody does.
  public var captures: CaseCaptures?

  init(answerTimeout: Interval = .seconds(5), lab: LabSettings = LabSettings()) {
    self.answerTimeout = answerTimeout
    bench = LockBench(lab)
    played = PlayedLocks(lab.governor)
    governor = lab.governor
    reservation = lab.reservation
  }

  /// Lets every program end, and ends those that do not.
  public func shutDown() {
    for command in programs.keys.sorted() { programs[command]?.shutDown() }
    programs = [:]
    bench.shutDown()
  }

  public func leave() -> Leave {
    guard let reservation, let fault = reservation.fault else {
      var leave = bench.leave()
      leave.add(played.leave())
      return leave
    }
    // Where nobody else holds the place, the lock is still brought to rest; where somebody does, how it is left is up to
    // him.
    var leave = Leave()
    if reservation.isTaken() { leave.remarks = ["the lock is left as it is"] } else { leave = bench.leave() }
    leave.remarks.insert("the place was lost: \(fault.detail)", at: 0)
    leave.fault = fault
    return leave
  }

  public var emulators: [String] { known.map(\.name) }

  public func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    switch spec.kind {
    case .exec:
      return DeviceDescription(
        family: nil, machines: nil, abilities: ExecDevice(command: spec.name).abilities)
    case .emulator:
      let emulated = try emulated(spec.name)
      var description = try describe(emulated, spec)
      description.options = emulated.options
      description.firmware = emulated.firmware
      return description
    case .lock:
      return try bench.describe(spec.name)
    }
  }

  private func describe(
    _ emulated: EmulatedDevice, _ spec: DeviceSpec
  ) throws(DeviceProblem) -> DeviceDescription {
    guard let real = try emulated.realLock(spec.settings) else {
      return DeviceDescription(
        family: emulated.family, machines: emulated.machines,
        abilities: try emulated.make(spec.settings, 0).abilities, readings: emulated.readings)
    }
    let isRegistered = real.found != .unregistered
    let isConfigured = isRegistered && real.found != .unconfigured
    return .realLock(
      real.model, slack: .zero, isRegistered: isRegistered, isConfigured: isConfigured, under: governor)
  }

  public func usualDevice(of machine: String) -> DeviceSpec? {
    let usual = machine == "sesame" ? "sesame5" : known.first { $0.machines.first == machine }?.name
    return usual.map { DeviceSpec(.emulator, $0) }
  }

  public func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    captures?.begin(isInRealTime: spec.kind == .lock)
    var device = try make(spec, seed: seed)
    if let reservation { device = reserved(device, reservation) }
    return captures?.recorded(device) ?? device
  }

  public func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)? {
    guard spec.kind == .emulator, let specification = try? emulated(spec.name).realLock(spec.settings) else {
      return nil
    }
    let lock = try played.another(specification, seed: seed)
    return reservation.map { reserved(lock, $0) } ?? lock
  }

  private func make(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    if let fault = reservation?.fault { throw fault }
    if spec.kind == .lock { return try bench.device(spec) }
    if spec.kind == .emulator { try bench.check() }
    let realLock: EmulatedLockSpecification
    if spec.kind == .exec {
      if let program = programs[spec.name] { return program }
      let program = ExecDevice(
        command: spec.name, answerTimeout: answerTimeout, isStopped: { Interruption.isHeard })
      programs[spec.name] = program
      return program
    }
    do throws(DeviceProblem) {
      let emulated = try emulated(spec.name)
      guard let real = try emulated.realLock(spec.settings) else {
        return try emulated.make(spec.settings, seed)
      }
      realLock = real
    } catch {
      throw LabFault(.noDevice, error.description)
    }
    return try played.lock(spec, realLock, seed: seed)
  }

  private func reserved<Device: DeviceUnderTest>(
    _ device: Device, _ reservation: Reservation
  ) -> any DeviceUnderTest { ReservedDevice(device, reservation) }

  private func emulated(_ name: String) throws(DeviceProblem) -> EmulatedDevice {
    guard let found = known.first(where: { $0.name == name }) else {
      throw .unknown(.name, "device", name, of: emulators)
    }
    return found
  }
}
