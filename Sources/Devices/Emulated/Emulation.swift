public import Journal
import Bench
import System
import Bluetooth
import Conformance
public import Emulator
public import Harness
import Sesame
public import Basics

/// A lock as it is named for `emulate`: what it is, and how it starts.
public struct EmulatedLockChoice {
  let name: String
  /// Its options, and the conditions it starts in.
  private(set) var options: [DeviceSpec.Setting] = []
  private(set) var start = StartCondition()

  /// Reads `sesame5?defect=deaf-unlock&registered=no`.
  public init(_ text: String) throws(UsageError) {
    do throws(DeviceProblem) {
      let spec = try DeviceSpec(text: text)
      guard spec.kind == .emulator else {
        throw DeviceProblem(.name, "'\(text)' is no emulated lock")
      }
      name = spec.name
      for setting in spec.settings {
        if LockPeripheral.settings.contains(setting.name) {
          start.settings.append(Argument(setting.name, Value(plain: setting.value)))
        } else {
          options.append(setting)
        }
      }
      _ = try specification()
    } catch {
      throw UsageError(error.description)
    }
    do {
      try EmulatedLockSpecification.check(start)
    } catch {
      throw UsageError(error.detail)
    }
  }

  /// Whether it says that the lock has an owner: positions are an owner's.
  var hasOwner: Bool { start.flag("registered") ?? start.flag("configured") ?? false }

  /// What kind of lock it is, with more options.
  func specification(_ more: [DeviceSpec.Setting] = []) throws(DeviceProblem) -> EmulatedLockSpecification {
    let specification = try EmulatedDevice.specification(name, options + more)
    guard specification.role == .emulated else {
      throw DeviceProblem(.value(of: "as"), "`as=real` is for whoever drives a lock, and here one is played")
    }
    guard specification.link == .direct else {
      throw DeviceProblem(.value(of: "link"), "`link=radio` has no effect on a lock that is on the air")
    }
    return specification
  }
}

/// An emulated lock on the air in real time: its host, its environment and whoever asks for them.
public final class Emulation {
  private let choice: EmulatedLockChoice
  private let air: any EmulatedAir
  private let seed: UInt64
  private let control: ControlServer?
  private let keyFile: String?
  private let report: any EmulationAudience
  private var peripheral: LockPeripheral
  /// What the key file holds.
  private var writtenKey: LockKey?
  private var isAnnounced = false

  public init(
    _ choice: EmulatedLockChoice, on air: any EmulatedAir, seed: UInt64, control: ControlServer?,
    keyFile: String?, report: any EmulationAudience
  ) throws(DeviceProblem) {
    self.choice = choice
    self.air = air
    self.seed = seed
    self.control = control
    self.keyFile = keyFile
    if keyFile != nil { Secrecy.begin() }
    self.report = report
    peripheral = LockPeripheral(try choice.specification(), seed: seed)
  }

  /// Plays the lock until a moment, a signal or trouble.
  public func play(until limit: Instant) throws(EmulationFault) {
    try start()
    while !Interruption.isRequested, Waiting.now < limit {
      try step()
      try service()
      wait(until: limit)
    }
  }

  private func start() throws(EmulationFault) {
    var start = choice.start
    // A lock with an owner is of no use to who does not get the key.
    if keyFile == nil, control == nil, !choice.hasOwner {
      start.settings.append(Argument("registered", .flag(false)))
    }
    try send(peripheral.start(at: Waiting.now))
    let packets: [HCIPacket]
    do {
      packets = try peripheral.prepare(start, at: Waiting.now)
    } catch {
      throw EmulationFault("the lock cannot start so: \(error.detail)")
    }
    try send(packets)
    try keepKey()
  }

  private func wait(until limit: Instant) {
    let next = [air.deadline, peripheral.deadline].compactMap(\.self).min() ?? .never
    // Signals come between two looks at them, so none is waited for longer than this.
    let latest = min(limit, Waiting.now + .milliseconds(200))
    Waiting.wait(for: air.descriptors + (control?.descriptors ?? []), until: min(next, latest))
  }

  /// Moves packets and lets time pass.
  private func step() throws(EmulationFault) {
    try emulated { () throws(TransportFault) in try air.service() }
    while let packet = air.take() { try send(peripheral.receive(packet, at: Waiting.now)) }
    if let due = peripheral.deadline, due <= Waiting.now { try send(peripheral.advance(to: Waiting.now)) }
    for diagnostic in air.takeDiagnostics() { report.say(diagnostic) }
    for notice in peripheral.takeNotices() { tell(notice) }
    if let failure = peripheral.failure { throw EmulationFault(failure.description) }
    if control == nil, peripheral.key != writtenKey { try keepKey() }
  }

  private func tell(_ notice: LockNotice) {
    if case .ready = notice, !isAnnounced {
      isAnnounced = true
      report.announce(
        peripheral, as: choice.name, on: air.places, control: control?.path, keyFile: keyFile)
    } else {
      report.tell(notice)
    }
  }

  private func send(_ packets: [HCIPacket]) throws(EmulationFault) {
    for packet in packets { try emulated { () throws(TransportFault) in try air.send(packet) } }
  }

  /// Puts aside what is at the place of the key file and is not of this lock: it may be the only key to another one.
  private func spare(_ path: String, for file: SesameLockFile) throws(FileFault) {
    guard let beginning = beginningOfFile(path, count: 1), !beginning.isEmpty else { return }
    if case .sesame(let known) = (try? LockFile(reading: path))?.kind,
      known.deviceID == file.lock.deviceID
    {
      return
    }
    var number = 1
    while fileKind("\(path).\(number)") != .missing { number += 1 }
    _ = try rename(path, to: "\(path).\(number)")
    report.say("what was \(path) is \(path).\(number) now: it is not of this lock")
  }

  /// Writes the key that the lock is registered with now.
  private func keepKey() throws(EmulationFault) {
    writtenKey = peripheral.key
    guard let keyFile else { return }
    let lock = SesameLock(
      model: peripheral.specification.model, deviceID: peripheral.ownerKey.deviceID, key: peripheral.key)
    let file = SesameLockFile(path: keyFile, address: peripheral.address, lock: lock)
    do {
      try spare(keyFile, for: file)
      try file.save()
    } catch {
      throw EmulationFault("the key is not kept: \(error)")
    }
  }
}

/// Why an emulated lock is not on the air any more.
public struct EmulationFault: Error {
  public var text: String
  public init(_ text: String) { self.text = text }
}

/// Does what an emulated lock is on the air by; what fails there is why it is not.
///
/// - Parameter advice: what follows on the failure in words.
public func emulated<Result, Failure: CustomStringConvertible>(
  _ advice: String = "", _ body: () throws(Failure) -> Result
) throws(EmulationFault) -> Result {
  do { return try body() } catch { throw EmulationFault(error.description + advice) }
}

// MARK: - Control

extension Emulation {
  private func service() throws(EmulationFault) {
    guard let control else { return }
    for (client, request) in control.service() {
      let outcome: Result<(ControlAnswer, [HCIPacket]), LabFault>
      do {
        outcome = .success(try carryOut(request))
      } catch {
        outcome = .failure(error)
      }
      switch outcome {
      case .success((let answer, let packets)):
        // What was asked for has begun when it is answered.
        try send(packets)
        control.answer(client, answer)
      case .failure(let fault): control.answer(client, .refused(fault.detail))
      }
    }
  }

  private func carryOut(_ request: ControlRequest) throws(LabFault) -> (ControlAnswer, [HCIPacket]) {
    let now = Waiting.now
    switch request {
    case .abilities:
      return (.abilities(abilities), [])
    case .prepare(let start, let options):
      var packets = try become(options)
      packets += try peripheral.prepare(start, at: now)
      return (.prepared(peripheral.key), packets)
    case .stimulus(let name, let arguments):
      return (.done, try peripheral.perform(name, arguments, at: now))
    case .fault(let fault):
      return (.done, try peripheral.bring(about: fault, at: now))
    }
  }

  /// Makes another lock of the same name, if the options are others.
  private func become(_ options: [Argument]) throws(LabFault) -> [HCIPacket] {
    let specification: EmulatedLockSpecification
    do {
      specification = try choice.specification(
        options.map { DeviceSpec.Setting($0.name, $0.value.description) })
    } catch {
      throw LabFault(.notPossible, error.description)
    }
    guard specification != peripheral.specification else { return [] }
    peripheral = LockPeripheral(specification, seed: seed)
    return peripheral.start(at: Waiting.now)
  }

  private var abilities: ControlAbilities {
    let channel = peripheral.specification.channel
    return ControlAbilities(
      lock: choice.name, stimuli: LockPeripheral.stimuli, faults: LockPeripheral.faults,
      settings: LockPeripheral.settings, options: EmulatedLockSpecification.settingNames,
      conditions: channel.isFair ? air.conditions : ["loss"])
  }
}

/// Who is told of an emulated lock.
public protocol EmulationAudience: AnyObject {
  /// The lock is on the air.
  func announce(
    _ lock: LockPeripheral, as name: String, on places: [String], control: String?, keyFile: String?)
  /// Something happened to it.
  func tell(_ notice: LockNotice)
  /// Something happened on the way to it.
  func say(_ diagnostic: String)
}
