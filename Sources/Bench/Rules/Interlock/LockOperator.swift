import Basics
public import Conformance
import Documents

/// Why a lock is not as it should be.
enum Unrest: Error {
  /// Something failed; where a status was waited for, with what there was in its place.
  case lab(LabFault, instead: Instead? = nil)
  /// Nothing failed, and yet it cannot be made so.
  case helpless(String)

  /// What a lock showed at last in place of what was waited for.
  struct Instead {
    var wanted: [LockFamily.Condition]
    var shown: String
  }
}

/// Does a step at which the lab may fail.
func step<Result>(_ body: () throws(LabFault) -> Result) throws(Unrest) -> Result {
  do { return try body() } catch { throw .lab(error) }
}

/// Drives a lock outside of tests: reaches it, turns it, and parts from it.
///
/// It asks a device as a scenario would, and so whatever governs a lock governs this too.
final class LockOperator<Device: DeviceUnderTest> {
  /// What is driven.
  private(set) var device: Device
  /// Whether the lock spoke to us.
  private(set) var isReached = false
  private let family: LockFamily
  private let words: Vocabulary

  /// Takes over a device that knows these words, or is told those of the family when it begins.
  init(_ device: Device, of family: LockFamily, words: Vocabulary? = nil) {
    self.device = device
    self.family = family
    self.words = words ?? family.sessionWords
  }

  /// Starts at time zero.
  func begin(_ start: StartCondition) throws(Unrest) {
    device.adopt(words)
    try step { () throws(LabFault) in try device.reset(to: start) }
  }

  /// Listens for the lock and opens a session.
  ///
  /// - Parameters:
  ///   - hearing: for how long it is listened for.
  ///   - enough: for how long where its silence is known to be its own by then.
  ///   - session: how long it may take from hearing to knowing how the lock is.
  /// - Returns: the first status that says how the lock is.
  func reach(
    hearing: Interval, enough: Interval? = nil, session: Interval, until limit: Instant = .never
  ) throws(Unrest) -> LockFamily.Condition {
    // What it shows as it starts is no answer.
    let begin = device.now
    while try step({ () throws(LabFault) in try device.observe(until: begin) }) != nil {}
    try give(.listen)
    let (first, last) = (device.now + (enough ?? hearing), device.now + hearing)
    do throws(Unrest) {
      _ = try wait(for: [.heard], until: min(limit, first))
    } catch {
      guard first < last, device.now >= first, device.now < limit, !isSilent else { throw error }
      _ = try wait(for: [.heard], until: min(limit, last))
    }
    try give(.connect)
    return try wait(for: LockFamily.Condition.settled, until: min(limit, device.now + session))
  }

  /// Turns the bolt, once it may, and waits until it rests there: `locked` or `unlocked`.
  func turn(to goal: String, within patience: Interval, until limit: Instant = .never) throws(Unrest) {
    try give(.turn(to: goal))
    _ = try wait(for: [goal == "locked" ? .locked : .unlocked], until: min(limit, device.now + patience))
  }

  /// Ends the session, and gives the radio a moment to do so.
  func part() {
    let limit = device.now + .milliseconds(300)
    guard (try? give(.leave)) != nil else { return }
    while device.now < limit, (try? look(until: limit)) != nil {}
  }

  /// Gives a stimulus once it may be given.
  func give(_ request: LockFamily.Request, _ arguments: [Argument] = []) throws(Unrest) {
    guard let name = family.name(of: request) else {
      throw .helpless("nothing asks such a lock for \(request.rawValue)")
    }
    guard let number = words.stimulus(name) else { preconditionFailure("no such stimulus: \(name)") }
    let stimulus = Stimulus(number, arguments)
    while let ready = device.readyTime(for: stimulus), device.now < ready { _ = try look(until: ready) }
    try step { () throws(LabFault) in try device.perform(stimulus) }
  }

  /// Lets time pass until one of some statuses is shown.
  func wait(for wanted: [LockFamily.Condition], until limit: Instant) throws(Unrest) -> LockFamily.Condition {
    var last = "nothing"
    repeat {
      guard let status = try look(until: limit) else { continue }
      let condition = family.condition(named: status)
      if let condition, wanted.contains(condition) { return condition }
      last = status
      if condition == .away { break }
    } while device.now < limit
    let names = family.names(of: wanted).joined(separator: " or ")
    throw .lab(
      LabFault(.noAnswer, "instead of \(names) the lock showed \(last)"),
      instead: Unrest.Instead(wanted: wanted, shown: last))
  }

  /// The next status up to a limit.
  func look(until limit: Instant) throws(Unrest) -> String? {
    let shown = try step { () throws(LabFault) in try device.observe(until: limit) }
    guard case .status(let number)? = shown else { return nil }
    let status = words.statuses[number]
    switch family.condition(named: status) {
    case .proving, .registering, .ownerless, .unset, .locked, .unlocked, .moved: isReached = true
    case .away, .heard, .underWay, .forgotten, nil: break
    }
    return status
  }

  /// Whether the lock is silent, and that is known to be its own doing.
  private var isSilent: Bool { device.explanation(ofSilence: true)?.isOfDevice == true }

  /// Why the lock is silent, where that is known.
  var reason: String { device.explanation(ofSilence: true).map { "; \($0)" } ?? "" }

  /// What the lab has to say since it was last asked.
  func takeDiagnostics() -> [String] { device.takeDiagnostics() }
}

extension LockFamily {
  /// What is said outside of tests.
  var sessionWords: Vocabulary {
    let said = stimuli.filter { ![nil, .toggle, .forge].contains($0.request) }
    return Vocabulary(stimuli: said.map(\.name), statuses: statuses.map(\.name))
  }

  /// A scenario that looks at a lock, for whom the end of a run is to park it.
  public var lookScenario: String {
    func step(_ request: Request) -> [Node] { name(of: request).map { [.text($0)] } ?? [] }
    let settled = Node.list(names(of: Condition.settled).map { .text($0) }, layout: .flow)
    let until = Node.mapping([("until", .mapping([("status", settled)], layout: .flow))])
    return Node.mapping([
      ("scenario", .text("The lock is parked")), ("machine", .text(machine)),
      ("steps", .list(step(.listen) + step(.connect) + [until] + step(.leave))),
    ]).yaml()
  }
}
