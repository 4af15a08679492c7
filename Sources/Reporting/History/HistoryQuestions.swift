import Databases
public import Journal

extension History {
  /// Runs, the latest first.
  public func runs(_ selection: HistorySelection = HistorySelection()) throws(HistoryError) -> [HistoryRun] {
    try database.read { () throws(HistoryError) in
      var runs: [HistoryRun] = []
      try database.forEachRun(selection) { _, run, _ in runs.append(run) }
      return runs
    }
  }

  /// The results of cases in some runs, for each case by class and name.
  public struct Cases: Sendable {
    /// The number of runs.
    public var runs = 0
    /// The cases.
    public var cases: [HistoryCase] = []
  }

  /// The results of the cases in some runs.
  ///
  /// - Parameter points: the maximum number of runs of each case, the latest ones.
  public func cases(
    _ selection: HistorySelection = HistorySelection(), points: Int = 0,
    where isWanted: (HistoryCase) -> Bool = { _ in true }
  ) throws(HistoryError) -> Cases {
    let book = try database.read { () throws(HistoryError) in try HistoryBook(database, selection) }
    var cases: [HistoryCase] = []
    for slot in book.names.indices where !book.points[slot].isEmpty {
      if let filter = selection.filter, !book.names[slot].contains(filter) { continue }
      let history = book.history(slot)
      if isWanted(history) { cases.append(book.history(slot, points: points)) }
    }
    cases.sort { ($0.className, $0.name) < ($1.className, $1.name) }
    return Cases(runs: book.runs.count, cases: cases)
  }

  /// The cases whose judgement changed from one run to the next or needed a retry, the worst first.
  public func flaky(
    _ selection: HistorySelection = HistorySelection(), points: Int = 0
  ) throws(HistoryError) -> Cases {
    var found = try cases(selection, points: points, where: \.isFlaky)
    found.cases.sort { left, right in
      let (leftCount, rightCount) = (left.changes + left.retried, right.changes + right.retried)
      guard leftCount == rightCount else { return leftCount > rightCount }
      return (right.lastUnsteady ?? "", left.className, left.name)
        < (left.lastUnsteady ?? "", right.className, right.name)
    }
    return found
  }

  /// The cases that took much longer than usual when they last agreed, the slowest first.
  public func slow(
    _ selection: HistorySelection = HistorySelection(), points: Int = 0
  ) throws(HistoryError) -> Cases {
    /// By how much longer, in thousandths.
    func excess(_ history: HistoryCase) -> Int64 {
      (history.lastMilliseconds ?? 0) * 1000 / max(history.usual?.milliseconds ?? 1, 1)
    }
    var found = try cases(selection, points: points, where: \.isSlower)
    found.cases.sort { left, right in
      (excess(right), left.className, left.name) < (excess(left), right.className, right.name)
    }
    return found
  }
}

extension CaseName {
  /// Whether a text occurs in the class, in the name, or in both as `class / name`.
  func contains(_ text: String) -> Bool {
    "\(className) / \(name)".contains(text)
  }
}

// MARK: - Failures

/// A kind of failure with its occurrences.
public struct HistoryFailure: Hashable, Sendable {
  /// A case with the failure.
  public struct Case: Hashable, Sendable {
    /// Its class, as in JUnit.
    public var className: String
    /// Its name there.
    public var name: String
  }

  /// The signature; `nil` if the run has none, and then the message identifies the failure.
  public var signature: String?
  /// How the case last ended with it: `agree` if a retry passed.
  public var word: Record.Verdict.Word
  /// The last message.
  public var message: String
  /// The number of runs.
  public var runs: Int
  /// The start of the first of them.
  public var first: String
  /// The start of the last of them.
  public var last: String
  /// The cases with the failure, the latest first.
  public var cases: [Case]
}

extension History {
  /// The kinds of failure, the latest first.
  public func failures(
    _ selection: HistorySelection = HistorySelection()
  ) throws(HistoryError) -> [HistoryFailure] {
    try database.read { () throws(HistoryError) in
      var runs: [Int64: HistoryRun] = [:]
      var first = ""
      try database.forEachRun(selection) { number, run, _ in
        runs[number] = run
        first = run.started
      }
      var collector = FailureCollector(filter: selection.filter)
      try database.query(
        """
        SELECT f.run_id, c.class, c.name, r.word, f.signature, f.message
        FROM failures f JOIN results r ON r.run_id = f.run_id AND r.case_id = f.case_id
        JOIN cases c ON c.id = f.case_id JOIN runs n ON n.id = f.run_id
        WHERE n.started >= $1 ORDER BY n.started DESC, n.host DESC, n.name DESC, n.identity DESC, c.class, c.name
        """, [.text(first)]
      ) { row in
        if let run = runs[row[0].integer ?? 0] { collector.add(row, run) }
      }
      return collector.failures
    }
  }
}

/// Groups equal failures, from the latest run to the first.
private struct FailureCollector {
  private(set) var failures: [HistoryFailure] = []
  private let filter: String?
  private var indices: [String: Int] = [:]
  /// The last run in which each failure was counted, and its cases.
  private var counted: [RunRecord.Identity?] = []
  private var cases: [Set<HistoryFailure.Case>] = []

  init(filter: String?) {
    self.filter = filter
  }

  mutating func add(_ row: [SQLValue], _ run: HistoryRun) {
    guard let className = row[1].text, let name = row[2].text,
      let word = row[3].integer.flatMap({ Record.Verdict.Word(code: Int($0)) }), let message = row[5].text
    else { return }
    if let filter, !CaseName(className: className, name: name).contains(filter), !message.contains(filter) {
      return
    }
    let signature = row[4].text
    let key = signature.map { "s" + $0 } ?? "m" + message
    let index = indices[key] ?? failures.count
    if index == failures.count {
      indices[key] = index
      failures.append(
        HistoryFailure(
          signature: signature, word: word, message: message, runs: 0, first: "", last: run.started, cases: []
        ))
      counted.append(nil)
      cases.append([])
    }
    if counted[index] != run.identity {
      counted[index] = run.identity
      failures[index].runs += 1
    }
    failures[index].first = run.started
    let item = HistoryFailure.Case(className: className, name: name)
    if cases[index].insert(item).inserted { failures[index].cases.append(item) }
  }
}

// MARK: - One case

/// The result of a case in a run, with all data.
public struct HistoryResult: Hashable, Sendable {
  /// The run.
  public var run: HistoryRun
  /// How the case ended.
  public var ending: Record.Ending
  /// The number of attempts.
  public var attempts: Int
  /// The duration in the time of the device.
  public var milliseconds: Int64
  /// The device and the machine.
  public var setting: RunRecord.Setting
  /// Its seed.
  public var seed: String?
  /// The signature of its failure.
  public var signature: String?
  /// Why it did not agree.
  public var message: String?
}

extension History {
  /// A case with its results in the latest runs.
  public struct Details: Sendable {
    /// The results in all runs, in short.
    public var history: HistoryCase
    /// The results in the latest runs, the latest first.
    public var results: [HistoryResult]
  }

  /// The details of the cases with a class, name or `class / name`, or else of those that contain the text.
  ///
  /// - Parameters:
  ///   - results: the maximum number of runs of each.
  ///   - limit: the maximum number of cases.
  /// - Returns: the cases, and the number of further ones.
  public func details(
    of text: String, _ selection: HistorySelection = HistorySelection(), results: Int, limit: Int
  ) throws(HistoryError) -> (cases: [Details], more: Int) {
    let text = kept(text)
    return try database.read { () throws(HistoryError) in
      let book = try HistoryBook(database, selection)
      let known = book.names.indices.filter { !book.points[$0].isEmpty }
      var slots = known.filter { slot in
        let name = book.names[slot]
        return [name.name, name.className, "\(name.className) / \(name.name)"].contains(text)
      }
      if slots.isEmpty { slots = known.filter { book.names[$0].contains(text) } }
      slots.sort { left, right in
        let (left, right) = (book.names[left], book.names[right])
        return (left.className, left.name) < (right.className, right.name)
      }
      var all: [Details] = []
      for slot in slots.prefix(limit) {
        let found = try self.results(
          of: book.numbers[slot], book.points[slot].suffix(results).map { book.runs[Int($0.run)] })
        all.append(Details(history: book.history(slot, points: Int.max), results: found.reversed()))
      }
      return (all, max(slots.count - limit, 0))
    }
  }

  /// The results of a case in some runs.
  private func results(of number: Int64, _ runs: [HistoryRun]) throws(HistoryError) -> [HistoryResult] {
    var all: [HistoryResult] = []
    for run in runs {
      try database.query(
        """
        SELECT r.word, r.flaky, r.attempts, r.milliseconds, r.seed, s.device, s.firmware, s.machine, s.model,
          f.signature, f.message
        FROM runs n JOIN results r ON r.run_id = n.id JOIN settings s ON s.id = r.setting_id
        LEFT JOIN failures f ON f.run_id = r.run_id AND f.case_id = r.case_id
        WHERE n.identity = $1 AND r.case_id = $2
        """, [.text(run.identity.id), .integer(number)]
      ) { row in
        guard let word = row[0].integer.flatMap({ Record.Verdict.Word(code: Int($0)) }) else { return }
        all.append(
          HistoryResult(
            run: run, ending: .init(word, isFlaky: row[1].integer == 1), attempts: Int(row[2].integer ?? 1),
            milliseconds: row[3].integer ?? 0,
            setting: RunRecord.Setting(
              device: row[5].text ?? "", firmware: row[6].text ?? "", machine: row[7].text ?? "",
              model: row[8].text ?? ""),
            seed: row[4].text ?? run.seed, signature: row[9].text, message: row[10].text))
      }
    }
    return all
  }
}
