import Links
@testable import LockFiles
@testable import Bench
import Basics
import Conformance
import Sesame
import SesameDevice

extension LockFamily {
  /// Locks of five requests: nobody owns one, and nobody can ask it what it does by itself.
  static func keypad() throws -> LockFamily {
    try LockFamily(
      machine: "keypad",
      stimuli: [
        ("hear", .listen), ("call", .connect), ("shut", .lock), ("open", .unlock), ("hang up", .leave),
      ],
      statuses: [("gone", .away), ("near", .heard), ("closed", .locked), ("opened", .unlocked)])
  }
}

/// A lock of a family that is not Sesame's, in virtual time.
final class KeypadLock: StandaloneDevice, OwnedLock {
  /// After how long it locks by itself, whoever is connected.
  var relocking: Interval?
  /// Whether its motor runs and nothing turns.
  var isBroken = false
  /// Whether it is to be heard.
  var isNear = true
  private(set) var isOpen = false
  /// When its motor was started because somebody asked for it, and by itself, on the scale of all tests.
  private(set) var asked: [Instant] = []
  private(set) var unasked: [Instant] = []
  /// What it was told.
  private(set) var told: [String] = []

  private var relocks: Instant?
  private var hasSession = false
  private var epoch = Interval.zero
  private var queue = EventQueue<String>()
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private(set) var now = Instant.zero

  init(isOpen: Bool = false) { self.isOpen = isOpen }

  /// The time of all tests so far.
  var time: Instant { now + epoch }

  // Nobody has an owner's key here, and nobody is to ask for one.
  var isRegistered: Bool { false }
  var configuration: [Argument]? { nil }
  func recallKey() -> Bool { false }
  func dropRecalledKey() {}

  var abilities: Abilities {
    Abilities(stimuli: ["hear", "call", "shut", "open", "hang up"], settings: ["weather"])
  }

  func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }
  func bring(about fault: Fault) {}
  func restart() {}

  func reset(to start: StartCondition) {
    epoch = epoch + (now - .zero)
    now = .zero
    queue = EventQueue()
    hasSession = false
  }

  func perform(_ stimulus: Stimulus) {
    let name = vocabulary.stimuli[stimulus.number]
    told.append(name)
    switch name {
    case "hear": if isNear { queue.schedule("near", at: now + .milliseconds(300)) }
    case "call":
      hasSession = true
      queue.schedule("", at: now + .milliseconds(200))
    case "hang up":
      hasSession = false
      queue.schedule("gone", at: now)
    case "shut": turn(open: false)
    case "open": turn(open: true)
    default: break
    }
  }

  private func turn(open: Bool) {
    asked.append(time)
    relocks = nil
    if !isBroken { queue.schedule(open ? "opened" : "closed", at: now + .seconds(1)) }
  }

  func observe(until limit: Instant) -> Observation? {
    while true {
      let relock = relocks.map { $0 - epoch }
      if let relock, relock <= limit, relock <= queue.nextTime ?? .never {
        now = max(now, relock)
        relocks = nil
        unasked.append(time)
        queue.schedule("closed", at: now)
      }
      guard let (time, shown) = queue.next(until: limit) else {
        now = max(now, limit)
        return nil
      }
      now = max(now, time)
      switch shown {
      case "": return vocabulary.observation(ofStatus: isOpen ? "opened" : "closed")
      case "opened", "closed":
        isOpen = shown == "opened"
        relocks = isOpen ? relocking.map { self.time + $0 } : nil
        if hasSession { return vocabulary.observation(ofStatus: shown) }
      default: return vocabulary.observation(ofStatus: shown)
      }
    }
  }
}
