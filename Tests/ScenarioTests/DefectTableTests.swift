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

    var testDescription: String { "\(defect) on \(generation)" }
  }

  static let rows: [Row] = {
    let path = Suite.root + "/Sources/Emulator/Emulator.docc/Defects.md"
    let text = (try? String(contentsOf: URL(filePath: path), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
      let cells = line.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } }
      return ["sesame3", "sesame5"].map { Row(defect: cells[0], scenario: cells[2], generation: $0) }
    }
  }()

  @Test("it has a row for every defect")
  func count() {
    expect(Self.rows.count, 2 * 27)
  }

  @Test("the scenario that it names fails with the defect", arguments: rows)
  func shows(row: Row) throws {
    let world = World()
    let items = Suite.items.filter { $0.path.hasSuffix("Scenarios/\(row.generation)/\(row.scenario).yaml") }
    expect(items.count, 1)
    var selection = Plan.Selection()
    selection.device = DeviceSpec(
      .emulator, row.generation, [DeviceSpec.Setting("defect", row.defect)])
    let run = Run(
      try Plan(ScenarioSet(items), selection, provider: world.devices), provider: world.devices,
      listener: Journal())
    expect(run.perform().tally.divergences, 1)
  }
}
