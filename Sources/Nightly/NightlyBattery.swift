import Bench

/// The battery of a lock in the morning.
struct NightlyBattery {
  /// What it was when it was last read, in percent.
  let percent: Int
  /// How many percent it loses in an hour, in tenths; `nil` where nothing tells.
  let slope: Double?
  /// Why the lock is left alone because of it, if it is.
  let low: ActuationBudget.Refusal?

  /// Takes the battery out of a ledger; `nil` where it was never read, or not since somebody saw to the lock.
  init?(_ ledger: ActuationBudget, under limits: LockLimits) {
    guard let percent = ledger.battery else { return nil }
    self.percent = percent
    slope = ledger.batterySlope.map { ($0 * 10).rounded() / 10 }
    low = ledger.batteryRefusal(under: limits)
  }

  /// As it stands in a table.
  var text: String {
    "\(percent) %" + (slope.map { $0 > 0 ? ", −\($0) %/h" : ", steady" } ?? "") + (low == nil ? "" : ", LOW")
  }
}
