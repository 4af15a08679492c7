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

  /// What some runs show of cases: of each that they had, by class and name.
  public struct Cases: Sendable {
    /// How many runs were looked at.
    public var runs = 0
    /// The cases.
    public var cases: [HistoryCase] = []
  }

  /// What runs show of the cases that they had.
  ///
  /// - Parameter points: with so many of the latest runs of each case at most.
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

  /// The cases whose judgement changed from one run to the next or took another try, the worst first.
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
    /// How much longer, in thousandths.
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
  /// Whether a text stands in the class, in the name, or in both as `class / name`.
  func contains(_ text: String) -> Bool {
    "\(className) / \(name)".contains(text)
  }
}

// MARK: - Failures

/// A way of failing, and when it was seen.
public struct HistoryFailure: Hashable, Sendable {
  /// A case that failed so.
  public struct Case: Hashable, Sendable {
    /// Its class, as in JUnit.
    public var className: String
    /// Its name there.
    public var name: String
  }

  /// What tells it from others; `nil` where the run did not say, and then the message does.
  public var signature: String?
  /// How the case ended when it was last seen: `agree` where another try did.
  public var word: Record.Verdict.Word
  /// What was said when it was last seen.
  public var message: String
  /// In how many runs it was seen.
  public var runs: Int
  /// When the first of them started.
  public var first: String
  /// When the last of them started.
  public var last: String
  /// The cases that failed so, the latest first.
  public var cases: [Case]
}

extension History {
  /// Ways of failing, the one seen last first.
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

/// Puts what failed alike together, from the latest run to the first.
private struct FailureCollector {
  private(set) var failures: [HistoryFailure] = []
  private let filter: String?
  private var places: [String: Int] = [:]
  /// The run in which a failure was counted last, and its cases.
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
    let place = places[key] ?? failures.count
    if place == failures.count {
      places[key] = place
      failures.append(
        HistoryFailure(
          signature: signature, word: word, message: message, runs: 0, first: "", last: run.started, cases: []
        ))
      counted.append(nil)
      cases.append([])
    }
    if counted[place] != run.identity {
      counted[place] = run.identity
      failures[place].runs += 1
    }
    failures[place].first = run.started
    let item = HistoryFailure.Case(className: className, name: name)
    if cases[place].insert(item).inserted { failures[place].cases.append(item) }
  }
}

// MARK: - One case

/// How a case ended in a run, with all that is known of it.
public struct HistoryResult: Hashable, Sendable {
  /// The run.
  public var run: HistoryRun
  /// How the case ended.
  public var ending: Record.Ending
  /// How often it was tried.
  public var attempts: Int
  /// How long it took, in the time of the device.
  public var milliseconds: Int64
  /// What it ran against.
  public var setting: RunRecord.Setting
  /// Its seed.
  public var seed: String?
  /// What tells its failure from others.
  public var signature: String?
  /// Why it did not agree.
  public var message: String?
}

extension History {
  /// A case, and how it ended in the latest runs.
  public struct Details: Sendable {
    /// What all the runs show of it.
    public var history: HistoryCase
    /// How it ended in the latest of them, the latest first.
    public var results: [HistoryResult]
  }

  /// All that is known of the cases that a text names: by class, name or `class / name`; or else by a part of that.
  ///
  /// - Parameters:
  ///   - results: how many runs of each are wanted.
  ///   - limit: how many cases are wanted.
  /// - Returns: The cases, and how many more there are.
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

  /// How a case ended in some runs.
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
