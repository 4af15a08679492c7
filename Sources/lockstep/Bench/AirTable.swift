import Journal
import Documents
import Emulator
import Basics

extension Command {
  /// The whole table of `make bench-air`.
  static var airTable: Command {
    Command(
      "air-table", "Searches for every defect over a radio that loses packets, for 'make bench-air'.",
      options: [
        .value(
          "seeds", \.seeds, "N", "How many seeds each defect is searched for with, 9 unless given.",
          example: "3"),
        .value("events", \.events, "N", "The events on each healthy lock.", example: "10M"),
        .value("jobs", \.jobs, "N", "How many searches run at a time.", example: "2"),
      ], defaults: AirTable(), perform: AirTable.perform)
  }
}

/// Every defect at every loss, on an emulated lock and on one that is driven as a real one, and healthy locks.
struct AirTable {
  var seeds = Count(9)
  var events = EventCount(10_000_000)
  var jobs = Count(2)

  private static let losses = ["0", "0.01", "0.05"]

  /// Prints a line for each search, and then the figures as `bench` prints them.
  func perform(_ console: Console) -> CommandStatus {
    Interruption.listen(saying: "lockstep: stopped before everything was searched for")
    var status = CommandStatus.agree
    for loss in Self.losses {
      for (name, way, defects) in [
        ("air", "link=radio", LockDefect.allCases), ("air.real", "as=real", LockDefect.withoutAHand),
      ] {
        let device = "emulator:sesame5?\(way)&loss=\(loss)"
        if !search(defects, on: device, name: "\(name).loss-\(loss)", console) { status = .internalFault }
      }
    }
    // Seeds of their own, and as many workers as there are.
    let healthy = Self.losses.flatMap { loss in
      (0..<UInt64(jobs.value)).map { part in
        AirSearch(
          device: "emulator:sesame5?link=radio&loss=\(loss)", defect: nil, seed: 0x5EED_0000 + part,
          events: events.value / jobs.value)
      }
    }
    let results = AirWorkers(count: jobs.value).run(healthy) { console.print(Self.row($0, $1)) }
    let accused = results.compactMap(\.self).map(\.findings).reduce(0, +)
    if results.contains(where: { $0 == nil }) { status = .internalFault }
    let figure = Figure(
      name: "air.false-alarms", unit: "findings", better: .lower,
      method: "Findings that were not dismissed on healthy locks, \(events.value) events at each loss.",
      measure: { Double(accused) })
    console.print(figure.json(Double(accused)))
    return status
  }

  /// Searches for defects on one device, and prints the figures.
  ///
  /// - Returns: whether all could be measured.
  private func search(_ defects: [LockDefect], on device: String, name: String, _ console: Console) -> Bool {
    let searches = AirSearches(device: device, defects, seeds: 1...UInt64(seeds.value), workers: jobs.value) {
      console.print(Self.row($0, $1))
    }
    let walk = "\(defects.count) defects on \(device), \(seeds.value) seeds each, up to 8 h of lock time"
    return Figure.print(searches.figures(name, walk), console)
  }

  private static func row(_ search: AirSearch, _ result: AirSearch.Result?) -> JSON {
    guard let result else { return ["search": search.json, "result": .null] }
    return .mapping(search.members + result.members)
  }
}
