public import Conformance
public import Basics

/// The lock of the open benchmark: twelve statuses, thirteen stimuli, seeded defects of known depth.
///
/// It follows the tables of the Sesame documentation step by step (`sesame-table`), ignores every stimulus whose cell
/// is empty, and does not report a bolt that is turned by hand while no client is connected: at each login and each
/// configuration its position is drawn from a 32-bit xorshift generator (shifts 13, 17, 5; start 0x9E3779B9), which
/// restarts with each test. Outcomes are therefore open to the model, and a replay is deterministic.
///
/// It allocates nothing per event, since it is used to measure throughput and for searches.
public struct ReferenceLock: StandaloneDevice {
  /// The statuses, in the order of their numbers here.
  enum Status: UInt8, CaseIterable {
    // swift-format-ignore
    case noSignal, receivedBle, connecting, waitingGatt, readytoRegister, registering, nosetting, logining,
      locked, unlocked, moved, reset

    var name: String { "\(self)" }
  }

  /// The stimuli, in the order of their numbers here.
  enum Event: UInt8, CaseIterable {
    // swift-format-ignore
    case closeTo, connect, linkUp, gattReady, register, registered, configure, loginDone, lock, unlock, toggle,
      disconnect, reset

    var name: String { "\(self)" }
  }

  let bug: Bug?
  /// The probability that an event costs the link, in 2⁻⁶⁴.
  private let lossChance: UInt64
  /// Whether there is more to do than in the benchmark.
  private let isModified: Bool
  var memory = ReferenceMemory()
  /// Continues from test to test: otherwise every replay would lose its link at the same place.
  private var losses: SeededGenerator
  var status = Status.noSignal
  var isRegistered = true
  var isConfigured = true
  var random: UInt32 = 0x9E37_79B9
  var wasReset = false
  /// The number of consecutive logins that were left, and that number at the last login.
  var aborts = 0
  var abortsAtLogin = 0
  /// The last three accepted events, the newest first.
  var last: (Event?, Event?, Event?)

  /// Translates the numbers of the model's vocabulary to those here, and back.
  private var events: [Event?] = []
  private var numbers: [Int] = []
  private var shows = false
  public private(set) var now = Instant.zero

  /// Makes a lock, with or without a defect.
  ///
  /// - Parameters:
  ///   - loss: the probability, from 0 to 1, that an event on a link costs the link: its response is lost and
  ///     `noSignal` is shown.
  ///   - seed: determines these events.
  public init(bug: Bug? = nil, loss: Double = 0, seed: UInt64 = 0) {
    precondition((0...1).contains(loss), "a chance lies from 0 to 1")
    self.bug = bug
    lossChance = loss == 1 ? .max : UInt64(loss * 0x1p64)
    losses = SeededGenerator(seed: seed, for: "loss")
    isModified = lossChance > 0 || bug.map { !$0.isOfBenchmark } ?? false
  }

  public var abilities: Abilities {
    Abilities(
      stimuli: Event.allCases.map(\.name), settings: ["registered", "configured"],
      conditions: lossChance > 0 ? ["loss"] : [])
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
    if isModified { memory = ReferenceMemory(bug, isRegistered: isRegistered) }
    shows = false
    now = .zero
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    guard let event = events[stimulus.number] else {
      throw LabFault(.notPossible, "the reference lock does not know this stimulus")
    }
    shows = isModified ? acceptModified(event) : accept(event)
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
  /// Performs an event if the tables allow it; returns false for an empty cell.
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

  /// Performs an event with a defect that is not the benchmark's, or over a link that can be lost.
  @inline(never)
  private mutating func acceptModified(_ event: Event) -> Bool {
    let old = status
    var shows = accept(event)
    if let bug {
      status = memory.outcome(of: event, bug, from: old, to: status, isTaken: shows, at: now)
    }
    if lossChance > 0, status != .noSignal, status != .receivedBle, losses.next() < lossChance {
      status = .noSignal
      shows = true
    }
    return shows
  }

  private var isDeaf: Bool {
    bug == .deafUnlock && wasReset && last.0 == .lock && (last.1 == .loginDone || last.1 == .configure)
  }

  private var jams: Bool {
    bug == .jamAfterAbortedLogins && abortsAtLogin >= 4 && last.0 == .toggle && last.1 == .toggle
      && last.2 == .loginDone
  }

  /// Draws the position in which a hand left the bolt.
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
