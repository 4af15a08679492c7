import Basics
import Foundation
import Journal
import TestSupport
import Testing

@Suite("What is not as expected, in a journal")
struct UnmetTests {
  private static let line =
    #"{"verdict":"divergence","case":"a","t":"0.000","step":2,"line":6,"message":"m","expected":"status locked","observed":"status moved","unmet":[{"what":"status","expected":"locked","observed":"moved"}]}"#

  private func verdict(_ line: String) throws -> Record.Verdict? {
    if case .verdict(let verdict) = try Record(parsing: Array(line.utf8).span) { verdict } else { nil }
  }

  @Test("it is a divergence to readers that do not know better, and is read as what it is")
  func written() throws {
    let verdict = try #require(try verdict(Self.line))
    expect(verdict.word, .unmet)
    expect(verdict.attemptEnding, .unmet)
    expect(Record.verdict(verdict).line(), Self.line)
  }

  @Test(
    "only a divergence with something that was not met is one, in a glance and in whole",
    arguments: [
      (#""verdict":"divergence""#, #"[{"what":"status","expected":"a","observed":"b"}]"#, "unmet"),
      (#""verdict":"divergence""#, #"[ {"what":"status","expected":"a","observed":"b"} ]"#, "unmet"),
      (#""verdict":"divergence""#, "[]", "diverged"), (#""verdict":"divergence""#, "[ ]", "diverged"),
      (#""verdict":"agree""#, #"[{"what":"status","expected":"a","observed":"b"}]"#, "agreed"),
      (#""verdict":"lab-fault""#, #"[{"what":"status","expected":"a","observed":"b"}]"#, "labFault"),
    ])
  func glance(word: String, list: String, ending: String) throws {
    let line = "{\(word),\"case\":\"a\",\"t\":\"1.0\",\"unmet\":\(list)}"
    let whole = try #require(try verdict(line))
    expect("\(whole.attemptEnding)", ending)
    let folder = TestFolder()
    let journal = folder.write(
      "journal.jsonl", "{\"run\":{\"format\":1,\"seed\":1,\"cases\":1}}\n{\"case\":{\"id\":\"a\"}}\n\(line)\n"
    )
    let tally = RunSummary(journals: [journal]).tally
    expect(
      [tally.agree, tally.divergences, tally.unmet, tally.labFaults],
      ["agreed", "diverged", "unmet", "labFault"].map { $0 == ending ? 1 : 0 })
  }

  @Test("the last line of a run counts it apart from the divergences, as reports do")
  func end() {
    var tally = Tally()
    for ending in [.agreed, .diverged, .unmet, .unmet, .failedAsFlaky] as [Record.Ending] {
      tally.count(ending)
    }
    expect(
      Record.end(Record.End(tally)).line(),
      #"{"end":{"cases":5,"agree":1,"flaky":1,"divergences":2,"unmet":2,"labFaults":0,"skipped":0,"incomplete":0,"observations":0,"status":1}}"#
    )
  }

  @Test("there is no verdict of its name")
  func name() {
    #expect(throws: RecordError.self) {
      try Record(parsing: Array(#"{"verdict":"expectation","case":"a","t":"0.000"}"#.utf8).span)
    }
  }

  /// The tries of a case: diverged, not as expected, trouble of the lab, agreed.
  @Test(
    "of several tries a divergence weighs most, and only agreement takes back what was not as expected",
    arguments: [
      ("u", "unmet"), ("ud", "diverged"), ("du", "diverged"), ("ul", "unmet"), ("lu", "unmet"),
      ("ua", "flaky"),
      ("dua", "flaky"), ("udl", "diverged"),
    ])
  func tries(tries: String, ending: String) {
    let endings: [Character: Record.Ending] = ["u": .unmet, "d": .diverged, "l": .labFault, "a": .agreed]
    var all = CaseAttempts()
    for (index, letter) in tries.enumerated() {
      if index > 0 { all.beginAgain() }
      all.end(endings[letter]!, isTriedAgain: index < tries.count - 1)
    }
    expect("\(all.ending(failsFlaky: false))", ending)
  }
}
