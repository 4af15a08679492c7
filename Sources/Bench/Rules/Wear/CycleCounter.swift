public import Conformance
public import Basics

/// How often the motor of one lock has moved, and what else it has been through.
///
/// Each movement is kept by a ``CycleStore`` *before* the motor starts: however a run ends, what is counted is never less
/// than the truth. Beside the movements stands what counts none: jams, readings of the battery, whether the lock locks by
/// itself, and that it has.
public final class CycleCounter {
  /// The movements of all runs.
  public private(set) var total: Int
  /// What follows from all that happened for what may move next.
  public private(set) var ledger: ActuationBudget
  private let store: (any CycleStore)?
  private let clock: () -> BenchTime
  private var lastReading: (percent: Int, time: Instant)?

  /// Makes a counter.
  ///
  /// - Parameters:
  ///   - store: what keeps the events; `nil` for a lock that goes with this process.
  ///   - total: the movements so far.
  ///   - ledger: what the lock has been through so far.
  ///   - clock: tells the time: the machine's, or that of a lock in virtual time.
  public init(
    keptBy store: (any CycleStore)? = nil, total: Int = 0, ledger: ActuationBudget = ActuationBudget(),
    clock: @escaping () -> BenchTime
  ) {
    self.store = store
    self.total = total
    self.ledger = ledger
    self.clock = clock
  }

  /// The time by which movements are counted.
  public var now: BenchTime { clock() }

  /// Where its events are kept, for people; `nil` for a lock that goes with this process.
  public var place: String? { store?.place }

  /// Counts a movement that is about to begin. After a throw nothing may move.
  ///
  /// - Parameters:
  ///   - name: what moves the motor, one word.
  ///   - comesBack: whether the lock will move once more by itself after that, which is counted too.
  public func count(_ name: String, comesBack: Bool = false) throws(LabFault) {
    let kinds = [LockEvent.Kind.movement(name)] + (comesBack ? [.ownMovement] : [])
    for _ in 0..<2 {
      let begin = now
      let events = kinds.map { LockEvent($0, at: begin) }
      try store?.keep(events, after: total)
      total += events.count
      // The motor starts once they are on the disk.
      let end = now.uptime
      for event in events { ledger.take(event, at: end) }
      // Events that say a time too early for whoever comes next are kept, and counted, once more.
      if end - begin.uptime <= ActuationBudget.lateness { return }
    }
    throw LabFault(
      .safetyLimit,
      "movements cannot be counted in time, and so nothing is moved: \(place ?? ""): the disk is too slow")
  }

  /// The motor that was counted last has been started: its rest begins now, and not when it was counted.
  public func noteStart() { ledger.start(at: now.uptime) }

  /// Notes a jam or a stall, after which the motor rests.
  ///
  /// - Parameter words: what it came of.
  public func noteJam(_ words: String) throws(LabFault) { try note(.jam(words)) }

  /// Notes what the battery is, in percent. What was noted a moment ago is not noted again.
  public func noteBattery(_ percent: Int) throws(LabFault) {
    let time = now.uptime
    if let last = lastReading, last.percent == percent, time - last.time < .seconds(600) { return }
    lastReading = (percent, time)
    try note(.battery(percent))
  }

  /// Notes whether the lock locks by itself from now on.
  public func noteAutolock(_ isOn: Bool) throws(LabFault) {
    if ledger.isAutolockOn != isOn { try note(.autolock(isOn)) }
  }

  /// Notes that the lock has done what it was to do by itself.
  public func noteSettled() throws(LabFault) {
    if ledger.awaited > 0 { try note(.settled) }
  }

  /// Notes what the lock is owed from now on, whatever becomes of who is about to move it. After a throw nothing may move.
  public func noteAway(_ goal: String, autolock: Int?) throws(LabFault) {
    if let last = ledger.owed, last.goal == goal, last.autolock == autolock { return }
    try note(.away(goal, autolock: autolock))
  }

  /// Notes that the lock is as it is to be left.
  public func noteParked() throws(LabFault) {
    if ledger.owed != nil { try note(.parked) }
  }

  /// Notes that a person saw to the lock: jams and readings of the battery before do not count any more.
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

/// What keeps the events of a ``CycleCounter`` beyond the process that counts.
public protocol CycleStore {
  /// Where they are kept, for people.
  var place: String { get }

  /// Keeps events, all of them or none. When it returns, nothing that happens to this machine undoes it.
  ///
  /// - Parameter total: how many movements there are, as far as the counter knows.
  /// - Throws: also where movements are among them and there are more than that already: somebody else counts, and what
  ///   the counter allows rests on less than the truth.
  func keep(_ events: [LockEvent], after total: Int) throws(LabFault)
}
