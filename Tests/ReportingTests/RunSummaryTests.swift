import Journal
import Reporting
import TestSupport
import Testing

/// The lines of a finding and of the case that shows it.
private func finding(_ signature: String, _ id: String, _ shortest: Int) -> [String] {
  [
    #"{"finding":{"signature":"\#(signature)","message":"it is \#(signature)","shortest":\#(shortest),"file":"\#(id)"}}"#
  ] + caseLines(id, "divergence", file: id)
}

/// The lines of a campaign's own case, and of its coverage.
private func campaign(_ word: String, _ legal: String, _ empty: String) -> [String] {
  func count(_ digits: String) -> Int { digits.reduce(0) { $0 + $1.hexDigitValue!.nonzeroBitCount } }
  return caseLines("fuzz/m", word, file: "fuzz/m") + [
    #"{"campaign":{"events":5}}"#,
    #"{"coverage":{"machine":"m","legal":[\#(count(legal)),7],"empty":[\#(count(empty)),9],"visited":["\#(legal)","\#(empty)"]}}"#,
  ]
}

private func summary(_ journals: [[String]], without id: String? = nil) throws -> RunSummary {
  let scratch = try TestFolder()
  let paths = try journals.enumerated().map { number, lines in
    try scratch.file("\(number).jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
  }
  return RunSummary(journals: paths, without: id)
}

@Suite("What runs came to")
struct RunSummaryTests {
  @Test("shards are added: cases, cells, and each finding once, with its shortest test")
  func merged() throws {
    let journals = [
      journal(
        finding("a", "x1", 9) + finding("b", "x2", 4) + campaign("agree", "80", "c00"), cases: 3, status: 1),
      journal(
        finding("a", "y1", 5) + finding("b", "y2", 4) + campaign("agree", "c2", "408"), cases: 3, status: 1),
      journal(caseLines("z", "lab-fault") + caseLines("s", "skipped"), cases: 2, status: 3),
    ]
    let all = try summary(journals)
    expect(all.findings.map { "\($0.signature) \($0.shortest) \($0.file!)" }, ["a 5 y1", "b 4 x2"])
    expect(
      [
        all.tally.cases, all.tally.agree, all.tally.divergences, all.tally.labFaults, all.tally.skipped,
        all.tally.incomplete,
      ], [8, 2, 2, 1, 1, 0])
    expect(all.coverage.map { $0.total.legal?.text }, ["3/7"])
    expect(all.coverage.map { $0.total.empty?.text }, ["3/9"])
    expect(all.coverage.map(\.visited), [["c2", "c08"]])
    expect(all.failures.map { "\($0.id) \($0.word)" }, ["x2 divergence", "y1 divergence", "z labFault"])
    expect(all.statuses, [1, 1, 3])
    expect(all.status, 1)
    expect(all.problems, [])
    // What one shard found shows in its own report.
    expect(try summary([journals[0]]).tally.divergences, 2)
  }

  /// Each showing of a finding: `d` diverged, `l` came to no verdict, with the number of its events; a `|` is where another
  /// journal begins.
  @Test(
    "of a finding that showed several times the case stands that diverged, then the shortest",
    arguments: [
      ("l3 d3", "1", 1), ("d3 l2", "0", 1), ("l3 d5 d4", "2", 1), ("l3 l2", "1", 3), ("d3 d3", "0", 1),
      ("l3 | d3", "1", 1), ("d3 | l2", "0", 1), ("d4 | d3", "1", 1), ("l3 | l2", "1", 3),
    ])
  func showings(all: String, standing: String, status: Int) throws {
    let scratch = try TestFolder()
    var number = 0
    let journals = try all.split(separator: "|").map { part in
      let showings = part.split(separator: " ")
      var lines: [String] = []
      for showing in showings {
        lines += [
          #"{"finding":{"signature":"a","message":"it is a","shortest":\#(showing.dropFirst()),"file":"\#(number)"}}"#
        ]
        lines += caseLines("\(number)", showing.first == "d" ? "divergence" : "lab-fault")
        number += 1
      }
      lines += campaign("agree", "80", "c00")
      let end = part.contains("d") ? 1 : 3
      return try scratch.file(
        "\(number).jsonl",
        Array(journal(lines, cases: showings.count + 1, status: end).map { $0 + "\n" }.joined().utf8))
    }
    let runs = RunSummary(journals: journals)
    expect(runs.status, status)
    expect(runs.failures.map(\.id), [standing])
    expect(runs.findings.map(\.file), [standing])
    expect(runs.confirmed.count, status == 1 ? 1 : 0)
    expect(runs.problems, [])
    let report = try JUnitReport.write(journals: journals, to: scratch.path("junit.xml"))
    expect([report.failures, report.errors], status == 1 ? [1, 0] : [0, 1])
  }

  @Test("what a run ended with beside its cases is what its report ends with, and no damage of its journal")
  func beside() throws {
    for (status, elements) in [(3, [0, 1]), (6, [0, 1]), (70, [0, 1]), (2, [0, 1]), (1, [1, 0])] {
      let scratch = try TestFolder()
      let lines = journal(caseLines("a"), cases: 1, status: status)
      let path = try scratch.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
      expect(RunSummary(journals: [path]).status, status)
      let report = try JUnitReport.write(journals: [path], to: scratch.path("junit.xml"))
      expect([report.failures, report.errors], elements)
    }
  }

  @Test(
    "the observations are those of the cases that agree, without those that only count as failed",
    arguments: [("", 125), (#","flaky":"fail""#, 89)])
  func observations(option: String, sum: Int) throws {
    let lines = [
      "{\"run\":{\"format\":1\(option)}}", #"{"case":{"id":"a"}}"#,
      #"{"verdict":"divergence","case":"a","observations":7,"again":true}"#,
      #"{"case":{"id":"a","attempt":2}}"#,
      #"{"verdict":"agree","case":"a","observations":36,"flaky":true}"#, #"{"case":{"id":"b"}}"#,
      #"{"verdict":"agree","case":"b","observations":89}"#,
      "{\"end\":{\"cases\":2,\"status\":\(option.isEmpty ? 0 : 1)}}",
    ]
    expect(try summary([lines]).tally.observations, sum)
  }

  @Test("where fewer verdicts than required, no report is green")
  func demanded() throws {
    let scratch = try TestFolder()
    let lines = journal(caseLines("a") + caseLines("b", "skipped"), cases: 2)
    let path = try scratch.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    for (cases, failsSkipped, status) in [(1, false, 0), (2, false, 5), (1, true, 5)] {
      var minimum = MinimumVerdicts()
      (minimum.cases, minimum.failsSkipped) = (cases, failsSkipped)
      let runs = RecordedRuns(journals: [path], minimum: minimum)
      expect(runs.summary.status, status)
      expect(try runs.writeJUnit(to: scratch.path("junit.xml")).errors, status == 0 ? 0 : 1)
      expect(try runs.writeHTML(to: scratch.path("report.html")).problems.count, status == 0 ? 0 : 1)
    }
  }

  @Test("the JUnit report of several journals has each of their cases once")
  func report() throws {
    let scratch = try TestFolder()
    let paths = try [
      finding("a", "x1", 9) + campaign("agree", "80", "c00"),
      finding("a", "y1", 5) + campaign("agree", "c2", "408"),
    ].enumerated().map { number, lines in
      try scratch.file(
        "\(number).jsonl", Array((journal(lines, cases: 2, status: 1)).map { $0 + "\n" }.joined().utf8))
    }
    let manifests = try ["a", "b"].map { name in
      try scratch.file("\(name).json", Array(#"{"name":"\#(name)","host":"\#(name)","version":"1"}"#.utf8))
    }
    let report = try JUnitReport.write(journals: paths, manifests: manifests, to: scratch.path("junit.xml"))
    expect([report.tests, report.failures, report.errors], [3, 1, 0])
    let xml = try scratch.text("junit.xml")
    #expect(xml.contains("y1") && !xml.contains("x1"))
    #expect(xml.contains(#"name="lockstep.run" value="a, b""#) && !xml.contains("hostname"))
    #expect(xml.contains("3 of 7 allowed requests tried, 3 of 9 forbidden requests tried"))
    #expect(xml.contains(#"name="m (2)""#))
    // A journal that is not there makes the report red.
    let damaged = try JUnitReport.write(journals: paths + ["/nowhere"], to: scratch.path("junit.xml"))
    expect([damaged.failures, damaged.errors, damaged.problems.count], [1, 1, 1])
  }

  @Test("a run that is taken up again has its unfinished case, and the campaign's own, once")
  func resumed() throws {
    let first = journal(finding("a", "x1", 3) + campaign("incomplete", "80", "c00"), cases: 2, status: 1)
    let second = journal(campaign("agree", "c0", "400"), cases: 3, status: 1)
    let third = journal(campaign("agree", "c0", "400"), cases: 4, status: 1)
    let once = try summary([first])
    expect([once.tally.agree, once.tally.divergences, once.tally.incomplete], [0, 1, 1])
    let open = try summary([first], without: "fuzz/m")
    expect(
      [open.tally.cases, open.tally.agree, open.tally.divergences, open.tally.incomplete], [2, 0, 1, 0])
    for journals in [first + second, first + second + third] {
      let all = try summary([journals])
      expect([all.tally.agree, all.tally.divergences, all.tally.incomplete], [1, 1, 0])
      expect(all.problems, [])
    }
    // The same case twice in one session is two cases.
    let twice = try summary([journal(caseLines("i", "incomplete") + caseLines("i"), cases: 2, status: 5)])
    expect([twice.tally.agree, twice.tally.incomplete], [1, 1])
  }

  @Test(
    "the gravest end of several is the end of all",
    arguments: [
      ([0, 0], 0), ([0, 4], 0), ([4, 4], 4), ([3, 0], 3), ([3, 1], 1), ([5, 3], 5), ([6, 5], 6), ([1, 6], 1),
      ([70, 1], 70), ([2, 3], 2),
    ])
  func status(ends: [Int], status: Int) throws {
    func lines(_ end: Int) -> [String] {
      let word = [1: "divergence", 3: "lab-fault", 5: "incomplete", 6: "incomplete"][end] ?? "agree"
      return [70, 2].contains(end)
        ? journal(caseLines("c", "lab-fault"), cases: 1, status: end)
        : journal(end == 4 ? [] : caseLines("c", word), cases: end == 4 ? 0 : 1, status: end)
    }
    expect(try summary(ends.map(lines)).status, status)
  }

  @Test("a run that just stopped is incomplete, whatever else was")
  func killed() throws {
    let whole = journal(caseLines("a"), cases: 1)
    let all = try summary([whole, Array(whole.dropLast())])
    expect(all.status, 5)
    expect(all.statuses, [0, nil])
    expect(all.problems.count, 1)
  }

  @Test("cells that a journal does not name are not guessed")
  func unknownCells() throws {
    let plain = #"{"coverage":{"machine":"m","legal":[2,7],"empty":[9,9]}}"#
    let all = try summary([
      journal(caseLines("a") + [plain], cases: 1), journal(campaign("agree", "c2", "000"), cases: 1),
    ])
    expect(all.coverage.map { $0.total.legal?.text }, ["3/7"])
    expect(all.coverage.map { $0.total.empty?.text }, ["9/9"])
  }
}
