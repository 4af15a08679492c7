import Basics
import Conformance
import Harness
import Journal
import TestSupport
import Testing

@testable import Devices
@testable import lockstep

/// Keeps what is written down.
private final class Records: JournalListener {
  private(set) var all: [Record] = []

  func take(_ record: Record) { all.append(record) }

  /// Each case, with how it ended and what it showed.
  var verdicts: [String] {
    all.compactMap { record in
      guard case .verdict(let verdict) = record else { return nil }
      let shown = verdict.shown.map { "\($0)" } + (verdict.message.map { [$0] } ?? [])
      return ([verdict.id, verdict.word.rawValue] + shown).joined(separator: " | ")
    }
  }
}

@Suite("A choice that a device makes once, over the cases of a run")
struct DeviceChoiceRunTests {
  /// Cases in which an autolock time is set while the bolt rests unlocked, or nothing is.
  private static func item(_ name: String) throws -> ScenarioSet.Item {
    let delays: [Character: String] = ["s": "8 s", "l": "15 s"]
    let set = delays[name.first ?? " "].map { "  - setAutolock: \($0)\n  - wait: 25 s\n" } ?? ""
    let text = """
      scenario: \(name)
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true, bolt: unlocked }
      steps:
        - closeTo
        - connect
        - until: { status: unlocked }
      \(set)
      """
    let world = World()
    let scenario = try world.reader.read(Array(text.utf8), path: "\(name).yaml")
    return ScenarioSet.Item(
      path: "\(name).yaml", scenario: scenario, machine: try world.machines.machine("sesame"))
  }

  private func plan(_ names: [String], _ setting: (String, String), world: World) throws -> Plan {
    var selection = Plan.Selection()
    selection.seed = 1
    selection.device = DeviceSpec(.emulator, "sesame5", [DeviceSpec.Setting(setting.0, setting.1)])
    return try Plan(ScenarioSet(names.map(Self.item)), selection, provider: world.devices)
  }

  private func run(
    _ names: [String], _ setting: (String, String), workers: Int = 1, earlier: Run.Earlier = Run.Earlier(),
    stopAfter: Int = .max
  ) throws -> (records: Records, summary: Run.Summary) {
    let worlds = (0..<workers).map { _ in World() }
    let records = Records()
    var begun = 0
    let run = Run(
      try plan(names, setting, world: worlds[0]), in: worlds.map { RunWorker($0.devices) }, listener: records,
      earlier: earlier,
      isStopped: {
        begun += 1
        return begun > stopAfter
      })
    return (records, run.perform())
  }

  private static let contradiction =
    "the device changed its choice of autolock-start, which a device makes once: here it showed "

  /// What a lock does, the order of the cases, and what comes of them.
  static let tables: [(setting: String, value: String, cases: [String], verdicts: [String])] = [
    (
      "autolock-start", "at-once", ["nothing", "short", "long"],
      [
        "nothing | agree", "short | agree | autolock-start is at-once",
        "long | agree | autolock-start is at-once",
      ]
    ),
    (
      "autolock-start", "next-unlocking", ["short", "long", "nothing"],
      [
        "short | agree | autolock-start is next-unlocking", "long | agree | autolock-start is next-unlocking",
        "nothing | agree",
      ]
    ),
    (
      "defect", "autolock-start-varies", ["short", "nothing", "long", "short-again"],
      [
        "short | agree | autolock-start is at-once", "nothing | agree",
        "long | divergence | autolock-start is next-unlocking | \(contradiction)next-unlocking, and it is held to at-once, which it showed in short",
        "short-again | agree | autolock-start is at-once",
      ]
    ),
    (
      "defect", "autolock-start-varies", ["long", "short", "long-again"],
      [
        "long | agree | autolock-start is next-unlocking",
        "short | divergence | autolock-start is at-once | \(contradiction)at-once, and it is held to next-unlocking, which it showed in long",
        "long-again | agree | autolock-start is next-unlocking",
      ]
    ),
  ]

  @Test(
    "a device is held to what it showed in the order of the plan, in however many workers", arguments: tables)
  func order(setting: String, value: String, cases: [String], verdicts: [String]) throws {
    for workers in [1, 2, 3] {
      let (records, summary) = try run(cases, (setting, value), workers: workers)
      expect(records.verdicts, verdicts)
      expect(summary.tally.divergences, verdicts.count { $0.contains("divergence") })
      expect(summary.choices.map(\.shown.choice), ["autolock-start"])
    }
  }

  @Test("a run that is taken up again holds the device to what it showed before")
  func resumed() throws {
    let (cases, setting) = (["short", "nothing", "long"], ("defect", "autolock-start-varies"))
    let whole = try run(cases, setting).records.verdicts
    let folder = TestFolder()
    let first = try run(["short"], setting).records
    folder.write("journal.jsonl", first.all.map { $0.line() + "\n" }.joined())
    let progress = try RunProgress(journal: folder.path + "/journal.jsonl")
    var earlier = Run.Earlier()
    (earlier.isThere, earlier.judged, earlier.choices) = (true, [ExactText("short")], progress.choices)
    expect(first.verdicts + (try run(cases, setting, earlier: earlier).records.verdicts), whole)
  }

  @Test("a case that is saved with what the device is held to shows the contradiction alone")
  func assumed() throws {
    for (value, verdict) in [
      ("next-unlocking", "\(Self.contradiction)next-unlocking, and it is held to at-once"), ("at-once", nil),
    ] {
      var item = try Self.item("short")
      item.scenario.assumed = ["at-once"]
      item.scenario.device?.settings.append(DeviceSpec.Setting("autolock-start", value))
      let text = item.scenario.yaml()
      #expect(text.contains("assume: [at-once]"))
      expect(try World().reader.read(Array(text.utf8), path: "short.yaml"), item.scenario)
      expect(try Suite.run(item, World()).verdict?.message, verdict)
    }
  }
}
