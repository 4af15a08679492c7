import Basics
import Bench
import Foundation
import Harness
import Journal
import Reporting
import System
import TestSupport
import Testing

@testable import Nightly

/// How one run of a case of a night ends.
private enum Part: CaseIterable { case agreed, diverged, unmet, trouble, skipped }

/// A night that ended in some way, and what by plain rules it comes to.
private struct NightMixture {
  /// The tries of each case, and whether it is in quarantine.
  var cases: [(tries: [Part], isQuarantined: Bool)] = []
  var minimum = MinimumVerdicts()

  init(_ generator: inout SeededGenerator) {
    cases = (0..<generator.below(5)).map { _ in
      let tries = (0..<generator.below(4)).map { _ in Part.allCases[generator.below(4)] }
      let isQuarantined = generator.below(4) == 0
      // Nothing follows on an agreement, nor on a divergence that is in quarantine; what cannot be driven is tried once.
      let last = tries.firstIndex { $0 == .agreed || isQuarantined && [.diverged, .unmet].contains($0) }
      let isSkipped = generator.below(6) == 0
      return (isSkipped ? [.skipped] : Array(tries[..<(last.map { $0 + 1 } ?? tries.count)]), isQuarantined)
    }
    if generator.below(4) == 0 { minimum.failsSkipped = true }
    if generator.below(4) == 0 { minimum.cases = 1 + generator.below(4) }
  }

  private func ending(of test: (tries: [Part], isQuarantined: Bool)) -> Record.Ending? {
    guard let last = test.tries.last else { return nil }
    if last == .agreed { return test.tries.count > 1 ? .flaky : .agreed }
    if last == .skipped { return .skipped }
    if test.isQuarantined { return .excused }
    return test.tries.contains(.diverged) ? .diverged : test.tries.contains(.unmet) ? .unmet : .labFault
  }

  /// How its cases end; `nil` for one that the night did not come to.
  var endings: [Record.Ending?] { cases.map(ending) }

  var status: CommandStatus {
    if endings.contains(.diverged) || endings.contains(.unmet) { return .divergence }
    if endings.contains(nil) { return .incomplete }
    if endings.contains(.labFault) { return .labFault }
    let agree = endings.count { $0 == .agreed || $0 == .flaky }
    if agree == 0 { return .nothingSelected }
    let skipped = endings.contains { $0 == .skipped }
    return agree < minimum.cases || minimum.failsSkipped && skipped ? .incomplete : .agree
  }
}

extension NightMixture: CustomStringConvertible {
  var description: String {
    cases.map { "\($0.tries)\($0.isQuarantined ? " quarantined" : "")" }.joined(separator: ", ")
      + " \(minimum.cases) \(minimum.failsSkipped)"
  }
}

@Suite("How a night ended", .timeLimit(.minutes(10)))
struct NightEndingTests {
  private let folder = TestFolder()
  private let runs: NightlyRuns
  private let place: NightlyFolder

  init() throws {
    for number in 0..<4 {
      folder.write(
        "\(number).yaml", "scenario: \(number)\nmachine: sesame\ndevice: sesame5\nsteps: [connect]\n")
    }
    let path = folder.path
    let files = (0..<4).map { "\"\(path)/\($0).yaml\"" }.joined(separator: ", ")
    folder.write("bench.yaml", "bench: floor\nlocks: [{ name: front, device: \"emulator:sesame5\" }]\n")
    folder.write(
      "plan.yaml",
      "nightly: N\nduration: 1 h\nsuites: [{ name: a, scenarios: [\(files)] }]\n")
    var lab = try NightlyLab(folder.path + "/plan.yaml", bench: folder.path + "/bench.yaml")
    try lab.prepare(seed: 1, today: Day(unixTime: 0), StatusLine(.standardError()))
    try #require(lab.cases.count == 4)
    var reports = ReportPlaces()
    reports.out = folder.path + "/Reports"
    place = try NightlyFolder(new: "plan.yaml", reports: reports, cases: 0, command: [], seed: 1)
    runs = NightlyRuns(lab, folder: place.folder.path, seed: 1)
  }

  /// The night, as its record has it.
  private func night(of mixture: NightMixture) -> Night {
    let cases = mixture.cases.enumerated().map { number, test in
      NightCase(
        identity: "\(number)", suite: "a", file: "\(number).yaml", lock: "front",
        quarantine: test.isQuarantined ? "until 2099-01-01: known" : nil)
    }
    var lines: [NightLine] = []
    var count = 0
    for (number, test) in mixture.cases.enumerated() {
      for (index, part) in test.tries.enumerated() {
        count += 1
        let ending: NightEnding =
          switch part {
          case .agreed: NightEnding(.agreed)
          case .diverged: NightEnding(.diverged, "it showed locked")
          case .unmet: NightEnding(.unmet, "expected status locked, got moved")
          case .trouble: NightEnding(.labFault, "no answer")
          case .skipped: NightEnding(.skipped, "no motor")
          }
        let attempt = NightAttempt(
          number: count, work: .test("\(number)"), lock: "front", attempt: index + 1, actuations: 1,
          cycleCounter: 0)
        lines += [.start(attempt, at: .zero), .end(count, ending, at: .zero)]
      }
    }
    let locks = [NightLock(name: "front", dongles: nil)]
    func night() -> Night {
      Night(
        NightSettings(duration: .seconds(3600), labRetries: 0), name: "N", cases: cases, locks: locks,
        dongles: [],
        resuming: lines)
    }
    let open = night()
    lines += open.cases.map {
      .done($0.test.identity, open.decision(on: $0) ?? open.reason(for: $0), at: .zero)
    }
    lines.append(.finish(at: .zero))
    return night()
  }

  @Test("exit status, last line and counts of a night are those of the reports on its journal")
  func mixtures() throws {
    for number in 0..<300 {
      var generator = SeededGenerator(seed: UInt64(number), for: "nights")
      let mixture = NightMixture(&generator)
      let night = night(of: mixture)
      try #require(
        night.cases.map(night.ending) == mixture.endings.map { $0 ?? .skipped }, "\(number): \(mixture)")
      let report = NightlyReport(night, runs, place, took: .zero, mixture.minimum)
      try #require(report.status == mixture.status, "\(number): \(mixture)")
      let text = report.text(Painter(isOn: false), reports: [])
      let words =
        switch mixture.status {
        case _ where mixture.endings.contains(.diverged): "1 of 1 lock needs you: front diverged"
        case _ where mixture.endings.contains(.unmet): "1 of 1 lock needs you: front is not as expected"
        case _ where mixture.endings.contains(.labFault): "1 of 1 lock needs you: front "
        case .agree: mixture.endings.contains(.excused) ? "no news" : "all agree"
        case .incomplete where mixture.endings.contains(nil): "not finished"
        case .incomplete: "fewer verdicts than required"
        default: "nothing was shown"
        }
      try #require(text.hasPrefix("N   \(words)"), "\(number): \(mixture)\n\(text)")
      let journal = folder.path + "/journal.jsonl"
      try NightlyJournal(runs: runs, night: night).write(to: journal, tally: report.tally)
      let recorded = RecordedRuns(journals: [journal], minimum: mixture.minimum)
      try #require(recorded.summary.tally.exitStatus == mixture.status, "\(number): \(mixture)")
      let junit = try recorded.writeJUnit(to: folder.path + "/junit.xml")
      let endings = mixture.endings.compactMap(\.self)
      let flaky = endings.count { $0 == .flaky }
      try #require(junit.flaky == flaky, "\(number): \(mixture)")
      try #require(text.contains("\(flaky) flaky") == (flaky > 0), "\(number): \(mixture)\n\(text)")
      try #require(
        text.contains("\(endings.count { $0 == .agreed }) agree") == endings.contains(.agreed),
        "\(number): \(mixture)\n\(text)")
      try #require(
        junit.failures == endings.count { $0 == .diverged || $0 == .unmet }, "\(number): \(mixture)")
    }
  }
}
