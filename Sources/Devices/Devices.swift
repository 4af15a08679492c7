import System
import Bench
public import Conformance
public import Harness
package import Programs
import Basics

/// All devices: emulated ones by name, programs, and locks on the air.
public final class Devices: DeviceProvider {
  /// The programs that act as devices, as drivers or as peripherals.
  private let programs: ProgramPool
  private let known = EmulatedDevice.all
  /// The real locks, and those that another program emulates.
  public let bench: LockBench
  /// The emulated locks that are used like real ones.
  private let simulated: SimulatedLocks
  private let interlock: InterlockSettings
  /// The reservation of the locks' lab place, if there is one.
  private let reservation: Reservation?
  /// Captures the links of cases, if requested.
  public var captures: CaseCaptures?
  /// The device of a campaign whose link is captured, with its captures.
  private var watched: (spec: DeviceSpec, captures: CaseCaptures)?
  /// Stores the programs' output other than their answers, if requested.
  package var output: ProgramOutput? { didSet { programs.output = output } }

  init(answerTimeout: Interval = .seconds(5), lab: LabSettings = LabSettings()) {
    programs = ProgramPool(answerTimeout: answerTimeout)
    bench = LockBench(lab, programs: programs)
    simulated = SimulatedLocks(lab.interlock)
    interlock = lab.interlock
    reservation = lab.reservation
  }

  /// Closes the locks on the air, and ends all programs.
  public func shutDown() { bench.shutDown() }

  public func park() -> ParkReport {
    guard let reservation, let fault = reservation.fault else {
      var park = bench.park()
      park.add(simulated.park())
      park.diagnostics += programs.takeFinalDiagnostics()
      return park
    }
    // A lock whose place is free is still parked; otherwise the new holder of the place decides.
    var park = ParkReport()
    if reservation.isTaken() {
      park.diagnostics = ["the lock is left as it is"]
    } else {
      park = bench.park()
    }
    park.diagnostics.insert("the place was lost: \(fault.detail)", at: 0)
    park.fault = fault
    return park
  }

  public var emulators: [String] { known.map(\.name) }

  public func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    switch spec.kind {
    case .exec:
      let program = programs.device(spec.name)
      if let fault = program.misunderstanding { throw DeviceProblem(.name, fault.detail) }
      var description = DeviceDescription(
        family: nil, machines: nil, abilities: program.abilities, readings: program.readings)
      description.moving = program.moving
      return description
    case .driver: return try programs.describe(spec)
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
    if let real = try emulated.lock?.realLock(spec.settings) { return real.description(under: interlock) }
    return DeviceDescription(
      family: emulated.family, machines: emulated.machines,
      abilities: try emulated.make(spec.settings, 0).abilities, readings: emulated.readings)
  }

  public func usualDevice(of machine: String) -> DeviceSpec? {
    EmulatedDevice.usual(of: machine).map { DeviceSpec(.emulator, $0.name) }
  }

  public func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    captures?.begin(isInRealTime: spec.kind == .lock)
    var device = try make(spec, seed: seed)
    if let reservation { device = reserved(device, reservation) }
    let own = captures ?? (watched?.spec == spec ? watched?.captures : nil)
    return own?.recorded(device) ?? device
  }

  /// Returns a capture of the link to a campaign's device, which must be made afterwards.
  ///
  /// This is only for a device that all tests share: no other capture contains the packets of a finding.
  ///
  /// - Parameter folder: The folder of the run.
  public func watchLink(of spec: DeviceSpec, in folder: String) -> (any LinkWatch)? {
    guard spec.isInterlocked else { return nil }
    let watch = CaptureWatch(in: folder, isInRealTime: spec.kind == .lock)
    watched = (spec, watch.captures)
    return watch
  }

  /// Returns another device of a specification. Each program runs only once: for it, this is the same program,
  /// restarted.
  public func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)? {
    if spec.kind == .exec || spec.kind == .driver {
      var program = try device(spec, seed: seed)
      try program.restart()
      return program
    }
    guard spec.kind == .emulator, let real = try? emulated(spec.name).lock?.realLock(spec.settings) else {
      return nil
    }
    captures?.begin(isInRealTime: false)
    let lock = try simulated.another(real, seed: seed)
    let another = reservation.map { reserved(lock, $0) } ?? lock
    return captures?.recorded(another) ?? another
  }

  private func make(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    if let fault = reservation?.fault { throw fault }
    if spec.kind == .lock { return try bench.device(spec) }
    if spec.kind != .lock { try bench.check() }
    if spec.kind == .driver {
      output?.begin()
      return try programs.device(spec, seed: seed)
    }
    let realLock: any RealLockEmulation
    if spec.kind == .exec {
      let program = programs.device(spec.name)
      program.seed = seed
      output?.begin()
      return program
    }
    do throws(DeviceProblem) {
      let emulated = try emulated(spec.name)
      guard let real = try emulated.lock?.realLock(spec.settings) else {
        return try emulated.make(spec.settings, seed)
      }
      realLock = real
    } catch {
      throw LabFault(.noDevice, error.description)
    }
    return try simulated.lock(spec, realLock, seed: seed)
  }

  private func reserved<Device: DeviceUnderTest>(
    _ device: Device, _ reservation: Reservation
  ) -> any DeviceUnderTest { ReservedDevice(device) { reservation.fault } }

  private func emulated(_ name: String) throws(DeviceProblem) -> EmulatedDevice {
    guard let found = known.first(where: { $0.name == name }) else {
      throw .unknown(.name, "device", name, of: emulators)
    }
    return found
  }
}
