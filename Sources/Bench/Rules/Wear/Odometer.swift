public import Conformance
public import Basics

/// How often the motor of one lock has moved, and what else it has been through.
///
/// Each movement is kept by a ``WearStore`` *before* the motor starts: however a run ends, what is counted is never less
/// than the truth. Beside the movements stand notes, which count none: jams, readings of the battery, whether the lock
/// locks by itself, and that it has.
public final class Odometer {
  /// The movements of all runs.
  public private(set) var total: Int
  /// What follows from them, and from the notes, for what may move next.
  public private(set) var ledger: WearLedger
  private let store: (any WearStore)?
  private let clock: () -> BenchTime
  private var lastReading: (percent: Int, time: Instant)?

  /// Makes an odometer.
  ///
  /// - Parameters:
  ///   - store: what keeps its lines; `nil` for a lock that goes with this process.
  ///   - total: the movements so far.
  ///   - ledger: what the lock has been through so far.
  ///   - clock: tells the time: the machine's, or that of a lock in virtual time.
  public init(
    keptBy store: (any WearStore)? = nil, total: Int = 0, ledger: WearLedger = WearLedger(),
    clock: @escaping () -> BenchTime
  ) {
    self.store = store
    self.total = total
    self.ledger = ledger
    self.clock = clock
  }

  /// The time by which movements are counted.
  public var now: BenchTime { clock() }

  /// Where its lines are kept, for people; `nil` for a lock that goes with this process.
  public var place: String? { store?.place }

  /// Counts a movement that is about to begin. After a throw nothing may move.
  ///
  /// - Parameters:
  ///   - name: what moves the motor, one word.
  ///   - comesBack: whether the lock will move once more by itself after that, which is counted too.
  public func count(_ name: String, comesBack: Bool = false) throws(LabFault) {
    let names = [name] + (comesBack ? [WearLedger.Word.own] : [])
    for _ in 0..<2 {
      let begin = now
      try store?.count(names.map { WearLine($0, at: begin) })
      total += names.count
      // The motor starts once they are on the disk.
      let end = now.uptime
      for name in names { ledger.take(movement: name, at: end) }
      // Lines that say a time too early for whoever comes next are written, and counted, once more.
      if end - begin.uptime <= WearLedger.lateness { return }
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
  public func noteJam(_ words: String) throws(LabFault) {
    try note("\(WearLedger.Word.jam) \(words)")
    ledger.jam(at: now.uptime)
  }

  /// Notes what the battery is, in percent. What was noted a moment ago is not noted again.
  public func noteBattery(_ percent: Int) throws(LabFault) {
    let time = now.uptime
    if let last = lastReading, last.percent == percent, time - last.time < .seconds(600) { return }
    lastReading = (percent, time)
    try note("\(WearLedger.Word.battery) \(percent)")
    ledger.read(battery: percent, at: time)
  }

  /// Notes whether the lock locks by itself from now on.
  public func noteAutolock(_ isOn: Bool) throws(LabFault) {
    guard ledger.isAutolockOn != isOn else { return }
    try note("\(WearLedger.Word.autolock) \(isOn ? "on" : "off")")
    ledger.set(autolock: isOn)
  }

  /// Notes that the lock has done what it was to do by itself.
  public func noteSettled() throws(LabFault) {
    guard ledger.awaited > 0 else { return }
    try note(WearLedger.Word.settled)
    ledger.settle(at: now.uptime)
  }

  /// Notes what the lock is owed from now on, whatever becomes of who is about to move it. After a throw nothing may move.
  public func noteAway(_ goal: String, autolock: Int?) throws(LabFault) {
    let owed = OwedRest(goal, autolock: autolock, since: now.wall)
    if let last = ledger.owed, last.goal == goal, last.autolock == autolock { return }
    try note(owed.words)
    ledger.owe(owed)
  }

  /// Notes that the lock is as it is to be left.
  public func noteRest() throws(LabFault) {
    guard ledger.owed != nil else { return }
    try note(WearLedger.Word.rests)
    ledger.owe(nil)
  }

  /// Notes that a person saw to the lock: jams and readings of the battery before do not count any more.
  public func noteServed() throws(LabFault) {
    try note(WearLedger.Word.served)
    lastReading = nil
    ledger.serve()
  }

  private func note(_ words: String) throws(LabFault) { try store?.note(WearLine(words, at: now)) }
}

/// What keeps the lines of an ``Odometer`` beyond the process that counts.
public protocol WearStore {
  /// Where they are kept, for people.
  var place: String { get }

  /// Keeps movements that are about to begin. When it returns, nothing that happens to this machine undoes it.
  func count(_ lines: [WearLine]) throws(LabFault)

  /// Keeps a note, which counts no movement.
  func note(_ line: WearLine) throws(LabFault)
}
