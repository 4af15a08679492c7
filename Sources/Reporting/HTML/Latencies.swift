import Basics
import Journal

/// The times from each stimulus to the device's next status.
struct Latencies {
  /// The times of one stimulus.
  struct Row {
    var stimulus: String
    /// In milliseconds; sorted at the end.
    var times: [Int64] = []
    /// The case with the longest time.
    var worst: (milliseconds: Int64, name: String) = (-1, "")

    var median: Int64 { quantile(50) }

    /// The time that a percentage of the times does not exceed.
    func quantile(_ percent: Int) -> Int64 {
      times.isEmpty ? 0 : times[(times.count - 1) * percent / 100]
    }
  }

  /// By stimulus, in the order of first use.
  private(set) var rows: [Row] = []
  private var numbers: [String: Int] = [:]

  private static let (maximumRows, maximumTimes) = (60, 100_000)

  /// Adds the times of a case. A stimulus that another one follows before the device shows anything does not
  /// count.
  mutating func add(_ record: CaseRecord) {
    for attempt in record.attempts {
      add(attempt.moments.head, record.title)
      add(attempt.moments.tail, record.title)
    }
  }

  private mutating func add(_ moments: [Moment], _ name: String) {
    var open: (stimulus: String, time: Int64)?
    for moment in moments {
      switch moment.kind {
      case .stimulus: open = (moment.words.prefix { $0 != " " }.description, moment.time.milliseconds)
      case .status:
        guard let begun = open else { continue }
        record(begun.stimulus, max(0, moment.time.milliseconds - begun.time), name)
        open = nil
      default: break
      }
    }
  }

  private mutating func record(_ stimulus: String, _ milliseconds: Int64, _ name: String) {
    let number = numbers[stimulus] ?? rows.count
    if number == rows.count {
      guard rows.count < Self.maximumRows else { return }
      numbers[stimulus] = number
      rows.append(Row(stimulus: stimulus))
    }
    if rows[number].times.count < Self.maximumTimes { rows[number].times.append(milliseconds) }
    if milliseconds > rows[number].worst.milliseconds { rows[number].worst = (milliseconds, name) }
  }

  /// Sorts the times, as quantiles require.
  mutating func finish() {
    for number in rows.indices { rows[number].times.sort() }
  }
}
