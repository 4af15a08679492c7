public import Conformance
import Glibc
public import Lab
import Simulation

/// How often the motor of one lock has moved, in a file that outlives every run, and what else it has been through, in
/// another beside it.
///
/// Each movement is a line, `2026-11-21T03:40:00.123Z lock @3f2a9c01+12345.678`, which is on the disk *before* the motor
/// starts: however a run ends, the file never counts less than the truth. A line torn by a crash counts as one. The notes,
/// `NAME.notes` beside `NAME.log`, have lines of the same form that count no movement: jams, readings of the battery, whether
/// the lock locks by itself, and that it has. One run at a time may count: the file is locked as long as the
/// odometer is open.
public final class Odometer {
  /// Where the file is.
  public let path: String
  /// The movements of all runs.
  public private(set) var total: Int
  /// What follows from them, and from the notes, for what may move next.
  public private(set) var ledger: WearLedger
  private let lines: LineFile
  private let notes: LineFile
  private let clock: () -> BenchTime
  private var lastReading: (percent: Int, time: Instant)?

  /// Opens the odometer of a lock, and makes it where there is none.
  ///
  /// - Parameter clock: tells the time; the machine's own unless a test has another.
  /// - Throws: a ``Conformance/LabFault`` when it cannot be written, or another run counts.
  public init(
    opening path: String, clock: @escaping () -> BenchTime = { BenchClock.now }
  ) throws(LabFault) {
    self.path = path
    self.clock = clock
    lines = try LineFile(path)
    guard lines.lock() else { throw LabFault(.noDevice, "another run uses this lock: it holds \(path)") }
    notes = try LineFile(Self.notesPath(of: path))
    let now = clock()
    let counted = try lines.read { $0.isOver(at: now) }
    total = counted.count
    ledger = WearLedger(odometer: counted.lines, notes: try notes.read().lines, at: now)
    synchronizeFolder(of: path)
    // What was torn may have been a jam: it is one, now, and not anew each time.
    if notes.isTorn { try note("\(WearLedger.Word.jam), in a line that was torn") }
  }

  /// The time by which movements are counted.
  public var now: BenchTime { clock() }

  /// Counts a movement that is about to begin. After a throw nothing may move.
  ///
  /// - Parameters:
  ///   - name: what moves the motor, one word.
  ///   - comesBack: whether the lock will move once more by itself after that, which is counted too.
  public func count(_ name: String, comesBack: Bool = false) throws(LabFault) {
    let names = [name] + (comesBack ? [WearLedger.Word.own] : [])
    for _ in 0..<2 {
      let begin = now
      try lines.append(names.map { WearLine($0, at: begin) })
      total += names.count
      // The motor starts once they are on the disk.
      let end = now.uptime
      for name in names { ledger.take(movement: name, at: end) }
      // Lines that say a time too early for whoever comes next are written, and counted, once more.
      if end - begin.uptime <= WearLedger.lateness { return }
    }
    throw LabFault(
      .safetyLimit,
      "movements cannot be counted in time, and so nothing is moved: \(path): the disk is too slow")
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

  /// Notes that a person saw to the lock: jams and readings of the battery before do not count any more.
  public func noteServed() throws(LabFault) {
    try note(WearLedger.Word.served)
    lastReading = nil
    ledger.serve()
  }

  private func note(_ words: String) throws(LabFault) { try notes.append([WearLine(words, at: now)]) }

  private static func notesPath(of path: String) -> String {
    (path.hasSuffix(".log") ? String(path.dropLast(4)) : path) + ".notes"
  }
}

extension Odometer {
  /// What the odometer at a path says, whoever counts with it now; `nil` where there is none.
  public static func glance(
    at path: String, now: BenchTime = BenchClock.now
  ) -> (total: Int, ledger: WearLedger)? {
    guard Host.isFile(path),
      let counted = try? LineFile(reading: path).read(until: { $0.isOver(at: now) })
    else { return nil }
    let noted = try? LineFile(reading: notesPath(of: path)).read()
    return (counted.count, WearLedger(odometer: counted.lines, notes: noted?.lines ?? [], at: now))
  }
}

/// Where Lockstep keeps what outlives a run and belongs to this machine.
public enum StateFolder {
  /// `$XDG_STATE_HOME/lockstep`, or `~/.local/state/lockstep`; `nil` where there is no home either.
  public static var path: String? {
    // A relative path in the variable counts as none (XDG Base Directory Specification).
    if let state = Host.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/lockstep" }
    return Host.variable("HOME").map { $0 + "/.local/state/lockstep" }
  }

  /// Makes a folder in it, and gives its path.
  public static func folder(_ name: String) throws(LabFault) -> String {
    guard let path else {
      throw LabFault(.noDevice, "there is no place for what outlives a run: set HOME or XDG_STATE_HOME")
    }
    do {
      try makeFolder("\(path)/\(name)")
    } catch {
      throw LabFault(.noDevice, "what outlives a run cannot be kept: \(error)")
    }
    return "\(path)/\(name)"
  }
}

/// Waits until the names in the folder of a file are on the disk.
func synchronizeFolder(of path: String) {
  let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { return }
  _ = fsync(descriptor)
  close(descriptor)
}
