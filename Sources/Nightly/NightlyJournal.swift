import Conformance
public import Journal
public import System
import Harness
import Basics

/// The journal of a night: what its children wrote of their cases, in the order of the plan, what became of the others,
/// and what its campaigns found, in the same form as that of any run.
public struct NightlyJournal {
  let runs: NightlyRuns
  let night: Night
  private let ended: [Int: Night.Ended]

  public init(runs: NightlyRuns, night: Night) {
    (self.runs, self.night) = (runs, night)
    ended = Dictionary(night.ended.map { ($0.attempt.number, $0) }) { $1 }
  }

  /// Writes it as a whole.
  ///
  /// - Parameters:
  ///   - tally: what the night came to; `nil` while it has not ended.
  public func write(to path: String, tally: Tally?) throws(FileFault) {
    var file = try Replacement(of: path)
    var lines = 0
    var times = ""
    func write(_ records: [Record]) throws(FileFault) {
      for record in records { try file.write(record.line() + "\n") }
      lines += records.count
    }
    try write([.run(Record.Run(seed: runs.seed, cases: night.cases.count))])
    var visits: [Record] = []
    var known = Set<Record>()
    for (state, test) in zip(night.cases, runs.lab.tests) {
      guard tally != nil || state.result != nil else { continue }
      let story = story(of: state, test)
      for (place, time) in story.times {
        times += CaseTime.Line(time, line: lines + place + 1).json.line + "\n"
      }
      try write(story.records)
      // Each machine, and what was visited of it, once.
      visits += story.visits.filter { known.insert($0).inserted }
    }
    for run in night.ended {
      guard let campaign = KeptCampaign(of: run, runs) else { continue }
      try write(campaign.records)
      visits += campaign.visits.filter { known.insert($0).inserted }
    }
    for lock in night.locks { try write(park(of: lock)) }
    for item in runs.shownChoices(in: night).choices.all {
      try write([.event(Record.Event(.diagnostic, "\(item)", at: .zero))])
    }
    try write(visits)
    for words in runs.lab.unmet { try write([.event(Record.Event(.diagnostic, words, at: .zero))]) }
    if let words = tally?.tooLittle { try write([.event(Record.Event(.diagnostic, words, at: .zero))]) }
    if let tally { try write([.end(Record.End(tally))]) }
    try WholeFile.replace(Path.join(Path.folder(of: path), CaseTime.file), with: times)
    try file.commit()
  }

  /// How a lock was left, and what there is to say of it to people.
  private func park(of lock: Night.LockState) -> [Record] {
    var words: [String] = []
    if let why = lock.outOfUse { words.append("it is out of use: \(why)") }
    switch lock.park {
    case .elsewhere(let why): words.append(why)
    case .unknown: words.append("nobody knows how it was left")
    case .parked, nil: break
    }
    return words.map { .event(Record.Event(.diagnostic, "\(lock.lock.name): \($0)", at: .zero)) }
      + (lock.park.map { [.left(Record.Left(lock.lock.name, $0))] } ?? [])
  }

  /// What is written of a case.
  private struct Story {
    var records: [Record]
    /// Which of the records begin tries of which it is known when they were driven.
    var times: [(place: Int, time: CaseTime)] = []
    var visits: [Record] = []
  }

  /// The lines of a case: its tries, one behind the other.
  private func story(of state: Night.CaseState, _ test: Case) -> Story {
    let result = night.reason(for: state)
    let tries = state.runs.compactMap { ended[$0] }.filter { $0.ending.verdict.word != .incomplete }
    guard result.cause == nil, !tries.isEmpty else { return untold(result, state, test) }
    var story = Story(records: [])
    for (index, run) in tries.enumerated() {
      var kept = KeptTry(
        runs, run, test.record.named(on: state.test.lock, attempt: index + 1), on: state.test.lock)
      kept.verdict.isTriedAgain = index < tries.count - 1
      if !kept.verdict.isTriedAgain {
        kept.verdict.quarantine = kept.verdict.word.isFailure ? state.test.quarantine : nil
        kept.verdict.isFlaky = result.ending == .flaky
      }
      if let time = kept.time { story.times.append((story.records.count, time)) }
      story.records += [.begin(kept.begin)] + kept.events.map(Record.event) + [.verdict(kept.verdict)]
      story.visits += kept.visits
    }
    return story
  }

  /// The lines of a case that nobody drove.
  private func untold(_ result: NightResult, _ state: Night.CaseState, _ test: Case) -> Story {
    var begin = test.record.named(on: state.test.lock, attempt: 1)
    if state.test.lock == nil { begin.device = nil }
    let ending = night.ending(of: state)
    var verdict = Record.Verdict(ending.word, of: begin.id, at: .zero)
    verdict.message = result.reason
    verdict.limit = ending == .limited ? result.reason : nil
    return Story(records: [.begin(begin), .verdict(verdict)])
  }
}

extension Record.Case {
  /// The same case among those of other locks.
  func named(on lock: String?, attempt: Int) -> Record.Case {
    var copy = self
    copy.attempt = attempt
    guard let lock else { return copy }
    copy.id = "\(lock)/\(id)"
    copy.name = name.map { "\($0) [\(lock)]" }
    return copy
  }
}

/// One try of a case as its child wrote it down, taken over into the journal of the night.
private struct KeptTry {
  private(set) var begin: Record.Case
  /// When it was driven, where the child wrote that down.
  private(set) var time: CaseTime?
  private(set) var events: [Record.Event] = []
  var verdict: Record.Verdict
  /// The machines, and what was visited of them.
  private(set) var visits: [Record] = []

  /// - Parameter begin: the line that starts the case, where the child wrote none.
  init(_ runs: NightlyRuns, _ run: Night.Ended, _ begin: Record.Case, on lock: String?) {
    self.begin = begin
    verdict = Record.Verdict(run.ending.verdict.word, of: begin.id, at: .zero)
    verdict.message = run.ending.message
    if verdict.word == .unmet { verdict.unmet = [.unknown] }
    guard let path = runs.journal(of: run.attempt.number) else { return }
    guard read(path, on: lock, word: verdict.word, from: runs.folder) else {
      (events, visits) = ([], [])
      return
    }
  }

  /// Reads the journal of a child; false where it has no verdict.
  private mutating func read(
    _ path: String, on lock: String?, word: Record.Verdict.Word, from folder: String
  ) -> Bool {
    guard var reader = try? JournalReader(path) else { return false }
    let times = CaseTimes(besides: path)
    let id = begin.id
    var isInside = false
    var isJudged = false
    while let line = try? reader.next() {
      guard case .success(let record) = line else { continue }
      switch record {
      case .begin(let test) where !isJudged:
        isInside = true
        events = []
        begin = test.named(on: lock, attempt: begin.attempt)
        begin.id = id
        time = times?.time(ofLine: reader.line)
      case .event(let event) where isInside: events.append(event)
      case .verdict(let written) where isInside:
        (isInside, isJudged) = (false, true)
        guard written.word == word else { continue }
        verdict = written
        verdict.id = id
        verdict.moveAttachments(of: path, to: folder)
      case .machine, .coverage: visits.append(record)
      case .begin, .event, .verdict, .run, .left, .finding, .campaign, .end: break
      }
    }
    return isJudged
  }
}

extension Record.Verdict {
  /// Leads to the files beside the journal of a child from the folder of the night's own.
  fileprivate mutating func moveAttachments(of journal: String, to folder: String) {
    for index in attachments.indices {
      let place = Path.join(Path.folder(of: journal), attachments[index].path)
      attachments[index].path = Path.relative(place, from: folder)
    }
  }
}

/// What a campaign of a night came to, taken over into the journal of the night: each finding with the case that shows it,
/// whether or not that is sure, and the case of the campaign itself where the lab failed it. What else ended it is the
/// night's to tell.
struct KeptCampaign {
  /// A case, and the finding that it shows.
  struct Case {
    var finding: Record.Finding?
    var verdict: Record.Verdict
  }

  private(set) var records: [Record] = []
  private(set) var cases: [Case] = []
  /// The machines, and what was visited of them.
  private(set) var visits: [Record] = []

  /// - Returns: `nil` where a run fuzzed nothing, or left no journal.
  init?(of run: Night.Ended, _ runs: NightlyRuns) {
    guard case .fuzz = run.attempt.work, let path = runs.journal(of: run.attempt.number),
      var reader = try? JournalReader(path)
    else { return nil }
    let lock = run.attempt.lock
    /// The finding that the next case shows, and the lines of the case that has not ended.
    var (finding, open): (Record.Finding?, [Record]) = (nil, [])
    while let line = try? reader.next() {
      guard case .success(let record) = line else { continue }
      switch record {
      case .finding(let found): (finding, open) = (found, [])
      case .begin(let test): open = [.begin(test.named(on: lock, attempt: test.attempt))]
      case .event where !open.isEmpty: open.append(record)
      case .verdict(var verdict) where !open.isEmpty:
        verdict.id = "\(lock)/\(verdict.id)"
        verdict.moveAttachments(of: path, to: runs.folder)
        if finding != nil || verdict.word == .labFault {
          records += (finding.map { [.finding($0)] } ?? []) + open + [.verdict(verdict)]
          cases.append(Case(finding: finding, verdict: verdict))
        }
        (finding, open) = (nil, [])
      case .machine, .coverage: visits.append(record)
      case .event, .verdict, .run, .left, .campaign, .end: break
      }
    }
  }
}
