public import Basics
public import Conformance
import Databases

/// The health of locks and dongles in the ``StateStore``.
///
/// A device whose record cannot be read is not used until a person has examined it.
public enum HealthStore {
  /// The current health of a device.
  public static func health(of identity: String) throws(LabFault) -> DeviceHealth { try book()[identity] }

  /// All records; none before the first was stored.
  ///
  /// - Throws: why the records cannot be read.
  public static func book() throws(LabFault) -> HealthBook {
    do throws(StateFault) {
      return try StateStore.reading(StateFolder.store)?.read(HealthBook.init) ?? HealthBook()
    } catch {
      throw LabFault(.noDevice, "the health of locks and dongles is not known: \(error)")
    }
  }

  /// Puts a device out of use until `lockstep devices restore`. A device that is already out of use keeps its reason.
  ///
  /// - Parameter name: the device's name, for messages.
  public static func putOut(
    _ identity: String, called name: String, _ reason: String, at now: WallTime
  ) throws(LabFault) {
    try update { book in
      book[identity].name = name
      if book[identity].outOfUse == nil {
        book[identity].outOfUse = DeviceHealth.OutOfUse(since: now, reason: reason)
      }
    }
  }

  /// Changes the records, excluding other processes meanwhile.
  ///
  /// - Throws: why the change cannot be stored; also if the existing records cannot be read, since they would be
  ///   lost.
  public static func update<Result>(_ body: (inout HealthBook) -> Result) throws(LabFault) -> Result {
    let path = try StateFolder.neededStore()
    do throws(StateFault) {
      return try StateStore(path).change { database throws(DatabaseError) in
        let before = try HealthBook(database)
        var after = before
        let result = body(&after)
        for (identity, health) in after.records where before[identity] != health {
          try database.keep(health, of: identity)
        }
        return result
      }
    } catch {
      throw LabFault(.noDevice, "the health of locks and dongles cannot be kept: \(error)")
    }
  }
}

extension HealthBook {
  /// Reads all records.
  fileprivate init(_ database: SQLiteDatabase) throws(DatabaseError) {
    var records: [String: DeviceHealth] = [:]
    try database.query("SELECT identity, name, passed, out_since, out_reason FROM health", []) { row in
      var health = DeviceHealth()
      health.name = row[1].text
      health.lastPass = row[2].integer.map { WallTime(nanoseconds: $0) }
      if let since = row[3].integer {
        health.outOfUse = .init(since: WallTime(nanoseconds: since), reason: row[4].text ?? "")
      }
      records[row[0].text ?? ""] = health
    }
    try database.query("SELECT identity, time, reason, other FROM failures ORDER BY id", []) { row in
      let time = WallTime(nanoseconds: row[1].integer ?? 0)
      records[row[0].text ?? ""]?.failures.append(
        .init(time: time, reason: row[2].text ?? "", other: row[3].text))
    }
    self.init(records.map { ($0.key, $0.value) })
  }
}

extension SQLiteDatabase {
  fileprivate func keep(_ health: DeviceHealth, of identity: String) throws(DatabaseError) {
    try run("DELETE FROM health WHERE identity = $1", [.text(identity)])
    let times = [health.lastPass, health.outOfUse?.since].map { time in
      time.map { SQLValue.integer($0.nanoseconds) } ?? .null
    }
    try run(
      "INSERT INTO health VALUES ($1, $2, $3, $4, $5)",
      [.text(identity), SQLValue(health.name)] + times + [SQLValue(health.outOfUse?.reason)])
    for failure in health.failures {
      try run(
        "INSERT INTO failures (identity, time, reason, other) VALUES ($1, $2, $3, $4)",
        [
          .text(identity), .integer(failure.time.nanoseconds), .text(failure.reason), SQLValue(failure.other),
        ])
    }
  }
}
