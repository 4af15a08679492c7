public import Basics
public import Conformance
import Databases
public import System

/// The events of a lock in the ``StateStore``.
private struct StoredCycles: CycleStore {
  let store: StateStore
  let lock: String

  var place: String { store.path }

  func keep(_ events: [LockEvent], after total: Int) throws(LabFault) {
    let movements = events.count(where: \.isMovement)
    let isAlone: Bool
    do throws(StateFault) {
      isAlone = try store.change { database throws(DatabaseError) in
        // A counter with another total does not know all movements of the motor.
        let known = try database.first(
          """
          UPDATE locks SET movements = movements + $1 WHERE identity = $2 AND (movements = $3 OR $1 = 0)
          RETURNING movements
          """, [SQLValue(movements), .text(lock), SQLValue(total)])
        guard known != nil else { return false }
        try events.insert(of: lock, into: database)
        return true
      }
      try store.confirm()
    } catch {
      throw LabFault(.safetyLimit, "movements cannot be counted, and so nothing is moved: \(error)")
    }
    guard isAlone else { throw LabFault(.noDevice, "another run uses this lock: it counts in \(place)") }
  }
}

extension CycleCounter {
  /// Opens the counter of a lock, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - lock: the lock's identity.
  ///   - path: the store; the bench's own if omitted.
  ///   - earlier: another store, which counted the lock's movements before and no longer does.
  ///   - clock: the clock; the machine's own unless a test provides another.
  /// - Throws: a ``Conformance/LabFault`` if the lock's events cannot be read or written.
  public convenience init(
    of lock: String, in path: String? = nil, takingOver earlier: String? = StateFolder.earlierStore,
    clock: @escaping () -> BenchTime = { BenchClock.now }
  ) throws(LabFault) {
    var place = path
    if place == nil { place = try StateFolder.neededStore() }
    do throws(StateFault) {
      let store = try StateStore(place ?? "")
      try store.check()
      let now = clock()
      if let earlier, try StateStore.reading(earlier) != nil {
        try store.takeOver(lock, from: try StateStore(earlier), at: now)
      }
      let (total, events) = try store.change { database throws(DatabaseError) in
        try database.run("INSERT INTO locks VALUES ($1, 0) ON CONFLICT DO NOTHING", [.text(lock)])
        return try database.cycles(of: lock, at: now) ?? (0, [])
      }
      self.init(
        keptBy: StoredCycles(store: store, lock: lock), total: total,
        ledger: ActuationBudget(events, at: now), clock: clock)
    } catch {
      throw LabFault(.noDevice, "movements cannot be counted, and so nothing is moved: \(error)")
    }
  }

  /// The stored total and events of a lock; `nil` if none was ever counted.
  ///
  /// - Parameter path: the store; the bench's own if omitted.
  /// - Throws: why the store cannot be read.
  public static func known(
    of lock: String, in path: String? = StateFolder.store, now: BenchTime = BenchClock.now
  ) throws(LabFault) -> (total: Int, ledger: ActuationBudget)? {
    do throws(StateFault) {
      guard let store = try StateStore.reading(path) else { return nil }
      let known = try store.read { database throws(DatabaseError) in try database.cycles(of: lock, at: now) }
      return known.map { ($0.total, ActuationBudget($0.events, at: now)) }
    } catch {
      throw LabFault(.noDevice, "the movements of the lock are not known: \(error)")
    }
  }

  /// Whether a park of the lock is pending, see ``PendingPark``, or this cannot be determined.
  public static func isAway(_ lock: String) -> Bool {
    do throws(LabFault) { return try known(of: lock)?.ledger.pendingPark != nil } catch { return true }
  }
}

extension StateStore {
  /// Imports a lock from another store: the greater total, and every movement that still counts in a budget.
  ///
  /// If the process is killed in between, the next one imports the events again and they count twice.
  fileprivate func takeOver(_ lock: String, from other: StateStore, at now: BenchTime) throws(StateFault) {
    let taken = try other.read { database throws(DatabaseError) in try database.cycles(of: lock, at: now) }
    guard let taken else { return }
    try change { database throws(DatabaseError) in
      let own = try database.cycles(of: lock, at: now)
      let all = taken.events + (own?.events ?? [])
      let held = all.reduce(now) { $0.held(to: $1.time) }
      let recent = taken.events.count { $0.isMovement && !$0.time.isOver(at: held) }
      let total = max(taken.total, (own?.total ?? 0) + recent)
      try database.run(
        "INSERT INTO locks VALUES ($1, $2) ON CONFLICT (identity) DO UPDATE SET movements = $2",
        [.text(lock), SQLValue(total)])
      try database.run("DELETE FROM events WHERE lock = $1", [.text(lock)])
      // Events with equal times keep their order.
      let order = all.indices.sorted {
        (all[$0].time.place(at: held), $0) < (all[$1].time.place(at: held), $1)
      }
      try order.map { all[$0] }.insert(of: lock, into: database)
    }
    try other.change { database throws(DatabaseError) in
      try database.run("DELETE FROM events WHERE lock = $1", [.text(lock)])
      try database.run("DELETE FROM locks WHERE identity = $1", [.text(lock)])
    }
  }
}

// MARK: - Rows

extension SQLiteDatabase {
  private static let columns = "id, kind, detail, value, wall, boot, uptime"

  /// The total of a lock and the events that ``ActuationBudget`` needs; `nil` for a lock that was never counted.
  fileprivate func cycles(
    of lock: String, at now: BenchTime
  ) throws(DatabaseError) -> (total: Int, events: [LockEvent])? {
    guard let total = try first("SELECT movements FROM locks WHERE identity = $1", [.text(lock)])?[0].integer
    else { return nil }
    var events: [LockEvent] = []
    var (held, last) = (now, Int64.max)
    var isEnough = false
    while !isEnough {
      let rows = try rows(
        "SELECT \(Self.columns) FROM events WHERE lock = $1 AND id < $2 ORDER BY id DESC LIMIT 1000",
        [.text(lock), .integer(last)])
      for (id, event) in rows where !isEnough {
        last = id
        events.append(event)
        held = held.held(to: event.time)
        isEnough = event.time.isOver(at: held)
      }
      isEnough = isEnough || rows.isEmpty
    }
    // Of earlier events the latest of each kind still holds.
    let latest = LockEvent.Kind.noteNames.map {
      "SELECT max(id) FROM events WHERE lock = $1 AND kind = '\($0)'"
    }
    let notes = try rows(
      """
      SELECT \(Self.columns) FROM events WHERE lock = $1 AND id < $2 AND id IN (\(latest.joined(separator: " UNION ALL ")))
      ORDER BY id
      """, [.text(lock), .integer(last)])
    guard events.count(where: \.isMovement) <= total else {
      throw .damaged("more movements of the lock are written down than were counted")
    }
    return (Int(total), notes.map(\.event) + events.reversed())
  }

  private func rows(
    _ statement: String, _ values: [SQLValue]
  ) throws(DatabaseError) -> [(id: Int64, event: LockEvent)] {
    var (rows, isWhole): ([(Int64, LockEvent)], Bool) = ([], true)
    try query(statement, values) { row in
      guard let id = row[0].integer, let event = LockEvent(row[1...]) else {
        isWhole = false
        return
      }
      rows.append((id, event))
    }
    guard isWhole else { throw .damaged("an event of the lock is not one that can happen") }
    return rows
  }
}

extension [LockEvent] {
  fileprivate func insert(of lock: String, into database: SQLiteDatabase) throws(DatabaseError) {
    for event in self {
      try database.run(
        """
        INSERT INTO events (lock, kind, detail, value, wall, boot, uptime) VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, [.text(lock)] + event.kind.row + event.time.row)
    }
  }
}

extension LockEvent {
  fileprivate init?(_ row: ArraySlice<SQLValue>) {
    guard let kind = Kind(row.prefix(3)), let time = BenchTime(row.dropFirst(3)), time.uptime >= .zero,
      time.wall.nanoseconds >= 0
    else { return nil }
    self.init(kind, at: time)
  }
}

extension LockEvent.Kind {
  /// The names, in rows, of the events that are no movements.
  fileprivate static let noteNames = ["settled", "jam", "battery", "served", "autolock", "away", "parked"]

  /// The kind of event as a name, a text and a number.
  fileprivate var row: [SQLValue] {
    switch self {
    case .movement(let name): [.text("movement"), .text(name), .null]
    case .ownMovement: [.text("own"), .null, .null]
    case .settled: [.text("settled"), .null, .null]
    case .jam(let words): [.text("jam"), .text(words), .null]
    case .battery(let percent): [.text("battery"), .null, SQLValue(percent)]
    case .served: [.text("served"), .null, .null]
    case .autolock(let isOn): [.text("autolock"), .null, SQLValue(isOn ? 1 : 0)]
    case .away(let goal, let autolock): [.text("away"), .text(goal), autolock.map { SQLValue($0) } ?? .null]
    case .parked: [.text("parked"), .null, .null]
    }
  }

  fileprivate init?(_ row: ArraySlice<SQLValue>) {
    guard let name = row.first?.text, let value = row.last else { return nil }
    let detail = row.dropFirst().first?.text
    switch (name, detail, value.integer) {
    case ("movement", let name?, _): self = .movement(name)
    case ("own", _, _): self = .ownMovement
    case ("settled", _, _): self = .settled
    case ("jam", let words?, _): self = .jam(words)
    case ("battery", _, let percent?) where (0...100).contains(percent): self = .battery(Int(percent))
    case ("served", _, _): self = .served
    case ("autolock", _, let isOn?): self = .autolock(isOn != 0)
    case ("away", let goal?, let autolock): self = .away(goal, autolock: autolock.map { Int($0) })
    case ("parked", _, _): self = .parked
    default: return nil
    }
  }
}

extension BenchTime {
  /// The calendar time, the machine's start and the time since then.
  var row: [SQLValue] {
    [.integer(wall.nanoseconds), .text(boot), .integer(uptime.nanoseconds)]
  }

  /// Reads the columns that ``row`` writes.
  init?(_ row: ArraySlice<SQLValue>) {
    let row = Array(row)
    guard row.count == 3, let wall = row[0].integer, let boot = row[1].text, let uptime = row[2].integer
    else { return nil }
    self.init(wall: WallTime(nanoseconds: wall), boot: boot, uptime: Instant(nanoseconds: uptime))
  }
}
