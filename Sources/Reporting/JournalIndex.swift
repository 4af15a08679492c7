/// Where each case of one or several journals stands and how it ended: enough to count and to order them, and little
/// enough to keep for a million.
///
/// Some cases make place for others: one that came to no judgement, and that of a campaign itself, when a run that is
/// taken up again has it once more; and a finding of a campaign, when another case shows the same in fewer events.
struct JournalIndex {
  enum Outcome: UInt8 {
    case passed
    case failed
    /// The lab failed.
    case broken
    /// It was not brought to its end.
    case unfinished
    case skipped
    /// Another case stands for it.
    case replaced
  }

  /// Where an entry is.
  typealias Place = (suite: Int, entry: Int)

  /// A finding, and the case that shows it.
  struct Found {
    var finding: Journal.Finding
    var place: Place?
  }

  /// What is said of a case that did not pass.
  struct Failure {
    var place: Place
    var verdict: Journal.Verdict
  }

  struct Entry {
    /// Which of the journals it stands in.
    var journal: Int32 = 0
    /// Where the line that starts the case is, in bytes and as a number.
    var offset: Int
    var line: Int
    /// Which of the cases with the same name in the same suite it is, from 1.
    var copy: Int32
    /// How it ended, at its last try.
    var outcome: Outcome
    /// How often it was tried; the tries stand one behind the other, each from a line that starts it to its verdict.
    var attempts: Int32 = 1
    /// Whether a try before the last one failed.
    var hasFailedTries = false
    /// Whether model and device agreed in the end, and not at the first try.
    var isFlaky: Bool { outcome == .passed && hasFailedTries }
    /// Whether the lab said something in it, which is shown even where the case passed.
    var hasRemarks = false
    /// How long it took, in the time of the device.
    var milliseconds: Int64
  }

  /// The cases of one class, which is one file of scenarios.
  struct Suite {
    var name: String
    var entries: [Entry] = []
  }

  /// The suites in the order of their first case.
  private(set) var suites: [Suite] = []
  private(set) var run: Journal.Run?
  private(set) var coverage: [Journal.Coverage] = []
  /// The machines that coverage is about, each as it first came.
  private(set) var machines: [Journal.Machine] = []
  /// What the lab said outside of cases: how it left a lock at the end.
  private(set) var remarks: [String] = []
  /// What is wrong with the journals, beyond cases that are.
  private(set) var problems: [Journal.Problem] = []
  /// What campaigns came upon, each once.
  private(set) var findings: [Found] = []
  /// The first cases that did not pass.
  private(set) var failures: [Failure] = []
  /// What each run ended with; `nil` for one that did not end.
  private(set) var statuses: [Int?] = []

  private var suiteNumbers: [String: Int] = [:]
  /// The suite of the last case: one file often has many.
  private var lastSuite: (file: String, number: Int)?
  /// How many cases have had a name, by a hash of suite and name.
  private var copies: [UInt64: Int32] = [:]
  private var findingNumbers: [String: Int] = [:]
  /// The cases by id that make place for others of that id when the run is taken up again: of this sitting, and of
  /// those before.
  private var provisional: (now: [String: Place], earlier: [String: Place]) = ([:], [:])
  /// The case that ended last.
  private var last: (id: String, place: Place)?
  private var ending: Journal.Ending?
  private var caseCount = 0
  private var journal: Int32 = 0
  /// The finding that the next case shows.
  private var next: Int?
  /// The finding that the case shows which ended last.
  private var retried: Int?
  /// The case whose verdict has not come yet.
  private var open: Open?

  private struct Open {
    var id: String
    var suite: Int
    var entry: Entry
    var finding: Int?
    /// Whether a case that was found earlier shows the same in as few events.
    var isReplaced = false
  }

  /// The most problems that are listed.
  private static let problemLimit = 100
  private static let failureLimit = 1000

  /// An index of nothing.
  init() {}

  /// Reads a journal from its first line to its last, or as far as it can be read, behind those before it.
  mutating func read(_ reader: inout JournalReader) {
    (ending, caseCount, lastSuite, provisional, last, next, retried) = (
      nil, 0, nil, ([:], [:]), nil, nil, nil
    )
    do {
      while let line = try reader.glance() {
        switch line {
        case .success(.event(let time, let remark)): take(eventAt: time, remark)
        case .success(.other(let record)): take(record, from: reader)
        case .failure(let problem): add(problem)
        }
      }
    } catch {
      add(Journal.Problem(line: 0, message: "\(error)"))
    }
    let wasOpen = open != nil
    closeOpenCase()
    checkEnd(wasOpen: wasOpen)
    statuses.append(ending?.status)
    journal += 1
  }

  /// Notes a journal that cannot be read.
  mutating func note(_ problem: Journal.Problem) {
    add(problem)
    statuses.append(nil)
    journal += 1
  }
}

extension JournalIndex {
  private mutating func take(eventAt time: String, _ remark: String?) {
    open?.entry.milliseconds = milliseconds(time) ?? 0
    guard let remark else { return }
    open?.entry.hasRemarks = true
    if open == nil, remarks.count < Self.problemLimit { remarks.append(remark) }
  }

  private mutating func take(_ record: Journal.Record, from reader: borrowing JournalReader) {
    switch record {
    case .run(let run):
      // A run that is taken up again starts anew at the end of its journal.
      self.run = run
      ending = nil
      closeOpenCase()
      provisional.earlier.merge(provisional.now) { $1 }
      provisional.now = [:]
    case .start(let start):
      closeOpenCase()
      begin(start, offset: reader.offset, line: reader.line)
    case .verdict(let verdict):
      close(verdict, line: reader.line)
    case .coverage(let coverage):
      if let index = self.coverage.firstIndex(where: { $0.machine == coverage.machine }) {
        self.coverage[index].add(coverage)
      } else {
        self.coverage.append(coverage)
      }
    case .machine(let machine):
      if !machines.contains(where: { $0.name == machine.name }) { machines.append(machine) }
    case .end(let ending):
      self.ending = ending
    case .finding(let finding):
      take(finding)
    case .campaign:
      if let last { provisional.now[last.id] = last.place }
    case .event:
      break
    }
  }

  /// Takes away what a run that is taken up again will have once more.
  mutating func forget(_ id: String) {
    if let place = provisional.now[id] ?? provisional.earlier[id] {
      suites[place.suite].entries[place.entry].outcome = .replaced
    }
  }

  private mutating func take(_ finding: Journal.Finding) {
    if let number = findingNumbers[finding.signature] {
      next = number
      if finding.shortest < findings[number].finding.shortest {
        if let place = findings[number].place { suites[place.suite].entries[place.entry].outcome = .replaced }
        findings[number] = Found(finding: finding)
      }
    } else {
      next = findings.count
      findingNumbers[finding.signature] = findings.count
      findings.append(Found(finding: finding))
    }
  }

  private mutating func begin(_ start: Journal.Case, offset: Int, line: Int) {
    if start.attempt > 1, let last, last.id == start.id { return tryAgain(start, last.place) }
    let suite = suiteNumber(of: start)
    let name = suites[suite].name
    caseCount += 1
    if let place = provisional.earlier.removeValue(forKey: start.id) {
      suites[place.suite].entries[place.entry].outcome = .replaced
    }
    let isReplaced = next.map { findings[$0].place != nil } ?? false
    open = Open(
      id: start.id, suite: suite,
      entry: Entry(
        journal: journal, offset: offset, line: line, copy: copyNumber(of: start, in: name),
        outcome: .unfinished, milliseconds: 0),
      finding: next, isReplaced: isReplaced)
    next = nil
  }

  /// Takes up the case that ended last: what counts is how the new try ends.
  private mutating func tryAgain(_ start: Journal.Case, _ place: Place) {
    var entry = suites[place.suite].entries.removeLast()
    if failures.last.map({ $0.place == place }) ?? false { failures.removeLast() }
    entry.hasFailedTries = entry.hasFailedTries || [.failed, .broken, .unfinished].contains(entry.outcome)
    entry.attempts += 1
    (entry.outcome, entry.milliseconds) = (.unfinished, 0)
    provisional.now[start.id] = nil
    open = Open(id: start.id, suite: place.suite, entry: entry, finding: retried)
  }

  private mutating func suiteNumber(of start: Journal.Case) -> Int {
    if let lastSuite, let file = start.file, lastSuite.file == file { return lastSuite.number }
    let name = className(of: start)
    let number = suiteNumbers[name] ?? suites.count
    if number == suites.count {
      suiteNumbers[name] = number
      suites.append(Suite(name: name))
    }
    lastSuite = start.file.map { ($0, number) }
    return number
  }

  /// The first number that makes the name of a case its own.
  private mutating func copyNumber(of start: Journal.Case, in suite: String) -> Int32 {
    let key = hash(suite, caseName(of: start, copy: 1))
    var copy = (copies[key] ?? 0) + 1
    // A later copy takes a name that another case may have by itself.
    while copy > 1, copies[hash(suite, caseName(of: start, copy: copy))] != nil { copy += 1 }
    copies[key] = copy
    if copy > 1 { copies[hash(suite, caseName(of: start, copy: copy))] = 1 }
    return copy
  }

  private mutating func close(_ verdict: Journal.Verdict, line: Int) {
    guard var ended = open, ended.id == verdict.id else {
      let reason = open.map { "while \($0.id) is running" } ?? "and no case is running"
      return add(Journal.Problem(line: line, message: "a verdict on \(verdict.id), \(reason)"))
    }
    ended.entry.outcome =
      switch verdict.word {
      case .agree: .passed
      case .divergence: .failed
      case .labFault: .broken
      case .incomplete: .unfinished
      case .skipped: .skipped
      }
    if let time = verdict.time.flatMap(milliseconds) { ended.entry.milliseconds = time }
    open = ended
    if [.failed, .broken, .unfinished].contains(ended.entry.outcome), failures.count < Self.failureLimit {
      let place = (suite: ended.suite, entry: suites[ended.suite].entries.count)
      failures.append(Failure(place: place, verdict: verdict))
    }
    closeOpenCase()
  }

  /// Puts the case in its place; one without a verdict was not brought to its end.
  private mutating func closeOpenCase() {
    guard var ended = open else { return }
    let place = (suite: ended.suite, entry: suites[ended.suite].entries.count)
    if ended.isReplaced {
      ended.entry.outcome = .replaced
    } else {
      if let finding = ended.finding { findings[finding].place = place }
      if [.unfinished, .broken].contains(ended.entry.outcome) { provisional.now[ended.id] = place }
    }
    suites[ended.suite].entries.append(ended.entry)
    (last, retried) = ((ended.id, place), ended.finding)
    open = nil
  }

  /// Makes sure that a run which did not end well cannot look as if it had.
  private mutating func checkEnd(wasOpen: Bool) {
    guard let ending else {
      if !wasOpen { add(Journal.Problem(line: 0, message: "the run did not end: its journal just stops")) }
      return
    }
    if ending.cases != caseCount {
      let message = "the run ended with \(ending.cases) cases, and the journal holds \(caseCount)"
      add(Journal.Problem(line: 0, message: message))
    }
    let isRed = suites.contains { suite in
      suite.entries.contains { $0.journal == journal && ![.passed, .skipped].contains($0.outcome) }
    }
    // 0 is agreement, and 4 that nothing was selected.
    if ![0, 4].contains(ending.status), !isRed {
      let why = remarks.map { "; " + $0 }.joined()
      add(Journal.Problem(line: 0, message: "the run ended with status \(ending.status)" + why))
    }
  }

  private mutating func add(_ problem: Journal.Problem) {
    if problems.count < Self.problemLimit {
      problems.append(problem)
    } else if problems.count == Self.problemLimit {
      problems.append(Journal.Problem(line: 0, message: "and more lines that cannot be understood"))
    }
  }
}

/// The class of a case: the path of its file with dots for slashes, without the extension.
///
/// A case without a file has the front part of its id instead.
func className(of start: Journal.Case) -> String {
  var components = (start.file ?? start.id).split(separator: "/").filter { $0 != "." && $0 != ".." }.map(
    String.init)
  if start.file == nil {
    if components.count > 1 { components.removeLast() }
  } else if let last = components.popLast() {
    let stem = last.lastIndex(of: ".").map { last[..<$0] } ?? last[...]
    components.append(stem.isEmpty ? last : String(stem))
  }
  // Readers take the last dot for the end of a package.
  let name = components.map { String($0.map { $0 == "." ? "_" : $0 }) }.joined(separator: ".")
  return name.isEmpty ? "lockstep" : name
}

/// The name of a case: its title, or its id where it has none; a number tells copies apart.
func caseName(of start: Journal.Case, copy: Int32) -> String {
  let name = start.name.flatMap { $0.isEmpty ? nil : $0 } ?? start.id
  return copy == 1 ? name : "\(name) (\(copy))"
}

/// FNV-1a over both texts and a byte between them that no text holds; a collision would only number a name in vain.
private func hash(_ suite: String, _ name: String) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  suite.utf8.forEach(add)
  add(0xFF)
  name.utf8.forEach(add)
  return hash
}

extension Journal.Coverage {
  /// Adds what another run visited of the same machine.
  ///
  /// Where one of the two does not say which cells it visited, no more is certain than the larger number.
  mutating func add(_ other: Journal.Coverage) {
    let sums = zip(visited, other.visited).map(union)
    if visited.count >= 2, visited.count == other.visited.count, legal.last == other.legal.last,
      empty.last == other.empty.last, sums.allSatisfy({ $0 != nil })
    {
      visited = sums.compactMap(\.self)
      (legal[0], empty[0]) = (count(visited[0]), count(visited[1]))
      return
    }
    visited = []
    if let first = legal.first, let more = other.legal.first { legal[0] = max(first, more) }
    if let first = empty.first, let more = other.empty.first { empty[0] = max(first, more) }
  }
}

/// The hexadecimal digits of both numbers' bits; `nil` where they are none, or not as many.
private func union(_ left: String, _ right: String) -> String? {
  guard left.count == right.count else { return nil }
  var digits = ""
  for (left, right) in zip(left, right) {
    guard let left = left.hexDigitValue, let right = right.hexDigitValue else { return nil }
    digits += String(left | right, radix: 16)
  }
  return digits
}

/// How many bits are set.
private func count(_ digits: String) -> Int {
  digits.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
}
