import System
import Journal
import Basics
import TestSupport
import Testing

@testable import Reporting

/// Letters of a journal, a case of one id each: `a` agrees, `d` diverges, `D` diverges and is tried again, `l` is failed
/// by the lab, `L` failed by it and tried again, `s` skipped, `i` incomplete, `-` never judged. A `|` is where a run was
/// killed and taken up again; several letters are several tries.
private func journal(_ cases: [String]) -> String {
  var lines = [#"{"run":{"format":1,"seed":7,"cases":\#(cases.count)}}"#]
  let words: [Character: String] = [
    "a": "agree", "d": "divergence", "D": "divergence", "l": "lab-fault", "L": "lab-fault", "s": "skipped",
    "i": "incomplete",
  ]
  for (number, tries) in cases.enumerated() {
    var attempt = 0
    for letter in tries {
      if letter == "|" {
        lines.append(#"{"run":{"format":1,"seed":7,"resumed":true}}"#)
        attempt = 0
        continue
      }
      attempt += 1
      lines.append(#"{"case":{"id":"c\#(number)","digest":"d\#(number)","attempt":\#(attempt)}}"#)
      lines.append(#"{"t":"0.1","status":"on"}"#)
      guard let word = words[letter] else { continue }
      let again = letter.isUppercase ? #","again":true"# : ""
      let flaky = word == "agree" && attempt > 1 ? #","flaky":true"# : ""
      lines.append(#"{"verdict":"\#(word)","case":"c\#(number)"\#(flaky)\#(again)}"#)
    }
  }
  return lines.joined(separator: "\n") + "\n"
}

@Suite("How far a run came")
struct RunProgressTests {
  /// The tries of one case, and what it is judged to be; `nil` where it is to be run again.
  // swift-format-ignore
  static let rows: [(String, RunProgress.Judged?)] = [
    ("a", .init(.agreed, digest: "d0")),
    ("d", .init(.diverged, digest: "d0")),
    ("s", .init(.skipped, digest: "d0")),
    ("l", nil), ("i", nil), ("-", nil), ("D", nil), ("D-", nil), ("Li", nil),
    ("Da", .init(.flaky, digest: "d0")),
    ("La", .init(.flaky, digest: "d0")),
    ("DDd", .init(.diverged, digest: "d0")),
    ("Dl", .init(.diverged, digest: "d0")),
    ("Ll", nil),
    ("-|a", .init(.agreed, digest: "d0")),
    ("D|a", .init(.agreed, digest: "d0")),
    ("D-|Da", .init(.flaky, digest: "d0")),
    ("i|-", nil), ("l|s", .init(.skipped, digest: "d0")),
  ]

  @Test("what came to a judgement is known, and nothing else", arguments: rows)
  func judged(tries: String, expected: RunProgress.Judged?) throws {
    let scratch = try TestFolder()
    // The case stands between others, and behind the last line is one that was torn off.
    let text = journal([tries, "a"]) + #"{"case":{"id":"c9"#
    let progress = try RunProgress(journal: try scratch.file("j.jsonl", Array(text.utf8)))
    expect(progress.judged["c0"], expected)
    expect(progress.judged["c1"]?.ending, .agreed)
    expect(progress.run?.cases, 2)
  }

  @Test("two cases whose names only look alike are two")
  func lookalikes() throws {
    let (one, two) = ("caf\u{E9}", "cafe\u{301}")
    expect(one, two)
    let lines = [one, two].map {
      #"{"case":{"id":"\#($0)","digest":"\#($0.utf8.count)"}}"# + "\n"
        + #"{"verdict":"agree","case":"\#($0)"}"# + "\n"
    }
    for (text, sizes) in [(lines[0], [5, nil]), (lines[1], [nil, 6]), (lines.joined(), [5, 6])] {
      let head = #"{"run":{"format":1,"cases":2}}"# + "\n"
      let scratch = try TestFolder()
      let path = try scratch.file("j.jsonl", Array((head + text).utf8))
      let progress = try RunProgress(journal: path)
      expect(
        [one, two].map { progress.judged[ExactText($0)]?.digest }, sizes.map { $0.map { String($0) } })
    }
  }

  @Test("a journal that is damaged in the middle is not gone on with")
  func damaged() throws {
    let scratch = try TestFolder()
    let path = try scratch.file("j.jsonl", Array("{\"run\":{\"format\":1}}\nx\n{}\n".utf8))
    #expect(throws: JournalProblem.self) { try RunProgress(journal: path) }
    #expect(throws: FileFault.self) { try RunProgress(journal: path + ".gone") }
  }
}
