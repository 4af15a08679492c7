import Databases
import Journal
import Foundation
import TestSupport
import Testing

@testable import Reporting

@Suite("The history of runs")
struct HistoryTests {
  /// What is asked, in one line for each case.
  private func lines(_ found: History.Cases) -> [String] {
    found.cases.map { item in
      let signs = item.points.map { $0.ending.isFlaky ? "~" : "\($0.ending.word.rawValue.prefix(1))" }
        .joined()
      let usual = item.usual.map { "\($0.milliseconds)±\($0.deviation)" } ?? "-"
      return "\(item.name.suffix(1)): \(item.agreed)/\(item.judged) \(item.changes)+\(item.retried) "
        + "\(item.lastUnsteady?.prefix(10) ?? "-") \(usual)\(item.isSlower ? "!" : "") \(signs)"
    }
  }

  @Test(
    "tells of cases what their runs came to, in whatever order the runs came",
    arguments: HistoryRoom.Kind.present)
  func questions(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let history = try room.history()
    let nights = ["..F.", ".~F.", "F.FL", "..Fs", "..Fi", "..F ", "..F."]
    var records = nights.enumerated().map { index, letters in
      night(index + 1, letters) { $0 == 1 && index == 6 ? 9000 : Int64($0 + 1) * 1000 }
    }
    records.append(records.remove(at: 2))
    records.append(records.remove(at: 0))
    for record in records { try history.take([record]) }
    expect(
      lines(try history.cases(points: 9)),
      [
        "a: 6/7 2+0 2026-01-04 1000±0 aadaaaa", "b: 7/7 0+1 2026-01-02 2000±0! a~aaaaa",
        "c: 0/7 0+0 - - ddddddd", "d: 3/3 0+0 - - aalsia",
      ])
    expect(lines(try history.flaky()), ["a: 6/7 2+0 2026-01-04 1000±0 ", "b: 7/7 0+1 2026-01-02 2000±0! "])
    expect(lines(try history.slow(points: 1)), ["b: 7/7 0+1 2026-01-02 2000±0! a"])
    var latest = HistorySelection()
    latest.last = 4
    latest.filter = "door / case a"
    expect(lines(try history.cases(latest, points: 2)), ["a: 4/4 0+0 - - aa"])
    expect(
      try history.runs(latest).map { $0.identity.name.suffix(6) }, ["07-run", "06-run", "05-run", "04-run"])
    let failures = try history.failures()
    expect(
      failures.map {
        "\($0.signature ?? "-") \($0.word) \($0.runs) \($0.first.prefix(10)) \($0.last.prefix(10)) \($0.cases.map(\.name))"
      },
      [
        #"sig-2 divergence 7 2026-01-01 2026-01-07 ["case c"]"#,
        #"- incomplete 2 2026-01-03 2026-01-05 ["case d"]"#,
        #"sig-0 divergence 1 2026-01-03 2026-01-03 ["case a"]"#,
        #"sig-1 agree 1 2026-01-02 2026-01-02 ["case b"]"#,
      ])
  }

  /// Runs of a case, the oldest first: the device, its firmware, the hash of the model, and how it ended. Then how often the
  /// judgement changed.
  private static let devices: [(runs: [String], changes: Int)] = [
    (["a 1 m .", "b 1 m F", "a 1 m .", "b 1 m F"], 0), (["a 1 m .", "a 1 m F", "a 1 m .", "a 1 m F"], 3),
    (["a 1 m .", "b 1 m .", "a 1 m F", "b 1 m F"], 2), (["a 1 m .", "b 1 m F", "c 1 m .", "a 1 m F"], 1),
    (["a 1 m .", "a 2 m F", "a 2 n ."], 2),
    (["a 1 m .", "b 1 m F", "a 1 m L", "a 1 m .", "b 1 m s", "b 1 m F"], 0),
  ]

  @Test("a judgement changes on one device: another one is another matter", arguments: devices.indices)
  func changesOnDevices(number: Int) throws {
    let (runs, changes) = Self.devices[number]
    let history = try HistoryRoom(.sqlite).history()
    for (day, run) in runs.enumerated() {
      let words = run.split(separator: " ").map(String.init)
      try history.take([
        night(
          day + 1, words[3],
          setting: .init(device: words[0], firmware: words[1], machine: "door", model: words[2]))
      ])
    }
    expect(try history.cases().cases.map(\.changes), [changes])
    expect(try history.flaky().cases.map(\.changes), changes == 0 ? [] : [changes])
    try check(history)
  }

  /// Runs of a case on one device, the oldest first: the edition of what was tested, where it is known, and how it ended. Then
  /// how often the judgement changed.
  private static let editions: [(runs: [String], changes: Int)] = [
    (["a .", "b F", "c ."], 0), (["a .", "a F", "b .", "b ."], 1), (["a .", "b F", "a .", "a F"], 1),
    (["- .", "a F", "a ."], 2), (["a F", "- .", "- F"], 2), (["a .", "b ~", "b F"], 1),
  ]

  @Test("what was edited in between is no change of mind", arguments: editions.indices)
  func changesOfEditions(number: Int) throws {
    let (runs, changes) = Self.editions[number]
    for kind in HistoryRoom.Kind.present {
      let history = try HistoryRoom(kind).history()
      for (day, run) in runs.enumerated() {
        let words = run.split(separator: " ").map(String.init)
        var record = night(day + 1, words[1] + words[1])
        for index in record.results.indices {
          record.results[index].edition = words[0] == "-" ? "" : words[0]
        }
        // The other case is never edited.
        record.results[1].edition = "x"
        try history.take([record])
        try history.take([record])
      }
      expect(try history.cases().cases.map(\.changes).first, changes)
      try check(history)
    }
  }

  @Test("a digest says which edition of a case it has")
  func digestedEditions() {
    let entries = [(1, 0, 0), (2, 3, 0), (3, 3, 1), (7, 4, 2), (9, 4, 300), (10, 5, 0)].map {
      RunDigest.Entry(
        caseNumber: Int64($0.0), ending: .agreed, milliseconds: 5, setting: Int64($0.1), edition: Int64($0.2))
    }
    var digest = RunDigest()
    for entry in entries { digest.append(entry) }
    var read: [RunDigest.Entry] = []
    expect(RunDigest(bytes: digest.bytes).forEach { read.append($0) }, true)
    expect(read, entries)
    for bytes in [[0, 0], [0, 0, 0, 1], [0, 0, 1], [0, 0, 1, 0, 0, 1, 1, 0, 0]] as [[UInt8]] {
      #expect(!RunDigest(bytes: bytes).forEach { _ in }, "\(bytes)")
    }
  }

  @Test("a run that is taken in again is replaced", arguments: HistoryRoom.Kind.present)
  func again(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let history = try room.history()
    try history.take([night(1, "..F"), night(2, "F.i"), night(2, "...", host: "bench-02")])
    let before = (try history.runs(), try history.cases(points: 9).cases)
    try history.take([night(2, "F.i")])
    expect(try history.runs(), before.0)
    expect(try history.cases(points: 9).cases, before.1)
    // Taken up again, it has the last case too, and one more.
    try history.take([night(2, "F...")])
    expect(
      lines(try history.cases(points: 9)),
      [
        "a: 2/3 2+0 2026-01-02 - ada", "b: 3/3 0+0 - - aaa", "c: 2/3 1+0 2026-01-02 - daa",
        "d: 1/1 0+0 - - a",
      ])
    try check(history)
  }

  @Test(
    "runs of one name, host and second are several, each known by its id from wherever it is taken in",
    arguments: HistoryRoom.Kind.present)
  func identities(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let history = try room.history()
    /// The journal of a run, in a folder of any name.
    func run(
      _ folder: String, id: String?, cases: [String], start: String = "2026-11-22T02:00:00.123Z"
    ) throws -> String {
      let id = id.map { #""id":"\#($0)","# } ?? ""
      let lines = journal(cases.flatMap { caseLines($0) }, cases: cases.count)
      let path = try room.scratch.file("\(folder).jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
      _ = try room.scratch.file(
        "\(folder).json",
        Array(#"{\#(id)"name":"r","host":"h","start":"\#(start)","seed":42}"#.utf8))
      return path
    }
    func take(_ path: String) throws {
      try history.take(journal: path, manifest: String(path.dropLast(1)))
    }
    let first = try run("a", id: "aa", cases: ["x"])
    let second = try run("b", id: "bb", cases: ["x", "y"])
    let old = try run("c", id: nil, cases: ["x", "y", "z"])
    let later = try run("d", id: nil, cases: ["x"], start: "2026-11-22T02:00:01.000Z")
    for path in [first, second, old, later, second, first, old] { try take(path) }
    func rows() throws -> [String] {
      try history.runs().map { "\($0.identity.id) \($0.started.suffix(3)) \($0.cases)" }.sorted()
    }
    let known = try rows()
    expect(known.map { String($0.suffix(5)) }.sorted(), ["00Z 1", "00Z 2", "00Z 3", "01Z 1"])
    expect(known.filter { $0.hasPrefix("aa ") || $0.hasPrefix("bb ") }, ["aa 00Z 1", "bb 00Z 2"])
    // Gone on with, and then taken in from a copy, it is still the same run.
    try take(try run("e", id: "aa", cases: ["x", "y", "z", "w"]))
    try take(try run("f", id: nil, cases: ["x"]))
    expect(
      try rows(),
      known.map { $0 == "aa 00Z 1" ? "aa 00Z 4" : $0.replacingOccurrences(of: "Z 3", with: "Z 1") })
    try check(history)
  }

  @Test(
    "a history of an older Lockstep keeps its runs, and knows each again by what it says of it",
    arguments: HistoryRoom.Kind.present)
  func migration(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let lines = journal(caseLines("x") + caseLines("y", "divergence"), cases: 2, status: 1)
    let path = try room.scratch.file("j.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    let run = try room.scratch.file(
      "run", Array(#"{"name":"r","host":"h","start":"2026-11-22T02:00:00.123Z","seed":42}"#.utf8))
    let part = try room.scratch.file(
      "part",
      Array(#"{"name":"n","host":"h","start":"2026-11-22T03:00:00Z","job":"slurm-7","part":"3/16"}"#.utf8))
    // As it was written when host and name told runs apart.
    let old = try History(room.place, for: .adding, lockTimeout: 100) { [HistorySchema.steps($0)[0]] }
    // Nothing but the rows of results told then what a case ran against: another judgement on another device.
    for (host, name, start, word) in [
      ("h", "r", "2026-11-22T02:00:00Z", 0 as Int64), ("slurm-7", "part 03 of 16", "2026-11-22T01:00:00Z", 1),
    ] {
      let number = try old.database.first(
        """
        INSERT INTO runs (host, name, started, seed, status, milliseconds, agree, divergences, lab_faults, skipped,
          incomplete, flaky) VALUES ($1, $2, $3, '42', 0, 1, 1, 0, 0, 0, 0, 0) RETURNING id
        """, [.text(host), .text(name), .text(start)])?.first
      let known = try old.database.first("SELECT id FROM cases", [])?.first
      let test =
        try known
        ?? old.database.first("INSERT INTO cases (class, name) VALUES ($1, 'n') RETURNING id", [.text("c")])?
        .first
      let setting = try old.database.first(
        "INSERT INTO settings (device, firmware, machine, model) VALUES ($1, '', '', '') RETURNING id",
        [.text("lock of \(host)")])?.first
      guard let number, let test, let setting, let slot = test.integer else {
        throw HistoryRoom.HistoryRoomError.noServer
      }
      try old.database.run(
        """
        INSERT INTO results (run_id, case_id, setting_id, word, flaky, attempts, milliseconds)
        VALUES ($1, $2, $3, $4, 0, 1, 1)
        """, [number, test, setting, .integer(word)])
      var digest = RunDigest()
      digest.append(.init(caseNumber: slot, ending: word == 0 ? .agreed : .diverged, milliseconds: 1))
      try old.database.run(
        "INSERT INTO digests (run_id, digest) VALUES ($1, $2)", [number, .bytes(digest.bytes)])
    }
    let history = try room.history()
    func rows() throws -> [String] {
      try history.runs().map { "\($0.identity.host) \($0.identity.name) \($0.started.suffix(9)) \($0.cases)" }
    }
    expect(try rows(), ["h r 02:00:00Z 1", "slurm-7 part 03 of 16 01:00:00Z 1"])
    expect(try history.database.first("SELECT count(*) FROM results", []), [.integer(2)])
    try check(history)
    try history.take(journal: path, manifest: run)
    try history.take(journal: path, manifest: part)
    expect(try rows(), ["slurm-7 part 03 of 16 03:00:00Z 2", "h r 02:00:00Z 2"])
    // What hangs on a run still goes with it.
    expect(try history.database.first("SELECT count(*) FROM results", []), [.integer(4)])
    try check(history)
  }

  @Test(
    "cases that were known by their titles are known by their files, where it is certain which those are",
    arguments: HistoryRoom.Kind.present)
  func renamedCases(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let old = try History(room.place, for: .adding, lockTimeout: 100) {
      Array(HistorySchema.steps($0).prefix(2))
    }
    for (className, name) in [
      ("Scenarios.s5.drop", "A drop (of water)"), ("Scenarios.s5.lock", "Locks"),
      ("Scenarios.s5.lock", "Locks (2)"), ("Scenarios.s5.two", "One"), ("Scenarios.s5.two", "Another"),
      ("plain", "x"), ("Scenarios.s5.taken", "Title"), ("Scenarios.s5", "taken"),
      ("Scenarios.s5", "other"),
    ] {
      try old.database.run(
        "INSERT INTO cases (class, name) VALUES ($1, $2)", [.text(className), .text(name)])
    }
    var names: [String] = []
    try room.history().database.query("SELECT class, name FROM cases ORDER BY id", []) { row in
      names.append("\(row[0].text ?? "") / \(row[1].text ?? "")")
    }
    expect(
      names,
      [
        "Scenarios.s5 / drop", "Scenarios.s5 / lock", "Scenarios.s5 / lock#2", "Scenarios.s5.two / One",
        "Scenarios.s5.two / Another", "plain / x", "Scenarios.s5.taken / Title", "Scenarios.s5 / taken",
        "Scenarios.s5 / other",
      ])
  }

  /// Recomputes everything from the rows of results, in the plainest way, and compares.
  private func check(_ history: History, sourceLocation: SourceLocation = #_sourceLocation) throws {
    var rows: [String: [[SQLValue]]] = [:]
    try history.database.query(
      """
      SELECT c.name, r.word, r.flaky, r.milliseconds, n.started, s.device, r.edition FROM results r
      JOIN runs n ON n.id = r.run_id JOIN cases c ON c.id = r.case_id JOIN settings s ON s.id = r.setting_id
      ORDER BY n.started, n.host, n.name
      """, []
    ) { row in rows[row[0].text ?? "", default: []].append(row) }
    let cases = try history.cases(points: Int.max).cases
    expect(cases.map(\.name).sorted(), rows.keys.sorted(), sourceLocation: sourceLocation)
    for item in cases {
      let all = rows[item.name] ?? []
      let judged = all.filter { $0[1] == .integer(0) || $0[1] == .integer(1) }
      let agreed = judged.filter { $0[1] == .integer(0) }
      let times = agreed.suffix(51).dropLast().compactMap(\.[3].integer).sorted()
      var expected = HistoryCase(className: item.className, name: item.name)
      expected.firstSeen = all.first?[4].text
      expected.judged = judged.count
      expected.agreed = agreed.count
      let changed = judged.enumerated().filter { number, row in
        judged[..<number].last { $0[5] == row[5] }.map { before in
          let isEdited = before[6] != row[6] && before[6] != .integer(0) && row[6] != .integer(0)
          return before[1] != row[1] && !isEdited
        } ?? false
      }.map(\.element)
      expected.changes = changed.count
      expected.retried = all.filter { $0[2] == .integer(1) }.count
      let unsteady = changed + all.filter { $0[2] == .integer(1) }
      expected.lastUnsteady = unsteady.compactMap(\.[4].text).max()
      expected.lastMilliseconds = agreed.last?[3].integer
      if times.count >= 5 {
        let middle = (times[(times.count - 1) / 2] + times[times.count / 2]) / 2
        expect(item.usual?.milliseconds, middle, sourceLocation: sourceLocation)
        let far = times.map { abs($0 - middle) }.sorted()
        let deviation = (far[(far.count - 1) / 2] + far[far.count / 2]) / 2
        expected.isSlower =
          Double(agreed.last![3].integer!)
          > Double(middle) + max(4 * 1.4826 * Double(deviation), Double(middle) / 5, 100)
      }
      (expected.usual, expected.points) = (item.usual, item.points)
      expect(item, expected, sourceLocation: sourceLocation)
      expect(
        item.points.map { "\($0.start) \($0.ending.word.code) \($0.ending.isFlaky) \($0.milliseconds)" },
        all.map { "\($0[4].text!) \($0[1].integer!) \($0[2] == .integer(1)) \($0[3].integer!)" },
        sourceLocation: sourceLocation)
    }
  }

  @Test("answers are what the rows of results say, after many runs in any order, some of them twice")
  func recomputed() throws {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    var state = seed
    func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    let room = try HistoryRoom(.sqlite)
    let history = try room.history()
    for _ in 0..<120 {
      let letters = String((0..<12).map { _ in Array("......F~Lsi ")[next(12)] })
      try history.take([
        night(
          1 + next(28), letters, host: "bench-\(next(3))",
          setting: .init(device: "lock-\(next(3))", firmware: "3.\(next(2))")
        ) { _ in Int64(1000 + next(20) * next(20) * 10) }
      ])
    }
    try check(history)
    #expect(try history.runs().count > 50, "seed \(seed)")
  }

  @Test("journals fill it: names as in JUnit, tries, settings, failures, and what a killed run left")
  func journals() throws {
    let room = try HistoryRoom(.sqlite)
    let lines = [
      #"{"run":{"format":1,"seed":42,"cases":9}}"#,
      #"{"case":{"id":"Scenarios/door/open","name":"Opens","file":"Scenarios/door/open.yaml","machine":"door","model":"8f31","device":"emulator:door","firmware":"3.0","seed":42,"attempt":1}}"#,
      #"{"verdict":"divergence","case":"Scenarios/door/open","t":"2.5","message":"it stayed shut","signature":"abc"}"#,
      #"{"case":{"id":"Scenarios/door/open","name":"Opens","file":"Scenarios/door/open.yaml","machine":"door","model":"8f31","device":"emulator:door","firmware":"3.0","seed":42,"attempt":2}}"#,
      #"{"verdict":"agree","case":"Scenarios/door/open","t":"3.25"}"#,
      #"{"case":{"id":"Scenarios/door/jam","file":"Scenarios/door/jam.yaml","seed":7}}"#,
      #"{"verdict":"divergence","case":"Scenarios/door/jam","t":"1.000","message":"it\u0000broke \ud83d","signature":"def"}"#,
      #"{"case":{"id":"Scenarios/door/skip","file":"Scenarios/door/skip.yaml"}}"#,
      #"{"verdict":"skipped","case":"Scenarios/door/skip","message":"no such device"}"#,
      #"{"case":{"id":"Scenarios/door/torn","file":"Scenarios/door/torn.yaml"}}"#,
      #"{"t":"0.500","status":"Opened"}"#, #"{"t":"0.7"#,
    ]
    let journal = try room.scratch.file("journal.jsonl", Array(lines.joined(separator: "\n").utf8))
    let manifest = try room.scratch.file(
      "manifest.json",
      Array(
        #"{"name":"n-1","host":"bench-01","start":"2026-11-20T22:38:51Z","version":"1.0","command":["run"],"properties":{"revision":"61f6abf"}}"#
          .utf8))
    let history = try room.history()
    try history.take(journal: journal, manifest: manifest)
    let run = try #require(try history.runs().first)
    expect(
      "\(run.identity.host) \(run.identity.name) \(run.started) \(run.seed ?? "-") \(run.revision ?? "-") \(run.version ?? "-") \(run.status ?? -1) \(run.milliseconds) \(run.counts) \(run.flaky)",
      "bench-01 n-1 2026-11-20T22:38:51Z 42 61f6abf 1.0 -1 4750 [1, 1, 0, 1, 1, 0] 1")
    let (details, more) = try history.details(of: "Scenarios.door", results: 5, limit: 9)
    expect(more, 0)
    expect(
      details.map { details in
        let result = details.results[0]
        return
          "\(details.history.className)/\(details.history.name) \(result.ending.word) \(result.attempts) "
          + "\(result.milliseconds) \(result.setting.device) \(result.setting.firmware) \(result.setting.model) "
          + "\(result.seed ?? "-") \(result.signature ?? "-") \(result.message ?? "-")"
      },
      [
        "Scenarios.door/jam divergence 1 1000    7 def it\\u{0}broke \\u{D83D}",
        "Scenarios.door/open agree 2 3250 emulator:door 3.0 8f31 42 abc it stayed shut",
        "Scenarios.door/skip skipped 1 0    42 - -",
        "Scenarios.door/torn incomplete 1 500    42 - ",
      ])
    try check(history)
    // A run that nobody says the time of is not taken, and neither is one that is not there.
    #expect(throws: HistoryError.self) { try history.take(journal: journal, manifest: "none") }
    #expect(throws: HistoryError.self) { try history.take(journal: "none", manifest: manifest) }
    expect(try history.runs().count, 1)
  }

  @Test("reports learn what was before the runs that they are of", arguments: HistoryRoom.Kind.present)
  func source(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let history = try room.history()
    try history.take(["..", "F.", ".~", "..", "..", "F.", "..", "FF"].enumerated().map { night($0 + 1, $1) })
    let manifest = try room.scratch.file(
      "manifest.json",
      Array(#"{"name":"2026-01-07-run","host":"bench-01","start":"2026-01-07T02:00:00Z"}"#.utf8))
    let source = try HistorySource(history, journals: ["journal.jsonl"], manifests: [manifest])
    func ask(_ name: String, _ signature: String?, _ time: Int64) throws -> CaseHistory? {
      try source.history(
        className: "Scenarios.door", name: name, signature: signature, milliseconds: time)
    }
    var expected = CaseHistory()
    (expected.judged, expected.agreed, expected.changes) = (6, 4, 3)
    expected.firstSeen = "2026-01-01T02:00:00Z"
    expected.sameFailure = .init(count: 2, first: "2026-01-02T02:00:00Z", last: "2026-01-06T02:00:00Z")
    expected.points = [1, 2, 3, 4, 5, 6].map { day in
      .init(
        run: "2026-01-0\(day)-run", start: "2026-01-0\(day)T02:00:00Z",
        ending: [2, 6].contains(day) ? .diverged : .agreed, milliseconds: 1000)
    }
    expect(try ask("case a", "sig-0", 5000), expected)
    let second = try #require(try ask("case b", "never", 2401))
    expect(second.usualMilliseconds, 2000)
    expect("\(second.changes) \(second.isSlower) \(second.sameFailure == nil)", "1 true true")
    expect(try ask("case b", nil, 2400)?.isSlower, false)
    expect(try ask("case c", nil, 1), nil)
  }

  @Test("names that are hostile come back as they went in, or shown", arguments: HistoryRoom.Kind.present)
  func hostile(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let history = try room.history()
    let long = String(repeating: "ä\u{0}", count: 500_000)
    let names = [
      "", "'; DROP TABLE runs; --", "a\u{0}b", "a\u{0}c", "$1", "\u{FFFE}\u{1B}[31m", "é", "e\u{301}",
      "\u{202E}x",
      "x\u{10FFFF}", long, long + "x", "\\", "\"", "%_",
    ]
    let shown = names.map { kept($0) }
    var record = night(1, "")
    record.results = shown.map { name in
      var result = RunRecord.Result(
        className: name, name: name, ending: .diverged, milliseconds: Int64.max / 4)
      (result.signature, result.message, result.seed) = (name, name, name)
      result.setting.device = kept(name, toBytes: 500)
      return result
    }
    try history.take([record])
    let found = try history.cases().cases
    expect(Set(found.map { Array($0.name.utf8) }), Set(shown.map { Array($0.utf8) }))
    expect(found.count, names.count)
    expect(kept("a\u{0}b"), "a\\u{0}b")
    expect(shown.map(\.utf8.count).max(), 1099)
    expect(try history.failures().count, names.count - 1)
    for name in names {
      expect(try history.details(of: kept(name), results: 1, limit: 99).cases.isEmpty, false)
    }
    let source = try HistorySource(history, journals: [], manifests: [])
    for name in names {
      let known = try source.history(className: name, name: name, signature: name, milliseconds: 1)
      expect(known?.sameFailure?.count, 1)
    }
  }

  @Test("several writers at once lose nothing", arguments: HistoryRoom.Kind.present)
  func writers(_ kind: HistoryRoom.Kind) throws {
    let room = try HistoryRoom(kind)
    let place = room.place
    // Each makes the database, or finds it half made by another.
    let faults = Faults()
    DispatchQueue.concurrentPerform(iterations: 8) { writer in
      for day in 1...5 {
        do {
          let history = try History(place, for: .adding)
          try history.take([
            night(day, "..F~.....", host: "bench-\(writer)"), night(day, "F..", host: "shared"),
          ])
        } catch {
          faults.add("\(error)")
        }
      }
    }
    expect(faults.all, [])
    let history = try room.history(.asking)
    expect(try history.runs().count, 45)
    expect(try history.cases().cases.map(\.judged), [45, 45, 45, 40, 40, 40, 40, 40, 40])
    try check(history)
  }

  /// What several threads found wrong.
  private final class Faults: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [String] = []
    var all: [String] { lock.withLock { list } }
    func add(_ text: String) { lock.withLock { list.append(text) } }
  }
}
