@testable import LockFiles
@testable import Bench
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Links
import Basics
import TestSupport
import Testing

/// A lock on an emulated radio, driven as a real one, and the world that it stands in.
struct RealLockRig {
  typealias World = RadioWorld<LockPeripheral>
  typealias Device = AirDevice<SesameAirClient<World>>

  let world: World
  let device: Device
  let lock: RealLock<Device>

  init(
    _ name: String = "sesame5", settings: [(name: String, value: String)] = [], found: LockFound = .locked,
    allowed: [String] = [], limits: LockLimits = LockLimits(), rest: ParkPosition = .locked,
    store: EventList? = nil
  ) throws {
    let specification = try EmulatedLockSpecification(parsing: name, settings: settings)
    let world = RadioWorld(specification, seed: 1)
    try world.prepare(found.condition)
    self.world = world
    let fixture = NoFixture(conditions: RealAir.conditions, settings: LockFamily.sesame.startSettings)
    let client = SesameAirClient(
      world, fixture, StoredKey(KeyInMemory(world.key)), target: .deviceID(world.deviceID),
      SesameAirSettings(
        conditions: RealAir.conditions, slack: .zero, host: World.clientHost,
        epoch: { 1_700_000_000 + UInt32(world.now.nanoseconds / 1_000_000_000) },
        secrets: { test in { SeededGenerator(seed: 1, for: "client of test \(test)") } }))
    device = AirDevice(client, fixture)
    lock = RealLock(
      device, InterlockSettings(limits: limits, budget: nil, park: rest, allowed: allowed),
      Self.counter(world, store))
    lock.adopt(Self.vocabulary)
  }

  static func counter(_ world: World, _ store: EventList? = nil) -> CycleCounter {
    let clock = {
      BenchTime(wall: WallTime(nanoseconds: world.now.nanoseconds), boot: "a", uptime: world.now)
    }
    let ledger = ActuationBudget(store?.events ?? [], at: clock())
    return CycleCounter(keptBy: store, total: store?.total ?? 0, ledger: ledger, clock: clock)
  }

  static let vocabulary = Vocabulary(
    stimuli: [
      "closeTo", "connect", "register", "configure", "lock", "unlock", "toggle", "disconnect", "reset",
      "setAutolock", "readAutolock", "readHistory",
    ],
    statuses: [
      "noSignal", "receivedBle", "connecting", "waitingGatt", "logining", "readytoRegister", "registering",
      "nosetting", "locked", "unlocked", "moved", "reset",
    ])

  /// Begins a test, of a lock with an owner unless it says otherwise.
  func start(_ settings: (String, Value)...) throws(LabFault) {
    let settings = settings.isEmpty ? [("registered", .flag(true))] : settings
    try lock.reset(to: StartCondition(settings.map { Argument($0.0, $0.1) }))
  }

  func give(_ name: String, _ arguments: [Argument] = []) throws(LabFault) {
    let stimulus = Stimulus(Self.vocabulary.stimulus(name)!, arguments)
    while let ready = lock.readyTime(for: stimulus), lock.now < ready { _ = try lock.observe(until: ready) }
    try lock.perform(stimulus)
  }

  /// Lets time pass until one of some statuses is shown; what was shown instead, or `nil`.
  @discardableResult
  func wait(for wanted: [String], _ time: Interval = .seconds(30)) throws(LabFault) -> String? {
    let limit = lock.now + time
    var last: String?
    while lock.now < limit {
      guard case .status(let number)? = try lock.observe(until: limit) else { continue }
      last = Self.vocabulary.statuses[number]
      if wanted.contains(last!) { return last }
    }
    return nil
  }

  func pass(_ time: Interval) throws(LabFault) {
    let limit = lock.now + time
    while lock.now < limit { _ = try lock.observe(until: limit) }
  }

  /// From out of sight to what the lock shows.
  @discardableResult
  func open() throws(LabFault) -> String? {
    try give("closeTo")
    try wait(for: ["receivedBle"])
    try give("connect")
    return try wait(for: ["locked", "unlocked", "moved", "nosetting", "readytoRegister"])
  }

  func read(_ stimulus: String, _ reading: String) throws(LabFault) -> Value? {
    try give(stimulus)
    let limit = lock.now + .seconds(5)
    while lock.now < limit {
      if case .reading(let shown)? = try lock.observe(until: limit), shown.name == reading {
        return shown.value
      }
    }
    return nil
  }

  var movements: Int { lock.interlock.used }
}

/// What a counter keeps, in memory.
final class EventList: CycleStore {
  let place = "a list"
  /// Everything that was kept, in its order.
  private(set) var events: [LockEvent]

  /// Begins with what was noted in an earlier start of the machine.
  init(_ notes: LockEvent.Kind...) {
    let time = BenchTime(wall: WallTime(nanoseconds: 0), boot: "b", uptime: .zero + .seconds(1))
    events = notes.map { LockEvent($0, at: time) }
  }

  var total: Int { events.count(where: \.isMovement) }

  /// What was kept in this start of the machine, in words, but for readings of the battery.
  var lines: [String] {
    events.filter { $0.time.boot != "b" }.compactMap { event in
      switch event.kind {
      case .movement(let name): name
      case .autolock(let isOn): "autolock \(isOn ? "on" : "off")"
      case .away(let goal, let autolock): "away \(goal)" + (autolock.map { " autolock=\($0)" } ?? "")
      case .battery: nil
      case .ownMovement, .settled, .jam, .served, .parked: "\(event.kind)"
      }
    }
  }

  func keep(_ added: [LockEvent], after total: Int) { events += added }
}
