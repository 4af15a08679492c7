import Basics
import Bench
import Conformance
import Harness
import Journal
import System
import TestSupport
import Testing

@testable import Nightly

/// A run of a night, what it left behind, and the ending that follows.
private struct LeftRun {
  var work: NightAttempt.Work
  /// The lines of its journal; `nil` without one.
  var records: [Record]?
  /// How its process ended, if that is known, and its last output.
  var end: Ending?
  var words = ""
  var ending: NightEnding

  init(
    _ work: NightAttempt.Work, _ records: [Record]?, _ end: Ending? = .exit(0),
    says words: String = "", is ending: NightEnding
  ) {
    (self.work, self.records, self.end, self.words, self.ending) = (work, records, end, words, ending)
  }
}

private let parked: Record.Left = Record.Left(lock: "back", isParked: true)
private let open: Record.Left = Record.Left(lock: "back", isParked: false, message: "it is open")

private func said(_ words: String, status: CommandStatus) -> [Record] {
  [.event(Record.Event(.diagnostic, words, at: .zero))] + run(nil, status: status)
}

private func shown(_ verdict: inout Record.Verdict) {
  verdict.shown = [Record.ShownChoice("touching", ["opens"])]
}

private let choice: NightEnding = {
  var ending = NightEnding(.agreed, park: .unknown)
  ending.shown = [.init(choice: "touching", options: ["opens"])]
  return ending
}()

private let leftRuns: [LeftRun] = [
  LeftRun(.test("a"), nil, nil, is: NightEnding(.incomplete, "its process was killed", park: .unknown)),
  LeftRun(
    .test("a"), nil, .signal(9), is: NightEnding(.incomplete, "its process was killed", park: .unknown)),
  LeftRun(
    .test("a"), nil, .exit(5), is: NightEnding(.incomplete, "its process was stopped", park: .unknown)),
  LeftRun(
    .test("a"), nil, .exit(2), says: "lockstep: x\nlockstep: no such file\n",
    is: NightEnding(
      .labFault, "its process ended with exit status 2: lockstep: no such file", park: .unknown)
  ),
  LeftRun(
    .test("a"), nil, .signal(11),
    is: NightEnding(.labFault, "its process ended with signal 11", park: .unknown)),
  // A whole journal.
  LeftRun(.test("a"), run(.agree, left: parked), is: NightEnding(.agreed, park: .parked)),
  LeftRun(.test("a"), run(.agree, left: open), is: NightEnding(.agreed, park: .elsewhere("it is open"))),
  LeftRun(.test("a"), run(.agree), is: NightEnding(.agreed, park: .unknown)),
  LeftRun(.test("a"), run(.agree, status: .agree, shown), is: choice),
  LeftRun(
    .test("a"), run(.divergence, "it opened"), .exit(1),
    is: NightEnding(.diverged, "it opened", park: .unknown)),
  LeftRun(
    .test("a"), run(.unmet, "no lock"), .exit(1), is: NightEnding(.unmet, "no lock", park: .unknown)),
  LeftRun(
    .test("a"), run(.labFault, "no link"), .exit(3), is: NightEnding(.labFault, "no link", park: .unknown)
  ),
  LeftRun(
    .test("a"), run(.skipped, "no motor"), .exit(4), is: NightEnding(.skipped, "no motor", park: .unknown)
  ),
  LeftRun(
    .test("a"), run(.incomplete, "stopped"), .exit(5),
    is: NightEnding(.incomplete, "stopped", park: .unknown)),
  LeftRun(
    .test("a"), run(.incomplete, "enough", limit: "20 an hour"), .exit(6),
    is: NightEnding(.limited, "enough", park: .unknown)),
  // A verdict counts, whatever killed the run afterwards.
  LeftRun(
    .test("a"), run(.agree, left: parked, status: nil), .signal(9),
    is: NightEnding(.agreed, park: .parked)),
  LeftRun(
    .test("a"), run(.divergence, "it opened", status: nil), nil,
    is: NightEnding(.diverged, "it opened", park: .unknown)),
  // None was reached.
  LeftRun(
    .test("a"), run(nil, left: parked, status: .incomplete), .exit(5),
    is: NightEnding(.incomplete, "it was stopped", park: .parked)),
  LeftRun(
    .test("a"), said("no dongle", status: .labFault), .exit(3),
    is: NightEnding(.labFault, "no dongle", park: .unknown)),
  LeftRun(
    .test("a"), run(nil, status: .labFault), .exit(3),
    is: NightEnding(.labFault, "its run ended with status 3 and no verdict", park: .unknown)),
  LeftRun(
    .test("a"), run(nil, left: open, status: nil), .exit(1),
    is: NightEnding(.labFault, "its process ended with exit status 1", park: .elsewhere("it is open"))),
  // Parking is judged by where the lock is.
  LeftRun(.park, run(.labFault, "x", left: parked), .exit(3), is: NightEnding(.agreed, park: .parked)),
  LeftRun(
    .park, run(.agree, left: open),
    is: NightEnding(.labFault, "it is open", park: .elsewhere("it is open"))),
  LeftRun(
    .park, run(.labFault, "no link"), .exit(3), is: NightEnding(.labFault, "no link", park: .unknown)),
  LeftRun(
    .park, said("no dongle", status: .labFault), .exit(3),
    is: NightEnding(.labFault, "no dongle", park: .unknown)),
  LeftRun(.park, run(nil), is: NightEnding(.labFault, "it was not reached", park: .unknown)),
  LeftRun(
    .park, run(.agree, left: parked, status: nil), .signal(9),
    is: NightEnding(.incomplete, "its process was killed", park: .parked)),
  // A campaign is judged as a whole, and never before its end.
  LeftRun(.fuzz(.seconds(9)), run(.agree, left: parked), is: NightEnding(.agreed, park: .parked)),
  LeftRun(.fuzz(.seconds(9)), run(.skipped, "x"), .exit(4), is: NightEnding(.agreed, park: .unknown)),
  LeftRun(
    .fuzz(.seconds(9)), run(.incomplete, "enough", limit: "20 an hour"), .exit(6),
    is: NightEnding(.limited, "enough", park: .unknown)),
  LeftRun(
    .fuzz(.seconds(9)), run(.incomplete, "x"), .exit(5),
    is: NightEnding(.incomplete, "it was stopped", park: .unknown)),
  LeftRun(
    .fuzz(.seconds(9)), run(.labFault, "no link"), .exit(3),
    is: NightEnding(.labFault, "no link", park: .unknown)),
  LeftRun(
    .fuzz(.seconds(9)), run(nil, status: .labFault), .exit(3),
    is: NightEnding(.labFault, "it ended with status 3", park: .unknown)),
  LeftRun(
    .fuzz(.seconds(9)), run(.agree, status: nil), .signal(9),
    is: NightEnding(.incomplete, "its process was killed", park: .unknown)),
]

@Suite("The runs of a night")
struct NightlyRunsTests {
  @Test("a run ended as its journal says, and without one as its process did")
  func endings() throws {
    let floor = NightFloor()
    let runs = try floor.runs()
    for (number, left) in leftRuns.enumerated() {
      if let records = left.records { try floor.write(records, run: number) }
      let attempt = NightAttempt(
        number: number, work: left.work, lock: "back", actuations: 9, cycleCounter: 0)
      #expect(
        runs.ending(of: attempt, left.end, words: left.words) == left.ending,
        "\(left.work), row \(number)")
    }
  }

  @Test("a campaign that found something diverged, with each confirmed finding")
  func findings() throws {
    let floor = NightFloor()
    var records: [Record] = []
    for (name, word) in [
      ("opens by itself", Record.Verdict.Word.divergence), ("never seen again", .labFault),
      ("forgets its key", .divergence),
    ] {
      let id = "failures/\(name)"
      records += [
        .finding(Record.Finding(name, shortest: 3)), .begin(Record.Case(id: id)),
        .verdict(Record.Verdict(word, of: id, at: .zero)),
      ]
    }
    try floor.write(records + run(nil, status: .divergence), run: 1)
    let attempt = NightAttempt(
      number: 1, work: .fuzz(.seconds(9)), lock: "back", actuations: 9, cycleCounter: 0)
    expect(
      try floor.runs().ending(of: attempt, .exit(1), words: ""),
      NightEnding(.diverged, "opens by itself; forgets its key", park: .unknown))
  }

  @Test("the words of a run name its work, its lock, its transport and its budget")
  func words() throws {
    let floor = NightFloor(plan: "fuzz: { machine: ../keypad.yaml }\n")
    let runs = try floor.runs()
    let night = Rig([]).night
    let test = runs.lab.cases[0].identity
    func words(
      _ work: NightAttempt.Work, _ lock: String, over dongle: String? = nil, checks: Bool = false
    ) -> [String] {
      runs.words(
        for: NightAttempt(
          number: 12, work: work, lock: lock, dongle: dongle, actuations: 9, cycleCounter: 0,
          checksHealth: checks), of: night)
    }
    func tail(_ lock: String, _ transport: [String] = []) -> [String] {
      ["--bench=\(floor.benchPath)", "--device=lock:\(lock)", "--wait=1 min"] + transport
        + ["--out=\(floor.path)/night/cases/00012", "--history=none", "--html=none", "--quiet"]
    }
    let real = ["--transport=dongle:red", "--actuations=9"]
    let seed = try #require(
      runs.test(of: NightAttempt(number: 1, work: .test(test), lock: "front", actuations: 9, cycleCounter: 0))
    ).seed
    let runWords = ["run", "\(floor.path)/a.yaml", "--seed=\(seed)", "--show-progress=none"]
    expect(words(.test(test), "front", over: "red"), runWords + tail("front", real))
    expect(
      words(.test(test), "front", over: "red", checks: true),
      runWords + tail("front", real + ["--check-health"]))
    expect(words(.test(test), "back"), runWords + tail("back"))
    expect(
      words(.park, "front", over: "red", checks: true),
      ["run", "\(floor.path)/night/park.yaml", "--seed=1", "--show-progress=none"] + tail("front", real))
    let fuzz = words(.fuzz(.seconds(90)), "front", over: "red")
    expect(fuzz[0...2] + [], ["fuzz", Path.join(floor.path, "../keypad.yaml"), "--duration=90 s"])
    expect(fuzz[4...] + [], ["--corpus=\(floor.path)/night/corpus/front"] + tail("front", real))
    // Each stretch has a seed of its own, and the same when the night is repeated.
    let other = runs.words(
      for: NightAttempt(number: 13, work: .fuzz(.seconds(90)), lock: "front", actuations: 9, cycleCounter: 0),
      of: night)
    #expect(fuzz[3].hasPrefix("--seed=") && fuzz[3] != other[3])
    expect(words(.fuzz(.seconds(90)), "front")[3], fuzz[3])
  }

  @Test("a run knows what its lock has shown before, and not what another lock has")
  func shown() throws {
    let floor = NightFloor()
    let runs = try floor.runs()
    let cases = runs.lab.cases
    expect(cases.map(\.lock), ["front", "front", "back", "back"])
    var lines: [NightLine] = [.begin(name: "N", clock)]
    func end(_ number: Int, _ place: Int, _ verdict: Record.Ending, _ options: [String]) throws {
      let lock = cases[place].lock ?? ""
      lines.append(
        .start(
          NightAttempt(
            number: number, work: .test(cases[place].identity), lock: lock, actuations: 9, cycleCounter: 0),
          at: at(1)))
      var ending = NightEnding(verdict)
      ending.shown = options.isEmpty ? [] : [.init(choice: "touching", options: options)]
      lines.append(.end(number, ending, at: at(2)))
      try floor.write(run(.agree), run: number)
    }
    try end(1, 0, .agreed, ["opens", "alarms"])
    try end(2, 2, .agreed, ["ignores"])
    // One that shows nothing, one that contradicts, one that narrows it down, and one that adds nothing.
    try end(3, 1, .agreed, [])
    try end(4, 1, .diverged, ["ignores"])
    try end(5, 1, .agreed, ["opens"])
    try end(6, 0, .agreed, ["opens", "alarms"])
    let night = Night(
      NightSettings(duration: .seconds(60)), name: "N", cases: cases, locks: runs.lab.locks, dongles: [],
      resuming: lines)
    expect(runs.shownChoices(in: night).runs.map(\.number), [1, 2, 5])
    expect(
      runs.shownChoices(in: night).choices.all.map { "\($0.device): \($0.shown)" },
      ["front: touching is opens", "back: touching is ignores"])
    let next = NightAttempt(
      number: 7, work: .test(cases[1].identity), lock: "front", actuations: 9, cycleCounter: 0)
    expect(
      runs.words(for: next, of: night).filter { $0.hasPrefix("--shown-in") },
      [1, 5].map { "--shown-in=\(floor.path)/night/cases/0000\($0)/runs/r/journal.jsonl" })
  }

  @Test("the command that parks a lock can be pasted")
  func parking() throws {
    let floor = NightFloor()
    expect(
      try floor.runs().parking("front"),
      "lockstep run \(floor.path)/night/park.yaml --device lock:front --bench \(floor.benchPath)")
  }

  @Test("the files of a run are in its folder, and named from that of the night")
  func places() throws {
    let floor = NightFloor()
    let runs = try floor.runs()
    expect(runs.folder(of: 42), "\(floor.path)/night/cases/00042")
    expect(runs.heldFile(of: 42), "\(floor.path)/night/cases/00042/alive")
    expect([runs.journal(of: 42), runs.journalName(of: 42)], [nil, ""])
    try floor.write(run(.agree), run: 42)
    expect(
      [runs.journal(of: 42), runs.journalName(of: 42)],
      ["\(floor.path)/night/cases/00042/runs/r/journal.jsonl", "cases/00042/runs/r/journal.jsonl"])
  }
}
