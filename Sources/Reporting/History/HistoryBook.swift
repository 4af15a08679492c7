import Basics
import Databases
public import Journal

/// A run in a history.
public struct HistoryRun: Hashable, Sendable {
  /// The identity of the run.
  public var identity: RunRecord.Identity
  /// The start in UTC: `2026-11-20T22:38:51Z`.
  public var started: String
  /// Its seed.
  public var seed: String?
  /// The revision of the project that was tested.
  public var revision: String?
  /// The version of Lockstep.
  public var version: String?
  /// The exit status; `nil` for a run that did not end.
  public var status: Int?
  /// The sum of its cases' durations in the time of the device.
  public var milliseconds: Int64
  /// The number of its cases by how they ended, by the codes of the words.
  public var counts: [Int]
  /// The number of cases that passed only on a retry.
  public var flaky: Int

  /// The number of cases.
  public var cases: Int { counts.reduce(0, +) }

  /// The exit status: the most serious one of its cases and its own.
  public var exitStatus: CommandStatus {
    var all: Set<CommandStatus> = [
      status.map { CommandStatus(rawValue: Int32(clamping: $0)) ?? .internalFault } ?? .incomplete
    ]
    for word in Record.Verdict.Word.allCases where count(word) > 0 {
      all.insert(Record.Ending(word).status)
    }
    return .gravest(of: all)
  }

  /// The number of its cases with a word.
  public func count(_ word: Record.Verdict.Word) -> Int {
    word.code < counts.count ? counts[word.code] : 0
  }
}

/// The runs and cases that a query selects.
public struct HistorySelection: Hashable, Sendable {
  /// The maximum number of runs, the latest ones.
  public var last: Int?
  /// Only runs that started at this time or later: the beginning of `2026-11-20T22:38:51Z`, or all of it.
  public var since: String?
  /// Only runs that started before this time.
  public var before: String?
  /// Only runs of this host.
  public var host: String?
  /// Only cases with this text in their class or their name.
  public var filter: String?
  /// Excluded runs.
  public var excluded: [RunRecord.Identity] = []

  /// Selects all runs and all cases.
  public init() {}
}

/// The results of a case in several runs.
public struct HistoryCase: Hashable, Sendable {
  /// The class of the case, as in JUnit.
  public var className: String
  /// Its name there.
  public var name: String
  /// The number of runs with a judgement: agreement or divergence.
  public var judged = 0
  /// The number of them in which model and device agreed, at the first or a later attempt.
  public var agreed = 0
  /// How often the judgement differed from the previous one on the same device, of the same scenario, machine
  /// and program.
  public var changes = 0
  /// The number of runs in which agreement needed a retry.
  public var retried = 0
  /// The start of the first run with the case.
  public var firstSeen: String?
  /// The start of the last run in which the judgement changed or a retry was needed.
  public var lastUnsteady: String?
  /// The usual duration when it agrees.
  public var usual: UsualTime?
  /// The duration when it last agreed.
  public var lastMilliseconds: Int64?
  /// Whether that was much longer than usual.
  public var isSlower = false
  /// The runs with the case, the oldest first.
  public var points: [CaseHistory.Point] = []

  /// Whether its judgement is unreliable.
  public var isFlaky: Bool { changes + retried > 0 }
}

/// The usual duration of a case, from the runs in which it agreed.
public struct UsualTime: Hashable, Sendable {
  /// The median, in milliseconds.
  public let milliseconds: Int64
  /// The median deviation from it, in milliseconds.
  public let deviation: Int64

  /// The minimum number of runs.
  public static let minimum = 5
  /// The maximum number of runs, the latest ones: the usual duration may change.
  public static let maximum = 50

  /// Computes the usual duration; `nil` if there are too few times.
  public init?(_ times: some BidirectionalCollection<Int64>) {
    let latest = times.suffix(Self.maximum)
    guard latest.count >= Self.minimum else { return nil }
    let median = middle(Array(latest))
    milliseconds = median
    deviation = middle(latest.map { abs($0 - median) })
  }

  /// Whether a time is much longer than usual.
  ///
  /// That is: above the median by more than four standard deviations, as estimated by the median deviation,
  /// which is robust against a few failed runs; and by at least a fifth and a tenth of a second, since many
  /// cases have exactly the same duration in each run, so that any difference would count.
  public func isExceeded(by time: Int64) -> Bool {
    let margin = max(Double(deviation) * 1.4826 * 4, Double(milliseconds) / 5, 100)
    return Double(time) > Double(milliseconds) + margin
  }
}

/// The median, rounded down.
private func middle(_ values: [Int64]) -> Int64 {
  let sorted = values.sorted()
  let half = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2
}

/// The last judgement of a case on each device: a difference counts only for the same device and edition.
private struct Judgements {
  private typealias Judgement = (device: UInt16, edition: Int64, agrees: Bool)

  private var latest: Judgement?
  /// The judgements on other devices. Most cases have one device, for which nothing is allocated.
  private var others: [Judgement] = []

  /// Records a judgement; returns whether it differs from the last one on that device.
  mutating func isChange(_ agrees: Bool, of edition: Int64, on device: UInt16) -> Bool {
    if let latest, latest.device != device {
      let index = others.firstIndex { $0.device == device }
      let other = index.map { others.remove(at: $0) }
      others.append(latest)
      self.latest = other
    }
    defer { latest = (device, edition, agrees) }
    guard let latest, latest.agrees != agrees else { return false }
    return latest.edition == edition || latest.edition == 0 || edition == 0
  }
}

/// The runs of a history with all their results.
struct HistoryBook {
  struct Point {
    var run: Int32
    var ending: Record.Ending
    /// The device, by its index among those of the history.
    var device: UInt16
    /// The edition of the case; zero if it is unknown.
    var edition: Int64
    var milliseconds: Int64
  }

  /// The runs, the oldest first.
  private(set) var runs: [HistoryRun] = []
  /// The numbers of the cases, ascending.
  private(set) var numbers: [Int64] = []
  /// The names of the cases, if requested.
  private(set) var names: [CaseName] = []
  /// The results of each case, the oldest run first.
  private(set) var points: [[Point]] = []
  /// The device of each setting.
  private var devices: [Int64: UInt16] = [:]

  /// The maximum size of the digests that are read, which is some thirteen million results, of the latest
  /// runs.
  private static let digestLimit = 64 << 20

  /// Reads the results of some runs.
  ///
  /// - Parameter isNamed: whether to read the names of the cases, too.
  init(_ database: HistoryDatabase, _ selection: HistorySelection, isNamed: Bool = true) throws(HistoryError)
  {
    let place = database.place
    var found: [(number: Int64, run: HistoryRun)] = []
    var size = 0
    try database.forEachRun(selection) { number, run, bytes in
      size += bytes
      if size <= Self.digestLimit || found.isEmpty { found.append((number, run)) }
    }
    found.reverse()
    runs = found.map(\.run)
    guard let first = runs.first?.started else { return }
    try readCases(database, isNamed: isNamed)
    try readDevices(database)
    var digests: [Int64: RunDigest] = [:]
    try database.query(
      "SELECT run_id, digest FROM digests JOIN runs ON id = run_id WHERE started >= $1", [.text(first)]
    ) { row in
      digests[row[0].integer ?? 0] = RunDigest(bytes: row[1].bytes)
    }
    for (index, item) in found.enumerated() {
      guard let digest = digests[item.number], add(digest, of: Int32(index)) else {
        throw .damaged(place, reason: "the digest of the run \(item.run.identity.name) is invalid")
      }
    }
  }

  private mutating func readCases(_ database: HistoryDatabase, isNamed: Bool) throws(HistoryError) {
    var (numbers, names): ([Int64], [CaseName]) = ([], [])
    let columns = isNamed ? "id, class, name" : "id"
    try database.query("SELECT \(columns) FROM cases ORDER BY id", []) { row in
      numbers.append(row[0].integer ?? 0)
      if isNamed { names.append(CaseName(className: row[1].text ?? "", name: row[2].text ?? "")) }
    }
    (self.numbers, self.names) = (numbers, names)
    points = Array(repeating: [], count: numbers.count)
  }

  /// Assigns indices to devices: settings differ also by firmware and machine, which are not separate
  /// devices.
  private mutating func readDevices(_ database: HistoryDatabase) throws(HistoryError) {
    var indices: [ExactText: UInt16] = [:]
    var devices: [Int64: UInt16] = [:]
    try database.query("SELECT id, device FROM settings ORDER BY id", []) { row in
      let device = ExactText(row[1].text ?? "")
      let index = indices[device] ?? UInt16(clamping: indices.count + 1)
      indices[device] = index
      devices[row[0].integer ?? 0] = index
    }
    self.devices = devices
  }

  /// Adds the results of a run; `false` if the digest is malformed, or has unknown cases.
  private mutating func add(_ digest: RunDigest, of run: Int32) -> Bool {
    var slot = -1
    var isWhole = true
    // Most cases are in most runs; but a campaign may have a million that no other run has.
    let isSmall = numbers.count * runs.count <= 1 << 22
    var (setting, device): (Int64, UInt16) = (0, 0)
    isWhole =
      digest.forEach { entry in
        // The next case is usually the next one here, too.
        slot += 1
        if slot >= numbers.count || numbers[slot] != entry.caseNumber {
          guard let found = self.slot(of: entry.caseNumber) else {
            isWhole = false
            return
          }
          slot = found
        }
        if entry.setting != setting {
          setting = entry.setting
          isWhole = isWhole && devices[setting] != nil
          device = devices[setting] ?? 0
        }
        if isSmall, points[slot].isEmpty { points[slot].reserveCapacity(runs.count - Int(run)) }
        points[slot].append(
          Point(
            run: run, ending: entry.ending, device: device, edition: entry.edition,
            milliseconds: entry.milliseconds))
      } && isWhole
    return isWhole
  }

  /// The index of the case with a number.
  func slot(of number: Int64) -> Int? {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number ? low : nil
  }

  /// The results of the case in a slot.
  func history(_ slot: Int) -> HistoryCase {
    let name = names.isEmpty ? CaseName(className: "", name: "") : names[slot]
    var history = HistoryCase(className: name.className, name: name.name)
    history.firstSeen = points[slot].first.map { runs[Int($0.run)].started }
    var judgements = Judgements()
    var times: [Int64] = []
    for point in points[slot] {
      if point.ending.isFlaky { history.retried += 1 }
      if point.ending.isVerdict {
        let agrees = point.ending.word == .agree
        history.judged += 1
        if agrees {
          history.agreed += 1
          times.append(point.milliseconds)
        }
        let isChange = judgements.isChange(agrees, of: point.edition, on: point.device)
        if isChange { history.changes += 1 }
        if isChange || point.ending.isFlaky { history.lastUnsteady = runs[Int(point.run)].started }
      }
    }
    history.lastMilliseconds = times.last
    history.usual = UsualTime(times)
    if let last = times.last, let usual = UsualTime(times.dropLast()) {
      history.isSlower = usual.isExceeded(by: last)
      history.usual = usual
    }
    return history
  }

  /// The results of the case in a slot, with each of the runs, or the latest.
  func history(_ slot: Int, points limit: Int) -> HistoryCase {
    var history = history(slot)
    history.points = points[slot].suffix(limit).map { point in
      let run = runs[Int(point.run)]
      return CaseHistory.Point(
        run: run.identity.name, start: run.started, ending: point.ending,
        milliseconds: point.milliseconds)
    }
    return history
  }
}

extension HistoryDatabase {
  /// Enumerates the selected runs, the latest first, with their numbers and the sizes of their digests.
  func forEachRun(
    _ selection: HistorySelection, _ body: (Int64, HistoryRun, Int) -> Void
  ) throws(HistoryError) {
    var conditions: [String] = []
    var values: [SQLValue] = []
    func require(_ column: String, _ value: String?) {
      guard let value else { return }
      values.append(.text(value))
      conditions.append("\(column) $\(values.count)")
    }
    require("started >=", selection.since)
    require("started <", selection.before)
    require("host =", selection.host)
    var count = 0
    // Excluded runs do not count among the last.
    let limit = selection.last.map { " LIMIT \($0 + selection.excluded.count)" } ?? ""
    try query(
      """
      SELECT id, host, name, started, seed, revision, version, status, milliseconds,
        agree, divergences, lab_faults, skipped, incomplete, flaky, length(digest), identity, unmet
      FROM runs JOIN digests ON run_id = id
      \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
      ORDER BY started DESC, host DESC, name DESC, identity DESC\(limit)
      """, values
    ) { row in
      let run = HistoryRun(row)
      if selection.excluded.contains(run.identity) || count == selection.last { return }
      count += 1
      body(row[0].integer ?? 0, run, Int(row[15].integer ?? 0))
    }
  }
}

extension HistoryRun {
  /// Makes a run from a row.
  fileprivate init(_ row: [SQLValue]) {
    func number(_ column: Int) -> Int { Int(row[column].integer ?? 0) }
    identity = RunRecord.Identity(
      id: row[16].text ?? "", host: row[1].text ?? "", name: row[2].text ?? "")
    started = row[3].text ?? ""
    seed = row[4].text
    revision = row[5].text
    version = row[6].text
    status = row[7].integer.map(Int.init)
    milliseconds = row[8].integer ?? 0
    counts = (9...13).map(number) + [number(17)]
    flaky = number(14)
  }
}
