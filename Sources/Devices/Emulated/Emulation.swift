public import Basics
import Bluetooth
import Conformance
import Emulator
public import Harness
package import Programs
import System

/// A lock on the air in real time: its host, its environment and its control clients.
public final class Emulation {
  private let air: any EmulatedAir
  private let control: ControlServer?
  private let report: any EmulationAudience
  private let lock: any EmulationLock
  private var isAnnounced = false

  private init(
    _ lock: any EmulationLock, on air: any EmulatedAir, control: ControlServer?,
    report: any EmulationAudience
  ) {
    self.lock = lock
    self.air = air
    self.control = control
    self.report = report
  }

  /// Emulates a built-in lock on the air.
  public convenience init(
    _ choice: EmulatedLockChoice, on air: any EmulatedAir, seed: UInt64, control: ControlServer?,
    keyFile: String?, report: any EmulationAudience
  ) throws(DeviceProblem) {
    self.init(
      try choice.lock.makeLock(seed: seed, keyFile: keyFile), on: air, control: control, report: report)
  }

  /// Emulates the lock of a program on the air.
  package convenience init(
    _ program: PeripheralProgram, on air: any EmulatedAir, seed: UInt64, control: ControlServer?,
    report: any EmulationAudience
  ) {
    let lock = program.lock(seed: seed) { report.say("lock: \($0)") }
    self.init(lock, on: air, control: control, report: report)
  }

  /// Runs the emulation until a deadline, a signal or a failure.
  public func play(until limit: Instant) throws(EmulationFault) {
    try send(lock.begin(at: Waiting.now, isControlled: control != nil))
    try lock.keep(report)
    while !Interruption.isRequested, Waiting.now < limit {
      try step()
      try service()
      wait(until: limit)
    }
  }

  private func wait(until limit: Instant) {
    let next = [air.deadline, lock.deadline].compactMap(\.self).min() ?? .never
    // A signal may arrive just before the wait, so no wait is longer than this.
    let latest = min(limit, Waiting.now + .milliseconds(200))
    Waiting.wait(for: air.descriptors + (control?.descriptors ?? []), until: min(next, latest))
  }

  /// Transfers packets, and lets time pass.
  private func step() throws(EmulationFault) {
    try emulated { () throws(TransportFault) in try air.service() }
    while let packet = air.take() { try send(lock.receive(packet, at: Waiting.now)) }
    if let due = lock.deadline, due <= Waiting.now { try send(lock.advance(to: Waiting.now)) }
    for diagnostic in air.takeDiagnostics() { report.say(diagnostic) }
    tellNotices()
    if let trouble = lock.trouble { throw EmulationFault(trouble) }
    if control == nil { try lock.keep(report) }
  }

  private func tellNotices() {
    for notice in lock.takeNotices() {
      if case .shown(let line) = notice, let json = try? JSON(parsing: Array(line.utf8)) {
        control?.show(json)
      }
      tell(notice)
    }
  }

  private func tell(_ notice: LockNotice) {
    guard case .ready = notice, !isAnnounced else { return report.tell(notice) }
    isAnnounced = true
    var announcement = lock.announcement
    announcement.endpoints = air.endpoints
    announcement.control = control?.path
    report.announce(announcement)
  }

  private func send(_ packets: [HCIPacket]) throws(EmulationFault) {
    for packet in packets { try emulated { () throws(TransportFault) in try air.send(packet) } }
  }
}

// MARK: - Control

extension Emulation {
  private func service() throws(EmulationFault) {
    guard let control else { return }
    for (client, request) in control.service() {
      // Events before the preparation of a test are reported before it, initial ones after it.
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
        // The requested action has started when the request is answered.
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
    case .abilities: return (.abilities(lock.abilities(on: air)), [])
    case .prepare(let start, let options):
      let (key, packets) = try lock.prepare(start, options, at: now)
      return (.prepared(key), packets)
    case .stimulus(let name, let arguments):
      let (packets, refusal) = try lock.perform(name, arguments, at: now)
      guard let refusal else { return (.done, packets) }
      throw LabFault(.notPossible, "the peripheral refuses '\(name)': \(refusal)")
    case .fault(let fault): return (.done, try lock.bring(about: fault, at: now))
    }
  }
}
