import Basics
import Journal
import Secrets
import System
import TestSupport
import Testing

@testable import Reporting

@Suite("Annotations")
struct AnnotationTests {
  private func runs(_ lines: [String], in folder: TestFolder) throws -> RecordedRuns {
    RecordedRuns(
      journals: [try folder.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))])
  }

  @Test("a run of every outcome: what GitHub reads of it, whole")
  func everyOutcome() throws {
    let folder = try TestFolder()
    let here = Host.folder
    let runs = try runs(
      [
        #"{"run":{"format":1,"seed":42,"flaky":"fail","cases":8}}"#,
        #"{"case":{"id":"a","name":"Fine","file":"Scenarios/a.yaml","line":2}}"#,
        #"{"verdict":"agree","case":"a","t":"1.000"}"#,
        // The line of the step, and every sign that means something in a command of GitHub's.
        #"{"case":{"id":"b","name":"50 %, or: more","file":"\#(here)/Scenarios/b,1.yaml","line":2}}"#,
        #"{"verdict":"divergence","case":"b","t":"2.500","step":3,"line":9,"message":"it %0A\nstayed: shut","details":["model   open","lock    shut"],"signature":"overdue: open","replay":"lockstep replay b.yaml"}"#,
        #"{"case":{"id":"c","name":"In the lab","file":"Scenarios/c.yaml","line":2}}"#,
        #"{"t":"0.500","step":1,"line":7,"stimulus":"connect"}"#,
        #"{"verdict":"lab-fault","case":"c","t":"0.500","message":"no dongle"}"#,
        #"{"case":{"id":"d","name":"Left out","file":"Scenarios/d.yaml","line":2}}"#,
        #"{"verdict":"skipped","case":"d","message":"not for this lock"}"#,
        // It diverged, and the lab failed when it was tried again: the divergence stands, where it was.
        #"{"case":{"id":"e","name":"Twice","file":"Scenarios/e.yaml","line":2}}"#,
        #"{"verdict":"divergence","case":"e","step":1,"line":5,"message":"wrong","again":true}"#,
        #"{"case":{"id":"e","name":"Twice","file":"Scenarios/e.yaml","line":2,"attempt":2}}"#,
        #"{"verdict":"lab-fault","case":"e","step":1,"line":6,"message":"gone"}"#,
        #"{"case":{"id":"f","name":"Flaky","file":"Scenarios/f.yaml","line":2}}"#,
        #"{"verdict":"divergence","case":"f","step":2,"line":8,"message":"odd","again":true}"#,
        #"{"case":{"id":"f","name":"Flaky","file":"Scenarios/f.yaml","line":2,"attempt":2}}"#,
        #"{"verdict":"agree","case":"f","t":"1.000","flaky":true}"#,
        // In quarantine, and not begun: no news.
        #"{"case":{"id":"g","name":"Known","file":"Scenarios/g.yaml","line":2}}"#,
        #"{"verdict":"divergence","case":"g","step":1,"line":5,"message":"wrong","quarantine":"until 2027"}"#,
        #"{"case":{"id":"h","name":"Not begun","file":"Scenarios/h.yaml","line":2}}"#,
        #"{"verdict":"incomplete","case":"h","message":"the run was stopped"}"#,
        #"{"end":{"cases":8,"status":1}}"#,
      ], in: folder)
    expect(
      try runs.gitHubLines(),
      [
        "::error file=Scenarios/b%2C1.yaml,line=9,title=50 %25%2C or%3A more%3A diverged at step 3::it %250A%0Astayed: shut%0Amodel   open%0Alock    shut%0Alockstep replay b.yaml",
        "::warning file=Scenarios/c.yaml,line=7,title=In the lab%3A trouble in the lab::no dongle",
        "::error file=Scenarios/e.yaml,line=5,title=Twice%3A diverged at step 1::wrong",
        "::error file=Scenarios/f.yaml,line=8,title=Flaky%3A flaky at step 2::odd",
      ])
  }

  @Test("nothing to say, and a journal that is not whole")
  func nothing() throws {
    let folder = try TestFolder()
    let fine = try runs(journal(caseLines("a", file: "a.yaml"), cases: 1), in: folder)
    expect(try fine.gitHubLines(), [])
    let torn = try runs(Array(journal(caseLines("a", file: "a.yaml"), cases: 1).dropLast()), in: folder)
    let words = "incomplete: the run did not end, its journal just stops"
    expect(try torn.gitHubLines(), ["::warning title=The run is not whole::\(words)"])
  }

  @Test("GitHub shows ten of a kind, and how many more there are")
  func limit() throws {
    let folder = try TestFolder()
    let lines =
      (1...13).flatMap { caseLines("d\($0)", "divergence", file: "d\($0).yaml") }
      + (1...11).flatMap { caseLines("l\($0)", "lab-fault", file: "l\($0).yaml") }
    let runs = try runs(journal(lines, cases: 24, status: 1), in: folder)
    let told = try runs.gitHubLines()
    expect(told.count { $0.hasPrefix("::error ") }, 10)
    expect(told.count { $0.hasPrefix("::warning ") }, 10)
    expect(
      Array(told.suffix(2)),
      [
        "::notice title=Lockstep::3 more cases that diverged than GitHub shows here: see the report",
        "::notice title=Lockstep::1 more case that had no verdict than GitHub shows here: see the report",
      ])
  }

  @Test("what a campaign found stands in the file in which it was saved")
  func finding() throws {
    let lines = [
      #"{"run":{"format":1,"seed":3}}"#,
      #"{"finding":{"number":1,"signature":"overdue: open","message":"nothing came","events":10,"length":9,"shortest":2,"count":1,"file":"out/failures/fuzz-door-1.yaml"}}"#,
      #"{"case":{"id":"failures/fuzz-door-1","name":"nothing came","file":"failures/fuzz-door-1.yaml","machine":"door"}}"#,
      #"{"verdict":"divergence","case":"failures/fuzz-door-1","t":"1.000","step":2,"message":"nothing came","signature":"overdue: open"}"#,
      #"{"end":{"cases":1,"divergences":1,"status":1}}"#,
    ]
    let folder = try TestFolder()
    expect(
      try runs(lines, in: folder).gitHubLines(),
      [
        "::error file=out/failures/fuzz-door-1.yaml,line=1,title=nothing came%3A diverged at step 2::nothing came"
      ])
  }

  @Test(
    "a key that a device showed is not in it, though GitHub's notation would hide it from who looks for it")
  func secrets() throws {
    let bytes = SystemEntropy().bytes(16)
    let written = bytes.map { $0.hex(digits: 2) }.joined(separator: ":")
    try Redactor.shared.register(Secret(bytes))
    let folder = try TestFolder()
    let runs = try runs(
      journal(
        [
          #"{"case":{"id":"a","name":"It says \#(written)","file":"a.yaml","line":2}}"#,
          #"{"verdict":"divergence","case":"a","step":1,"message":"it said \#(written)","details":["\#(written)"]}"#,
        ], cases: 1, status: 1), in: folder)
    let text = try runs.gitHubLines().joined()
    let digits = text.replacing("%3A", with: "").replacing(":", with: "").lowercased()
    #expect(!digits.contains(written.replacing(":", with: "").lowercased()), "\(text)")
    #expect(text.contains(Redactor.mark), "\(text)")
  }
}
