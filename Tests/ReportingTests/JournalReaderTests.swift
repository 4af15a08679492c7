import System
import Foundation
import Reporting
import TestSupport
import Testing

/// What one line of a journal is read as; `nil` when it is torn off or there is none.
private func read(_ line: String, terminated: Bool = true) throws -> Result<Journal.Record, Journal.Problem>?
{
  try read(bytes: Array(line.utf8) + (terminated ? [0x0A] : []))
}

private func read(bytes: [UInt8]) throws -> Result<Journal.Record, Journal.Problem>? {
  let workshop = try Workshop()
  var reader = try JournalReader(workshop.file("j.jsonl", bytes))
  return try reader.next()
}

/// A value as it comes out of an event that holds it.
private func value(_ json: [UInt8]) throws -> JSONValue? {
  guard
    case .success(.event(let event)) = try read(bytes: Array(#"{"t":"0","x":"#.utf8) + json + [0x7D, 0x0A])
  else {
    return nil
  }
  return event.content.first?.value
}

@Suite("Reading journals")
struct JournalReaderTests {
  @Test("every kind of line is read, and keys that are not known are passed over")
  func records() throws {
    let workshop = try Workshop()
    let lines = [
      #"{"new":[{"deep":{}}],"run":{"format":1,"seed":42,"command":["run","a b"],"more":1}}"#,
      #"{"case":{"id":"i","name":"n","file":"f","line":2,"machine":"m","device":"d","seed":"0x2A"}}"#,
      #"{"stimulus":"connect","step":1,"line":7,"t":"0.000","arguments":{"a":[1,-2.5e+3,true,false,null]}}"#,
      #"  { "t" : 0.5 , "status" : "connecting" }  "#,
      #"{"verdict":"divergence","case":"i","t":"1.0","step":4,"line":10,"message":"m","expected":"e","observed":"o","details":["d",2],"replay":"r"}"#,
      #"{"case":{"id":"i","model":"h","firmware":"3.0","digest":"0c","attempt":2,"tags":["a","b"]}}"#,
      #"{"t":"1.0","model":["on","off"]}"#,
      #"{"verdict":"agree","case":"i","again":true,"allowed":[{"state":"s","cause":"c","shows":"x"},{"state":"u","shows":"y"},{"state":1}],"signature":"sig","attachments":[{"kind":"capture","path":"p"},{}]}"#,
      #"{"machine":{"name":"m","hash":"h","states":["a","b"],"regions":["r","r"],"stimuli":["go"],"cells":[[0,0,[1]],[1,0,[2]],[0,3,[1]],[1]],"spontaneous":[[1,"tick",[0,1]]]}}"#,
      #"{"coverage":{"machine":"m","legal":[31,31],"empty":[12,177],"pairs":[1,9],"regions":[{"name":"r"}],"visited":["fe","03"]}}"#,
      #"{"finding":{"number":1,"signature":"s","message":"m","shortest":3,"confirmation":{"verdict":"flaky"},"file":"f"}}"#,
      #"{"campaign":{"events":5}}"#,
      #"{"t":"0.000","left":{"lock":"oak","atRest":true}}"#,
      #"{"t":"0.000","left":{"lock":"elm","atRest":false,"message":"stuck","more":1},"lease":7}"#,
      #"{"t":"0.000","left":{"lock":"ash"}}"#,
      #"{"end":{"cases":1,"status":1}}"#,
    ]
    let path = try workshop.file("j.jsonl", Array(lines.joined(separator: "\n").utf8))
    var reader = try JournalReader(path)
    var found: [String] = []
    while let record = try reader.next() {
      switch try record.get() {
      case .run(let run): found.append("\(reader.line) run \(run.seed ?? "-") \(run.command)")
      case .start(let start):
        found.append(
          "\(reader.line) case \(start.id) "
            + (start.name.map {
              "\($0) \(start.file!) \(start.line!) \(start.machine!) \(start.device!) \(start.seed!)"
            } ?? "\(start.model!) \(start.firmware!) \(start.digest!) \(start.attempt) \(start.tags)"))
      case .event(let event):
        let content = event.content.map { "\($0.key)=\($0.value)" }
        found.append(
          "\(reader.line) event \(event.time) \(event.step ?? 0) \(event.line ?? 0) \(event.model ?? content)"
        )
      case .verdict(let verdict) where verdict.word == .agree:
        let allowed = verdict.allowed.map { "\($0.state) \($0.cause ?? "-") \($0.shows)" }
        let files = verdict.attachments.map { "\($0.kind) \($0.path)" }
        found.append("\(reader.line) \(verdict.isTriedAgain) \(allowed) \(verdict.signature!) \(files)")
      case .verdict(let verdict):
        found.append(
          "\(reader.line) \(verdict.word) \(verdict.id) \(verdict.time!) \(verdict.step!) \(verdict.line!) \(verdict.message!) \(verdict.expected!) \(verdict.observed!) \(verdict.details) \(verdict.replay!)"
        )
      case .machine(let machine):
        let cells = machine.cells.map { "\($0.state) \($0.stimulus) \($0.next)" }
        let others = machine.spontaneous.map { "\($0.state) \($0.event) \($0.next)" }
        found.append(
          "\(reader.line) machine \(machine.name) \(machine.hash) \(machine.states) \(machine.regions) "
            + "\(machine.stimuli) \(cells) \(others)")
      case .coverage(let coverage):
        found.append(
          "\(reader.line) coverage \(coverage.machine) \(coverage.legal) \(coverage.empty) \(coverage.visited)"
        )
      case .finding(let finding):
        found.append(
          "\(reader.line) finding \(finding.signature) \(finding.message) \(finding.shortest) \(finding.confirmation!) \(finding.file!)"
        )
      case .campaign: found.append("\(reader.line) campaign")
      case .left(let left):
        let rest = left.isAtRest.map { "\($0)" } ?? "-"
        found.append("\(reader.line) left \(left.lock) \(rest) \(left.message ?? "-")")
      case .end(let end): found.append("\(reader.line) end \(end.cases) \(end.status)")
      }
    }
    expect(
      found,
      [
        #"1 run 42 ["run", "a b"]"#, "2 case i n f 2 m d 0x2A",
        #"3 event 0.000 1 7 ["stimulus=connect", "arguments={\"a\": [1, -2.5e+3, true, false, null]}"]"#,
        #"4 event 0.5 0 0 ["status=connecting"]"#,
        #"5 divergence i 1.0 4 10 m e o ["d", "2"] r"#,
        #"6 case i h 3.0 0c 2 ["a", "b"]"#, #"7 event 1.0 0 0 ["on", "off"]"#,
        #"8 true ["s c x", "u - y"] sig ["capture p"]"#,
        #"9 machine m h ["a", "b"] ["r", "r"] ["go"] ["0 0 [1]"] ["1 tick [0, 1]"]"#,
        #"10 coverage m [31, 31] [12, 177] ["fe", "03"]"#,
        "11 finding s m 3 flaky f", "12 campaign", "13 left oak true -", "14 left elm false stuck",
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
    expect(try value(json), .string(expected))
  }

  static let rejected: [(String, String)] = [
    ("{", "not JSON at column 2: the text ends too early"),
    (#"{"a"}"#, "not JSON at column 5: a colon is missing"),
    (#"{"a":}"#, "not JSON at column 6: no value"),
    (#"{"a":1,}"#, "not JSON at column 8: a string is missing"),
    (#"{"a":1 "b":2}"#, "not JSON at column 8: a comma or the end of the object is missing"),
    (#"{"a":[1 2]}"#, "not JSON at column 9: a comma or the end of the array is missing"),
    (#"{"a":1}}"#, "not JSON at column 8: something follows the value"),
    (#"{"a":"x}"#, "not JSON at column 9: a string without an end"),
    (#"{"a":"\x"}"#, "not JSON at column 7: an escape that is none"),
    (#"{"a":"\u12g4"}"#, "not JSON at column 7: an escape that is none"),
    (#"{"a":"\u12"#, "not JSON at column 7: an escape that is none"),
    (#"{"a":"\"#, "not JSON at column 7: an escape that is none"),
    (#"{"a":01}"#, "not JSON at column 8: no number"), (#"{"a":-}"#, "not JSON at column 7: no number"),
    (#"{"a":1.}"#, "not JSON at column 8: no digit after the point"),
    (#"{"a":1e+}"#, "not JSON at column 9: no digit in the exponent"),
    (#"{"a":.5}"#, "not JSON at column 6: no value"), (#"{"a":nul}"#, "not JSON at column 6: no value"),
    (#"{"a":True}"#, "not JSON at column 6: no value"), ("1", "a line is one JSON object"),
    (#"{"run":1}"#, "the journal's format is null, and 1 is understood"),
    (#"{"end":{"cases":1}}"#, "the end names no count of cases or no status"),
    (#"{"coverage":{}}"#, "coverage names no machine"),
    (#"{"finding":{"shortest":3}}"#, "a finding names no signature or no length"),
    (#"{"verdict":"agree"}"#, "a verdict names no case"),
    (#"{"t":"0.000","left":{"atRest":true}}"#, "it is not said which lock was left"),
    (#"{"status":"x"}"#, "an event has no time"),
    (#"{"a":"# + String(repeating: "[", count: 200), "not JSON at column 105: nested more than 100 deep"),
  ]

  @Test("a line that is no record is a problem, and torn off where it has no end", arguments: rejected)
  func rejection(line: String, reason: String) throws {
    expect(try read(line), .failure(Journal.Problem(line: 1, message: reason)))
    expect(try read(line, terminated: false), nil)
  }

  @Test("a journal that is not there is an error with its path")
  func missing() {
    let error = #expect(throws: ReportError.self) { _ = try JournalReader("/nowhere/journal.jsonl") }
    expect(error?.description, "cannot read /nowhere/journal.jsonl: No such file or directory")
  }

  @Test("reading goes on after a problem")
  func goesOn() throws {
    let workshop = try Workshop()
    var reader = try JournalReader(
      workshop.file("j.jsonl", Array("{\"t\":\"0\"}\n\n?\n{\"t\":\"1\"}\n{".utf8)))
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
