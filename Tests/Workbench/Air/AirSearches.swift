import Benchmarks
import Conformance
import Emulator
import Basics

/// Searches for every defect on one lock, done once for all figures that come of them.
final class AirSearches {
  /// What a search may take on the lock.
  static let lockTime = Interval.seconds(8 * 3600)

  let device: String
  private let defects: [LockDefect]
  private let seeds: ClosedRange<UInt64>
  private let workers: Int
  private let without: Explorer.Strategy?
  private let done: (AirSearch, AirSearch.Result?) -> Void
  private lazy var results: [AirSearch.Result?] = AirWorkers(count: workers).run(searches, done: done)

  /// Prepares searches with some seeds.
  init(
    device: String, _ defects: [LockDefect] = LockDefect.allCases, seeds: ClosedRange<UInt64>, workers: Int,
    without: Explorer.Strategy? = nil,
    done: @escaping (AirSearch, AirSearch.Result?) -> Void = { _, _ in }
  ) {
    self.device = device
    self.defects = defects
    self.seeds = seeds
    self.workers = workers
    self.without = without
    self.done = done
  }

  private var searches: [AirSearch] {
    defects.flatMap { defect in
      seeds.map {
        AirSearch(device: device, defect: defect, seed: $0, lockTime: Self.lockTime, without: without)
      }
    }
  }

  /// The figures, by a name that they begin with.
  func figures(_ name: String, _ walk: String) -> [Figure] {
    let count = searches.count
    return [
      Figure(
        name: "\(name).found", unit: "of \(count)", better: .higher,
        method: "Searches that ended with a confirmed finding: \(walk).",
        measure: { [self] in isMeasured ? Double(found) : nil }),
      Figure(
        name: "\(name).lock-time", unit: "s", better: .lower,
        method: "The lock's time up to the finding, the median; one that is not found counts with its 8 h.",
        measure: { [self] in middle(lockTimes) }),
      Figure(
        name: "\(name).lock-time-worst", unit: "s", better: .lower,
        method: "The lock's time up to the finding, the most.",
        measure: { [self] in lockTimes.max() }),
      Figure(
        name: "\(name).movements", unit: "movements", better: .lower,
        method: "How often the bolt was set in motion up to the finding, the median.",
        measure: { [self] in middle(movements) }),
      Figure(
        name: "\(name).movements-worst", unit: "movements", better: .lower,
        method: "How often the bolt was set in motion up to the finding, the most.",
        measure: { [self] in movements.max() }),
      Figure(
        name: "\(name).shrunk-movements", unit: "movements", better: .lower,
        method:
          "By how many movements a shrunk test exceeds the least that shows its defect, the most; a lock that lives "
          + "on may have it shown and shrunk by new ones, as in a campaign.",
        measure: { [self] in zip(searches, results).compactMap(excess).max() }),
    ]
  }

  /// Whether each search came to its end.
  var isMeasured: Bool { !results.contains { $0 == nil } }

  /// How many ended with a finding.
  var found: Int { results.count { $0?.isFound == true } }

  /// The lock's time that each took, in seconds, up to its finding or to the end.
  var lockTimes: [Double] {
    results.map { $0.map { $0.isFound ? $0.lockTime : Self.lockTime }?.seconds ?? Self.lockTime.seconds }
  }

  /// How often the bolt was set in motion in each.
  var movements: [Double] { results.compactMap(\.self).map { Double($0.movements) } }

  private func middle(_ values: [Double]) -> Double? { values.isEmpty ? nil : median(values) }

  private func excess(_ search: AirSearch, _ result: AirSearch.Result?) -> Double? {
    guard let result, result.isFound, let defect = search.defect else { return nil }
    return Double(result.shrunkMovements - defect.minimumMovements)
  }
}

extension LockDefect {
  /// Those that a client can show by itself: without a hand on the lock, and with a pause between movements.
  static var withoutAHand: [LockDefect] {
    let others: [LockDefect] = [
      .jamReportedAsLocked, .staleStatusAfterHandTurn, .restUnpublishedAfterTurnabout, .deadUntilPowerCycle,
      .batteryWrapsAtZero,
    ]
    return allCases.filter { !others.contains($0) }
  }

  /// The fewest movements that the tester must ask for to have the defect shown by a test.
  fileprivate var minimumMovements: Int {
    switch self {
    case .deafUnlock, .restUnpublishedAfterTurnabout: 2
    case .jamAfterAbortedLogins: 3
    case .jamReportedAsLocked, .replayedCommandObeyed, .historyTagMissing, .batteryWrapsAtZero: 1
    // By autolock half of them may come, which are not asked for.
    case .calibrationDrifts: 15
    default: 0
    }
  }
}
