import Basics
public import Conformance
import Documents

/// Why a lock is not as it should be.
enum OperatorFailure: Error {
  /// The lab failed; with the status shown instead, if a status was awaited.
  case lab(LabFault, instead: Instead? = nil)
  /// The lab works, but the lock cannot be brought into the condition.
  case impossible(String)

  /// The status shown instead of the expected one.
  struct Instead {
    var wanted: [LockFamily.Condition]
    var shown: String
  }
}

/// Performs a step at which the lab may fail.
func step<Result>(_ body: () throws(LabFault) -> Result) throws(OperatorFailure) -> Result {
  do { return try body() } catch { throw .lab(error) }
}

/// Operates a lock outside of tests: connects to it, turns it, and disconnects.
///
/// It uses the device as a scenario does, so that the same guards apply.
final class LockOperator<Device: DeviceUnderTest> {
  /// The operated device.
  private(set) var device: Device
  /// Whether the lock has answered.
  private(set) var isReached = false
  private let family: LockFamily
  private let words: Vocabulary

  /// Operates a device. Without a vocabulary the device receives the family's when it begins.
  init(_ device: Device, of family: LockFamily, words: Vocabulary? = nil) {
    self.device = device
    self.family = family
    self.words = words ?? family.sessionWords
  }

  /// Starts at time zero.
  func begin(_ start: StartCondition) throws(OperatorFailure) {
    device.adopt(words)
    try step { () throws(LabFault) in try device.reset(to: start) }
  }

  /// Listens for the lock and opens a session.
  ///
  /// - Parameters:
  ///   - hearing: how long to listen for the lock.
  ///   - enough: how long to listen if the lock is known to cause the silence by then.
  ///   - session: the longest time from the first advertisement to the first status.
  /// - Returns: the first status that reports the lock's condition.
  func reach(
    hearing: Interval, enough: Interval? = nil, session: Interval, until limit: Instant = .never
  ) throws(OperatorFailure) -> LockFamily.Condition {
    // A status that the device shows as it starts is not a response.
    let begin = device.now
    while try step({ () throws(LabFault) in try device.observe(until: begin) }) != nil {}
    try give(.listen)
    let (first, last) = (device.now + (enough ?? hearing), device.now + hearing)
    do throws(OperatorFailure) {
      _ = try wait(for: [.heard], until: min(limit, first))
    } catch {
      guard first < last, device.now >= first, device.now < limit, !isSilent else { throw error }
      _ = try wait(for: [.heard], until: min(limit, last))
    }
    try give(.connect)
    return try wait(for: LockFamily.Condition.settled, until: min(limit, device.now + session))
  }

  /// Turns the bolt, once that is allowed, and waits until it rests in the position `locked` or `unlocked`.
  func turn(to goal: String, within time: Interval, until limit: Instant = .never) throws(OperatorFailure) {
    try give(.turn(to: goal))
    _ = try wait(for: [goal == "locked" ? .locked : .unlocked], until: min(limit, device.now + time))
  }

  /// Ends the session, and gives the radio time to disconnect.
  func part() {
    let limit = device.now + .milliseconds(300)
    guard (try? give(.leave)) != nil else { return }
    while device.now < limit, (try? nextStatus(until: limit)) != nil {}
  }

  /// Sends a stimulus as soon as it is allowed.
  func give(_ request: LockFamily.Request, _ arguments: [Argument] = []) throws(OperatorFailure) {
    guard let name = family.name(of: request) else {
      throw .impossible("nothing asks such a lock for \(request.rawValue)")
    }
    guard let number = words.stimulus(name) else { preconditionFailure("no such stimulus: \(name)") }
    let stimulus = Stimulus(number, arguments)
    while let ready = device.readyTime(for: stimulus), device.now < ready { _ = try nextStatus(until: ready) }
    try step { () throws(LabFault) in try device.perform(stimulus) }
  }

  /// Lets time pass until one of several statuses is shown.
  func wait(
    for wanted: [LockFamily.Condition], until limit: Instant
  ) throws(OperatorFailure) -> LockFamily.Condition {
    var last = "nothing"
    repeat {
      guard let status = try nextStatus(until: limit) else { continue }
      let condition = family.condition(named: status)
      if let condition, wanted.contains(condition) { return condition }
      last = status
      if condition == .away { break }
    } while device.now < limit
    let names = family.names(of: wanted).joined(separator: " or ")
    throw .lab(
      LabFault(.noAnswer, "instead of \(names) the lock showed \(last)"),
      instead: OperatorFailure.Instead(wanted: wanted, shown: last))
  }

  /// The next status before a limit.
  func nextStatus(until limit: Instant) throws(OperatorFailure) -> String? {
    let shown = try step { () throws(LabFault) in try device.observe(until: limit) }
    guard case .status(let number)? = shown else { return nil }
    let status = words.statuses[number]
    switch family.condition(named: status) {
    case .proving, .registering, .ownerless, .unset, .locked, .unlocked, .moved: isReached = true
    case .away, .heard, .underWay, .forgotten, nil: break
    }
    return status
  }

  /// Whether the lock is silent and known to cause the silence.
  private var isSilent: Bool { device.explanation(ofSilence: true)?.isOfDevice == true }

  /// The reason for the lock's silence, if known.
  var reason: String { device.explanation(ofSilence: true).map { "; \($0)" } ?? "" }

  /// Removes and returns the lab's diagnostics since the last call.
  func takeDiagnostics() -> [String] { device.takeDiagnostics() }
}

extension LockFamily {
  /// The vocabulary of preparation sessions.
  var sessionWords: Vocabulary {
    let said = stimuli.filter { ![nil, .toggle, .forge].contains($0.request) }
    return Vocabulary(stimuli: said.map(\.name), statuses: statuses.map(\.name))
  }

  /// A scenario that only reads the lock's state; parking follows at the end of the run.
  public var parkScenario: String {
    func step(_ request: Request) -> [Node] { name(of: request).map { [.text($0)] } ?? [] }
    let settled = Node.list(names(of: Condition.settled).map { .text($0) }, layout: .flow)
    let until = Node.mapping([("until", .mapping([("status", settled)], layout: .flow))])
    return Node.mapping([
      ("scenario", .text("The lock is parked")), ("machine", .text(machine)),
      ("steps", .list(step(.listen) + step(.connect) + [until] + step(.leave))),
    ]).yaml()
  }
}
