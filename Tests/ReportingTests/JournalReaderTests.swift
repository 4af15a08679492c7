import Basics
@testable import Journal
import System
import Foundation
import TestSupport
import Testing

/// What one line of a journal is read as; `nil` when it is torn off or there is none.
private func read(_ line: String, terminated: Bool = true) throws -> Result<Record, JournalProblem>? {
  try read(bytes: Array(line.utf8) + (terminated ? [0x0A] : []))
}

private func read(bytes: [UInt8]) throws -> Result<Record, JournalProblem>? {
  let scratch = try TestFolder()
  var reader = try JournalReader(scratch.file("j.jsonl", bytes))
  return try reader.next()
}

/// A value as it comes out of an event that holds it.
private func text(_ json: [UInt8]) throws -> String? {
  guard
    case .success(.event(let event)) = try read(
      bytes: Array(#"{"t":"0","note":"#.utf8) + json + [0x7D, 0x0A])
  else {
    return nil
  }
  return event.text
}

@Suite("Reading journals")
struct JournalReaderTests {
  @Test("every kind of line is read, and keys that are not known are passed over")
  func records() throws {
    let scratch = try TestFolder()
    let lines = [
      #"{"new":[{"deep":{}}],"run":{"format":1,"seed":42,"more":1}}"#,
      #"{"case":{"id":"i","name":"n","file":"f","line":2,"machine":"m","device":"d","seed":42}}"#,
      #"{"stimulus":"connect","step":1,"line":7,"t":"0.000","arguments":{"a":[1,-2.5e+3,true,false,null]}}"#,
      #"  { "t" : 0.5 , "status" : "connecting" }  "#,
      #"{"verdict":"divergence","case":"i","t":"1.0","step":4,"line":10,"message":"m","expected":"e","observed":"o","details":["d",2],"replay":"r"}"#,
      #"{"case":{"id":"i","model":"h","firmware":"3.0","digest":"0c","attempt":2,"tags":["a","b"]}}"#,
      #"{"t":"1.0","model":["on","off"]}"#,
      #"{"verdict":"agree","case":"i","again":true,"allowed":[{"state":"s","cause":"c","shows":"x"},{"state":"u","shows":"y"},{"state":1}],"signature":"sig","attachments":[{"kind":"capture","path":"p"},{}]}"#,
      #"{"machine":{"name":"m","hash":"h","states":["a","b"],"regions":["r","r"],"stimuli":["go"],"cells":[[0,0,[1]],[1,0,[2]],[0,3,[1]],[1]],"spontaneous":[[1,"tick",[0,1]]]}}"#,
      #"{"coverage":{"machine":"m","legal":[31,31],"empty":[12,177],"pairs":[1,9],"regions":[{"name":"r"}],"visited":["fe","03"]}}"#,
      #"{"finding":{"number":1,"signature":"s","message":"m","shortest":3,"confirmation":{"verdict":"flaky"},"file":"f"}}"#,
      #"{"campaign":{"phase":"exploring","events":5,"tests":1,"extraEvents":0,"findings":0,"depths":[],"repeats":0,"labFaults":0,"unjudged":0,"corpus":0,"positions":0,"longest":5,"stability":[0,0],"actuations":0,"lockTime":1.5,"waited":0}}"#,
      #"{"left":{"lock":"oak","parked":true}}"#,
      #"{"left":{"lock":"elm","parked":false,"message":"stuck","more":1},"lease":7}"#,
      #"{"left":{"lock":"ash"}}"#,
      #"{"end":{"cases":1,"status":1}}"#,
    ]
    let path = try scratch.file("j.jsonl", Array(lines.joined(separator: "\n").utf8))
    var reader = try JournalReader(path)
    var found: [String] = []
    while let record = try reader.next() {
      switch try record.get() {
      case .run(let run): found.append("\(reader.line) run \(run.seed ?? 0)")
      case .begin(let start):
        found.append(
          "\(reader.line) case \(start.id) "
            + (start.name.map {
              "\($0) \(start.file!) \(start.line!) \(start.machine!) \(start.device!) \(start.seed!)"
            } ?? "\(start.model!) \(start.firmware!) \(start.digest!) \(start.attempt) \(start.tags)"))
      case .event(let event):
        let content = event.content.map { "\($0.name)=\($0.value.words)" }
        found.append(
          "\(reader.line) event \(event.time) \(event.step ?? 0) \(event.line ?? 0) \(content)"
        )
      case .verdict(let verdict) where verdict.word == .agree:
        let allowed = verdict.allowed.map { "\($0.state) \($0.cause ?? "-") \($0.shows)" }
        let files = verdict.attachments.map { "\($0.kind) \($0.path)" }
        found.append("\(reader.line) \(verdict.isTriedAgain) \(allowed) \(verdict.signature!) \(files)")
      case .verdict(let verdict):
        found.append(
          "\(reader.line) \(verdict.word) \(verdict.id) \(verdict.time!) \(verdict.step!) \(verdict.line!) \(verdict.message!) \(verdict.expected!) \(verdict.seen!) \(verdict.details) \(verdict.replay!)"
        )
      case .machine(let machine):
        let cells = machine.cells.map { "\($0.state) \($0.stimulus) \($0.next)" }
        let others = machine.spontaneous.map { "\($0.state) \($0.event) \($0.next)" }
        found.append(
          "\(reader.line) machine \(machine.name) \(machine.hash) \(machine.states) \(machine.regions) "
            + "\(machine.stimuli) \(cells) \(others)")
      case .coverage(let coverage):
        found.append(
          "\(reader.line) coverage \(coverage.machine) \(coverage.total.legal!.text) \(coverage.total.empty!.text) \(coverage.visited)"
        )
      case .finding(let finding):
        found.append(
          "\(reader.line) finding \(finding.signature) \(finding.summary) \(finding.shortest) \(finding.confirmation!.verdict) \(finding.file!)"
        )
      case .campaign(let status): found.append("\(reader.line) campaign \(status.events)")
      case .left(let left):
        let rest = left.isParked.map { "\($0)" } ?? "-"
        found.append("\(reader.line) left \(left.lock) \(rest) \(left.message ?? "-")")
      case .end(let end): found.append("\(reader.line) end \(end.cases) \(end.status)")
      }
    }
    expect(
      found,
      [
        "1 run 42", "2 case i n f 2 m d 42",
        #"3 event 0.000 s 1 7 ["stimulus=connect", "arguments={\"a\": [1, -2.5e+3, true, false, null]}"]"#,
        #"4 event 0.500 s 0 0 ["status=connecting"]"#,
        #"5 divergence i 1.000 s 4 10 m e o ["d"] r"#,
        #"6 case i h 3.0 0c 2 ["a", "b"]"#, #"7 event 1.000 s 0 0 ["model=[\"on\", \"off\"]"]"#,
        #"8 true ["s c x", "u - y"] sig ["capture p"]"#,
        #"9 machine m h ["a", "b"] ["r", "r"] ["go"] ["0 0 [1]"] ["1 tick [0, 1]"]"#,
        #"10 coverage m 31/31 12/177 ["fe", "03"]"#,
        "11 finding s m 3 flaky f", "12 campaign 5", "13 left oak true -", "14 left elm false stuck",
        "15 left ash - -", "16 end 1 1",
      ])
    expect(reader.isTorn, false)
  }

  static let strings: [([UInt8], String)] = [
    (Array(#""""#.utf8), ""), (Array(#""a\"\\\/\b\f\n\r\t""#.utf8), "a\"\\/\u{8}\u{C}\n\r\t"),
    (Array(#""\u00e9\u9375\ud83d\uDD12""#.utf8), "é鍵🔒"), (Array("\"é鍵🔒\u{1}\"".utf8), "é鍵🔒\u{1}"),
    (Array(#""\ud83d""#.utf8), #"\u{D83D}"#), (Array(#""\udd12\ud83d""#.utf8), #"\u{DD12}\u{D83D}"#),
    (Array(#""\ud83d\ud83d\udd12""#.utf8), #"\u{D83D}🔒"#),
    (Array(#""\ud83dx\udd12""#.utf8), #"\u{D83D}x\u{DD12}"#),
    ([0x22, 0xFF, 0x22], #"\x{FF}"#), ([0x22, 0xC3, 0x28, 0x22], #"\x{C3}("#),
    ([0x22, 0xED, 0xA0, 0x80, 0x22], #"\x{ED}\x{A0}\x{80}"#),
    ([0x22, 0xF0, 0x9F, 0x94, 0x22], #"\x{F0}\x{9F}\x{94}"#),
    ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], #"\x{F4}\x{90}\x{80}\x{80}"#),
    ([0x22, 0xE0, 0x80, 0x80, 0x22], #"\x{E0}\x{80}\x{80}"#),
    ([0x22, 0xC3, 0xA9, 0x5C, 0x6E, 0x80, 0x22], "é\n\\x{80}"),
  ]

  @Test("strings come out decoded, and what is no character is shown", arguments: strings)
  func decoding(json: [UInt8], expected: String) throws {
    expect(try text(json), expected)
  }

  static let rejected: [(String, String)] = [
    ("{", "not JSON at column 2: expected a name in quotes"),
    (#"{"a"}"#, "not JSON at column 5: expected ':'"),
    (#"{"a":}"#, "not JSON at column 6: expected a JSON value"),
    (#"{"a":1,}"#, "not JSON at column 8: expected a name in quotes"),
    (#"{"a":1 "b":2}"#, "not JSON at column 8: expected ',' or '}'"),
    (#"{"a":[1 2]}"#, "not JSON at column 9: expected ',' or ']'"),
    (#"{"a":1}}"#, "not JSON at column 8: expected nothing more"),
    (#"{"a":"x}"#, "not JSON at column 9: expected the closing quote"),
    (#"{"a":"\x"}"#, "not JSON at column 8: expected an escape that JSON knows"),
    (#"{"a":"\u12g4"}"#, "not JSON at column 9: expected four hexadecimal digits"),
    (#"{"a":"\u12"#, "not JSON at column 9: expected four hexadecimal digits"),
    (#"{"a":"\"#, "not JSON at column 8: expected the closing quote"),
    (#"{"a":01}"#, "not JSON at column 7: expected ',' or '}'"),
    (#"{"a":-}"#, "not JSON at column 7: expected a digit"),
    (#"{"a":1.}"#, "not JSON at column 8: expected a digit"),
    (#"{"a":1e+}"#, "not JSON at column 9: expected a digit"),
    (#"{"a":.5}"#, "not JSON at column 6: expected a JSON value"),
    (#"{"a":nul}"#, "not JSON at column 6: expected 'null'"),
    (#"{"a":True}"#, "not JSON at column 6: expected a JSON value"), ("1", "a line is one JSON object"),
    (#"{"run":1}"#, "the journal's format is null, and 1 is understood"),
    (#"{"end":{"cases":1}}"#, "the end has no status"),
    (#"{"coverage":{}}"#, "coverage has no machine"),
    (#"{"finding":{"shortest":3}}"#, "a finding has no signature"),
    (#"{"verdict":"agree"}"#, "a verdict has no case"),
    (#"{"left":{"parked":true}}"#, "what is said of how a lock was left has no lock"),
    (#"{"status":"x"}"#, "an event has no t"),
    (
      #"{"a":"# + String(repeating: "[", count: 200), "not JSON at column 69: expected no more than 64 levels"
    ),
  ]

  @Test("a line that is no record is a problem, and torn off where it has no end", arguments: rejected)
  func rejection(line: String, reason: String) throws {
    expect(try read(line), .failure(JournalProblem(line: 1, message: reason)))
    expect(try read(line, terminated: false), nil)
  }

  @Test("a journal that is not there is an error with its path")
  func missing() {
    let error = #expect(throws: FileFault.self) { _ = try JournalReader("/nowhere/journal.jsonl") }
    expect(error?.description, "cannot read /nowhere/journal.jsonl: there is no such file or folder")
  }

  @Test("reading goes on after a problem")
  func goesOn() throws {
    let scratch = try TestFolder()
    var reader = try JournalReader(
      scratch.file("j.jsonl", Array("{\"t\":\"0\",\"note\":\"\"}\n\n?\n{\"t\":\"1\",\"note\":\"\"}\n{".utf8))
    )
    var found: [Int] = []
    while let record = try reader.next() {
      if case .failure(let problem) = record {
        found.append(-problem.line)
      } else {
        found.append(reader.line)
      }
    }
    expect(found, [1, -3, 4])
    expect(reader.isTorn, true)
  }
}
