public import Journal
import LockFiles
import Bench
import System
import Bluetooth
import Conformance
public import Emulator
public import Harness
package import Programs
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
        if LockPeripheral.startSettings.contains(setting.name) {
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

/// A lock that is emulated on the air, by our emulator or by a program.
///
/// It receives the controller's packets and the time, and returns the packets for the controller, in order.
protocol PlayedLock: AnyObject {
  /// The announcement to print once it is on the air.
  var announcement: EmulationAnnouncement { get }
  /// When ``advance(to:)`` has something to do at the latest.
  var deadline: Instant? { get }
  /// Why it cannot continue; `nil` if it can.
  var trouble: String? { get }

  /// Puts it on the air in its usual condition.
  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket]
  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket]
  func advance(to now: Instant) -> [HCIPacket]
  func takeNotices() -> [LockNotice]
  /// Stores what has changed, for the user.
  func keep(_ report: any EmulationAudience) throws(EmulationFault)

  // What can be asked of it over a control socket.
  func abilities(on air: any EmulatedAir) -> ControlAbilities
  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: LockKey?, packets: [HCIPacket])
  func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?)
  func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket]
}

/// The announcement of a lock that is on the air.
public struct EmulationAnnouncement {
  /// The name of the emulator, or the command of the program.
  public var name: String
  /// Where it advertises.
  public var address: String
  /// The product, the UUID and whether it has an owner, of a lock of ours.
  public var model: String?
  public var uuid: String?
  public var isRegistered: Bool?
  /// How others reach it, the control socket and the file with its key.
  public var places: [String] = []
  public var control: String?
  public var keyFile: String?
}

/// Our emulated lock, with its key in a file.
final class PlayedEmulator: PlayedLock {
  private let choice: EmulatedLockChoice
  private let seed: UInt64
  private let keyFile: String?
  private var peripheral: LockPeripheral
  /// What the key file holds.
  private var writtenKey: LockKey?
  private var isWritten = false

  init(_ choice: EmulatedLockChoice, seed: UInt64, keyFile: String?) throws(DeviceProblem) {
    self.choice = choice
    self.seed = seed
    self.keyFile = keyFile
    if keyFile != nil { Secrecy.begin() }
    peripheral = LockPeripheral(try choice.specification(), seed: seed)
  }

  var announcement: EmulationAnnouncement {
    EmulationAnnouncement(
      name: choice.name, address: peripheral.address.description,
      model: peripheral.specification.model.description, uuid: peripheral.ownerKey.deviceID.description,
      isRegistered: peripheral.key != nil, keyFile: keyFile)
  }
  var deadline: Instant? { peripheral.deadline }
  var trouble: String? { peripheral.failure?.description }

  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket] {
    var start = choice.start
    // A lock with an owner is useless to a client without the key.
    if keyFile == nil, !isControlled, !choice.hasOwner {
      start.settings.append(Argument("registered", .flag(false)))
    }
    let packets = peripheral.start(at: now)
    do {
      return packets + (try peripheral.prepare(start, at: now))
    } catch {
      throw EmulationFault("the lock cannot start so: \(error.detail)")
    }
  }

  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] { peripheral.receive(packet, at: now) }
  func advance(to now: Instant) -> [HCIPacket] { peripheral.advance(to: now) }
  func takeNotices() -> [LockNotice] { peripheral.takeNotices() }

  /// Writes the key that the lock is registered with now.
  func keep(_ report: any EmulationAudience) throws(EmulationFault) {
    guard !isWritten || peripheral.key != writtenKey else { return }
    (writtenKey, isWritten) = (peripheral.key, true)
    guard let keyFile else { return }
    let lock = SesameLock(
      model: peripheral.specification.model, deviceID: peripheral.ownerKey.deviceID, key: peripheral.key)
    let file = SesameLockFile(path: keyFile, address: peripheral.address, lock: lock)
    do {
      try spare(keyFile, for: file, report)
      try file.save()
    } catch {
      throw EmulationFault("the key is not kept: \(error)")
    }
  }

  /// Puts aside what is at the place of the key file and is not of this lock: it may be the only key to another one.
  private func spare(
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
      lock: choice.name, options: EmulatedLockSpecification.settingNames, abilities)
  }

  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: LockKey?, packets: [HCIPacket]) {
    var packets = try become(options, at: now)
    packets += try peripheral.prepare(start, at: now)
    return (peripheral.key, packets)
  }

  func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?) {
    try peripheral.perform(stimulus, arguments, at: now)
  }

  func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket] {
    try peripheral.bring(about: fault, at: now)
  }

  /// Makes another lock of the same name, if the options are others.
  private func become(_ options: [Argument], at now: Instant) throws(LabFault) -> [HCIPacket] {
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

extension ProgramPeripheral: PlayedLock {
  var announcement: EmulationAnnouncement {
    EmulationAnnouncement(
      name: name, address: address.description)
  }
  var trouble: String? { fault?.description ?? failure?.description }

  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket] {
    do {
      let packets = try prepare(StartCondition(), at: now)
      // A program may take its time to start: the controller is asked after that, or its answer would be late.
      return packets + start(at: Waiting.now)
    } catch {
      throw EmulationFault(error.description)
    }
  }

  /// Nothing: what opens it is its program's affair.
  func keep(_ report: any EmulationAudience) {}

  func abilities(on air: any EmulatedAir) -> ControlAbilities {
    var abilities = abilities
    // On any controller, what is done to its link is done to the air alone.
    abilities.conditions = air.conditions + abilities.conditions.filter { !air.conditions.contains($0) }
    return ControlAbilities(
      lock: name, options: [], abilities, readings: readings)
  }

  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: LockKey?, packets: [HCIPacket]) {
    if let option = options.first {
      throw LabFault(.notPossible, "the lock of a program has no option '\(option.name)'")
    }
    return (nil, try prepare(start, at: now))
  }
}

/// A lock on the air in real time: its host, its environment and its control clients.
public final class Emulation {
  private let air: any EmulatedAir
  private let control: ControlServer?
  private let report: any EmulationAudience
  private let played: any PlayedLock
  private var isAnnounced = false

  private init(
    _ played: any PlayedLock, on air: any EmulatedAir, control: ControlServer?,
    report: any EmulationAudience
  ) {
    self.played = played
    self.air = air
    self.control = control
    self.report = report
  }

  /// Puts a lock of ours on the air.
  public convenience init(
    _ choice: EmulatedLockChoice, on air: any EmulatedAir, seed: UInt64, control: ControlServer?,
    keyFile: String?, report: any EmulationAudience
  ) throws(DeviceProblem) {
    let played = try PlayedEmulator(choice, seed: seed, keyFile: keyFile)
    self.init(played, on: air, control: control, report: report)
  }

  /// Puts the lock of a program on the air.
  package convenience init(
    _ program: PlayedProgram, on air: any EmulatedAir, seed: UInt64, control: ControlServer?,
    report: any EmulationAudience
  ) {
    let played = program.lock(seed: seed) { report.say("lock: \($0)") }
    self.init(played, on: air, control: control, report: report)
  }

  /// Emulates the lock until a deadline, a signal or a failure.
  public func play(until limit: Instant) throws(EmulationFault) {
    try send(played.begin(at: Waiting.now, isControlled: control != nil))
    try played.keep(report)
    while !Interruption.isRequested, Waiting.now < limit {
      try step()
      try service()
      wait(until: limit)
    }
  }

  private func wait(until limit: Instant) {
    let next = [air.deadline, played.deadline].compactMap(\.self).min() ?? .never
    // Signals come between two looks at them, so none is waited for longer than this.
    let latest = min(limit, Waiting.now + .milliseconds(200))
    Waiting.wait(for: air.descriptors + (control?.descriptors ?? []), until: min(next, latest))
  }

  /// Moves packets and lets time pass.
  private func step() throws(EmulationFault) {
    try emulated { () throws(TransportFault) in try air.service() }
    while let packet = air.take() { try send(played.receive(packet, at: Waiting.now)) }
    if let due = played.deadline, due <= Waiting.now { try send(played.advance(to: Waiting.now)) }
    for diagnostic in air.takeDiagnostics() { report.say(diagnostic) }
    tellNotices()
    if let trouble = played.trouble { throw EmulationFault(trouble) }
    if control == nil { try played.keep(report) }
  }

  private func tellNotices() {
    for notice in played.takeNotices() {
      if case .shown(let line) = notice, let json = try? JSON(parsing: Array(line.utf8)) {
        control?.show(json)
      }
      tell(notice)
    }
  }

  private func tell(_ notice: LockNotice) {
    guard case .ready = notice, !isAnnounced else { return report.tell(notice) }
    isAnnounced = true
    var announcement = played.announcement
    announcement.places = air.places
    announcement.control = control?.path
    report.announce(announcement)
  }

  private func send(_ packets: [HCIPacket]) throws(EmulationFault) {
    for packet in packets { try emulated { () throws(TransportFault) in try air.send(packet) } }
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
      // Events before a test's preparation are reported before it, initial ones after it.
      tellNotices()
      if case .watch = request { control.watch(client) }
      let outcome: Result<(ControlAnswer, [HCIPacket]), LabFault>
      do {
        outcome = .success(try carryOut(request))
      } catch {
        outcome = .failure(error)
      }
      if case .prepare = request {} else { tellNotices() }
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
    case .watch: return (.done, [])
    case .abilities: return (.abilities(played.abilities(on: air)), [])
    case .prepare(let start, let options):
      let (key, packets) = try played.prepare(start, options, at: now)
      return (.prepared(key), packets)
    case .stimulus(let name, let arguments):
      let (packets, refusal) = try played.perform(name, arguments, at: now)
      guard let refusal else { return (.done, packets) }
      throw LabFault(.notPossible, "the peripheral refuses '\(name)': \(refusal)")
    case .fault(let fault): return (.done, try played.bring(about: fault, at: now))
    }
  }
}

/// Receives the events of an emulated lock.
public protocol EmulationAudience: AnyObject {
  /// The lock is on the air.
  func announce(_ announcement: EmulationAnnouncement)
  /// Something happened to it.
  func tell(_ notice: LockNotice)
  /// Something happened on its transport.
  func say(_ diagnostic: String)
}

extension PlayedProgram {
  /// Reads `peripheral:COMMAND`, starts the program and greets it; `nil` for what names no program.
  package static func named(_ text: String) throws(UsageError) -> PlayedProgram? {
    let kind = "peripheral:"
    guard text.hasPrefix(kind) else { return nil }
    let command = String(text.dropFirst(kind.count))
    guard !command.isEmpty else { throw UsageError("nothing stands after 'peripheral:'") }
    do throws(PlayedProgram.Problem) {
      return try PlayedProgram(command)
    } catch {
      switch error {
      case .unusable(let why): throw UsageError(why)
      case .silent(let fault): throw UsageError(fault.detail, status: .labFault)
      }
    }
  }
}
