import Basics
import Bench
import Conformance
import Journal
import Reporting
import System
import TestSupport
import Testing

@testable import Nightly

/// A bench, and the folder of a night on it.
private final class NightStage {
  let floor: NightFloor
  let place: NightlyFolder
  let runs: NightlyRuns

  init(bench: String = "") throws {
    floor = NightFloor(bench: bench)
    place = try floor.place()
    runs = NightlyRuns(try floor.lab().lab, folder: place.folder.path, seed: 7)
  }
}

/// A night on the locks of a bench whose failed runs left journals, and its report.
private final class ReportedNight {
  let stage: NightStage
  var runs: NightlyRuns { stage.runs }
  var cases: [NightCase]
  private var lines: [NightLine] = [.begin(name: "N", clock)]
  private var number = 0
  var settings = NightSettings(duration: .seconds(3600), labRetries: 0)
  var minimum = MinimumVerdicts()
  var locks = [
    NightLock(name: "front", dongles: ["blue", "red"], perShift: 200), NightLock(name: "back", dongles: nil),
  ]
  var dongles = [NightDongle(name: "blue"), NightDongle(name: "red")]

  /// Two cases on each of two locks; the names of those in quarantine.
  init(_ stage: NightStage, quarantine: Set<String> = [], unmet: String? = nil) {
    self.stage = stage
    var cases: [NightCase] = []
    for (test, name) in zip(stage.runs.lab.cases, ["front-a", "front-b", "back-a", "back-b"]) {
      var test = test
      test.quarantine = quarantine.contains(name) ? "until 2099-01-01, ada: cold" : nil
      if name == "back-b", let unmet { (test.lock, test.unmet) = (nil, unmet) }
      test.file = name + ".yaml"
      cases.append(test)
    }
    self.cases = cases
  }

  /// A run of a case, by its place, with the journal that it left.
  func run(
    _ place: Int, _ ending: NightEnding, over dongle: String? = "blue", at second: Int64 = 1,
    _ change: (inout Record.Verdict) -> Void = { _ in }
  ) throws {
    try start(
      .test(cases[place].identity), cases[place].lock ?? "", ending, over: dongle, at: second,
      recorded(ending, change))
  }

  /// A stretch of fuzzing, with its journal.
  func fuzz(_ lock: String, _ ending: NightEnding, at second: Int64, _ records: [Record]) throws {
    try start(.fuzz(.seconds(60)), lock, ending, over: nil, at: second, records)
  }

  private func recorded(_ ending: NightEnding, _ change: (inout Record.Verdict) -> Void) -> [Record] {
    NightlyTests.run(ending.verdict.word, ending.message.isEmpty ? nil : ending.message, change)
  }

  private func start(
    _ work: NightAttempt.Work, _ lock: String, _ ending: NightEnding, over dongle: String?, at second: Int64,
    _ records: [Record]
  ) throws {
    number += 1
    var ending = ending
    if ending.cycleCounter == nil { ending.cycleCounter = number }
    lines += [
      .start(
        NightAttempt(
          number: number, work: work, lock: lock, dongle: lock == "front" ? dongle : nil, actuations: 9,
          cycleCounter: number - 1), at: at(second)),
      .end(number, ending, at: at(second + 1)),
    ]
    if ending.verdict != .agreed { try stage.floor.write(records, run: number, in: stage.place.folder.path) }
  }

  /// A line of the record.
  func add(_ line: NightLine) { lines.append(line) }

  /// The night after all that: resumed, and over.
  func night(isOver: Bool = true) -> Night {
    func night(_ lines: [NightLine]) -> Night {
      Night(settings, name: "N", cases: cases, locks: locks, dongles: dongles, resuming: lines)
    }
    guard isOver else { return night(lines) }
    let open = night(lines)
    let done = open.cases.filter { $0.result == nil }.map {
      NightLine.done($0.test.identity, open.decision(on: $0) ?? open.reason(for: $0), at: at(100))
    }
    return night(lines + done + [.finish(at: at(100))])
  }

  func report(_ night: Night? = nil) -> NightlyReport {
    NightlyReport(night ?? self.night(), runs, stage.place, took: .seconds(125), minimum)
  }

  /// The heading of the page.
  func heading(_ report: NightlyReport) -> String {
    let page = report.page(began: "2026-11-22T02:00:00Z", in: stage.floor.path)
    return page.firstMatch(of: /<h1>(.*)<\/h1>/).map { String($0.1) } ?? ""
  }
}

private let agreed = NightEnding(.agreed, park: .parked)
private let diverged = NightEnding(.diverged, "it showed locked", park: .parked)

@Suite("The report of a night")
struct NightlyReportTests {
  private let stage: NightStage

  init() throws { stage = try NightStage() }

  /// A night in which everything agrees but what a test changes.
  private func rest(_ night: ReportedNight, from place: Int) throws {
    for place in place..<4 where night.cases[place].lock != nil { try night.run(place, agreed) }
  }

  @Test("a night that agrees has nothing to do")
  func agree() throws {
    let night = ReportedNight(stage)
    try rest(night, from: 0)
    let report = night.report()
    expect(
      report.text(Painter(isOn: false), reports: ["Reports/nightly.html"]),
      """
      N   all agree   2:05
        4 planned: 4 agree

        lock   left      verdicts  movements  in its life  battery  state
        front  locked    2 of 2    2 of 200   2            –        \(report.locks[0].use)
        back   emulated  2 of 2    –          –            –        \(report.locks[1].use)

        dongle  runs  failed  state
        blue    2     0       \(report.dongles[0].use)
        red     0     0       \(report.dongles[1].use)

        report   Reports/nightly.html
      """)
    expect([report.status.rawValue], [0])
    expect(night.heading(report), "Nothing to do")
    expect(report.needs, [])
  }

  @Test("a night tells what is new, flaky, excused, in trouble and not run, each once")
  func whole() throws {
    let night = ReportedNight(stage, quarantine: ["back-a"], unmet: "no lock has the tags gone")
    night.settings.retries = 5
    try night.run(0, diverged, at: 1) { verdict in
      (verdict.replay, verdict.signature) = ("lockstep replay front-a.yaml", "s1")
    }
    try night.run(1, NightEnding(.labFault, "no answer", park: .parked), at: 3)
    try night.run(1, agreed, over: "red", at: 5)
    try night.run(2, diverged, at: 7)
    let report = night.report()
    expect(
      report.text(Painter(isOn: false), reports: []),
      """
      N   1 of 2 locks needs you: front diverged   2:05
        4 planned: 1 flaky, 1 diverge, 1 in quarantine, 1 not run
        not done: 1 case (no lock has the tags gone)

      Needs you
        ! front   it showed locked
            lockstep replay front-a.yaml

      News
        ✘ front   front-a.yaml
            it showed locked
            lockstep replay front-a.yaml

      Flaky: agreed only when tried again
        ~ front   front-b.yaml
            no answer

      In quarantine, and no news
        · back   back-a.yaml
            it showed locked (in quarantine until 2099-01-01, ada: cold)

      Not run
            1  no lock has the tags gone

        lock   left      verdicts  movements  in its life  battery  state
        front  locked    2 of 2    3 of 200   3            –        \(report.locks[0].use)
        back   emulated  1 of 1    –          –            –        \(report.locks[1].use)

        dongle  runs  failed  state
        blue    2     1       \(report.dongles[0].use)
        red     1     0       \(report.dongles[1].use)
      """)
    expect([report.status.rawValue], [1])
  }

  @Test("the heading of the page says what is to be done")
  func headings() throws {
    let table: [(number: Int, status: Int32, words: String)] = [
      (0, 0, "Nothing to do"), (1, 0, "Nothing to do: what disagrees is in quarantine"),
      (2, 5, "The night was stopped: resume it with --resume"),
      (3, 5, "The night was too short: give it more time, or less to do"),
      (4, 6, "A safety limit cut the night short: see which lock reached it"),
      (5, 4, "Nothing was run: see why"),
      (6, 5, "All agrees, but 4 cases had a verdict; at least 5 are required (--min-cases)"),
      (7, 3, "Not run: no lock has the tags gone"),
      (
        8, 1,
        ##"2 of 2 locks need you: <a href="#item-1">front</a> diverged, <a href="#item-2">back</a> diverged"##
      ),
      (9, 3, ##"1 of 2 locks needs you: <a href="#item-1">back</a> had trouble"##),
      (10, 3, "The lab needs you: dongle red is out of use"),
    ]
    for (number, status, words) in table {
      let night = ReportedNight(
        stage,
        quarantine: number == 1 ? ["front-a"] : [], unmet: number == 7 ? "no lock has the tags gone" : nil)
      var state: Night?
      switch number {
      case 1:
        try night.run(0, diverged)
        try rest(night, from: 1)
      case 2:
        try night.run(0, agreed)
        var stopped = night.night(isOver: false)
        _ = stopped.receive(.begin(clock), at: at(5))
        _ = stopped.receive(.stop("interrupted"), at: at(6))
        state = stopped
      case 3: try rest(night, from: 1)
      case 4:
        try night.run(0, NightEnding(.limited, "the battery is low", park: .parked))
        try rest(night, from: 2)
      case 5:
        for place in 0..<4 { try night.run(place, NightEnding(.skipped, "no motor", park: .parked)) }
      case 8:
        try night.run(0, diverged)
        try night.run(2, diverged)
        try rest(night, from: 3)
        try night.run(1, agreed)
      case 9:
        try night.run(3, NightEnding(.labFault, "no answer"))
        for place in 0..<3 { try night.run(place, agreed) }
      case 10:
        try rest(night, from: 0)
        night.add(.out(.dongle("red"), why: "it is gone", at: at(50)))
      default: try rest(night, from: 0)
      }
      if number == 6 { night.minimum.cases = 5 }
      let report = night.report(state)
      #expect(report.status.rawValue == status, "\(words)")
      expect(night.heading(report), words)
    }
  }

  @Test("a failure that an earlier night had is no news")
  func history() throws {
    let night = ReportedNight(stage)
    try night.run(0, diverged) { $0.signature = "s1" }
    try night.run(1, diverged) { $0.signature = "s2" }
    try night.run(2, diverged)
    try night.run(3, NightEnding(.labFault, "no answer")) { $0.signature = "s1" }
    let earlier = stage.floor.path + "/earlier"
    try makeFolder(earlier)
    let lines =
      [Record.run(Record.Run(seed: 1, cases: 1))]
      + run(.divergence, "x", status: .divergence) { $0.signature = "s1" }
    try WholeFile.replace(earlier + "/journal.jsonl", with: lines.map { $0.line() + "\n" }.joined())
    try WholeFile.replace(earlier + "/manifest.json", with: #"{"start":"2026-11-21T00:00:00Z"}"#)
    let history = try History(.file(stage.floor.path + "/history.sqlite"), for: .adding)
    try history.take([RunRecord(journal: earlier + "/journal.jsonl")])
    var report = night.report()
    expect(report.red.map(\.isNew), [nil, nil, nil])
    try report.compare(with: history)
    expect(report.red.map(\.isNew), [false, true, nil])
    // A lab fault is not compared.
    expect(report.trouble.map(\.isNew), [nil])
    expect(
      report.kinds.filter { !$0.items.isEmpty }.map { "\($0.title): \($0.items.map(\.file))" },
      [
        #"News: ["front-b.yaml", "back-a.yaml"]"#, #"Seen before: ["front-a.yaml"]"#,
        #"Trouble of the lab: ["back-b.yaml"]"#,
      ])
  }

  @Test("a campaign shows each finding once, and its own lab fault")
  func campaign() throws {
    let night = ReportedNight(stage)
    try rest(night, from: 0)
    func showing(
      _ signature: String, _ message: String, shortest: Int, _ word: Record.Verdict.Word
    ) -> [Record] {
      var finding = Record.Finding(signature, shortest: shortest)
      finding.message = message
      return [
        .finding(finding), .begin(Record.Case(id: "failures/\(message)")),
        .verdict(Record.Verdict(word, of: "failures/\(message)", at: .zero)),
      ]
    }
    let records =
      showing("s1", "long", shortest: 9, .divergence) + showing("s1", "short", shortest: 4, .divergence)
      + showing("s2", "unsure", shortest: 3, .labFault) + run(.labFault, "the link broke")
    try night.fuzz("back", NightEnding(.diverged, "short"), at: 10, records)
    try night.fuzz("front", NightEnding(.agreed, park: .parked), at: 20, run(.agree))
    let report = night.report()
    expect(report.findings.map { "\($0.lock) \($0.file): \($0.message)" }, ["back fuzzing: short"])
    expect(
      report.trouble.map { "\($0.lock) \($0.file): \($0.message)" },
      ["back fuzzing: unsure", "back fuzzing: the link broke"])
    expect(report.fuzzed, .seconds(2))
    expect([report.status.rawValue], [1])
    expect(night.heading(report), ##"1 of 2 locks needs you: <a href="#item-1">back</a> diverged"##)
  }

  @Test("each lock needs what its worst trouble needs, with the commands for it")
  func needs() throws {
    let restore = "lockstep devices restore front --bench "
    let park = "lockstep run "
    typealias Row = (
      name: String, symptom: String?, origin: (String, String)?, out: String?, park: ParkState, what: String?,
      reasons: [String], commands: [String]
    )
    let table: [Row] = [
      ("parked", nil, nil, nil, .parked, nil, [], []),
      ("elsewhere", nil, nil, nil, .elsewhere("it is open"), "is not parked", ["it is open"], [park]),
      (
        "unknown", nil, nil, nil, .unknown, "may not be parked",
        ["it is unknown how it was left: the process that drove it was killed"], [park]
      ),
      ("no answer", "no answer", nil, nil, .parked, "stopped answering", ["it failed"], []),
      ("malformed", "an answer of no known form", nil, nil, .parked, "stopped answering", ["it failed"], []),
      ("ended", "the device's program ended", nil, nil, .parked, "stopped answering", ["it failed"], []),
      ("no device", "no device", nil, nil, .parked, "was not found", ["it failed"], []),
      ("no transport", "no device", ("transport", ""), nil, .parked, "lost its transport", ["it failed"], []),
      ("transport lost", "transport lost", nil, nil, .parked, "lost its transport", ["it failed"], []),
      ("link lost", "link lost", nil, nil, .parked, "kept losing its link", ["it failed"], []),
      ("not reproduced", "not reproduced", nil, nil, .parked, "had trouble", ["it failed"], []),
      ("a symptom of later versions", "confused", nil, nil, .parked, "had trouble", ["it failed"], []),
      (
        "driver", "no answer", ("driver", "does not start"), nil, .parked, "has a driver that does not start",
        ["it failed"], []
      ),
      ("out", nil, nil, "jammed\nhard", .parked, "is out of use", ["out of use: jammed"], [restore]),
      (
        "out after a fault", "no answer", nil, "jammed", .parked, "stopped answering", ["out of use: jammed"],
        [restore]
      ),
      (
        "all", "link lost", nil, "jammed", .elsewhere("it is open"), "kept losing its link and is not parked",
        ["out of use: jammed", "it is open"], [restore, park]
      ),
      // A reason that is known is not repeated.
      (
        "parking failed", nil, nil, "it could not be parked: it is open", .elsewhere("it is open"),
        "is out of use and is not parked", ["out of use: it could not be parked: it is open"],
        [restore, park]
      ),
    ]
    for row in table {
      let night = ReportedNight(stage)
      let isFault = row.symptom != nil
      try night.run(0, NightEnding(isFault ? .labFault : .agreed, isFault ? "it failed" : "", park: row.park))
      { verdict in
        guard let symptom = row.symptom else { return }
        var trouble = Record.Trouble(symptom)
        trouble.origin = row.origin?.0
        trouble.happened = row.origin.flatMap { $0.1.isEmpty ? nil : $0.1 }
        verdict.trouble = trouble
      }
      for place in 1..<4 {
        try night.run(place, NightEnding(.agreed, park: place == 1 ? row.park : nil))
      }
      if let why = row.out { night.add(.out(.lock("front"), why: why, at: at(50))) }
      let needs = night.report().needs
      #expect(needs.map(\.what) == [row.what].compactMap(\.self), "\(row.name)")
      #expect(needs.flatMap(\.reasons) == row.reasons, "\(row.name)")
      let commands = needs.flatMap(\.commands).map(\.line)
      #expect(commands.count == row.commands.count, "\(row.name): \(commands)")
      #expect(zip(commands, row.commands).allSatisfy { $0.hasPrefix($1) }, "\(row.name): \(commands)")
    }
  }

  @Test("the lock that diverged is named with its expectation, and its trouble comes second")
  func divergedAndOut() throws {
    for (verdict, symptom, what) in [
      (Record.Ending.diverged, nil, "diverged and is out of use"),
      (.diverged, "no answer", "stopped answering and is out of use"),
      (.unmet, nil, "is not as expected and is out of use"),
    ] as [(Record.Ending, String?, String)] {
      let night = ReportedNight(stage)
      try night.run(0, NightEnding(verdict, "it showed locked", park: .parked)) {
        $0.replay = "lockstep replay x"
        $0.trouble = symptom.map { Record.Trouble($0) }
      }
      try night.run(1, NightEnding(.labFault, "no answer", park: .parked))
      try rest(night, from: 2)
      night.add(.out(.lock("front"), why: "jammed", at: at(50)))
      let need = try #require(night.report().needs.first)
      expect(need.what, what)
      expect(need.commands.map(\.purpose), [.restore, .replay])
      expect(need.item, 1)
    }
  }

  @Test("what the bench lacks for the plan is a need of the bench")
  func bench() throws {
    let floor = NightFloor(plan: "fuzz: { machine: sesame, tags: [gone] }\n")
    let place = try floor.place()
    let runs = NightlyRuns(try floor.lab().lab, folder: place.folder.path, seed: 7)
    let night = Night(
      NightSettings(duration: .seconds(60)), name: "N", cases: [],
      locks: [NightLock(name: "back", dongles: nil, isFuzzed: false)], dongles: [],
      resuming: [.finish(at: .zero)])
    let report = NightlyReport(night, runs, place, took: .zero, MinimumVerdicts())
    expect(report.needsLine, "the lab needs you: nothing is fuzzed: no lock has the tags gone")
    expect([report.status.rawValue], [3])
    expect(
      report.needs.map { $0.json.line },
      [
        #"{"kind":"bench","name":"the bench","what":"nothing is fuzzed: no lock has the tags gone","causes":[{"cause":"missing"}],"reasons":["nothing is fuzzed: no lock has the tags gone"],"commands":[]}"#
      ])
  }

  @Test("a cause has a word for programs, and the program that failed")
  func causes() {
    let table: [(NightlyNeed.Cause, String)] = [
      (.diverged, #"{"cause":"diverged"}"#), (.unmet, #"{"cause":"notAsExpected"}"#),
      (.stoppedAnswering, #"{"cause":"stoppedAnswering"}"#), (.notFound, #"{"cause":"notFound"}"#),
      (.transportLost, #"{"cause":"transportLost"}"#), (.linkLost, #"{"cause":"linkLost"}"#),
      (.outOfUse, #"{"cause":"outOfUse"}"#), (.notParked, #"{"cause":"notParked"}"#),
      (.parkUnknown, #"{"cause":"parkUnknown"}"#), (.lowBattery, #"{"cause":"lowBattery"}"#),
      (.trouble, #"{"cause":"trouble"}"#), (.missing("x"), #"{"cause":"missing"}"#),
      (
        .program(ProgramTrouble("driver", .notStarted, lastWords: "no module")),
        #"{"cause":"doesNotStart","program":"driver","lastWords":"no module"}"#
      ),
      (.program(ProgramTrouble("program", .silent)), #"{"cause":"neverAnswers","program":"program"}"#),
      (.program(ProgramTrouble("program", .ended)), #"{"cause":"programFailed","program":"program"}"#),
      (.program(ProgramTrouble("program", .stopped)), #"{"cause":"programFailed","program":"program"}"#),
      (.program(ProgramTrouble("program", .malformed)), #"{"cause":"programFailed","program":"program"}"#),
    ]
    expect(table.map { $0.0.json.line }, table.map(\.1))
  }

  @Test("a page leads to the report, the journal and the first captures of each failure")
  func links() throws {
    let night = ReportedNight(stage)
    try night.run(0, NightEnding(.diverged, "it showed <locked>", park: .parked)) { verdict in
      let captures = (1...5).map { Record.Attachment("capture", "captures/\($0).btsnoop") }
      verdict.attachments = [Record.Attachment("scenario", "shrunk.yaml")] + captures
      verdict.replay = "lockstep replay 'a b.yaml'"
    }
    try night.run(1, NightEnding(.labFault, "no answer", park: .parked)) {
      $0.attachments = [Record.Attachment("capture", "/elsewhere/1.btsnoop")]
    }
    try rest(night, from: 2)
    let report = night.report()
    try report.writeRunReports()
    let out = stage.place.folder.out
    let page = report.page(began: "2026-11-22T02:00:00Z", in: out)
    let links = page.matches(of: /<li><a href="([^"]+)">([^<]+)<\/a><\/li>/).map { ($0.1, String($0.2)) }
    expect(
      links.map(\.1),
      ["report", "journal", "capture", "capture 2", "capture 3", "capture 4", "report", "journal"])
    for (path, name) in links where !name.hasPrefix("capture") {
      #expect(path.hasPrefix("./") && Host.isFile("\(out)/\(path)"), "\(path)")
    }
    let folder = "./runs/\(Path.relative(stage.place.folder.path, from: out + "/runs"))/cases/00001/runs/r"
    expect(String(links[2].0), folder + "/captures/1.btsnoop")
    #expect(page.contains("<p>it showed &lt;locked&gt;</p>"))
  }

  @Test("a text names twelve failures of a kind and as many reasons, each in one line, and counts the rest")
  func many() throws {
    let night = ReportedNight(stage)
    let long = String(repeating: "x", count: 161)
    for number in 0..<15 {
      night.cases.append(
        NightCase(identity: "d\(number)", suite: "a", file: "d\(number).yaml", lock: "back"))
      try night.run(4 + 2 * number, NightEnding(.diverged, number == 0 ? long : "two\nlines"))
      night.cases.append(
        NightCase(
          identity: "s\(number)", suite: "a", file: "s.yaml", lock: number == 0 ? "back" : "front",
          skipReason: number < 3 ? "no motor" : "reason \(number)"))
    }
    for place in 0..<4 { try night.run(place, agreed) }
    let lines = night.report().text(Painter(isOn: false), reports: []).split(separator: "\n").map(String.init)
    expect(lines.count { $0.hasPrefix("  ✘ back   d") }, 12)
    expect(lines.filter { $0.hasPrefix("    and ") }, ["    and 3 more", "    and for 1 more reason"])
    let shortened = String(repeating: "x", count: 159) + "…"
    expect(lines.filter { $0.contains("xxx") }, ["  ! back   \(shortened)", "      \(shortened)"])
    expect(lines.count { $0 == #"      two\nlines"# }, 11)
    // The most frequent reason is the first, with its locks if there are several.
    let first = lines.firstIndex { $0.hasPrefix("Skipped") }.map { lines[$0 + 1] }
    expect(first, "      3  no motor (back, front)")
  }

  @Test("an expired quarantine is named until it is removed")
  func lapsed() throws {
    let quarantine = "{ lock: front, scenario: a.yaml, reason: cold, owner: ada, expires: 1969-12-01 }"
    let stage = try NightStage(bench: "quarantine: [\(quarantine)]\n")
    let night = ReportedNight(stage)
    try rest(night, from: 0)
    let report = night.report()
    let text = report.text(Painter(isOn: false), reports: [])
    #expect(
      text.contains("\n  quarantine has expired: a.yaml on front, until 1969-12-01, ada: cold\n"), "\(text)")
    #expect(
      report.page(began: "2026-11-22T02:00:00Z", in: stage.floor.path).contains(
        "<h2>Expired quarantine</h2>\n<ul><li>until 1969-12-01, ada: cold</li>"))
    expect([report.status.rawValue], [0])
  }

  @Test("what was planned and did not happen has its reasons, the most frequent first")
  func notDone() throws {
    let night = ReportedNight(stage, unmet: "no lock has the tags gone")
    night.settings.duration = .seconds(60)
    for place in night.locks.indices { night.locks[place].isFuzzed = true }
    try night.run(2, agreed)
    let report = night.report()
    expect(
      report.notDone.map(\.description),
      [
        "2 cases (out of time: the night was 1 min long)", "1 case (no lock has the tags gone)",
        "fuzzing of front, back (no time was left)",
      ])
    expect(
      report.notDone.map { $0.json.line },
      [
        #"{"what":"cases","reason":"out of time: the night was 1 min long","locks":["front"],"count":2}"#,
        #"{"what":"cases","reason":"no lock has the tags gone","locks":["no lock"],"count":1}"#,
        #"{"what":"fuzzing","reason":"no time was left","locks":["front","back"]}"#,
      ])
  }
}
