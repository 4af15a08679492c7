import Conformance
public import Journal
public import System
import Harness
import Basics

/// The journal of a night: the runs of its cases, in the order of the plan, the results of cases that were not
/// run, and the findings of campaigns.
///
/// It has the form of one run's journal, with the lines that the runs of the night wrote (``KeptCase``).
public struct NightlyJournal {
  let runs: NightlyRuns
  let night: Night
  private let ended: [Int: Night.Ended]

  public init(runs: NightlyRuns, night: Night) {
    (self.runs, self.night) = (runs, night)
    ended = Dictionary(night.ended.map { ($0.attempt.number, $0) }) { $1 }
  }

  /// Writes the journal as a whole.
  ///
  /// - Parameters:
  ///   - tally: the result of the night; `nil` while it has not ended.
  public func write(to path: String, tally: Tally?) throws(FileFault) {
    var file = try Replacement(of: path)
    func write(_ lines: [String]) throws(FileFault) {
      for line in lines { try file.write(line + "\n") }
    }
    func write(_ records: [Record]) throws(FileFault) { try write(records.map { $0.line() }) }
    try write([.run(Record.Run(seed: runs.seed, cases: night.cases.count))])
    for (state, test) in zip(night.cases, runs.lab.tests) where tally != nil || state.result != nil {
      try write(lines(of: state, test))
    }
    var visits: Set<Record> = []
    for run in night.ended {
      guard let campaign = KeptCampaign(of: run, runs) else { continue }
      try write(campaign.lines)
      try write(campaign.visits.filter { visits.insert($0).inserted })
    }
    let parks = night.locks.flatMap(park)
    try write(parks)
    let missing = runs.lab.unmet + [tally?.tooLittle].compactMap(\.self)
    let words = runs.shownChoices(in: night).choices.all.map { "\($0)" } + missing
    try write(words.map { .event(Record.Event(.diagnostic, $0, at: .zero)) })
    let reasons =
      parks.compactMap { if case .event(let event) = $0 { event.diagnostic } else { nil } } + missing
    if let tally { try write([.end(Record.End(tally, reasons: reasons))]) }
    // Earlier versions also wrote a file with the time of each line; it does not belong to this journal.
    try removeFile(Path.join(Path.folder(of: path), CaseTime.file))
    try file.commit()
  }

  /// How a lock was left, with the diagnostics.
  private func park(of lock: Night.LockState) -> [Record] {
    var words: [String] = []
    if let why = lock.outOfUse { words.append("it is out of use: \(why)") }
    switch lock.park {
    case .elsewhere(let why): words.append(why)
    case .unknown: words.append("it is unknown how it was left")
    case .parked, nil: break
    }
    return words.map { .event(Record.Event(.diagnostic, "\(lock.lock.name): \($0)", at: .zero)) }
      + (lock.park.map { [.left(Record.Left(lock.lock.name, $0))] } ?? [])
  }

  /// The lines of a case: those of the runs with its attempts, in order.
  private func lines(of state: Night.CaseState, _ test: Case) -> [String] {
    let result = night.reason(for: state)
    let attempts = state.runs.compactMap { ended[$0] }.filter { $0.ending.verdict.word != .incomplete }
    guard result.cause == nil, !attempts.isEmpty else { return linesNotRun(result, state, test) }
    return attempts.enumerated().map { index, run in
      let begin = test.record.named(on: state.test.lock, attempt: index + 1)
      var kept = KeptCase(
        journal: runs.journalName(of: run.attempt.number), begin, run.ending.verdict.word)
      kept.message = run.ending.message.isEmpty ? nil : run.ending.message
      kept.isTriedAgain = index < attempts.count - 1
      if !kept.isTriedAgain {
        kept.quarantine = kept.word.isFailure ? state.test.quarantine : nil
        kept.isFlaky = result.ending == .flaky
      }
      return kept.line
    }
  }

  /// The lines of a case that was not run.
  private func linesNotRun(_ result: NightResult, _ state: Night.CaseState, _ test: Case) -> [String] {
    var begin = test.record.named(on: state.test.lock, attempt: 1)
    if state.test.lock == nil { begin.device = nil }
    let ending = night.ending(of: state)
    var verdict = Record.Verdict(ending.word, of: begin.id, at: .zero)
    verdict.message = result.reason
    verdict.limit = ending == .limited ? result.reason : nil
    return [Record.begin(begin).line(), Record.verdict(verdict).line()]
  }
}

extension Record.Case {
  /// The case with the lock in its name.
  func named(on lock: String?, attempt: Int) -> Record.Case {
    var copy = self
    copy.attempt = attempt
    guard let lock else { return copy }
    copy.id = "\(lock)/\(id)"
    copy.name = name.map { "\($0) [\(lock)]" }
    return copy
  }
}

/// The result of a campaign: each finding with the case that shows it, whether or not it is confirmed, and
/// the campaign's own case after a lab fault. The night reports other ends.
struct KeptCampaign {
  /// A case, with the finding that it shows.
  struct Case {
    var finding: Record.Finding?
    var verdict: Record.Verdict
  }

  /// The lines of a night's journal.
  private(set) var lines: [String] = []
  private(set) var cases: [Case] = []
  /// The machines, with their visits.
  private(set) var visits: [Record] = []

  /// - Returns: `nil` if a run is no campaign, or has no journal.
  init?(of run: Night.Ended, _ runs: NightlyRuns) {
    guard case .fuzz = run.attempt.work, let path = runs.journal(of: run.attempt.number),
      var reader = try? JournalReader(path)
    else { return nil }
    let lock = run.attempt.lock
    /// The finding of the next case, and the case that has not ended.
    var (finding, open): (Record.Finding?, Record.Case?) = (nil, nil)
    while let line = try? reader.next() {
      guard case .success(let record) = line else { continue }
      switch record {
      case .finding(let found): (finding, open) = (found, nil)
      case .begin(let test): open = test
      case .verdict(let verdict):
        guard let test = open else { continue }
        if finding != nil || verdict.word == .labFault {
          var kept = KeptCase(
            journal: runs.journalName(of: run.attempt.number), source: test.id,
            test.named(on: lock, attempt: test.attempt), verdict.word)
          (kept.message, kept.isTriedAgain) = (verdict.message, verdict.isTriedAgain)
          (kept.quarantine, kept.isFlaky) = (verdict.quarantine, verdict.isFlaky)
          lines += (finding.map { [Record.finding($0).line()] } ?? []) + [kept.line]
          cases.append(Case(finding: finding, verdict: verdict.moved(from: path, to: runs.folder)))
        }
        (finding, open) = (nil, nil)
      case .machine, .coverage: visits.append(record)
      case .event, .run, .left, .campaign, .end: break
      }
    }
  }
}
