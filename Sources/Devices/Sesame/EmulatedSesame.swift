import Basics
import Bluetooth
import Conformance
import Emulator
import Harness
import LockFiles
import Sesame
import System

/// A Sesame for `emulate`, with its options and start conditions.
struct EmulatedSesameFactory: EmulationLockFactory {
  let lock: SesameEmulator
  /// Its options and start conditions.
  private var options: [DeviceSpec.Setting] = []
  private(set) var start = StartCondition()

  init(_ lock: SesameEmulator, _ settings: [DeviceSpec.Setting]) throws(DeviceProblem) {
    self.lock = lock
    for setting in settings {
      if LockPeripheral.startSettings.contains(setting.name) {
        start.settings.append(Argument(setting.name, Value(plain: setting.value)))
      } else {
        options.append(setting)
      }
    }
    _ = try specification()
    do {
      try EmulatedLockSpecification.check(start)
    } catch {
      throw DeviceProblem(.name, error.detail)
    }
  }

  /// Whether the start condition includes an owner: only a lock with an owner has positions.
  var hasOwner: Bool { start.flag("registered") ?? start.flag("configured") ?? false }

  /// Returns the specification of the lock, with additional options.
  func specification(_ more: [DeviceSpec.Setting] = []) throws(DeviceProblem) -> EmulatedLockSpecification {
    let specification = try lock.specification(options + more)
    guard specification.role == .emulated else {
      throw DeviceProblem(
        .value(of: "as"), "`as=real` is for commands that drive a lock, and this command emulates one")
    }
    guard specification.link == .direct else {
      throw DeviceProblem(.value(of: "link"), "`link=radio` has no effect on a lock that is on the air")
    }
    return specification
  }

  func makeLock(seed: UInt64, keyFile: String?) throws(DeviceProblem) -> any EmulationLock {
    try EmulatedSesame(self, seed: seed, keyFile: keyFile)
  }
}

/// An emulated Sesame, with its key in a file.
private final class EmulatedSesame: EmulationLock {
  private let choice: EmulatedSesameFactory
  private let seed: UInt64
  private let keyFile: String?
  private var peripheral: LockPeripheral
  /// The key in the key file.
  private var writtenKey: LockKey?
  private var isWritten = false

  init(_ choice: EmulatedSesameFactory, seed: UInt64, keyFile: String?) throws(DeviceProblem) {
    self.choice = choice
    self.seed = seed
    self.keyFile = keyFile
    if keyFile != nil { Secrecy.begin() }
    peripheral = LockPeripheral(try choice.specification(), seed: seed)
  }

  var announcement: EmulationAnnouncement {
    EmulationAnnouncement(
      name: choice.lock.name, address: peripheral.address.description,
      model: peripheral.specification.model.description, uuid: peripheral.ownerKey.deviceID.description,
      isRegistered: peripheral.key != nil, keyFile: keyFile)
  }
  var deadline: Instant? { peripheral.deadline }
  var trouble: String? { peripheral.failure?.description }

  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket] {
    var start = choice.start
    // Without the key, a client cannot use a lock with an owner.
    if keyFile == nil, !isControlled, !choice.hasOwner {
      start.settings.append(Argument("registered", .flag(false)))
    }
    let packets = peripheral.start(at: now)
    do {
      return packets + (try peripheral.prepare(start, at: now))
    } catch {
      throw EmulationFault("the lock refuses this start: \(error.detail)")
    }
  }

  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] { peripheral.receive(packet, at: now) }
  func advance(to now: Instant) -> [HCIPacket] { peripheral.advance(to: now) }
  func takeNotices() -> [LockNotice] { peripheral.takeNotices() }

  /// Writes the current key of the lock to the key file.
  func keep(_ report: any EmulationAudience) throws(EmulationFault) {
    guard !isWritten || peripheral.key != writtenKey else { return }
    (writtenKey, isWritten) = (peripheral.key, true)
    guard let keyFile else { return }
    let lock = SesameLock(
      model: peripheral.specification.model, deviceID: peripheral.ownerKey.deviceID, key: peripheral.key)
    let file = SesameLockFile(path: keyFile, address: peripheral.address, lock: lock)
    do {
      try moveAside(keyFile, for: file, report)
      try file.save()
    } catch {
      throw EmulationFault("the key is not kept: \(error)")
    }
  }

  /// Renames an existing file at the path of the key file if it is not of this lock: it may contain the only key of
  /// another lock.
  private func moveAside(
    _ path: String, for file: SesameLockFile, _ report: any EmulationAudience
  ) throws(FileFault) {
    guard let beginning = beginningOfFile(path, count: 1), !beginning.isEmpty else { return }
    let known = (try? LockFile(reading: path))?.lock as? SesameLock
    if let known, known.deviceID == file.lock.deviceID { return }
    var number = 1
    while fileKind("\(path).\(number)") != .missing { number += 1 }
    _ = try rename(path, to: "\(path).\(number)")
    report.say("what was \(path) is \(path).\(number) now: it is not of this lock")
  }

  func abilities(on air: any EmulatedAir) -> ControlAbilities {
    var abilities = LockPeripheral.ownAbilities
    abilities.conditions = peripheral.specification.channel.isFair ? air.conditions : ["loss"]
    return ControlAbilities(
      lock: choice.lock.name, options: EmulatedLockSpecification.settingNames, abilities)
  }

  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: JSON?, packets: [HCIPacket]) {
    var packets = try replaceLock(with: options, at: now)
    packets += try peripheral.prepare(start, at: now)
    return (peripheral.key.map { JSON(exposing: $0) }, packets)
  }

  func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?) {
    try peripheral.perform(stimulus, arguments, at: now)
  }

  func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket] {
    try peripheral.bring(about: fault, at: now)
  }

  /// Replaces the lock by one with the same name if the options differ.
  private func replaceLock(with options: [Argument], at now: Instant) throws(LabFault) -> [HCIPacket] {
    let specification: EmulatedLockSpecification
    do {
      specification = try choice.specification(
        options.map { DeviceSpec.Setting($0.name, $0.value.description) })
    } catch {
      throw LabFault(.notPossible, error.description)
    }
    guard specification != peripheral.specification else { return [] }
    peripheral = LockPeripheral(specification, seed: seed)
    return peripheral.start(at: now)
  }
}
