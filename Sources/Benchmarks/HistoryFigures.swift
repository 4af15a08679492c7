import Journal
import Transports
import System
import Reporting
import Basics

extension Figure {
  /// The cost of the history of runs.
  static var history: Figure {
    Figure(
      name: "history.flaky", unit: "ms", better: .lower,
      method:
        "Opening a history of 1,000 nights of 500 cases, a file out of the page cache, and asking which are "
        + "flaky, median of 9.",
      measure: flaky)
  }

  private static func flaky() -> Double? {
    let folder = scratch("-history")
    let path = folder + "/history.sqlite"
    clear(folder)
    defer { clear(folder) }
    do {
      try fill(.file(path))
      var times: [Double] = []
      for _ in 0..<9 {
        // dd can make the system drop a file from its cache.
        _ = Measurement.run("/bin/dd", ["of=\(path)", "oflag=nocache", "conv=notrunc,fdatasync", "count=0"])
        var found = 0
        let start = MonotonicClock.now
        found = try History(.file(path), for: .asking).flaky().cases.count
        times.append((MonotonicClock.now - start).seconds * 1000)
        guard found == 40 else { return nil }
      }
      return median(times)
    } catch {
      return nil
    }
  }

  /// Fills a history with a thousand nights in which some thirty cases sometimes change their verdict, and ten need
  /// another attempt.
  private static func fill(_ place: HistoryPlace) throws(HistoryError) {
    var draw = SeededGenerator(seed: 1)
    let history = try History(place, for: .adding)
    for chunk in 0..<10 {
      var nights: [RunRecord] = []
      for night in chunk * 100..<chunk * 100 + 100 {
        nights.append(record(night, &draw))
      }
      try history.take(nights)
    }
  }

  private static func record(_ night: Int, _ draw: inout SeededGenerator) -> RunRecord {
    let (year, month, day) = (2023 + night / 336, night / 28 % 12 + 1, night % 28 + 1)
    let date = "\(year)-\(month.padded(to: 2))-\(day.padded(to: 2))"
    var record = RunRecord(
      identity: .init(
        host: "bench-01", name: "\(date)T02-00-00-run", started: "\(date)T02:00:00Z", seed: "42"),
      started: "\(date)T02:00:00Z")
    record.seed = "42"
    record.revision = "61f6abf0d2c84b2f9e5a1c7d3b8e6f4a0c2d5e7f"
    record.version = Version.text
    record.results = (0..<500).map { number in
      let time = 1000 + Int64(number) * 37 + Int64.random(in: 0..<200, using: &draw)
      let fails = number < 30 && (night == number || Int.random(in: 0..<20, using: &draw) == 0)
      var result = RunRecord.Result(
        className: "Scenarios.sesame5.group-\(number / 10)", name: "What happens in the case \(number)",
        ending: fails ? .diverged : .agreed, milliseconds: time)
      if (30..<40).contains(number), night % 25 == number - 30 {
        (result.ending, result.attempts) = (fails ? .failedAsFlaky : .flaky, 2)
      }
      if fails || result.ending.isFlaky {
        (result.signature, result.message) = ("signature-\(number)", "the lock stayed connected")
      }
      result.setting = .init(
        device: "emulator:sesame5", firmware: "3.0-5-18a8e4", machine: "sesame", model: "8f31c2d0a4b1c6e7")
      return result
    }
    return record
  }
}
