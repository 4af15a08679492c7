import Basics
import Foundation
import Journal
import System
import TestSupport
import Testing

@testable import Nightly
@testable import Reporting

/// What a reader of a report takes from it.
private enum Signal: String {
  /// All that was judged agrees.
  case green
  /// Nothing was judged, and nothing is wrong.
  case nothing
  /// The device is wrong.
  case failure
  /// Something else is wrong.
  case error

  init(_ status: CommandStatus) {
    self =
      switch status {
      case .agree: .green
      case .nothingSelected: .nothing
      case .divergence: .failure
      case .usage, .labFault, .incomplete, .safetyLimit, .internalFault: .error
      }
  }

  /// What a reader takes from counts.
  init(passed: Int, failed: Int, others: Int) {
    self = failed > 0 ? .failure : others > 0 ? .error : passed > 0 ? .green : .nothing
  }
}

/// How a case of a mixture ends, each with its tries.
private enum Part: CaseIterable {
  case agreed, diverged, unmet, flaky, troubledThenAgreed, divergedThenTrouble
  case quarantined, quarantinedTrouble
  case trouble, skipped, limited, incomplete, notBegun
  /// Its try is open: another one was to follow, or its verdict never came.
  case open
}

/// How a finding of a mixture shows, each time that it is come upon.
private enum Showing: CaseIterable { case confirmed, unconfirmed, killed }

/// A run that ended in some way: what is in its journal, and what by plain rules it comes to.
private struct Mixture {
  var parts: [Part] = []
  var findings: [[Showing]] = []
  /// How the campaign itself ended, where there is one.
  var campaign: Part?
  var failsFlaky = false
  var isInTrouble = false
  /// Whether it has a last line.
  var isWhole = true
  var minimum = MinimumVerdicts()

  init(_ generator: inout SeededGenerator) {
    let kinds = 1 + generator.below(3)
    let drawn = (0..<kinds).map { _ in Part.allCases[generator.below(Part.allCases.count - 1)] }
    parts = (0..<generator.below(4)).map { _ in drawn[generator.below(kinds)] }
    if generator.below(2) == 0 {
      findings = (0..<generator.below(3)).map { _ in
        (0...generator.below(3)).map { _ in Showing.allCases[generator.below(2)] }
      }
      let ends: [Part] = [.agreed, .agreed, .incomplete, .trouble, .limited, .skipped]
      campaign = ends[generator.below(ends.count)]
    }
    failsFlaky = generator.below(2) == 0
    isInTrouble = generator.below(8) == 0
    isWhole = generator.below(8) > 0
    // One that was killed did not come to the campaign's own case.
    if !isWhole { campaign = nil }
    if !isWhole, generator.below(2) == 0 {
      if generator.below(2) == 0 { parts.append(.open) } else { findings.append([.confirmed, .killed]) }
    }
    if generator.below(4) == 0 { minimum.failsSkipped = true }
    if generator.below(4) == 0 { minimum.cases = 1 + generator.below(4) }
  }

  /// What it comes to, by the rules as a person reads them.
  var status: CommandStatus {
    let isRed =
      parts.contains { [.diverged, .divergedThenTrouble, .unmet].contains($0) }
      || failsFlaky && parts.contains { [.flaky, .troubledThenAgreed].contains($0) }
      || findings.contains { $0.contains(.confirmed) }
    if isRed { return .divergence }
    let all = parts + [campaign].compactMap(\.self)
    if all.contains(.limited) { return .safetyLimit }
    if !isWhole || all.contains(where: { [.incomplete, .notBegun, .open].contains($0) }) {
      return .incomplete
    }
    if isInTrouble || all.contains(.trouble) || !findings.isEmpty { return .labFault }
    let agree = all.count { [.agreed, .flaky, .troubledThenAgreed].contains($0) }
    if agree == 0 { return .nothingSelected }
    if agree < minimum.cases || minimum.failsSkipped && all.contains(.skipped) { return .incomplete }
    return .agree
  }

  /// The verdicts of a part, one for each try.
  private func tries(of part: Part, _ id: String) -> [Record.Verdict] {
    func verdict(_ word: Record.Verdict.Word, again: Bool = false) -> Record.Verdict {
      var verdict = Record.Verdict(word, of: id, at: .zero)
      if word != .agree { (verdict.message, verdict.step) = ("why", 1) }
      verdict.isTriedAgain = again
      return verdict
    }
    var last = verdict(.agree)
    switch part {
    case .agreed: return [last]
    case .flaky, .troubledThenAgreed:
      last.isFlaky = true
      return [verdict(part == .flaky ? .divergence : .labFault, again: true), last]
    case .diverged: return [verdict(.divergence)]
    case .unmet:
      last = verdict(.unmet)
      last.unmet = [Record.Unmet("status", expected: "locked", seen: "moved")]
      return [last]
    case .divergedThenTrouble: return [verdict(.divergence, again: true), verdict(.labFault)]
    case .quarantined, .quarantinedTrouble:
      last = verdict(part == .quarantined ? .divergence : .labFault)
      last.quarantine = "until 2099-01-01: known"
      return [last]
    case .trouble: return [verdict(.labFault)]
    case .skipped: return [verdict(.skipped)]
    case .limited:
      last = verdict(.incomplete)
      last.limit = "enough"
      return [last]
    case .incomplete: return [verdict(.incomplete)]
    case .notBegun:
      last = verdict(.incomplete)
      last.step = nil
      return [last]
    case .open: return []
    }
  }

  /// The journal as it is written while it goes on, with what was counted on the way.
  func run() -> (records: [Record], tally: Tally, ids: [(id: String, tries: Int)]) {
    var records: [Record] = [.run(Record.Run(seed: 1, cases: nil, failsFlaky: failsFlaky))]
    var count = EndingCount()
    var ids: [(String, Int)] = []
    func begin(_ id: String, attempt: Int = 1) -> Record {
      var test = Record.Case(id: id)
      (test.attempt, test.file) = (attempt, id + ".yaml")
      return .begin(test)
    }
    func write(_ part: Part, _ id: String) {
      var tries = CaseAttempts()
      let verdicts = self.tries(of: part, id)
      ids.append((id, max(1, verdicts.count)))
      if verdicts.isEmpty { records.append(begin(id)) }
      for (number, verdict) in verdicts.enumerated() {
        if number > 0 { tries.beginAgain() }
        records += [begin(id, attempt: number + 1), .verdict(verdict)]
        tries.end(verdict.attemptEnding, isTriedAgain: verdict.isTriedAgain)
      }
      count.count(tries.ending(failsFlaky: failsFlaky))
    }
    for (number, part) in parts.enumerated() { write(part, "suite\(number % 2)/case\(number)") }
    for (number, showings) in findings.enumerated() {
      for (time, showing) in showings.enumerated() {
        let id = "failures/finding\(number)-\(time)"
        let finding = Record.Finding("finding \(number)", shortest: 3 + (number + time) % 2)
        var verdict = Record.Verdict(showing == .confirmed ? .divergence : .labFault, of: id, at: .zero)
        (verdict.message, verdict.step) = ("why", 1)
        ids.append((id, 1))
        records += [.finding(finding), begin(id)]
        guard showing != .killed else { continue }
        records.append(.verdict(verdict))
        count.count(verdict.ending(), showing: finding)
      }
    }
    if let campaign {
      write(campaign, "fuzz/door")
      records.append(.campaign(CampaignStatus()))
    }
    count.note(isInTrouble: isInTrouble)
    if isInTrouble {
      records.append(.event(Record.Event(.diagnostic, "the lock is not parked", at: .zero)))
    }
    var tally = count.tally
    tally.minimum = minimum
    if let words = tally.tooLittle {
      records.append(.event(Record.Event(.diagnostic, words, at: .zero)))
    }
    if isWhole { records.append(.end(Record.End(tally))) } else { tally.causes.insert(.incomplete) }
    return (records, tally, ids)
  }
}

extension Mixture: CustomStringConvertible {
  var description: String {
    "\(parts) \(findings) campaign \(campaign.map { "\($0)" } ?? "none")\(failsFlaky ? ", flaky fails" : "")"
      + "\(isInTrouble ? ", trouble" : "")\(isWhole ? "" : ", killed") \(minimum.cases) \(minimum.failsSkipped)"
  }
}

/// What tells how a run ended.
private enum Consumer: CaseIterable { case status, junit, allure, annotations, page, history, night }

/// A mixture as a journal in a folder, and all that is made of it.
private final class Desk {
  let folder: String

  init() {
    // Nothing of it has to outlive the test, and there is much of it.
    let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    folder = "\(base)/lockstep-endings-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(
      atPath: folder + "/manifest.json", contents: Data(#"{"start":"2026-11-27T00:00:00Z"}"#.utf8))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func journal(_ records: [Record], _ name: String = "journal") throws -> String {
    let path = "\(folder)/\(name).jsonl"
    try Data(records.map { $0.line() + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  func text(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data(), as: UTF8.self)
  }

  /// What a report says of a run, each part of it by its name.
  func signals(
    of consumer: Consumer, _ journal: String, _ ids: [(id: String, tries: Int)]
  ) throws
    -> [(name: String, signal: Signal)]
  {
    let runs = RecordedRuns(journals: [journal])
    switch consumer {
    case .status: return [("exit status of report", Signal(runs.summary.tally.exitStatus))]
    case .junit: return try JUnitProfile.allCases.map { ("JUnit \($0)", try junit(runs, $0)) }
    case .allure: return [("Allure", try allure(runs, ids))]
    case .annotations:
      return [
        ("GitHub", try annotations(runs, isNothing: runs.index.counts.tests == runs.index.counts.skipped))
      ]
    case .page: return [("page", try page(runs))]
    case .history: return [("history", try history(journal))]
    case .night: return RunHeaderScan(journal).map { [("night", Self.night($0))] } ?? []
    }
  }

  /// What a night makes of a stretch of fuzzing: one in which nothing was compared found nothing.
  private static func night(_ scan: RunHeaderScan) -> Signal {
    switch NightEnding(fuzzing: scan).verdict {
    case .agreed, .flaky: scan.summary.tally.exitStatus == .nothingSelected ? .nothing : .green
    case .diverged, .failedAsFlaky, .unmet: .failure
    case .labFault, .incomplete, .limited: .error
    case .skipped, .excused: .nothing
    }
  }

  /// Which reports say something else of a run than it came to.
  ///
  /// - Parameters:
  ///   - altered: what one of them is given in place of the journal.
  func disagreements(
    with mixture: Mixture, _ journal: String, _ ids: [(id: String, tries: Int)],
    altered: (consumer: Consumer, journal: String, ids: [(id: String, tries: Int)])? = nil
  ) throws -> [(consumer: Consumer, words: String)] {
    let wanted = Signal(mixture.status)
    var all: [(Consumer, String)] = []
    for consumer in Consumer.allCases {
      let own = altered?.consumer == consumer ? altered : nil
      for (name, signal) in try signals(of: consumer, own?.journal ?? journal, own?.ids ?? ids)
      where signal != wanted {
        // Without a last line it is not known there that what is flaky was to fail.
        if consumer == .history, !mixture.isWhole, mixture.failsFlaky, wanted == .failure { continue }
        all.append((consumer, "\(name): \(signal), and not \(wanted)"))
      }
    }
    return all
  }

  func junit(_ runs: RecordedRuns, _ profile: JUnitProfile) throws -> Signal {
    let counts = try runs.writeJUnit(to: "\(folder)/junit.xml", profile: profile)
    let xml = text("junit.xml")
    func elements(_ name: String) -> Int { xml.components(separatedBy: "      <\(name)").count - 1 }
    let (failed, others) = (elements("failure "), elements("error "))
    // What is counted is what is there.
    let isCounted = failed == counts.failures && others == counts.errors
    try #require(isCounted, "\(profile): \(xml)")
    let tests = xml.components(separatedBy: "<testcase ").count - 1
    try #require(tests == counts.tests)
    return Signal(
      passed: counts.tests - counts.failures - counts.errors - counts.skipped, failed: failed, others: others)
  }

  private func allure(_ runs: RecordedRuns, _ ids: [(id: String, tries: Int)]) throws -> Signal {
    let place = "\(folder)/allure"
    try? FileManager.default.removeItem(atPath: place)
    try runs.writeAllure(to: place)
    // Of several tries the last is the case's.
    var earlier = Set<String>()
    for (id, tries) in ids where tries > 1 {
      let (suite, name) = (className(id: id), caseName(id: id, settings: nil, copy: 1))
      for attempt in 1..<tries { earlier.insert(uuid(of: ["", suite, name, "\(attempt)"]) + "-result.json") }
    }
    var counts: [String: Int] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: place)
    where file.hasSuffix("-result.json") && !earlier.contains(file) {
      counts[try JSON(parsing: text("allure/" + file))["status"]?.string ?? "", default: 0] += 1
    }
    return Signal(
      passed: counts["passed", default: 0], failed: counts["failed", default: 0],
      others: counts["broken", default: 0] + counts["unknown", default: 0])
  }

  /// Of what did not go well; where there is nothing, all is well or nothing was judged.
  private func annotations(_ runs: RecordedRuns, isNothing: Bool) throws -> Signal {
    let lines = try runs.gitHubLines()
    return Signal(
      passed: isNothing ? 0 : 1, failed: lines.contains { $0.hasPrefix("::error") } ? 1 : 0,
      others: lines.contains { $0.hasPrefix("::warning") } ? 1 : 0)
  }

  private func page(_ runs: RecordedRuns) throws -> Signal {
    let report = try runs.writeHTML(to: "\(folder)/report.html")
    let html = text("report.html")
    let failed = report.divergences + report.unmet + (runs.index.tally[.failedAsFlaky])
    let remarks = runs.index.remarks.contains { $0.status == .divergence }
    let isRed = html.contains("<header class=\"page bad\">")
    let counts = Signal(
      passed: report.agreed + report.flaky, failed: failed + (remarks ? 1 : 0),
      others: report.labFaults + report.incomplete + report.problems.count)
    // The colour of its head is what its counts say.
    try #require(isRed == (counts == .failure || counts == .error), "\(html.prefix(20_000).suffix(2_000))")
    return counts
  }

  private func history(_ journal: String) throws -> Signal {
    let record = try RunRecord(journal: journal)
    var counts = [Int](repeating: 0, count: Record.Verdict.Word.allCases.count)
    var flaky = 0
    try record.forEach { _, result throws(HistoryError) in
      counts[result.ending.word.code] += 1
      if result.ending.isFlaky { flaky += 1 }
    }
    return Signal(
      HistoryRun(
        identity: record.identity, started: record.started, status: record.status, milliseconds: 0,
        counts: counts, flaky: flaky
      ).exitStatus)
  }
}

/// A consumer that decides for itself, each as wrong as such consumers were.
private let canaries: [(name: String, signal: @Sendable (Mixture) -> Signal)] = [
  (
    "the first showing of a finding stands",
    { mixture in
      var other = mixture
      other.findings = mixture.findings.map { [$0[0]] }
      return Signal(other.status)
    }
  ),
  (
    "what is flaky has passed",
    { mixture in
      var other = mixture
      other.failsFlaky = false
      return Signal(other.status)
    }
  ),
  (
    "a try after a divergence takes it back",
    { mixture in
      var other = mixture
      other.parts = mixture.parts.map { $0 == .divergedThenTrouble ? .trouble : $0 }
      return Signal(other.status)
    }
  ),
  (
    "the last line is not looked at",
    { mixture in
      var other = mixture
      (other.isInTrouble, other.minimum) = (false, MinimumVerdicts())
      return Signal(other.status)
    }
  ),
  (
    "what is in quarantine has failed",
    { mixture in mixture.parts.contains(.quarantined) ? .failure : Signal(mixture.status) }
  ),
]

@Suite("How a run ended")
struct EndingTests {
  /// How many mixtures are drawn; `LOCKSTEP_ENDINGS=10000` shows many.
  private static let count =
    ProcessInfo.processInfo.environment["LOCKSTEP_ENDINGS"].flatMap { Int($0) } ?? 400
  private static let shares = 4

  private static func mixture(_ number: Int) -> Mixture {
    var generator = SeededGenerator(seed: UInt64(number), for: "endings")
    return Mixture(&generator)
  }

  @Test(
    "exit status, last line and all reports say the same of every mixture of endings", arguments: 0..<shares)
  func mixtures(share: Int) throws {
    let desk = Desk()
    var before: (mixture: Mixture, journal: String)?
    for number in 0..<Self.count where number % Self.shares == share {
      let mixture = Self.mixture(number)
      let (records, tally, ids) = mixture.run()
      try #require(tally.exitStatus == mixture.status, "\(number): \(mixture)")
      let journal = try desk.journal(records, "journal-\(number / Self.shares % 2)")
      if let (_, words) = try desk.disagreements(with: mixture, journal, ids).first {
        Issue.record("\(number), \(words): \(mixture)")
        return
      }
      // Put together with another run: what weighs most of both.
      if let before {
        let runs = RecordedRuns(journals: [before.journal, journal])
        let both = CommandStatus.gravest(of: [before.mixture.status, mixture.status])
        let status = runs.summary.tally.exitStatus
        let junit = try desk.junit(runs, .ci)
        try #require(status == both, "\(number): \(before.mixture) and \(mixture)")
        try #require(junit == Signal(both), "\(number): \(before.mixture) and \(mixture)")
      }
      before = (mixture, journal)
    }
  }

  @Test("a report that is one case off is noticed, and it alone", arguments: Consumer.allCases)
  private func altered(consumer: Consumer) throws {
    let desk = Desk()
    var noticed = 0
    for number in 0..<4000 where noticed < 5 {
      let mixture = Self.mixture(number)
      guard mixture.isWhole, mixture.findings.isEmpty, let place = mixture.parts.firstIndex(of: .diverged)
      else { continue }
      var other = mixture
      other.parts[place] = .agreed
      guard Signal(other.status) != Signal(mixture.status) else { continue }
      let (records, _, ids) = mixture.run()
      let journal = try desk.journal(records)
      let (otherRecords, _, otherIDs) = other.run()
      let otherJournal = try desk.journal(otherRecords, "altered")
      let found = try desk.disagreements(
        with: mixture, journal, ids, altered: (consumer, otherJournal, otherIDs))
      expect(Set(found.map(\.consumer)), [consumer])
      noticed += 1
    }
    expect(noticed, 5)
  }

  @Test("a consumer that decides for itself is noticed", arguments: canaries.indices)
  func canary(index: Int) {
    let canary = canaries[index]
    let first = (0..<400).first { number in
      let mixture = Self.mixture(number)
      return canary.signal(mixture) != Signal(mixture.status)
    }
    #expect(first != nil, "nothing shows that \(canary.name)")
  }
}
