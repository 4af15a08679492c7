public import Basics
public import System
public import Conformance

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
    guard try lines.lock() else { throw LabFault(.noDevice, "another run uses this lock: it holds \(path)") }
    notes = try WearLines(Self.notesPath(of: path))
    // A line that is on the disk counts for nothing in a file, or in a folder, whose name is not.
    for name in [path, Path.folder(of: path)] {
      try WearLines.counted { () throws(FileFault) in try keepName(of: name) }
    }
  }

  func count(_ added: [WearLine]) throws(LabFault) { try lines.append(added) }

  func note(_ line: WearLine) throws(LabFault) { try notes.append([line]) }

  /// Takes over what another odometer of the same lock has counted, once: the greater count holds, and of what still
  /// counts in a budget each line.
  func takeOver(_ path: String, at now: BenchTime) throws(LabFault) {
    guard Host.isFile(path) else { return }
    let other = try WearFile(path)
    let (total, counted) = try other.lines.read()
    let own = try lines.read().count
    let recent = counted.count { $0.map { !$0.isOver(at: now) } ?? true }
    let added = counted.suffix(max(total - own, recent)).map { $0 ?? WearLine("unreadable", at: now) }
    if !added.isEmpty { try lines.append(added) }
    let noted = try other.notes.read().lines.compactMap(\.self)
    if !noted.isEmpty { try notes.append(noted) }
    for name in [path, Self.notesPath(of: path)] { _ = try? rename(name, to: name + ".taken-over") }
  }

  static func notesPath(of path: String) -> String {
    (path.hasSuffix(".log") ? String(path.dropLast(4)) : path) + ".notes"
  }
}

/// A file of lines that are never lost: without it, nothing is moved.
struct WearLines {
  private let file: LineFile

  init(_ path: String) throws(LabFault) {
    file = try Self.counted { () throws(FileFault) in try LineFile(path) }
    StateFolder.share(path)
  }

  init(reading path: String) throws(LabFault) {
    file = try Self.counted { () throws(FileFault) in try LineFile(reading: path) }
  }

  var isTorn: Bool { file.isTorn }

  func lock() throws(LabFault) -> Bool {
    try Self.counted { () throws(FileFault) in try file.lock() }
  }

  func append(_ added: [WearLine]) throws(LabFault) {
    // Lines that nobody finds are as good as none: whoever comes next would count from the start.
    guard file.isInPlace else {
      throw LabFault(
        .safetyLimit,
        "movements cannot be counted, and so nothing is moved: \(file.path) was deleted or replaced while it was in use"
      )
    }
    try Self.counted { () throws(FileFault) in try file.append(added.map(\.description)) }
  }

  func read(
    until isEnough: (WearLine) -> Bool = { _ in false }
  ) throws(LabFault) -> (count: Int, lines: [WearLine?]) {
    try Self.counted { () throws(FileFault) in try file.read({ WearLine(text: $0) }, until: isEnough) }
  }

  fileprivate static func counted<Result>(_ body: () throws(FileFault) -> Result) throws(LabFault) -> Result {
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
  /// - Parameters:
  ///   - earlier: where the lock's movements were counted before, and are no more.
  ///   - clock: tells the time; the machine's own unless a test has another.
  /// - Throws: a ``Conformance/LabFault`` when it cannot be written, or another run counts.
  public convenience init(
    opening path: String, takingOver earlier: String? = nil,
    clock: @escaping () -> BenchTime = { BenchClock.now }
  ) throws(LabFault) {
    if let earlier, Host.isFile(earlier) { try WearFile(path).takeOver(earlier, at: clock()) }
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
    // What was torn may have been a jam: it is one, and it is written down once.
    if file.notes.isTorn {
      try file.note(WearLine("\(WearLedger.Word.jam), in a line that was torn", at: clock()))
    }
  }
}

extension Odometer {
  /// Whether the lock of the odometer at a path is owed its rest; see ``Lab/OwedRest``.
  public static func isAway(at path: String) -> Bool { glance(at: path)?.ledger.owed != nil }

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

extension Odometer {
  /// Where the movements of a lock are counted, one file a lock, whatever its description is called; made where it is not
  /// there.
  public static func keptPath(of file: LockFile) throws(LabFault) -> String {
    try StateFolder.folder("odometers") + "/" + name(of: file)
  }

  /// The same, where it may not be there; `nil` where there is no place for it.
  public static func path(of file: LockFile) -> String? {
    StateFolder.path.map { $0 + "/odometers/" + name(of: file) }
  }

  /// Where they were counted before there was one folder for all users; `nil` where that is no other.
  public static func earlierPath(of file: LockFile) -> String? {
    StateFolder.earlier.map { $0 + "/odometers/" + name(of: file) }
  }

  private static func name(of file: LockFile) -> String {
    String(file.identity.map { $0 == ":" ? "-" : $0 }) + ".log"
  }
}
