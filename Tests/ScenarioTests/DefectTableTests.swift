@testable import Devices
import Journal
import SesameDevice
import Conformance
import Emulator
import Foundation
import Harness
import TestSupport
import Testing

@testable import lockstep

/// The table of the emulated lock's documentation that says which scenario shows which defect.
@Suite("The table of defects")
struct DefectTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var defect: String
    var scenario: String
    var generation: String
    /// Whether the scenario is to need nobody beside the lock.
    var isAlone = false

    var testDescription: String { "\(defect) on \(generation)" }
  }

  static let rows: [Row] = {
    let path = Suite.root + "/Sources/Emulator/Emulator.docc/Defects.md"
    let text = (try? String(contentsOf: URL(filePath: path), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
      let cells = line.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } }
      return ["sesame3", "sesame5"].flatMap { generation in
        [
          Row(defect: cells[0], scenario: cells[2], generation: generation),
          Row(defect: cells[0], scenario: cells[3], generation: generation, isAlone: true),
        ]
      }
    }
  }()

  /// The rows that name a scenario, and the defects for which there is none that any lock can be given.
  private static let shown = rows.filter { !$0.scenario.hasPrefix("no:") }
  private static let hidden = rows.filter { $0.scenario.hasPrefix("no:") }

  @Test("it has a row for every defect, and all but five are seen without a hand")
  func count() {
    expect(Self.rows.count, 4 * 51)
    expect(
      Self.hidden.filter { $0.isAlone && $0.generation == "sesame5" }.map(\.defect),
      [
        "jam-reported-as-locked", "stale-status-after-hand-turn", "rest-unpublished-after-turnabout",
        "dead-until-power-cycle", "battery-wraps-at-zero",
      ])
    expect(Self.hidden.count, 2 * 5)
  }

  @Test("what any lock can be given needs nobody beside it", arguments: shown.filter(\.isAlone))
  func needsNobody(row: Row) throws {
    let item = try #require(
      Suite.items.first { $0.path.hasSuffix("Scenarios/\(row.generation)/\(row.scenario).yaml") })
    let needs = item.scenario.steps.flatMap(\.needs)
    let own = ClientDevice<DirectLink>.requestNames(of: nil) + ClientDevice<DirectLink>.misbehaviourNames
    expect(needs.filter { !own.contains($0) }, [])
    expect(
      item.scenario.start.settings.map(\.name).filter { !LockFamily.sesame.startSettings.contains($0) }, [])
  }

  @Test("the scenario that it names fails with the defect", arguments: shown)
  func shows(row: Row) throws {
    let world = World()
    let items = Suite.items.filter { $0.path.hasSuffix("Scenarios/\(row.generation)/\(row.scenario).yaml") }
    expect(items.count, 1)
    var selection = Plan.Selection()
    selection.device = DeviceSpec(
      .emulator, row.generation, [DeviceSpec.Setting("defect", row.defect)])
    let run = Run(
      try Plan(ScenarioSet(items), selection, provider: world.devices), in: [RunWorker(world.devices)],
      listener: CaseJournal())
    expect(run.perform().tally.failures, 1)
  }
}

extension Step {
  /// The stimuli and the faults that a step needs.
  fileprivate var needs: [String] {
    switch action {
    case .perform(let call), .performNow(let call), .refuse(let call): [call.name]
    case .fault(let fault): [fault.name]
    case .repeated(_, let steps): steps.flatMap(\.needs)
    case .wait, .settle, .next, .expect, .until, .fuzz, .note: []
    }
  }
}
