public import Conformance
public import Basics

/// Counts the movements of one lock's motor, and records the other events that affect its budget.
///
/// A ``CycleStore`` stores each movement *before* the motor starts: however a run ends, the count is never too low.
/// The other events are jams, battery readings, and whether autolock is on and has taken effect.
public final class CycleCounter {
  /// The number of movements in all runs.
  public private(set) var total: Int
  /// The budget that follows from all events.
  public private(set) var ledger: ActuationBudget
  private let store: (any CycleStore)?
  private let clock: () -> BenchTime
  private var lastReading: (percent: Int, time: Instant)?

  /// Makes a counter.
  ///
  /// - Parameters:
  ///   - store: stores the events; `nil` for a lock that exists only in this process.
  ///   - total: the number of movements so far.
  ///   - ledger: the budget so far.
  ///   - clock: the machine's clock, or that of a lock in virtual time.
  public init(
    keptBy store: (any CycleStore)? = nil, total: Int = 0, ledger: ActuationBudget = ActuationBudget(),
    clock: @escaping () -> BenchTime
  ) {
    self.store = store
    self.total = total
    self.ledger = ledger
    self.clock = clock
  }

  /// The time at which movements are counted.
  public var now: BenchTime { clock() }

  /// The location of the stored events, for display; `nil` for a lock that exists only in this process.
  public var place: String? { store?.place }

  /// Counts a movement that is about to begin. If it throws, the motor must not move.
  ///
  /// - Parameters:
  ///   - name: what moves the motor, in one word.
  ///   - returnsByItself: whether the lock will then move once more by itself, which is counted too.
  public func count(_ name: String, returnsByItself: Bool = false) throws(LabFault) {
    let kinds = [LockEvent.Kind.movement(name)] + (returnsByItself ? [.ownMovement] : [])
    for _ in 0..<2 {
      let begin = now
      let events = kinds.map { LockEvent($0, at: begin) }
      try store?.keep(events, after: total)
      total += events.count
      // The motor starts after the events are on the disk.
      let end = now.uptime
      for event in events { ledger.take(event, at: end) }
      // If storing took so long that the events' time is too early for later runs, they are stored and counted once
      // more.
      if end - begin.uptime <= ActuationBudget.lateness { return }
    }
    throw LabFault(
      .safetyLimit,
      "movements cannot be counted in time, and so nothing is moved: \(place ?? ""): the disk is too slow")
  }

  /// Records that the counted movement started: the motor's rest begins now, not when it was counted.
  public func noteStart() { ledger.start(at: now.uptime) }

  /// Records a jam or a stall, after which the motor rests.
  ///
  /// - Parameter words: the cause.
  public func noteJam(_ words: String) throws(LabFault) { try note(.jam(words)) }

  /// Records the battery level in percent, unless the same level was recorded a moment ago.
  public func noteBattery(_ percent: Int) throws(LabFault) {
    let time = now.uptime
    if let last = lastReading, last.percent == percent, time - last.time < .seconds(600) { return }
    lastReading = (percent, time)
    try note(.battery(percent))
  }

  /// Records whether the lock locks by itself from now on.
  public func noteAutolock(_ isOn: Bool) throws(LabFault) {
    if ledger.isAutolockOn != isOn { try note(.autolock(isOn)) }
  }

  /// Records that the expected autonomous movement took place, or is no longer needed.
  public func noteSettled() throws(LabFault) {
    if ledger.awaited > 0 { try note(.settled) }
  }

  /// Records the park that is pending from now on, even if this process is killed. If it throws, the motor must not
  /// move.
  public func noteAway(_ goal: String, autolock: Int?) throws(LabFault) {
    if let last = ledger.pendingPark, last.goal == goal, last.autolock == autolock { return }
    try note(.away(goal, autolock: autolock))
  }

  /// Records that the lock is in its park position.
  public func noteParked() throws(LabFault) {
    if ledger.pendingPark != nil { try note(.parked) }
  }

  /// Records that a person serviced the lock: earlier jams and battery readings no longer count.
  public func noteServed() throws(LabFault) {
    try note(.served)
    lastReading = nil
  }

  private func note(_ kind: LockEvent.Kind) throws(LabFault) {
    let event = LockEvent(kind, at: now)
    try store?.keep([event], after: total)
    ledger.take(event, at: now.uptime)
  }
}

/// Stores the events of a ``CycleCounter`` beyond the process that counts.
public protocol CycleStore {
  /// The location of the stored events, for display.
  var place: String { get }

  /// Stores events, all of them or none. After it returns they survive any failure of this machine.
  ///
  /// - Parameter total: the number of movements that the counter knows.
  /// - Throws: also if the events include movements and the stored total is already higher: another process counts
  ///   too, and the counter's budget is too generous.
  func keep(_ events: [LockEvent], after total: Int) throws(LabFault)
}
