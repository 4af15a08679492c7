import Benchmarks
import System
import Journal
import Documents
import Emulator
import Basics

/// Every defect at every loss, on an emulated lock and on one that is driven as a real one, and healthy locks.
struct AirTable {
  /// How many seeds each defect is searched for with.
  var seeds = 9
  /// The events on each healthy lock.
  var events = 10_000_000
  /// How many searches run at a time.
  var jobs = 2

  /// The whole table.
  init() {}

  private static let losses = ["0", "0.01", "0.05"]

  /// Gives a line for each search, and then the figures as `bench` prints them.
  ///
  /// - Parameters:
  ///   - give: takes a line.
  ///   - say: takes what there is to say beside them.
  /// - Returns: whether all could be measured.
  func perform(give: @escaping (JSON) -> Void, say: (String) -> Void) -> Bool {
    var isWhole = true
    for loss in Self.losses {
      for (name, way, defects) in [
        ("air", "link=radio", LockDefect.allCases), ("air.real", "as=real", LockDefect.withoutAHand),
      ] {
        let device = "emulator:sesame5?\(way)&loss=\(loss)"
        if !search(defects, on: device, name: "\(name).loss-\(loss)", give, say) { isWhole = false }
      }
    }
    // Seeds of their own, and as many workers as there are.
    let healthy = Self.losses.flatMap { loss in
      (0..<UInt64(jobs)).map { part in
        AirSearch(
          device: "emulator:sesame5?link=radio&loss=\(loss)", defect: nil, seed: 0x5EED_0000 + part,
          events: events / jobs)
      }
    }
    let results = AirWorkers(count: jobs).run(healthy) { give(Self.row($0, $1)) }
    let accused = results.compactMap(\.self).map(\.findings).reduce(0, +)
    if results.contains(where: { $0 == nil }) { isWhole = false }
    let figure = Figure(
      name: "air.false-alarms", unit: "findings", better: .lower,
      method: "Findings that were not dismissed on healthy locks, \(events) events at each loss.",
      measure: { Double(accused) })
    give(figure.json(Double(accused)))
    return isWhole
  }

  /// Searches for defects on one device, and prints the figures.
  ///
  /// - Returns: whether all could be measured.
  private func search(
    _ defects: [LockDefect], on device: String, name: String, _ give: @escaping (JSON) -> Void,
    _ say: (String) -> Void
  ) -> Bool {
    let searches = AirSearches(device: device, defects, seeds: 1...UInt64(seeds), workers: jobs) {
      give(Self.row($0, $1))
    }
    let walk = "\(defects.count) defects on \(device), \(seeds) seeds each, up to 8 h of lock time"
    return Figure.measure(searches.figures(name, walk)) { figure, line in
      if let line { give(line) } else { say("lockstep: \(figure.name) cannot be measured here") }
    }
  }

  private static func row(_ search: AirSearch, _ result: AirSearch.Result?) -> JSON {
    guard let result else { return ["search": search.json, "result": .null] }
    return .mapping(search.members + result.members)
  }
}
