import Basics
import Conformance
import Documents
import Journal
import TestSupport
import Testing

@testable import Nightly

@Suite("The record of a night")
struct NightRecordTests {
  /// Each kind of line, as it is on the disk.
  private static let lines: [(line: NightLine, text: String)] = [
    (
      .begin(name: "third floor", clock),
      #"{"night":{"format":1,"name":"third floor","began":"2026-11-22T02:00:00.000Z","boot":"3f2a9c01","uptime":"500.000"}}"#
    ),
    (.resumed(at: at(3)), #"{"resumed":{"t":"3.000"}}"#),
    (
      .start(
        NightAttempt(
          number: 1, work: .test("x"), lock: "front", dongle: "blue", actuations: 7, cycleCounter: 2,
          checksHealth: true),
        at: at(1)),
      #"{"start":{"run":1,"case":"x","lock":"front","dongle":"blue","health":true,"attempt":1,"actuations":7,"cycle counter":2,"t":"1.000"}}"#
    ),
    (
      .start(
        NightAttempt(
          number: 2, work: .fuzz(.seconds(90)), lock: "front", attempt: 2, actuations: 7, cycleCounter: 2),
        at: at(1)),
      #"{"start":{"run":2,"fuzz":"90 s","lock":"front","attempt":2,"actuations":7,"cycle counter":2,"t":"1.000"}}"#
    ),
    (
      .start(
        NightAttempt(number: 3, work: .park, lock: "front", actuations: 1, cycleCounter: 2), at: at(1)),
      #"{"start":{"run":3,"park":true,"lock":"front","attempt":1,"actuations":1,"cycle counter":2,"t":"1.000"}}"#
    ),
    (.end(1, NightEnding(.agreed), at: at(2)), #"{"end":{"run":1,"verdict":"agree","t":"2.000"}}"#),
    (
      .end(
        2,
        NightEnding(
          .limited, "jam", cycleCounter: 4, park: .elsewhere("why"), pause: .seconds(300),
          outOfUse: .dongle("blue")), at: at(2)),
      #"{"end":{"run":2,"verdict":"limited","message":"jam","cycle counter":4,"left":"elsewhere","leftBecause":"why","pause":"5 min","outOfUse":{"dongle":"blue"},"t":"2.000"}}"#
    ),
    (
      .out(.lock("front"), why: "jam", at: at(4)), #"{"out":{"lock":"front","why":"jam","t":"4.000"}}"#
    ),
    (.back(.dongle("blue"), at: at(5)), #"{"back":{"dongle":"blue","t":"5.000"}}"#),
    (
      .done("x", NightResult(.diverged, "open"), at: at(6)),
      #"{"done":{"case":"x","verdict":"divergence","reason":"open","t":"6.000"}}"#
    ),
    (
      .done("x", NightResult(notRun: .time, "late"), at: at(6)),
      #"{"done":{"case":"x","verdict":"not-run","reason":"late","cause":"time","t":"6.000"}}"#
    ),
    (.finish(at: at(9)), #"{"finish":{"t":"9.000"}}"#),
  ]

  @Test("has one line for each event, and reads its own lines")
  func written() throws {
    expect(Self.lines.map(\.line.json.line), Self.lines.map(\.text))
    let bytes = Array(Self.lines.map { $0.text + "\n" }.joined().utf8)
    expect(try NightLine.lines(of: bytes), Self.lines.map(\.line))
    expect(Self.lines.map(\.line.time), [nil] + [3, 1, 1, 1, 2, 2, 4, 5, 6, 6, 9].map { at($0) })
  }

  @Test("wherever its last line breaks off, the lines before it are read")
  func torn() throws {
    let whole = Array(Self.lines[3].text.utf8) + [10]
    let next = Array(Self.lines[4].text.utf8)
    for count in 0...next.count {
      expect(try NightLine.lines(of: whole + next.prefix(count)), [Self.lines[3].line])
    }
    expect(try NightLine.lines(of: whole + next + [10]).count, 2)
    expect(try NightLine.lines(of: []), [])
  }

  @Test("every ending and every cause of a result is read as it was written")
  func endings() throws {
    let results =
      Record.Ending.allCases.map { NightResult($0, "why") }
      + NightResult.Cause.allCases.map { NightResult(notRun: $0, "why") }
    for result in results {
      let line = NightLine.done("x", result, at: at(1))
      expect(NightLine(try JSON(parsing: line.json.line)), line)
    }
    for verdict in Record.Ending.allCases {
      let line = NightLine.end(1, NightEnding(verdict), at: at(1))
      expect(NightLine(try JSON(parsing: line.json.line)), line)
    }
  }

  @Test(
    "reads the lines of older versions",
    arguments: [
      (
        #"{"end":{"run":1,"verdict":"unhealthy","message":"no link","t":"1"}}"#,
        NightLine.end(1, NightEnding(.labFault, "no link"), at: at(1))
      ),
      (
        #"{"end":{"run":1,"verdict":"agree","left":"moved","t":"1"}}"#,
        .end(1, NightEnding(.agreed, park: .unknown), at: at(1))
      ),
      (
        #"{"end":{"run":1,"verdict":"agree","left":"elsewhere","t":"1"}}"#,
        .end(1, NightEnding(.agreed, park: .elsewhere("")), at: at(1))
      ),
      (
        #"{"done":{"case":"x","verdict":"unhealthy","t":"1"}}"#, .done("x", NightResult(.labFault), at: at(1))
      ),
      (
        #"{"done":{"case":"x","verdict":"not-run","t":"1"}}"#,
        .done("x", NightResult(notRun: .stopped), at: at(1))
      ),
      (
        #"{"done":{"case":"x","verdict":"not-run","cause":"weather","t":"1"}}"#,
        .done("x", NightResult(notRun: .stopped), at: at(1))
      ),
    ])
  func older(_ text: String, _ line: NightLine) throws {
    expect(NightLine(try JSON(parsing: text)), line)
  }

  @Test("a line that this version does not know is refused, and not guessed")
  func refused() throws {
    let refused = [
      #"{"night":{"format":2,"name":"x","began":"2026-11-22T02:00:00.000Z","boot":"a","uptime":"1"}}"#,
      #"{"night":{"format":1,"name":"x","began":"yesterday","boot":"a","uptime":"1"}}"#,
      #"{"night":{"format":1,"name":"x","began":"2026-11-22T02:00:00.000Z","uptime":"1"}}"#,
      #"{"resumed":{}}"#, #"{"resumed":{"t":"soon"}}"#, #"{"resumed":{"t":"1"},"finish":{"t":"1"}}"#,
      #"{"start":{"run":1,"lock":"front","attempt":1,"actuations":1,"cycle counter":1,"t":"1"}}"#,
      #"{"start":{"run":1,"park":false,"lock":"front","attempt":1,"actuations":1,"cycle counter":1,"t":"1"}}"#,
      #"{"start":{"run":1,"park":true,"attempt":1,"actuations":1,"cycle counter":1,"t":"1"}}"#,
      #"{"start":{"run":1,"park":true,"lock":"front","attempt":1,"actuations":1,"t":"1"}}"#,
      #"{"end":{"run":1,"t":"1"}}"#, #"{"end":{"run":1,"verdict":"splendid","t":"1"}}"#,
      #"{"end":{"verdict":"agree","t":"1"}}"#, #"{"out":{"why":"x","t":"1"}}"#,
      #"{"out":{"lock":"x","t":"1"}}"#,
      #"{"back":{"t":"1"}}"#, #"{"done":{"verdict":"agree","t":"1"}}"#, #"{"done":{"case":"x","t":"1"}}"#,
      #"{"pause":{"t":"1"}}"#, "[1]", "{}",
    ]
    for text in refused { #expect(NightLine(try JSON(parsing: text)) == nil, "\(text)") }
    for (text, line, reason) in [
      ("{}\n", 1, "not a line of a night's record"),
      (Self.lines[0].text + "\n" + Self.lines[1].text + "\n{}\n", 3, "not a line of a night's record"),
    ] {
      #expect(throws: NightRecordError(line: line, reason: reason)) {
        try NightLine.lines(of: Array(text.utf8))
      }
    }
    #expect("\(NightRecordError(line: 3, reason: "why"))" == "line 3: why")
    #expect(throws: NightRecordError.self) { try NightLine.lines(of: Array("{\n".utf8)) }
  }

  @Test("a resumed night ignores what its bench and its plan do not have any more")
  func foreign() {
    let lost = NightAttempt(
      number: 4, work: .test("gone"), lock: "attic", dongle: "green", actuations: 1, cycleCounter: 0)
    var rig = Rig([test("a")])
    rig.record = [
      .begin(name: "test", clock), .start(lost, at: at(1)), .end(4, good(1), at: at(2)),
      .end(9, good(1), at: at(2)), .out(.lock("attic"), why: "x", at: at(3)),
      .out(.dongle("green"), why: "x", at: at(3)), .back(.lock("attic"), at: at(4)),
      .done("gone", NightResult(.agreed), at: at(5)),
    ]
    rig.crash()
    expect(rig.receive(.begin(clock), at: 6), ["start 5: a on front over blue"])
    expect(rig.night.ended.map(\.attempt.number), [4])
    expect(rig.night.dongles.map(\.outOfUse), [nil])
  }

  @Test("a resumed night completes what the last line left open")
  func completed() {
    var rig = Rig([test("a")])
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, NightEnding(.diverged, "open", cycleCounter: 1, park: .parked)), at: 1)
    // Killed between the end of the run and the result of its case.
    rig.crash(keeping: 3)
    expect(rig.night.cases.map { $0.result?.name }, [nil])
    expect(rig.receive(.begin(clock), at: 2), ["a: divergence", "finish"])

    // Killed between the last failed attempt to park a lock and its being put out of use.
    rig = Rig([test("a")])
    let jammed = NightEnding(.labFault, "jammed", cycleCounter: 1, park: .elsewhere("jammed"))
    _ = rig.receive(.begin(clock), at: 0)
    for number in 1...3 { _ = rig.receive(.ended(number, jammed), at: Int64(number)) }
    let count = rig.record.firstIndex { if case .out = $0 { true } else { false } } ?? 0
    rig.crash(keeping: count)
    expect(rig.night.locks[0].outOfUse, nil)
    expect(rig.receive(.begin(clock), at: 5), ["front is out", "a: lab-fault", "finish"])
  }

  @Test("a night that is over stays so")
  func over() {
    var rig = Rig([test("a")])
    _ = rig.receive(.begin(clock), at: 0)
    _ = rig.receive(.ended(1, good(1)), at: 1)
    rig.crash()
    expect(rig.night.isOver, true)
    expect(rig.receive(.begin(clock), at: 2), [])
  }
}
