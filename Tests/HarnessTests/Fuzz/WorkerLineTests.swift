import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

extension WorkerLine {
  /// The line and what another process reads from it.
  fileprivate var lines: [String] { [json.line, WorkerLine(json.line)?.json.line ?? "none"] }
}

@Suite("Messages of workers")
struct WorkerLineTests {
  private static let trouble = ProgramTrouble("driver", .stopped, lastWords: "IndexError: 17")

  private static var notice: FindingNotice {
    var notice = FindingNotice()
    (notice.number, notice.signature, notice.length) = (2, "overdue: closed", 7)
    (notice.confirmation, notice.isSure, notice.endsCampaign) = ("reproduced 3 of 3", true, true)
    (notice.lines, notice.origin, notice.steps) = (["a"], ["b", "c"], ["- open"])
    (notice.sentence, notice.path, notice.replay) = ("open.", "failures/x.yaml", "lockstep replay x")
    notice.record = Record.Finding("overdue: closed", shortest: 7)
    return notice
  }

  private static let status: CampaignStatus = {
    var status = CampaignStatus()
    (status.events, status.tests, status.labFaults, status.depths) = (9, 3, 1, [2, 4])
    return status
  }()

  static var messages: [WorkerLine] {
    [
      .progress(status), .visited([3, 0, 70]), .visited([]), .found(notice), .found(notice.numbered(5)),
      .evidence(.finding(notice.record)), .journal(.campaign(status)), .say("a \"word\"\nand another"),
      .once("said once"), .warn("beware"), .end(.done, status), .end(.found, status),
      .end(.stopped, CampaignStatus()),
      .end(.limited("100 movements"), status),
      .end(.trouble(LabFault(.noVerdict, "on 2 of 3 tests")), status),
    ]
  }

  @Test("every message is one line, and reads back as it was written", arguments: messages.indices)
  func reading(index: Int) {
    let lines = Self.messages[index].lines
    expect(lines[1], lines[0])
    #expect(!lines[0].contains("\n"))
  }

  @Test("the orders of a worker read back as they were written")
  func orders() throws {
    let orders = WorkerOrders(round: 3, known: ["overdue: closed"], folder: "Reports/a", job: "night")
    let read = try WorkerOrders(JSON(parsing: orders.json.line))
    expect([read.json.line, read.folder, read.job], [orders.json.line, "Reports/a", "night"])
    expect(read.known, ["overdue: closed"])
    #expect(throws: (any Error).self) { try WorkerOrders(JSON(parsing: #"{"round":3,"known":[]}"#)) }
  }

  @Test(
    "another text is not a message",
    arguments: [
      "", "{", "[]", "7", "{}", #"{"saying":"a"}"#, #"{"say":7}"#, #"{"visited":["a"]}"#, #"{"progress":{}}"#,
      #"{"end":["done"]}"#, #"{"end":["ended"],"status":{"events":1}}"#,
      #"{"end":["done","x"],"status":{"events":1}}"#,
      #"{"end":["limited"],"status":{"events":1}}"#, #"{"end":["trouble","x"],"status":{"events":1}}"#,
      #"{"end":["trouble","x",{"symptom":"unheard of"}],"status":{"events":1}}"#, #"{"found":{"number":1}}"#,
    ])
  func malformed(text: String) { expect(WorkerLine(text)?.json.line, nil) }

  @Test(
    "a long list of cells takes several lines, none of which is lost", arguments: [0, 1, 4096, 4097, 10_000])
  func visited(count: Int) {
    let marks = Array(0..<count)
    let parts = WorkerLine.visited(in: marks).map { line -> [Int] in
      if case .visited(let part) = line { part } else { [] }
    }
    expect(parts.flatMap(\.self), marks)
    #expect(parts.allSatisfy { !$0.isEmpty && $0.count <= 4096 })
  }

  /// A fault as it is written; the cause of a program's failure must come back, or the lock would be blamed for it.
  // swift-format-ignore
  static let faults: [(fault: LabFault, line: String)] = [
    (LabFault(.linkLost, "x"), #"{"symptom":"link lost"}"#),
    (LabFault(.transportLost, "x", from: .transport), #"{"symptom":"transport lost","origin":"transport"}"#),
    (LabFault(.programFailed, "x", from: .program(trouble)), #"{"symptom":"a program of the lab failed","origin":"driver","happened":"stopped answering","lastWords":"IndexError: 17"}"#),
    (LabFault(.ended, "x", from: .program(ProgramTrouble("program", .ended))), #"{"symptom":"the device's program ended","origin":"program","happened":"ended"}"#),
  ]

  @Test("a fault comes back with its symptom, its text and its origin", arguments: faults)
  func fault(fault: LabFault, line: String) {
    let record = Record.Trouble(fault)
    expect(record.json.line, line)
    let read = record.fault("x")
    expect(read, fault)
    expect(read?.origin, fault.origin)
  }

  @Test("a symptom of a later version is no fault, and the origin of one is unknown")
  func laterVersions() {
    expect(Record.Trouble("unheard of").fault("x"), nil)
    var record = Record.Trouble("no answer")
    (record.origin, record.happened) = ("driver", "exploded")
    expect(record.fault("x"), LabFault(.noAnswer, "x"))
    expect(record.fault("x")?.origin, nil)
  }

  @Test("of the ends of several workers the most serious one is reported")
  func weights() {
    let ends: [CampaignEnd] = [.done, .found, .stopped, .trouble(LabFault(.noDevice, "x")), .limited("x")]
    expect(ends.map(\.weight), ends.map(\.weight).sorted())
    expect(Set(ends.map(\.weight)).count, ends.count)
  }
}

@Suite("The state of a campaign")
struct CampaignStateTests {
  private static var state: CampaignState {
    var state = CampaignState(machine: "door", device: "emulator:oak", seed: 7)
    (state.machineHash, state.twin, state.round) = ("ab12", "emulator:glass", 2)
    (state.options, state.elapsed, state.cells) = (["--steps", "9"], .milliseconds(1500), ["c", "0f"])
    state.findings = [.init(signature: "overdue: closed", path: "failures/x.yaml", length: 7, count: 3)]
    state.status.events = 9
    return state
  }

  private static let text =
    #"{"format":1,"machine":"door","hash":"ab12","device":"emulator:oak","twin":"emulator:glass","seed":7,"round":2,"#
    + #""options":["--steps","9"],"nanoseconds":1500000000,"status":"#
    + state.status.json.line + ","
    + #""findings":[{"signature":"overdue: closed","file":"failures/x.yaml","length":7,"count":3}],"visited":["c","0f"]}"#

  @Test("the state is written whole, and reads back as it was written")
  func text() throws {
    expect(Self.state.json.line, Self.text)
    let read = try #require(CampaignState(text: Array(Self.text.utf8)))
    expect(read.json.line, Self.state.json.line)
    expect(read.findings.map(\.count), [3])
    expect(read.elapsed, .milliseconds(1500))
  }

  @Test(
    "a state of another version is not read, and neither is one without all of its members",
    arguments: [
      (#""format":1"#, #""format":2"#), (#""format":1,"#, ""), (#""seed":7,"#, ""), (#""round":2,"#, ""),
      (#""nanoseconds":1500000000"#, #""nanoseconds":"soon""#),
    ])
  func unreadable(part: String, other: String) {
    #expect(Self.text.contains(part))
    #expect(CampaignState(text: Array(Self.text.replacing(part, with: other).utf8)) == nil)
  }

  @Test("a session that was killed before it wrote its state has its findings in its journal")
  func adopted() {
    func finding(_ signature: String, _ word: Record.Verdict.Word, file: String?) -> [Record] {
      var finding = Record.Finding(signature, shortest: 4)
      finding.file = file
      let id = "fuzz/\(signature)"
      return [
        .finding(finding), .begin(Record.Case(id: id)), .verdict(Record.Verdict(word, of: id, at: .zero)),
      ]
    }
    let records: [Record] =
      [.run(Record.Run(seed: 7))] + finding("overdue: closed", .divergence, file: "failures/y.yaml")
      + finding("sure", .divergence, file: "failures/z.yaml")
      + finding("doubtful", .labFault, file: "failures/w.yaml")
      + finding("homeless", .divergence, file: nil)
    let folder = TestFolder()
    let journal = folder.write("journal.jsonl", records.map { $0.line() + "\n" }.joined())
    var state = Self.state
    state.adopt(RunSummary(journals: [journal]))
    expect(
      state.findings.map { [$0.signature, $0.path, "\($0.length)", "\($0.count)"] },
      [["overdue: closed", "failures/x.yaml", "7", "3"], ["sure", "failures/z.yaml", "4", "1"]])
    // A finding that is known is not added again.
    state.adopt(RunSummary(journals: [journal]))
    expect(state.findings.count, 2)
  }
}
