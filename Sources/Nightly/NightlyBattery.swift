import Bench

/// The battery of a lock in the morning.
struct NightlyBattery {
  /// The last reading, in percent.
  let percent: Int
  /// The loss in tenths of a percent per hour; `nil` if it is unknown.
  let slope: Double?
  /// The limit that blocks the lock because of the battery, if any.
  let low: ActuationBudget.Refusal?

  /// Reads the battery from a ledger; `nil` if it was never read, or not since a person serviced the lock.
  init?(_ ledger: ActuationBudget, under limits: LockLimits) {
    guard let percent = ledger.battery else { return nil }
    self.percent = percent
    slope = ledger.batterySlope.map { ($0 * 10).rounded() / 10 }
    low = ledger.batteryRefusal(under: limits)
  }

  /// The text in a table.
  var text: String {
    "\(percent) %" + (slope.map { $0 > 0 ? ", −\($0) %/h" : ", steady" } ?? "") + (low == nil ? "" : ", LOW")
  }
}
