import System
import Conformance
import Documents
import Harness
import Lab
import Reporting
import Basics
import Transports

/// The journal of a night: what its children wrote of their cases, in the order of the plan, and what became of the
/// others, in the same form as that of any run.
struct NightlyJournal {
  let runs: NightlyRuns
  let night: Night
  private let ended: [Int: Night.Ended]

  init(runs: NightlyRuns, night: Night) {
    (self.runs, self.night) = (runs, night)
    ended = Dictionary(night.ended.map { ($0.attempt.number, $0) }) { $1 }
  }

  /// Writes it as a whole.
  ///
  /// - Parameter status: what the night ended with; `nil` while it has not.
  func write(to path: String, status: CommandStatus?) throws(FileFault) {
    var file = try Replacement(of: path)
    try file.write(
      JournalEntry.run(seed: runs.seed, cases: night.cases.count, isResumed: false, failsFlaky: false).json
        .line
        + "\n")
    var tally = Tally()
    var coverage = Visits()
    for (state, test) in zip(night.cases, runs.lab.tests) {
      guard status != nil || state.result != nil else { continue }
      try file.write(lines(of: state, test, &tally, &coverage))
    }
    for lock in night.locks { try file.write(leave(of: lock)) }
    for line in coverage.lines { try file.write(String(decoding: line, as: UTF8.self) + "\n") }
    if let status { try file.write(JournalEntry.end(tally, status).json.line + "\n") }
    try file.commit()
  }

  /// How a lock was left, and what there is to say of it to people.
  private func leave(of lock: Night.LockState) -> String {
    var words: [String] = []
    if let why = lock.outOfUse { words.append("it is out of use: \(why)") }
    switch lock.leave {
    case .elsewhere(let why): words.append(why)
    case .unknown: words.append("nobody knows how it was left")
    case .atRest, nil: break
    }
    var entries = words.map { JournalEntry.remark("\(lock.lock.name): \($0)", at: .zero) }
    if let leave = lock.leave { entries.append(.left(lock: lock.lock.name, leave)) }
    return entries.map { $0.json.line + "\n" }.joined()
  }

  /// The lines of a case: its tries, one behind the other.
  private func lines(
    of state: Night.CaseState, _ test: Case, _ tally: inout Tally, _ coverage: inout Visits
  ) -> String {
    let result = night.reason(for: state)
    count(result, state, &tally)
    let tries = state.runs.compactMap { ended[$0] }.filter(\.ending.verdict.isJudged)
    guard result.verdict != .notRun, !tries.isEmpty else {
      return new(result, state, test)
    }
    var text = ""
    for (index, run) in tries.enumerated() {
      let isLast = index == tries.count - 1
      var kept = KeptTry(runs, run, test, lock: state.test.lock, attempt: index + 1, isLast: isLast)
      if isLast, let reason = state.test.quarantine,
        result.verdict == .divergence || result.verdict == .labFault
      {
        kept.excuse = reason
      }
      text += kept.lines(&coverage)
    }
    return text
  }

  /// The lines of a case that nobody drove.
  private func new(_ result: NightResult, _ state: Night.CaseState, _ test: Case) -> String {
    let begin = KeptTry.named(JournalEntry.begin(test).json, test, lock: state.test.lock, attempt: 1)
    let word = result.verdict == .labFault ? "lab-fault" : state.runs.isEmpty ? "skipped" : "incomplete"
    let verdict: JSON = [
      "verdict": .text(result.verdict == .skipped ? "skipped" : word),
      "case": .text(KeptTry.id(test, on: state.test.lock)), "t": "0.000", "message": .text(result.reason),
    ]
    return begin.line + "\n" + verdict.line + "\n"
  }

  private func count(_ result: NightResult, _ state: Night.CaseState, _ tally: inout Tally) {
    let isExcused = state.test.quarantine != nil
    switch result.verdict {
    case .agree: tally.count(.agree)
    case .flaky: tally.count(.agree, isFlaky: true)
    case .divergence: isExcused ? tally.count(.skipped("")) : tally.countDivergence()
    case .labFault: isExcused ? tally.count(.skipped("")) : tally.count(.labFault(.init(.noAnswer, "")))
    case .skipped: tally.count(.skipped(""))
    case .notRun: tally.count(state.runs.isEmpty ? .skipped("") : .incomplete(""))
    }
  }
}

extension NightEnding.Verdict {
  /// Whether it is the end of a try, and not only of a process.
  fileprivate var isJudged: Bool {
    switch self {
    case .agree, .divergence, .labFault, .unhealthy, .skipped: true
    case .incomplete, .limited: false
    }
  }
}

/// The machines and what was visited of them, each line once.
private struct Visits {
  private(set) var lines: [[UInt8]] = []
  private var known = Set<[UInt8]>()

  mutating func add(_ line: [UInt8]) {
    if known.insert(line).inserted { lines.append(line) }
  }
}

/// One try of a case as its child wrote it down, taken over into the journal of the night.
private struct KeptTry {
  let runs: NightlyRuns
  let run: Night.Ended
  let test: Case
  let lock: String
  let attempt: Int
  let isLast: Bool
  /// Why a failure is no news.
  var excuse: String?

  init(_ runs: NightlyRuns, _ run: Night.Ended, _ test: Case, lock: String, attempt: Int, isLast: Bool) {
    (self.runs, self.run, self.test, self.lock) = (runs, run, test, lock)
    (self.attempt, self.isLast) = (attempt, isLast)
  }

  /// What a case is called among those of other locks.
  static func id(_ test: Case, on lock: String) -> String { "\(lock)/\(test.id)" }

  /// The line that starts a case, with the lock in its names.
  static func named(_ line: JSON, _ test: Case, lock: String, attempt: Int) -> JSON {
    guard case .mapping(let members) = line else { return line }
    return .mapping(
      members.map { member in
        guard member.name == "case", case .mapping(let own) = member.value else { return member }
        return JSON.Member("case", .mapping(named(own, id: id(test, on: lock), lock: lock, attempt: attempt)))
      })
  }

  private static func named(
    _ members: [JSON.Member], id: String, lock: String, attempt: Int
  ) -> [JSON.Member] {
    let named = members.filter { $0.name != "attempt" }.map { member -> JSON.Member in
      switch (member.name, member.value) {
      case ("id", _): JSON.Member("id", .text(id))
      case ("name", .text(let name)): JSON.Member("name", .text("\(name) [\(lock)]"))
      default: member
      }
    }
    return attempt > 1 ? named + [.init("attempt", .integer(attempt))] : named
  }

  /// The lines from the one that starts the case to its verdict; what was visited goes elsewhere.
  func lines(_ coverage: inout Visits) -> String {
    let path = runs.journal(of: run.attempt.number)
    let bytes = path.flatMap { try? WholeFile.bytes(of: $0) } ?? []
    let begin = Self.named(JournalEntry.begin(test).json, test, lock: lock, attempt: attempt).line + "\n"
    var text = begin
    var isInside = false
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      if line.starts(with: Self.caseStart), let json = try? JSON(parsing: Array(line)) {
        isInside = true
        text = Self.named(json, test, lock: lock, attempt: attempt).line + "\n"
      } else if line.starts(with: Self.verdictStart) {
        guard isInside, let json = try? JSON(parsing: Array(line)) else { continue }
        keepVisits(bytes, &coverage)
        return text + verdict(json, path)
      } else if isInside {
        text += String(decoding: line, as: UTF8.self) + "\n"
      }
    }
    return text + verdict(nil, nil)
  }

  private static let caseStart = Array(#"{"case":"#.utf8)
  private static let verdictStart = Array(#"{"verdict":"#.utf8)
  private static let machineStart = Array(#"{"machine":"#.utf8)
  private static let coverageStart = Array(#"{"coverage":"#.utf8)

  /// Takes in what was visited of which machine; each machine once.
  private func keepVisits(_ bytes: [UInt8], _ coverage: inout Visits) {
    for line in bytes.split(separator: UInt8(ascii: "\n"))
    where line.starts(with: Self.machineStart) || line.starts(with: Self.coverageStart) {
      let line = Array(line)
      coverage.add(line)
    }
  }

  private func verdict(_ written: JSON?, _ path: String?) -> String {
    let ending = run.ending
    let word =
      switch ending.verdict {
      case .unhealthy: "lab-fault"
      case .agree, .divergence, .labFault, .skipped, .incomplete, .limited: ending.verdict.rawValue
      }
    var members: [JSON.Member] = []
    if case .mapping(let all) = written ?? .null { members = all }
    // The child has excused it already.
    let isExcused = excuse != nil && written?["verdict"] == "skipped"
    if members.isEmpty || written?["verdict"] != .text(word), !isExcused {
      members = [.init("verdict", .text(word)), .init("case", ""), .init("t", "0.000")]
      members.append(.init("message", .text(ending.message)))
    }
    for index in members.indices {
      switch (members[index].name, members[index].value) {
      case ("case", _): members[index].value = .text(Self.id(test, on: lock))
      case ("attachments", .list(let files)):
        members[index].value = .list(files.map { moved($0, path) })
      case ("message", .text(let message)):
        if let excuse, !isExcused { members[index].value = .text("\(excuse) (\(message))") }
      case ("verdict", _): if excuse != nil { members[index].value = "skipped" }
      default: break
      }
    }
    members.removeAll { $0.name == "again" }
    if !isLast { members.append(.init("again", true)) }
    return JSON.mapping(members).line + "\n"
  }

  /// A file beside the journal of the child, as the night's own journal leads to it.
  private func moved(_ file: JSON, _ journal: String?) -> JSON {
    guard case .mapping(let members) = file, let journal else { return file }
    return .mapping(
      members.map { member in
        guard member.name == "path", case .text(let path) = member.value else { return member }
        let place = Path.join(Path.folder(of: journal), path)
        return JSON.Member("path", .text(Path.relative(place, from: runs.folder)))
      })
  }
}
