import Basics
import Databases
import Conformance
import System

/// The attempts to recover a controller in the ``StateStore``.
struct RecoveryLog {
  let controller: String
  /// The path of the store; `nil` without one.
  let path: String?

  /// The recent attempts, the oldest first. If they cannot be read, each process starts without any.
  var attempts: [(step: RecoveryStep, time: BenchTime)] {
    var attempts: [(RecoveryStep, BenchTime)] = []
    _ = try? StateStore.reading(path)?.read { database throws(DatabaseError) in
      try database.query(
        "SELECT step, wall, boot, uptime FROM recoveries WHERE controller = $1 ORDER BY id DESC LIMIT 100",
        [.text(controller)]
      ) { row in
        guard let step = row[0].text.flatMap(RecoveryStep.init), let time = BenchTime(row[1...]) else {
          return
        }
        attempts.append((step, time))
      }
    }
    return attempts.reversed()
  }

  /// Stores an attempt. A failure to do so is ignored, since no safety depends on it.
  func keep(_ attempt: RecoveryEscalation.Attempt) {
    guard let path else { return }
    let values: [SQLValue] = [
      .text(controller), .text(attempt.step.rawValue), SQLValue(attempt.failure == nil ? 1 : 0),
      .integer(attempt.duration.nanoseconds / 1_000_000),
    ]
    try? StateStore(path).change { database throws(DatabaseError) in
      try database.run(
        """
        INSERT INTO recoveries (controller, step, helped, milliseconds, wall, boot, uptime)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, values + BenchClock.now.row)
    }
  }

  /// Deletes the attempts: a person serviced the controller.
  func forget() throws(LabFault) {
    do throws(StateFault) {
      guard let path, try StateStore.reading(path) != nil else { return }
      try StateStore(path).change { database throws(DatabaseError) in
        try database.run("DELETE FROM recoveries WHERE controller = $1", [.text(controller)])
      }
    } catch {
      throw LabFault(.noDevice, "what was tried for \(controller) cannot be forgotten: \(error)")
    }
  }
}
