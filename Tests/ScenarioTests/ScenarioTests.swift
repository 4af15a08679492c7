@testable import Devices
import Journal
import Basics
import Automata
import Conformance
import Documents
import FoundationEssentials
import Harness
import Models
import TestSupport
import Testing

@testable import lockstep

@Suite("Scenarios")
struct ScenarioTests {
  @Test("the scenario agrees with its device, and would not with a wrong one", arguments: Suite.files)
  func agreesAndCanFail(file: String) throws {
    let world = World()
    let item = try #require(Suite.items.first { $0.path == Suite.root + "/" + file })
    let healthy = try Suite.run(item, world)
    #expect(healthy.agrees, "\(healthy.ending)")
    #expect(try killer(of: item, healthy, world) != nil, "no defect and no wrong transition makes it fail")
  }

  @Test("a scenario of a lock agrees over the air too", arguments: Suite.filesOverAir.filter(Suite.isOfLock))
  func agreesOverAir(file: String) throws {
    let journal = try Suite.runOverAir(file)
    #expect(journal.agrees, "\(journal.ending)")
  }

  @Test("a scenario of the socket agrees over the air too, unless it needs what no air can do")
  func socketOverAir() throws {
    var endings: [String: Int] = [:]
    for file in Suite.filesOverAir where !Suite.isOfLock(file) {
      let journal = try Suite.runOverAir(file)
      endings[journal.verdict?.message ?? "agree", default: 0] += 1
    }
    expect(
      endings,
      [
        "agree": 28, "needs the stimulus unauthorized, which socket does not have": 7,
        "not possible with this device: no central has found the socket, which was not advertised yet": 5,
      ])
  }

  /// What makes a scenario fail: a defect of its device, else one wrong transition of its machine.
  private func killer(of item: ScenarioSet.Item, _ healthy: CaseJournal, _ world: World) throws -> String? {
    let device = try #require(item.scenario.device)
    for defect in EmulatedDevice.named(device.name)?.defects ?? [] {
      var wrong = item
      wrong.scenario.device?.settings.append(DeviceSpec.Setting("defect", defect))
      if try !Suite.run(wrong, world).agrees { return defect }
    }
    let mutants = Mutants(of: item.machine.machine)
    for number in Self.numbers(of: mutants, item.machine.machine, tried: healthy.tried) {
      let mutant = mutants[number]
      var wrong = item
      wrong.machine = MachineLibrary.Entry(label: item.machine.label, machine: mutant.machine)
      if try !Suite.run(wrong, world).agrees { return mutant.summary }
    }
    return nil
  }

  /// The mutants that are wrong where a scenario passes by: for every stimulus that was given, the newest first, and
  /// every state of the status that was shown then, the first of each kind.
  private static func numbers(
    of mutants: Mutants, _ machine: Machine, tried: [(status: String?, stimulus: String)]
  ) -> [Int] {
    var cells: [[Int]] = Array(repeating: [], count: machine.stateCount * machine.eventCount)
    for number in mutants.indices {
      let (state, stimulus) = mutants.place(of: number)
      guard let stimulus else { continue }
      let cell = state * machine.eventCount + stimulus
      if !cells[cell].contains(where: { mutants.kind(of: $0) == mutants.kind(of: number) }) {
        cells[cell].append(number)
      }
    }
    return tried.reversed().flatMap { status, stimulus -> [Int] in
      guard let event = machine.event(named: stimulus) else { return [] }
      let states = machine.definition.states.indices.filter { state in
        status == nil || machine.definition.states[state].status == status
      }
      return states.flatMap { state in
        // What was tried already need not be again.
        defer { cells[state * machine.eventCount + event] = [] }
        return cells[state * machine.eventCount + event]
      }
    }
  }

  @Test("every file is read without a problem")
  func wellFormed() {
    expect(Suite.problems, [])
    #expect(Suite.items.count >= 50)
  }

  @Test("every legal cell of the tables is visited, and every empty one of sesame-table")
  func coverage() throws {
    let world = World()
    let journal = CaseJournal()
    let plan = try Plan(ScenarioSet(Suite.items), Plan.Selection(), provider: world.devices)
    let coverage = Run(plan, in: [RunWorker(world.devices)], listener: journal).perform().coverage
    let table = try #require(coverage.first { $0.machine == "sesame-table" })
    expect(table.missing(in: table.record), [])
    expect(table.summary, "36 of 37 transitions covered, 177 of 177 forbidden requests tried")
  }

  @Test("the schema in the repository is the one that the command prints")
  func schemaIsCurrent() throws {
    let path = Suite.root + "/Scenarios/schema/scenario.schema.json"
    let saved = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    #expect(saved == Scenario.schema.indented, "run: lockstep schema > Scenarios/schema/scenario.schema.json")
  }

  /// Each device that some scenario is written for, the first of its family, with each of its defects.
  static let defects: [(device: String, defect: String)] = {
    var families = Set<String>()
    let names = Suite.items.compactMap { $0.scenario.device?.name }
    return EmulatedDevice.all
      .filter { names.contains($0.name) && families.insert($0.family).inserted }
      .flatMap { device in device.defects.map { (device.name, $0) } }
  }()

  @Test("every defect makes some scenario fail", arguments: defects)
  func defectIsFound(device: String, defect: String) throws {
    let world = World()
    let items = Suite.items.filter { item in
      item.scenario.device.flatMap { EmulatedDevice.named($0.name)?.family }
        == EmulatedDevice.named(device)?.family
    }
    var selection = Plan.Selection()
    selection.device = DeviceSpec(.emulator, device, [DeviceSpec.Setting("defect", defect)])
    let journal = CaseJournal()
    let run = Run(
      try Plan(ScenarioSet(items), selection, provider: world.devices), in: [RunWorker(world.devices)],
      listener: journal, isStopped: { journal.diverges })
    #expect(run.perform().tally.failures > 0)
  }
}
