public import Conformance
public import Simulation

/// The lock of the open benchmark: twelve statuses, thirteen stimuli, two seeded bugs of known depth.
///
/// It follows the tables of the Sesame documentation step by step (`sesame-table`), ignores every stimulus that
/// they leave empty, and hides a bolt that is turned by hand while nobody is connected: at each login and each
/// configuration its place is drawn from a 32-bit xorshift generator (shifts 13, 17, 5; start 0x9E3779B9) that
/// starts anew with each test. So outcomes are open to the model, and a replay gives the same answers.
///
/// Nothing is allocated per event: throughput and searches are measured on it.
public struct ReferenceLock: DeviceUnderTest {
  /// A bug that a harness is measured by.
  public enum Bug: String, CaseIterable, Sendable {
    /// After a reset earlier in the test, an unlock that follows a lock as the first commands after a login
    /// or a configuration is ignored. The shortest trace that shows it has 16 events.
    case deafUnlock = "deaf-unlock"
    /// After four or more logins in a row that were left, a login, two toggles and a lock leave the bolt
    /// between its positions. The shortest trace that shows it has 28 events.
    case jamAfterAbortedLogins = "jam-after-aborted-logins"
  }

  /// The statuses, in the order in which they are numbered here.
  enum Status: UInt8, CaseIterable {
    // swift-format-ignore
    case noSignal, receivedBle, connecting, waitingGatt, readytoRegister, registering, nosetting, logining,
      locked, unlocked, moved, reset

    var name: String { "\(self)" }
  }

  /// The stimuli, in the order in which they are numbered here.
  enum Event: UInt8, CaseIterable {
    // swift-format-ignore
    case closeTo, connect, linkUp, gattReady, register, registered, configure, loginDone, lock, unlock, toggle,
      disconnect, reset

    var name: String { "\(self)" }
  }

  private let bug: Bug?
  private var status = Status.noSignal
  private var isRegistered = true
  private var isConfigured = true
  private var random: UInt32 = 0x9E37_79B9
  private var wasReset = false
  /// Logins left in a row, and what that number was at the last login.
  private var aborts = 0
  private var abortsAtLogin = 0
  /// The last three events that were not ignored, the newest first.
  private var last: (Event?, Event?, Event?)

  /// What each number of the model's vocabulary means here, and the other way round.
  private var events: [Event?] = []
  private var numbers: [Int] = []
  private var shows = false
  public private(set) var now = Instant.zero

  /// Makes a lock, healthy or with a bug.
  public init(bug: Bug? = nil) {
    self.bug = bug
  }

  public var abilities: Abilities {
    Abilities(stimuli: Event.allCases.map(\.name), settings: ["registered", "configured"])
  }

  public mutating func adopt(_ vocabulary: Vocabulary) {
    events = vocabulary.stimuli.map { name in Event.allCases.first { $0.name == name } }
    numbers = Status.allCases.map { vocabulary.status($0.name) ?? -1 }
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    status = .noSignal
    isRegistered = start.flag("registered") ?? true
    isConfigured = isRegistered && start.flag("configured") ?? true
    random = 0x9E37_79B9
    wasReset = false
    aborts = 0
    abortsAtLogin = 0
    last = (nil, nil, nil)
    shows = false
    now = .zero
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    guard let event = events[stimulus.number] else {
      throw LabFault(.notPossible, "the reference lock does not know this stimulus")
    }
    shows = accept(event)
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "the reference lock knows no faults")
  }

  public mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard shows else {
      if now < limit { now = limit }
      return nil
    }
    shows = false
    let number = numbers[Int(status.rawValue)]
    return number < 0 ? .unknown(status.name) : .status(number)
  }

  public mutating func restart() throws(LabFault) {}
}

extension ReferenceLock {
  /// Takes an event where the tables allow it; false where they leave it empty.
  private mutating func accept(_ event: Event) -> Bool {
    switch (event, status) {
    case (.closeTo, .noSignal): status = .receivedBle
    case (.connect, .receivedBle): status = .connecting
    case (.linkUp, .connecting): status = .waitingGatt
    case (.gattReady, .waitingGatt): status = isRegistered ? .logining : .readytoRegister
    case (.register, .readytoRegister): status = .registering
    case (.registered, .registering):
      status = .nosetting
      isRegistered = true
      aborts = 0
    case (.configure, .nosetting):
      isConfigured = true
      status = draw()
    case (.loginDone, .logining):
      abortsAtLogin = aborts
      aborts = 0
      status = isConfigured ? draw() : .nosetting
    case (.lock, .locked), (.lock, .unlocked), (.lock, .moved): status = jams ? .moved : .locked
    case (.unlock, .locked), (.unlock, .unlocked), (.unlock, .moved):
      if !isDeaf { status = .unlocked }
    case (.toggle, .locked): status = .unlocked
    case (.toggle, .unlocked), (.toggle, .moved): status = .locked
    case (.disconnect, .logining):
      aborts += 1
      status = .noSignal
    case (.disconnect, .reset):
      isRegistered = false
      isConfigured = false
      status = .noSignal
    case (.disconnect, .locked), (.disconnect, .unlocked), (.disconnect, .moved), (.disconnect, .nosetting):
      status = .noSignal
    case (.reset, .locked), (.reset, .unlocked), (.reset, .moved), (.reset, .nosetting):
      status = .reset
      wasReset = true
    default:
      return false
    }
    last = (event, last.0, last.1)
    return true
  }

  private var isDeaf: Bool {
    bug == .deafUnlock && wasReset && last.0 == .lock && (last.1 == .loginDone || last.1 == .configure)
  }

  private var jams: Bool {
    bug == .jamAfterAbortedLogins && abortsAtLogin >= 4 && last.0 == .toggle && last.1 == .toggle
      && last.2 == .loginDone
  }

  /// Where a hand left the bolt.
  private mutating func draw() -> Status {
    random ^= random << 13
    random ^= random >> 17
    random ^= random << 5
    return switch random % 3 {
    case 0: .locked
    case 1: .unlocked
    default: .moved
    }
  }
}
