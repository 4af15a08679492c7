import Conformance
import Foundation
import Simulation
import Transports

/// A lock in virtual time that says of its motor what no protocol says: each start of it.
struct ToyLock: DeviceUnderTest {
  /// What the lock really did, whatever is done with copies of it.
  final class Motor {
    var moves: [Instant] = []
    /// Those that somebody asked for.
    var commanded: [Instant] = []
    var position = "locked"
    /// Called at each start.
    var didMove: () -> Void = {}
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

  private enum Event { case show(String), arrive(String), autolock }

  let motor: Motor
  /// What is shown after connecting, in place of the position.
  var greeting: String?
  /// What fails, and how often still.
  var trouble: [String: Int] = [:]
  private(set) var now = Instant.zero
  /// The time of all tests so far, by which the motor's rest is judged.
  private var epoch = Interval.zero
  private var queue = EventQueue<Event>()
  private var isOpen = false
  private var autolock = Interval.zero
  private var vocabulary = ToyLock.vocabulary

  init(_ motor: Motor = Motor()) { self.motor = motor }

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

  mutating func bring(about fault: Fault) throws(LabFault) {}

  mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    try fail(name)
    switch name {
    case "closeTo": queue.schedule(.show("receivedBle"), at: now + .milliseconds(300))
    case "connect":
      for status in ["connecting", "waitingGatt", "logining", greeting ?? motor.position] {
        queue.schedule(.show(status), at: now + .milliseconds(50))
      }
      isOpen = true
    case "disconnect":
      isOpen = false
      queue.schedule(.show("noSignal"), at: now)
    case "lock", "forgeLock": move(to: "locked")
    case "unlock", "forgeUnlock", "configure": move(to: "unlocked")
    case "toggle", "replayCommand": move(to: motor.position == "locked" ? "unlocked" : "locked")
    case "setAutolock":
      guard case .duration(let delay)? = stimulus.arguments.first?.value else { return }
      autolock = delay
      if motor.position == "unlocked", delay > .zero { queue.schedule(.autolock, at: now + delay) }
    case "handToUnlocked":
      motor.position = "unlocked"
      queue.schedule(.show("unlocked"), at: now)
    default: break
    }
  }

  mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    try fail("observe")
    while let (time, event) = queue.next(until: limit) {
      now = max(now, time)
      switch event {
      case .show(let status): return vocabulary.observation(ofStatus: status)
      case .autolock: if motor.position == "unlocked" { move(to: "locked", isCommanded: false) }
      case .arrive(let position):
        let isNews = motor.position != position
        motor.position = position
        if position == "unlocked", autolock > .zero { queue.schedule(.autolock, at: now + autolock) }
        if isOpen, isNews { return vocabulary.observation(ofStatus: position) }
      }
    }
    now = max(now, limit)
    return nil
  }

  private mutating func move(to position: String, isCommanded: Bool = true) {
    motor.moves.append(now + epoch)
    if isCommanded { motor.commanded.append(now + epoch) }
    motor.didMove()
    queue.schedule(.arrive(position), at: now + .seconds(1))
  }

  private mutating func fail(_ name: String) throws(LabFault) {
    guard let count = trouble[name], count > 0 else { return }
    trouble[name] = count - 1
    throw LabFault(.carrierLost, "somebody pulled the dongle out")
  }
}

extension Governor where Device == ToyLock {
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

/// A folder that goes with its owner.
final class TestFolder {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.path + "/lockstep-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names in it, in order.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// Writes a file of a mode and gives its path.
  @discardableResult
  func write(_ name: String, _ text: String, mode: Int = 0o600) -> String {
    let file = "\(path)/\(name)"
    _ = FileManager.default.createFile(
      atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    return file
  }

  func read(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data(), as: UTF8.self)
  }

  /// The mode of a file.
  func mode(_ name: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)"))?[.posixPermissions] as? Int
  }
}
