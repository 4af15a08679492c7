import Basics
import Bench
import Conformance
import Journal
import Reporting
import System
import TestSupport
import Testing

@testable import Nightly

@Suite("The folder of a night")
struct NightlyFolderTests {
  private let floor = NightFloor()
  private var out: String { floor.path + "/Reports" }

  private func new(_ plan: String = "plan.yaml", seed: UInt64 = 7) throws -> NightlyFolder {
    var reports = ReportPlaces()
    reports.out = out
    return try NightlyFolder(new: plan, reports: reports, cases: 0, command: [], seed: seed)
  }

  private let lines: [NightLine] = [.begin(name: "N", clock), .resumed(at: at(5))]

  @Test("a night that did not end is found by its plan, with its seed and its record")
  func unfinished() throws {
    #expect(try NightlyFolder.unfinished("plan.yaml", out: out) == nil)
    let first = try new()
    try first.write(lines)
    _ = try new("other.yaml", seed: 8)
    let found = try #require(try NightlyFolder.unfinished("plan.yaml", out: out))
    expect([found.path, found.plan, "\(found.seed)"], [first.folder.path, "plan.yaml", "7"])
    expect(found.record, lines)
    // Of two the last, which may have been killed before its first line.
    let last = try new(seed: 9)
    let next = try #require(try NightlyFolder.unfinished("plan.yaml", out: out))
    expect([next.path, "\(next.seed)"], [last.folder.path, "9"])
    expect(next.record, [])
  }

  @Test("a night is over with its last line and its summary, and not with one of them")
  func over() throws {
    for (isFinished, isReported) in [(false, false), (false, true), (true, false), (true, true)] {
      let night = try new()
      try night.write(lines + (isFinished ? [.finish(at: at(9))] : []))
      if isReported { try WholeFile.replace(night.folder.path + "/summary.json", with: "{}") }
      let found = try NightlyFolder.unfinished("plan.yaml", out: out)
      #expect(
        (found?.path == night.folder.path) == !(isFinished && isReported), "\(isFinished) \(isReported)")
      // An earlier one is not looked for.
      #expect((found == nil) == (isFinished && isReported), "\(isFinished) \(isReported)")
    }
  }

  @Test("what is no night of this plan is passed by")
  func others() throws {
    let night = try new()
    let runs = out + "/runs"
    for name in ["9999-12-31T00-00-00-run", "9999-12-31T00-00-00-nightly", ".9999-12-31T00-00-00-nightly"] {
      try makeFolder("\(runs)/\(name)")
    }
    try WholeFile.replace(
      "\(runs)/9999-12-31T00-00-00-nightly/manifest.json", with: #"{"start":"2026-11-21T00:00:00Z"}"#)
    expect(try NightlyFolder.unfinished("plan.yaml", out: out)?.path, night.folder.path)
  }

  @Test("a record that cannot be read is not resumed, and says where it is")
  func unreadable() throws {
    let night = try new()
    try night.write(lines)
    let path = night.folder.path + "/night.jsonl"
    try WholeFile.replace(path, with: "{}\n")
    #expect(
      throws: UsageError(
        "\(path) cannot be resumed: line 1: not a line of a night's record; move the folder away")
    ) { try NightlyFolder.unfinished("plan.yaml", out: out) }
  }

  @Test("a resumed night appends to its record, and cuts off the line that was being written")
  func resumed() throws {
    var path = ""
    do {
      let night = try new()
      try night.write(lines)
      path = night.folder.path
    }
    let torn = try WholeFile.bytes(of: path + "/night.jsonl") + Array(#"{"finish":{"t""#.utf8)
    try WholeFile.replace(path + "/night.jsonl", with: String(decoding: torn, as: UTF8.self))
    let open = try #require(try NightlyFolder.unfinished("plan.yaml", out: out))
    expect(open.record, lines)
    var reports = ReportPlaces()
    reports.out = out
    let again = try NightlyFolder(open, EarlierRun(path), reports: reports, cases: 0)
    expect([again.folder.path, "\(again.seed)"], [path, "7"])
    expect(again.record, lines)
    try again.write([.finish(at: at(9))])
    expect(
      try NightLine.lines(of: WholeFile.bytes(of: path + "/night.jsonl")), lines + [.finish(at: at(9))])
  }

  @Test("a new night has the scenario that parks a lock, and a place for its runs")
  func contents() throws {
    let path = try new().folder.path
    expect(Host.isFile(path + "/park.yaml"), true)
    expect(try FolderNames.listed(in: path + "/cases"), [])
    expect(String(decoding: try WholeFile.bytes(of: path + "/park.yaml"), as: UTF8.self), NightlyRuns.park)
  }
}

@Suite("The journal of a night")
struct NightlyJournalTests {
  @Test("has each attempt of a case with its run, what was not run, and how locks were left")
  func lines() throws {
    let floor = NightFloor()
    let runs = try floor.runs()
    var cases = runs.lab.cases
    cases[2].quarantine = "until 2099-01-01, ada: cold"
    cases[3].skipReason = "no sensor"
    let (a, b, c, d) = (cases[0].identity, cases[1].identity, cases[2].identity, cases[3].identity)
    var record: [NightLine] = [.begin(name: "N", clock)]
    func end(_ number: Int, _ identity: String, _ lock: String, _ ending: NightEnding) throws {
      record += [
        .start(
          NightAttempt(number: number, work: .test(identity), lock: lock, actuations: 9, cycleCounter: 0),
          at: at(1)), .end(number, ending, at: at(2)),
      ]
      if number != 1 { try floor.write(run(.agree), run: number) }
    }
    try end(1, a, "front", NightEnding(.labFault, "no answer", cycleCounter: 1, park: .parked))
    try end(2, a, "front", NightEnding(.incomplete, "killed", cycleCounter: 2, park: .unknown))
    try end(3, a, "front", NightEnding(.agreed, cycleCounter: 3, park: .elsewhere("it is open")))
    try end(
      4, b, "front", NightEnding(.incomplete, "killed", cycleCounter: 4, park: .elsewhere("it is open")))
    try end(5, c, "back", NightEnding(.diverged, "it showed locked"))
    record += [
      .out(.lock("front"), why: "jammed", at: at(3)), .done(a, NightResult(.flaky), at: at(3)),
      .done(c, NightResult(.diverged, "it showed locked"), at: at(3)),
      .done(d, NightResult(.skipped, "no sensor"), at: at(3)),
    ]
    let night = Night(
      NightSettings(duration: .seconds(3600)), name: "N", cases: cases, locks: runs.lab.locks, dongles: [],
      resuming: record)
    /// The lines, without what only the plan determines.
    func written(_ tally: Tally?) throws -> [String] {
      let path = floor.path + "/journal.jsonl"
      try NightlyJournal(runs: runs, night: night).write(to: path, tally: tally)
      let text = String(decoding: try WholeFile.bytes(of: path), as: UTF8.self)
      return text.split(separator: "\n").map {
        String($0).replacing(
          /"(id|name|file|line|firmware|machine|model|seed|digest|text|device)":("[^"]*"|[0-9]+),?/, with: ""
        )
        .replacing(floor.path, with: "").replacing(",}", with: "}")
      }
    }
    let known = [
      #"{"run":{"format":1,"cases":4}}"#,
      #"{"kept":{"journal":"","case":{},"verdict":"lab-fault","message":"no answer","again":true}}"#,
      #"{"kept":{"journal":"cases/00003/runs/r/journal.jsonl","case":{"attempt":2},"verdict":"agree","flaky":true}}"#,
      #"{"kept":{"journal":"cases/00005/runs/r/journal.jsonl","case":{},"verdict":"divergence","message":"it showed locked","quarantine":"until 2099-01-01, ada: cold"}}"#,
    ]
    let left = [
      #"{"t":"0.000","diagnostic":"front: it is out of use: jammed"}"#,
      #"{"t":"0.000","diagnostic":"front: it is open"}"#,
      #"{"left":{"lock":"front","parked":false,"message":"it is open"}}"#,
    ]
    let early = try written(nil)
    expect(early.filter { (known + left).contains($0) }, known + left)
    // A case that was skipped without a run has two lines.
    expect(early.count, known.count + 2 + left.count)
    #expect(early.contains { $0.contains("no sensor") && $0.contains(#""verdict":"skipped""#) }, "\(early)")
    // At the end the other case has its reason.
    var tally = Tally()
    tally.count(.agreed)
    let whole = try written(tally)
    expect(whole.filter { known.contains($0) }, known)
    expect(whole.count, 1 + 3 + 2 + 2 + 3 + 1)
    let words = "begun without a result; front is out of use: jammed"
    expect(whole.filter { $0.contains("front is out of use") }.count, 1)
    #expect(whole.contains { $0.contains(words) && $0.contains(#""verdict":"lab-fault""#) }, "\(whole)")
    #expect(whole.last?.hasPrefix(#"{"end":"#) == true)
  }

  @Test("a case on a lock has the lock in its name")
  func named() {
    var test = Record.Case(id: "sesame5/jam")
    test.name = "Jam"
    let named = test.named(on: "front", attempt: 2)
    expect([named.id, named.name, "\(named.attempt)"], ["front/sesame5/jam", "Jam [front]", "2"])
    let other = test.named(on: nil, attempt: 1)
    expect([other.id, other.name, "\(other.attempt)"], ["sesame5/jam", "Jam", "1"])
  }
}
