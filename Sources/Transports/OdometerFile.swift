public import Basics
public import System
public import Conformance
public import Lab

/// The lines of an odometer in a file that outlives every run, and its notes in another beside it.
///
/// Each movement is a line, `2026-11-21T03:40:00.123Z lock @3f2a9c01+12345.678`, which is on the disk *before* the motor
/// starts. A line torn by a crash counts as one. The notes, `NAME.notes` beside `NAME.log`, have lines of the same form that
/// count no movement. One run at a time may count: the file is locked as long as the odometer is open.
struct WearFile: WearStore {
  let place: String
  let lines: WearLines
  let notes: WearLines

  init(_ path: String) throws(LabFault) {
    place = path
    lines = try WearLines(path)
    guard lines.lock() else { throw LabFault(.noDevice, "another run uses this lock: it holds \(path)") }
    notes = try WearLines(Self.notesPath(of: path))
  }

  func count(_ added: [WearLine]) throws(LabFault) { try lines.append(added) }

  func note(_ line: WearLine) throws(LabFault) { try notes.append([line]) }

  static func notesPath(of path: String) -> String {
    (path.hasSuffix(".log") ? String(path.dropLast(4)) : path) + ".notes"
  }
}

/// A file of lines that are never lost: without it, nothing is moved.
struct WearLines {
  private let file: LineFile

  init(_ path: String) throws(LabFault) {
    file = try Self.counted { () throws(FileFault) in try LineFile(path) }
  }

  init(reading path: String) throws(LabFault) {
    file = try Self.counted { () throws(FileFault) in try LineFile(reading: path) }
  }

  var isTorn: Bool { file.isTorn }

  func lock() -> Bool { file.lock() }

  func append(_ added: [WearLine]) throws(LabFault) {
    try Self.counted { () throws(FileFault) in try file.append(added.map(\.description)) }
  }

  func read(
    until isEnough: (WearLine) -> Bool = { _ in false }
  ) throws(LabFault) -> (count: Int, lines: [WearLine?]) {
    try Self.counted { () throws(FileFault) in try file.read({ WearLine(text: $0) }, until: isEnough) }
  }

  private static func counted<Result>(_ body: () throws(FileFault) -> Result) throws(LabFault) -> Result {
    do throws(FileFault) {
      return try body()
    } catch {
      throw LabFault(.safetyLimit, "movements cannot be counted, and so nothing is moved: \(error)")
    }
  }
}

extension Odometer {
  /// Opens the odometer of a lock that is kept in a file, and makes it where there is none.
  ///
  /// - Parameter clock: tells the time; the machine's own unless a test has another.
  /// - Throws: a ``Conformance/LabFault`` when it cannot be written, or another run counts.
  public convenience init(
    opening path: String, clock: @escaping () -> BenchTime = { BenchClock.now }
  ) throws(LabFault) {
    let file = try WearFile(path)
    let now = clock()
    // The latest lines come first.
    var held = now
    let counted = try file.lines.read { line in
      held = held.held(to: line)
      return line.isOver(at: held)
    }
    let ledger = WearLedger(odometer: counted.lines, notes: try file.notes.read().lines, at: now)
    self.init(keptBy: file, total: counted.count, ledger: ledger, clock: clock)
    synchronizeFolder(of: path)
    // What was torn may have been a jam: it is one, and it is written down once.
    if file.notes.isTorn {
      try file.note(WearLine("\(WearLedger.Word.jam), in a line that was torn", at: clock()))
    }
  }
}

extension Odometer {
  /// What the odometer at a path says, whoever counts with it now; `nil` where there is none.
  public static func glance(
    at path: String, now: BenchTime = BenchClock.now
  ) -> (total: Int, ledger: WearLedger)? {
    var held = now
    let counted = try? WearLines(reading: path).read { line in
      held = held.held(to: line)
      return line.isOver(at: held)
    }
    guard Host.isFile(path), let counted else { return nil }
    let noted = try? WearLines(reading: WearFile.notesPath(of: path)).read()
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
