@testable import CommandLine
import Automata
import Models
import System
@testable import Harness
import Journal
import Conformance
import Documents
import Basics
import TestSupport
import Testing

@testable import lockstep

@Suite("The status screen")
struct FuzzScreenTests {
  static var screen: StatusScreen {
    var head = CampaignHead(machine: "sesame-table", device: "emulator:reference", seed: 7)
    head.workers = 4
    head.steps = 20_000_000
    head.duration = .seconds(7200)
    var status = CampaignStatus()
    status.events = 12_345_678
    status.tests = 61_728
    status.extraEvents = 4711
    status.phase = "shrinking finding 2: cutting cycles of the model"
    status.depths = [3, 17]
    status.repeats = 12
    status.labFaults = 1
    status.corpus = 57
    status.positions = 2270
    status.longest = 200
    (status.stability.same, status.stability.tried) = (119, 120)
    status.actuations = 1234
    status.lockTime = .seconds(40_000)
    status.waited = .seconds(13_000)
    (status.motorRest, status.air) = (.seconds(4_000), .seconds(10_000))
    (status.confirming, status.shrinking) = (.seconds(800), .seconds(2_000))
    var screen = StatusScreen(head: head)
    screen.take(CampaignProgress(status: CampaignStatus(), took: .zero))
    var earlier = status
    earlier.positions = 2269
    earlier.events = 10_000_000
    screen.take(CampaignProgress(status: earlier, took: .seconds(3121)))
    screen.take(CampaignProgress(status: status, took: .seconds(3720)))
    screen.take(CampaignProgress(status: status, took: .seconds(3723)))
    screen.rate = 3_012_001
    return screen
  }

  @Test("all that matters, at its place")
  func golden() {
    let lines = Self.screen.lines(width: 80, Painter(isOn: false))
    expect(
      lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) },
      [
        " lockstep fuzz sesame-table on emulator:reference, seed 7, 4 workers",
        "── time ─────────────────────────────── ── findings ───────────────────────────",
        "     run time  1:02:03                          found  2, and 12 again",
        "     last new  3.0 s ago                  events each  3 17",
        "   last found  10:02 ago                   lab faults  1",
        "   to the end  7,654,322 events or 57:57   bolt moved  1,234 times",
        "    lock time  11:06:40, 32 % waited",
        "── events ───────────────────────────── ── coverage ───────────────────────────",
        "     in tests  12,345,678                 transitions  –",
        " a second now  3,012,001                    forbidden  –",
        "      overall  3,316                        positions  2,270",
        "        tests  61,728, longest 200             corpus  57 tests",
        "    to shrink  4,711                        stability  99 %, 119 of 120 tests",
        "── what lock time went into ───────────────────────────────────────────────────",
        "   waited for  motor's rest 10 %   waits 23 %   air 25 %   lock 43 %",
        "     spent on  searching 93 %   confirming 2 %   shrinking 5 %",
        "── over time ──────────────────────────────────────────────────────────────────",
        "         seen  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▇▇▇▇▇█                    2,270",
        "         pace  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▁▁                     3,012,001/s",
        "        found  ························2·····                    2",
        "── now ────────────────────────────────────────────────────────────────────────",
        "   shrinking finding 2: cutting cycles of the model",
      ])
  }

  @Test("no line is wider than the terminal, coloured or not, and no screen wider than is clear")
  func widths() {
    var screen = Self.screen
    screen.head.device = "emulator:sesame5?" + String(repeating: "loss=0.01&", count: 20)
    screen.progress.status.depths = Array(1...200)
    screen.progress.status.phase = String(repeating: "long ", count: 60)
    for width in [80, 81, 99, 100, 101, 300] {
      for isOn in [false, true] {
        let widths = screen.lines(width: width, Painter(isOn: isOn)).map(visibleWidth)
        #expect(widths.allSatisfy { $0 <= min(width, StatusScreen.maximumWidth) }, "\(width): \(widths)")
        expect(widths.count, 22)
      }
    }
    let plain = Self.screen.lines(width: 90, Painter(isOn: true)).map { line in
      line.replacing(/\u{1B}\[[0-9]*m/, with: "")
    }
    expect(plain, Self.screen.lines(width: 90, Painter(isOn: false)))
  }

  @Test("new is what was never seen, and not what is kept or known from the beginning")
  func news() throws {
    var screen = StatusScreen(head: CampaignHead(machine: "door", device: "emulator:door", seed: 1))
    var status = CampaignStatus()
    (status.positions, status.depths, status.corpus) = (40, [3], 8)
    func take(at seconds: Int64) { screen.take(CampaignProgress(status: status, took: .seconds(seconds))) }
    take(at: 100)
    expect([screen.lastNew, screen.lastFinding], [nil, nil])
    status.corpus = 9
    take(at: 101)
    expect([screen.lastNew, screen.lastFinding], [nil, nil])
    status.positions = 41
    take(at: 102)
    status.depths = [3, 5]
    take(at: 103)
    take(at: 104)
    expect([screen.lastNew, screen.lastFinding], [.seconds(102), .seconds(103)])
    var cells = CellCoverage(try Machine(.door))
    for (time, digits) in [(105, "0"), (106, "8"), (107, "8"), (108, "f")] {
      var all = cells.digits
      all[0] = digits
      let isOfIt = cells.add(digits: all)
      expect(isOfIt, true)
      let progress = CampaignProgress(
        status: status, took: .seconds(Int64(time)), coverage: Coverage("door", cells))
      screen.take(progress)
      expect(screen.lastNew, .seconds([105: 102, 106: 106, 107: 106, 108: 108][time] ?? 0))
    }
  }

  @Test("a terminal with few rows has no course, and one without Unicode has lines of ASCII")
  func smaller() {
    let all = Self.screen.lines(width: 80, Painter(isOn: false))
    expect(Self.screen.lines(width: 80, rows: 23, Painter(isOn: false)), all)
    expect(Self.screen.lines(width: 80, rows: 22, Painter(isOn: false)), Array(all[..<16] + all[20...]))
    expect(Self.screen.lines(width: 80, rows: 18, Painter(isOn: false)), Array(all[..<13] + all[20...]))
    let ascii = Self.screen.lines(width: 80, isUnicode: false, Painter(isOn: false))
    expect(ascii.filter { line in line.contains { !$0.isASCII } }, [])
    expect(ascii.map(\.count), all.map(\.count))
    #expect(ascii[17].hasPrefix("         seen  ________________________*****#"), "\(ascii[17])")
  }

  @Test("the rate now is that of the last seconds")
  func rate() {
    var meter = RateMeter()
    expect(meter.rate, 0)
    for second in 0...10 { meter.add(second * 1000, at: .seconds(Int64(second))) }
    expect(meter.rate, 1000)
    for second in 11...16 { meter.add(10_000, at: .seconds(Int64(second))) }
    expect(meter.rate, 0)
  }
}

@Suite("What campaigns tell each other")
struct FuzzMessageTests {
  private static var state: CampaignState {
    var state = CampaignState(machine: "door", device: "emulator:door", seed: .max)
    state.twin = "none"
    state.round = 2
    state.options = ["--steps=5000", "--weight=knock=3"]
    state.status = FuzzScreenTests.screen.progress.status
    state.elapsed = .milliseconds(1500)
    state.findings = [.init(signature: "a \"b\"\n", path: "Reports/failures/x.yaml", length: 3, count: 9)]
    state.cells = ["46", "c", "", "0"]
    return state
  }

  @Test("the state of a campaign is what was written")
  func state() throws {
    let text = Self.state.json.indented
    let read = try #require(CampaignState(text: Array(text.utf8)))
    expect(read.json.indented.split(separator: "\n").dropLast(2), text.split(separator: "\n").dropLast(2))
    expect(read.seed, .max)
    expect(read.findings, Self.state.findings)
    expect(read.cells, ["46", "c", "", "0"])
    for cut in stride(from: 0, to: text.utf8.count - 2, by: 7) {
      #expect(CampaignState(text: Array(text.utf8.prefix(cut))) == nil)
    }
  }

  @Test("what a worker says is understood, and nothing else is")
  func lines() throws {
    let status = FuzzScreenTests.screen.progress.status
    let lines: [WorkerLine] = [
      .progress(status), .visited([0, 7, 65_536]), .journal(.left(Record.Left(lock: "oak"))),
      .evidence(.event(Record.Event(.note, "x", at: .zero))), .say("a"),
      .once("c"), .warn("b"),
      .end(.trouble(LabFault(.noAnswer, "gone")), status),
      .end(.trouble(LabFault(.noDevice, "no dongle", from: .transport)), status),
      .end(
        .trouble(
          LabFault(
            .programFailed, "the driver",
            from: .program(ProgramTrouble("driver", .ended, lastWords: "out of memory")))), status),
      .end(.limited("so many"), status),
      .end(.done, status),
      .found(
        try FindingNotice([
          "number": 1, "signature": "s", "length": 3, "confirmation": "confirmed", "isSure": true,
          "endsCampaign": true, "lines": ["a"], "steps": ["b"], "sentence": "c", "path": "p", "replay": "r",
          "record": ["number": 1, "signature": "s", "shortest": 3],
        ])),
    ]
    for line in lines { expect(WorkerLine(line.json.line)?.json, line.json) }
    for text in [
      "", "{}", "null", "{\"progress\":{}}", "{\"found\":{}}", "{\"visited\":[1,\"2\"]}",
      "{\"end\":[\"so\"]}", "{\"end\":[\"trouble\",\"gone\",{\"symptom\":\"unheard of\"}]}",
    ] {
      #expect(WorkerLine(text) == nil, "\(text)")
    }
    let notices = lines.compactMap { line -> FindingNotice? in
      guard case .found(let notice) = line else { return nil }
      return notice
    }
    let notice = try #require(notices.first)
    expect([notice.numbered(4).record.number, notice.numbered(4).record.shortest], [4, 3])
    let orders = try WorkerOrders(WorkerOrders(round: 3, known: ["a"], folder: "f", job: "j").json)
    expect(orders.known, ["a"])
    expect(orders.folder, "f")
    expect(orders.job, "j")
  }

  @Test(
    "what was visited is told in as many lines as it takes, none of which grows",
    arguments: [0, 1, 4096, 4097, 90_000])
  func visits(count: Int) {
    let marks = (0..<count).map { 16_000_000 + $0 }
    let lines = WorkerLine.visited(in: marks)
    expect(
      lines.flatMap { line -> [Int] in
        guard case .visited(let part) = line else { return [] }
        return part
      }, marks)
    #expect(lines.allSatisfy { $0.json.line.utf8.count < 40_000 && $0.json.line.utf8.count > 20 })
  }

  @Test("a budget is shared out to the last event")
  func shares() {
    expect(WorkerArguments.shares(of: 10, 4), [3, 3, 2, 2])
    expect(WorkerArguments.shares(of: 2, 3), [1, 1, 0])
    expect(WorkerArguments.shares(of: -5, 2), [0, 0])
  }

  /// What is given with `--resume`, and the options that it makes; an error where it begins with a sign.
  static let resumptions: [(given: String, result: String)] = [
    (
      "",
      "--steps=9000 --keep-going --without=link --weight=lock=3 --length=50 --shrink-budget=90 s --shard=2/3"
    ),
    (
      "--steps 20k --length 7 --without att --shrink-budget 5",
      "--steps=20000 --keep-going --without=att --weight=lock=3 --length=7 --shrink-budget=5 --shard=2/3"
    ),
    (
      "--shard 1/1 --jobs 2 --weight unlock=0",
      "--steps=9000 --keep-going --without=link --weight=unlock=0 --length=50 --shrink-budget=90 s --shard=1/1 --jobs=2"
    ),
    ("sesame-table --device emulator:reference --steps 9k", "=--steps=9000"),
    ("--device reference", "=--steps=9000"),
    ("door", "!--resume: that campaign is about sesame-table, and not about door"),
    (
      "--device emulator:reference?defect=deaf-unlock",
      "!--resume: that campaign is about emulator:reference, and not about emulator:reference?defect=deaf-unlock"
    ),
  ]

  @Test("a campaign is taken up again as it was, but for what is given", arguments: resumptions)
  func resume(given: String, result: String) throws {
    var state = CampaignState(machine: "sesame-table", device: "emulator:reference", seed: 5)
    state.options = [
      "--steps=9000", "--keep-going", "--without=link", "--weight=lock=3", "--length=50",
      "--shrink-budget=90 s", "--shard=2/3",
    ]
    let parser = ArgumentParser<FuzzArguments>(
      options: FuzzArguments.options,
      operands: .init(placeholder: "MACHINE", summary: "", count: 0...1, path: \.operands))
    let words = given.split(separator: " ").map(String.init)
    guard case .run(let arguments) = try parser.parse(words, into: FuzzArguments()) else { return }
    do {
      let resumed = try arguments.resuming(state)
      let options = resumed.campaignOptions.joined(separator: " ")
      if result.hasPrefix("=") {
        #expect(options.hasPrefix(result.dropFirst()))
      } else {
        expect(options, result)
      }
      expect(resumed.operands, ["sesame-table"])
      expect(resumed.run.seed, 5)
    } catch {
      expect("!" + error.message, result)
    }
  }
}
