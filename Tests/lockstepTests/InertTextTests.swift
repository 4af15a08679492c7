import System
import Devices
import Reporting
@testable import Bench
import Journal
@testable import Nightly
import Basics
import Testing
import TestSupport
@testable import Transports

@testable import lockstep

@Suite("What reaches a terminal")
struct InertTextTests {
  /// What a terminal obeys, or a reader is misled by: none of it is let through, whoever says it.
  private static let obeyed: Set<UInt32> = Set(
    Array(0x00...0x08) + Array(0x0B...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F]
      + Array(0x2028...0x202E) + Array(0x2066...0x2069))

  /// Pieces of texts with something in them.
  private static let pieces: [String] =
    obeyed.sorted().compactMap { Unicode.Scalar($0).map { String($0) } }
    + Painter.Style.allCases.map { "\u{1B}[\($0.rawValue)m" }
    + [
      "\u{1B}[0m", "\u{1B}[2J", "\u{1B}]0;title\u{07}", "\u{9B}31m", "\r\n", "\n", "\t", "lock", "é",
      "e\u{301}", "鍵",
      "🔒", "[31m", "\u{1B}[", "0m", "\\", "\"", "m", "00000000000000000000",
    ]

  private static func text(_ generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...8, using: &generator)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &generator)]
    }
    .joined()
  }

  @Test("holds nothing that a terminal obeys, but lines, tabs and our own colours, in 20,000 random texts")
  func property() {
    var generator = SeededGenerator(seed: 13)
    let (on, off) = (Painter(isOn: true), Painter(isOn: false))
    for _ in 0..<20_000 {
      let text = Self.text(&generator)
      let inert = text.inert
      guard !inert.unicodeScalars.contains(where: { Self.obeyed.contains($0.value) }),
        off(.bad, text).inert == inert,
        on(.bad, text).inert == "\u{1B}[31m" + inert + "\u{1B}[0m", inert.inert == inert
      else {
        Issue.record("\(text.debugDescription) comes out as \(inert.debugDescription)")
        return
      }
      let line = JSON.text(text).line
      let json = line.inertJSON
      guard !json.unicodeScalars.contains(where: { Self.obeyed.contains($0.value) || $0 == "\n" }),
        let back = try? JSON(parsing: Array(json.utf8)), case .text(let read) = back,
        read.utf8.elementsEqual(text.utf8)
      else {
        Issue.record("\(text.debugDescription) comes out as \(json)")
        return
      }
    }
  }

  /// Has a printer print with names that say nothing, and then again and again with others in their place: as many lines
  /// come of it, and none of them is obeyed.
  private func check(_ printer: (_ name: () -> String) throws -> String) rethrows {
    func lines(_ text: String) -> [Substring] {
      text.split(separator: "\n", omittingEmptySubsequences: false)
    }
    let expected = lines(try printer { "x" }).count
    var generator = SeededGenerator(seed: 14)
    for _ in 0..<500 {
      var names: [String] = []
      let inert = try printer {
        names.append(Self.text(&generator))
        return names[names.count - 1]
      }
      .inert
      let isObeyed = inert.unicodeScalars.contains {
        $0.value == 0x0D || Self.obeyed.contains($0.value) && $0 != "\u{1B}"
      }
      // Our own colours are the only sequences.
      let ours = Painter.Style.allCases.map { "\u{1B}[\($0.rawValue)m" } + ["\u{1B}[0m"]
      let rest = ours.reduce(inert) { $0.replacing($1, with: "") }
      guard lines(inert).count == expected, !isObeyed, !rest.contains("\u{1B}") else {
        Issue.record("\(names) comes out as \(inert.debugDescription)")
        return
      }
    }
  }

  @Test("has a line for each device of a bench", arguments: [true, false])
  func devices(isPainted: Bool) throws {
    let folder = try Command.Folder()
    try folder.write("bench.yaml", "bench: floor\nlocks: [{ name: front, device: \"emulator:sesame5\" }]\n")
    let bench = try BenchFile(reading: folder.path + "/bench.yaml")
    check { name in
      let time = WallTime(nanoseconds: 0)
      let reason = DeviceHealth.OutOfUse(since: time, reason: name())
      let holder = LeaseHolder(token: 1, process: 2, host: name(), since: name(), command: name())
      var wear = DeviceState.Wear(total: 1, hour: 1, shift: 1, limits: LockLimits())
      wear.pendingPark = PendingPark(name(), since: time)
      let entries = [Quarantine.Status.active, .lapsed].map { status in
        Quarantined(
          entry: Quarantine(
            scenario: name(), lock: name(), reason: name(), owner: name(), expires: Day(unixTime: 0)),
          status: status)
      }
      let uses: [DeviceState.Use] = [.available, .held(holder), .outOfUse(reason), .unknown(name())]
      let devices = uses.map { use in
        DeviceState(
          kind: .lock, name: name(), place: name(), use: use,
          failures: [DeviceHealth.Failure(time: time, reason: name(), other: name())], wear: wear,
          quarantine: entries)
      }
      return DevicesText(Painter(isOn: isPainted)).text(of: devices, entries, bench: bench)
    }
  }

  @Test("has a line for each finding of a bench, and one for its cure", arguments: [true, false])
  func symptoms(isPainted: Bool) {
    check { name in
      [Symptom.State.good, .note, .bad].map {
        Symptom($0, name(), name(), cure: name()).text(Painter(isOn: isPainted))
      }
      .joined(separator: "\n")
    }
  }

  @Test("has a line for each thing of a night", arguments: [true, false])
  func night(isPainted: Bool) throws {
    let folder = try Command.Folder()
    try folder.write("bench.yaml", "bench: floor\nlocks: [{ name: front, device: \"emulator:sesame5\" }]\n")
    try folder.write("plan.yaml", "nightly: N\nduration: 1 h\nsuites: [{ name: a, scenarios: none.yaml }]\n")
    let lab = try NightlyLab(folder.path + "/plan.yaml", bench: folder.path + "/bench.yaml")
    var reports = ReportPlaces()
    reports.out = folder.path + "/Reports"
    let place = try NightlyFolder(new: "plan.yaml", reports: reports, cases: 0, command: [], seed: 1)
    let runs = NightlyRuns(lab, folder: place.folder.path, seed: 1)
    var minimum = MinimumVerdicts()
    minimum.failsSkipped = true
    check { name in
      let locks = [
        NightLock(name: name(), dongles: ["d"]),
        NightLock(name: name() + "2", dongles: ["d"], outOfUse: name()),
      ]
      let endings: [Record.Ending] = [.agreed, .flaky, .diverged, .unmet, .labFault, .skipped]
      let results =
        endings.map { NightResult($0, name()) } + [
          NightResult(notRun: .time, name()), NightResult(.diverged, name()),
        ]
      let cases = results.indices.map { number in
        NightCase(
          identity: "\(number)", suite: name(), file: name(), lock: locks[0].name,
          quarantine: number < results.count - 1 ? nil : name())
      }
      let record =
        results.enumerated().map { NightLine.done("\($0)", $1, at: .zero) }
        + [.out(.dongle("d"), why: name(), at: .zero)]
      let night = Night(
        NightSettings(lab.plan, processes: 1), name: name(), cases: cases, locks: locks,
        dongles: [NightDongle(name: "d")], resuming: record)
      let report = NightlyReport(night, runs, place, took: .zero, minimum)
      return report.text(Painter(isOn: isPainted), reports: [name()])
    }
  }

  @Test("is coloured by us alone")
  func colours() {
    let paint = Painter(isOn: true)
    expect("\u{1B}[31mred\u{1B}[0m".inert, #"\u{1B}[31mred\u{1B}[0m"#)
    expect(paint(.bad, "red").inert, "\u{1B}[31mred\u{1B}[0m")
    expect(paint(.bad, "\u{1B}[32mgreen").inert, "\u{1B}[31m\\u{1B}[32mgreen\u{1B}[0m")
    // A mark is as wide as nothing, as what comes of it is.
    expect(visibleWidth(paint(.faint, "four")), 4)
  }

  @Test("begins no line with what a journal of somebody else's says, and its last line takes no verdict back")
  func report() throws {
    let folder = try Command.Folder()
    let lines = [
      #"{"run":{"format":1,"seed":1,"cases":1}}"#, #"{"case":{"id":"a\n::set-env name=A::b"}}"#,
      #"{"verdict":"divergence","case":"a\n::set-env name=A::b","t":"1.000","message":"x\n::stop-commands::y\r\n::error::z","replay":"lockstep\n::add-mask::x"}"#,
      #"{"end":{"cases":1,"agree":1,"status":0}}"#,
    ]
    try folder.write("run/journal.jsonl", lines.joined(separator: "\n") + "\n")
    let result = try Command.call("report", "run", "--history", "none", in: folder.path)
    expect(result.status, 1)
    let told = (result.output + "\n" + result.errors).split(whereSeparator: \.isNewline)
    expect(told.filter { $0.drop { $0 == " " }.hasPrefix("::") }, [])
    #expect(
      told.contains(#"✘ a\n::set-env name=A::b"#)
        && told.contains(#"    · ::stop-commands::y\r\n::error::z"#), "\(told)")
  }

  @Test("has a name in one line")
  func lines() {
    expect("a\n✔ all agree\r\nb\rc".inOneLine, "a\\n✔ all agree\\r\\nb\\rc")
  }
}
