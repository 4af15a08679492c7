@testable import Bench
import Conformance
import Foundation
import Basics
import SesameDevice

extension InterlockSettings {
  /// What a run may do to a Sesame.
  init(
    limits: LockLimits = .usual, budget: Int? = 100, park: ParkPosition = .locked, allowed: [String] = []
  ) {
    self.init(of: .sesame, limits: limits, budget: budget, park: park, allowed: allowed)
  }
}

/// A lock in virtual time that says of its motor what no protocol says: each start of it.
struct ToyLock: StandaloneDevice {
  /// What the lock really did, whatever is done with copies of it.
  final class Motor {
    var moves: [Instant] = []
    /// Those that somebody asked for.
    var commanded: [Instant] = []
    var position = "locked"
    /// Called at each start.
    var didMove: () -> Void = {}
    /// The time of all tests so far, by which the motor's rest is judged.
    var time = Instant.zero
    /// What the calendar is behind, which start of the machine it is, and when that was.
    var lag = Interval.zero
    var boot = 0
    var started = Instant.zero
    /// Whether something is in the way of the bolt, and when it was met.
    var isJammed = false
    var jams: [Instant] = []
    /// When the lock locks by itself, whoever is connected.
    var returns: Instant?
    var autolock = Interval.zero

    /// The clocks of the machine beside it.
    var clock: BenchTime {
      BenchTime(
        wall: WallTime(nanoseconds: 1_790_000_000_000_000_000) + (time - .zero) + (.zero - lag),
        boot: "b\(boot)",
        uptime: .zero + (time - started))
    }
  }

  static let vocabulary = Vocabulary(
    stimuli: [
      "closeTo", "connect", "disconnect", "lock", "unlock", "toggle", "forgeLock", "forgeUnlock",
      "replayCommand", "configure", "setAutolock", "reset", "register", "handToUnlocked",
    ],
    statuses: [
      "noSignal", "receivedBle", "connecting", "waitingGatt", "logining", "readytoRegister", "nosetting",
      "locked", "unlocked", "moved",
    ])

  private enum Event { case show(String), say(Reading), arrive(String) }

  let motor: Motor
  /// What is shown after connecting, in place of the position.
  var greeting: String?
  /// What it says of itself when somebody has connected.
  var said: [Reading] = []
  /// What fails, and how often still.
  var trouble: [String: Int] = [:]
  /// The stimuli that its client refuses by itself.
  var withheld: [String] = []
  private(set) var now = Instant.zero { didSet { motor.time = max(motor.time, now + epoch) } }
  /// When this test began.
  private var epoch: Interval
  private var queue = EventQueue<Event>()
  private var isOpen = false
  private var vocabulary = ToyLock.vocabulary

  init(_ motor: Motor = Motor()) {
    self.motor = motor
    epoch = motor.time - .zero
  }

  var abilities: Abilities { Abilities(stimuli: Self.vocabulary.stimuli, settings: ["registered"]) }

  mutating func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  mutating func reset(to start: StartCondition) throws(LabFault) {
    try fail("reset")
    epoch = epoch + (now - .zero)
    now = .zero
    queue = EventQueue()
    isOpen = false
  }

  mutating func restart() throws(LabFault) { try fail("restart") }

  /// A lock with a bug obeys what was forged.
  mutating func bring(about fault: Fault) throws(LabFault) {
    switch fault.name {
    case "jam": motor.isJammed = !fault.value.isNothing
    case "forge": if !fault.value.isNothing { move(to: "unlocked") }
    default: break
    }
  }

  func reaches(_ stimulus: Stimulus) -> Bool { !withheld.contains(vocabulary.stimuli[stimulus.number]) }

  mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    try fail(name)
    guard reaches(stimulus) else { return }
    switch name {
    case "closeTo": queue.schedule(.show("receivedBle"), at: now + .milliseconds(300))
    case "connect":
      for status in ["connecting", "waitingGatt", "logining", greeting ?? motor.position] {
        queue.schedule(.show(status), at: now + .milliseconds(50))
      }
      for reading in said { queue.schedule(.say(reading), at: now + .milliseconds(50)) }
      isOpen = true
    case "disconnect":
      isOpen = false
      queue.schedule(.show("noSignal"), at: now)
    case "lock", "forgeLock": move(to: "locked")
    case "unlock", "forgeUnlock", "configure": move(to: "unlocked")
    case "toggle", "replayCommand": move(to: motor.position == "locked" ? "unlocked" : "locked")
    case "setAutolock":
      guard case .duration(let delay)? = stimulus.arguments.first?.value else { return }
      motor.autolock = delay
      motor.returns = motor.position == "unlocked" && delay > .zero ? motor.time + delay : nil
    case "handToUnlocked":
      motor.position = "unlocked"
      queue.schedule(.show("unlocked"), at: now)
    default: break
    }
  }

  mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    try fail("observe")
    while true {
      let returns = motor.returns.map { $0 - epoch }
      if let returns, returns <= limit, returns <= queue.nextTime ?? .never {
        now = max(now, returns)
        motor.returns = nil
        if motor.position == "unlocked" { move(to: "locked", isCommanded: false) }
        continue
      }
      guard let (time, event) = queue.next(until: limit) else { break }
      now = max(now, time)
      switch event {
      case .show(let status): return vocabulary.observation(ofStatus: status)
      case .say(let reading): return .reading(reading)
      case .arrive(let position):
        let isNews = motor.position != position
        motor.position = position
        if position == "unlocked", motor.autolock > .zero { motor.returns = motor.time + motor.autolock }
        if isOpen, isNews { return vocabulary.observation(ofStatus: position) }
      }
    }
    now = max(now, limit)
    return nil
  }

  private mutating func move(to position: String, isCommanded: Bool = true) {
    motor.moves.append(motor.time)
    if isCommanded { motor.commanded.append(motor.time) }
    motor.didMove()
    if motor.isJammed {
      motor.jams.append(motor.time + .seconds(1))
      queue.schedule(.arrive("moved"), at: now + .seconds(1))
    } else {
      queue.schedule(.arrive(position), at: now + .seconds(1))
    }
  }

  private mutating func fail(_ name: String) throws(LabFault) {
    guard let count = trouble[name], count > 0 else { return }
    trouble[name] = count - 1
    throw LabFault(.transportLost, "somebody pulled the dongle out")
  }
}

extension Interlock where Device == ToyLock {
  func give(_ name: String, _ arguments: [Argument] = []) throws(LabFault) {
    try perform(stimulus(name, arguments))
  }

  func stimulus(_ name: String, _ arguments: [Argument] = []) -> Stimulus {
    Stimulus(ToyLock.vocabulary.stimulus(name)!, arguments)
  }

  /// Lets time pass, and gives the statuses that were shown.
  @discardableResult
  func pass(_ interval: Interval) throws(LabFault) -> [String] {
    let limit = now + interval
    var shown: [String] = []
    repeat {
      if case .status(let number)? = try observe(until: limit) {
        shown.append(ToyLock.vocabulary.statuses[number])
      }
    } while now < limit
    return shown
  }

  /// Opens a session.
  func open() throws(LabFault) {
    try reset(to: StartCondition())
    try give("closeTo")
    try pass(.seconds(1))
    try give("connect")
    try pass(.seconds(2))
  }
}
