import Basics
import Conformance
import Documents
import Journal
import TestSupport
import Testing

@testable import Harness

private func plan(
  _ scenarios: [String], device: String? = nil, seed: UInt64 = 0, overrides: Bool = false, rounds: Int = 1,
  filter: String? = nil
) throws -> [Case] {
  let provider = ToyProvider()
  let machines = toyMachines()
  let reader = ScenarioReader(machines: machines, provider: provider)
  let items = try scenarios.enumerated().map { number, text in
    let path = "toys/\(number).yaml"
    let scenario = try reader.read(Array(("scenario: Title \(number)\n" + text).utf8), path: path)
    return ScenarioSet.Item(
      path: path, scenario: scenario, machine: try machines.machine(scenario.machine, in: "toys"))
  }
  var selection = Plan.Selection()
  selection.device = try device.map { try DeviceSpec(text: $0) }
  selection.seed = seed
  selection.seedOverrides = overrides
  selection.rounds = rounds
  selection.filters = try filter.map { [try ScenarioFilter($0)] } ?? []
  return Array(try Plan(ScenarioSet(items), selection, provider: provider).cases)
}

private let steps = "steps: [open]\n"

@Suite("Planning a run")
struct PlanTests {
  @Test("a case is told everything that its start takes for granted")
  func start() throws {
    let test = try plan(["device: { lock: oak, paint: red }\n" + steps])[0]
    expect(test.id, "toys/0")
    expect(test.device, DeviceSpec(.emulator, "oak", [.init("paint", "red")]))
    expect(test.start, StartCondition([Argument("ajar", .flag(false))]))
  }

  /// A scenario's device, the one that takes its place, and the case's device or why it is skipped.
  // swift-format-ignore
  static let replacements: [(own: String, other: String, result: String)] = [
    ("device: oak\n" + steps, "oak?defect=loud", "emulator:oak?defect=loud"),
    ("device: { lock: oak, paint: red, defect: silent }\n" + steps, "emulator:oak", "emulator:oak?paint=red"),
    ("device: { lock: oak, paint: red }\n" + steps, "oak?paint=blue", "emulator:oak?paint=blue"),
    ("device: { lock: oak, paint: red }\n" + steps, "exec:./door", "needs the option paint, which ./door does not have"),
    ("device: oak\n" + steps, "glass", "written for the family wooden doors; glass is of the family glass doors"),
    ("device: oak\n" + steps, "hatch", "hatch cannot be compared with the machine door"),
    ("device: oak\n" + steps, "exec:./door", "exec:./door"),
    ("device: oak\nsteps: [fault: wind]\n", "exec:./door", "needs the fault wind, which ./door cannot inject"),
    ("device: oak\nsteps: [open, expect: { effect: ring }]\n", "exec:./door", "needs effects, which ./door does not show"),
    ("device: oak\nsteps: [repeat: { times: 2, steps: [expect: { battery: 5 }] }]\n", "exec:./door", "needs the reading battery, which ./door does not report"),
    ("machine: own.yaml\ndevice: exec:x\n" + steps, "exec:./door", "exec:./door"),
  ]

  @Test("another device takes the place of a scenario's own where it can", arguments: replacements)
  func replacement(own: String, other: String, result: String) throws {
    let test = try plan([own], device: other)[0]
    expect(test.skipReason ?? test.device.description, result)
  }

  @Test(
    "a case is told apart by what its device was given beside what it asks for, and by another emulated lock",
    arguments: [
      ("oak", "oak", nil), ("oak", "oak?defect=loud&paint=red", "defect=loud&paint=red"),
      ("oak", "glass", "lock=glass"), ("oak", "glass?ajar=true", "ajar=true&lock=glass"),
      ("oak", "exec:./door", nil), ("exec:x", "exec:./door", nil), ("exec:x", "oak", nil),
    ])
  func identity(own: String, other: String, settings: String?) throws {
    expect(try plan(["machine: door\ndevice: \(own)\n" + steps], device: other)[0].record.settings, settings)
  }

  @Test("start settings of another device hold in place of the scenario's")
  func replacedStart() throws {
    let test = try plan(["device: { lock: oak, ajar: false }\n" + steps], device: "oak?ajar=true")[0]
    expect(test.start, StartCondition([Argument("ajar", .flag(true))]))
  }

  @Test(
    "what is wrong with the other device is said once",
    arguments: [
      ("oka", "unknown device `oka`: did you mean `oak`?"),
      ("oak?pain=red", "unknown setting `pain`: did you mean `paint`?"),
      ("oak?defect=lod", "unknown defect `lod`: did you mean `loud`?"), ("emulator:", "no device is named"),
      ("exec:", "nothing follows `exec:`"), ("oak?=3", "a setting without a name: `=3`"),
    ])
  func wrong(device: String, message: String) {
    #expect { try plan(["device: oak\n" + steps], device: device) } throws: { "\($0)" == message }
  }

  @Test("a scenario without any device needs one")
  func none() throws {
    #expect { try plan(["machine: own.yaml\n" + steps]) } throws: {
      "\($0)"
        == "toys/0.yaml names no device, and the machine `toys/own.yaml` has no default device: give one with --device"
    }
    expect(try plan(["machine: own.yaml\n" + steps], device: "exec:x")[0].skipReason, nil)
  }

  @Test(
    "seeds come from the command line, the scenario or the run, in this order, and each round has its own")
  func seeds() throws {
    let scenarios = ["device: oak\nseed: 5\n" + steps, "device: oak\n" + steps]
    expect(try plan(scenarios, seed: 7).map(\.seed), [5, 7])
    expect(try plan(scenarios, seed: 7, overrides: true).map(\.seed), [7, 7])
    let rounds = try plan([scenarios[1]], seed: 7, rounds: 3)
    expect(rounds.map(\.id), ["toys/0#1", "toys/0#2", "toys/0#3"])
    expect(Set(rounds.map(\.seed)).count, 3)
    expect(rounds[0].seed, 7)
    expect(try plan([scenarios[1]], seed: 7, rounds: 3).map(\.seed), rounds.map(\.seed))
  }

  @Test("a filter looks at path, title and tags, in any case")
  func filter() throws {
    let scenarios = ["device: oak\n" + steps, "device: oak\ntags: [Slow]\n" + steps]
    expect(try plan(scenarios, filter: "slow").map(\.id), ["toys/1"])
    expect(try plan(scenarios, filter: "TITLE 0").map(\.id), ["toys/0"])
    expect(try plan(scenarios, filter: "toys/").map(\.id), ["toys/0", "toys/1"])
    expect(try plan(scenarios, filter: "none").map(\.id), [])
  }

  @Test("a case stands alone in another folder")
  func standalone() throws {
    let test = try plan(["machine: own.yaml\ndevice: exec:x\n" + steps], device: "exec:y", seed: 9)[0]
    let scenario = test.standalone(in: "Reports/failures")
    expect(scenario.machine, "../../toys/own.yaml")
    expect(scenario.device, DeviceSpec(.exec, "y"))
    expect(scenario.seed, 9)
  }

  @Test(
    "a case that stands alone names the option that its device was given, whatever its text",
    arguments: ["", "red", "a: b # [c]", "null", "yes", "007"])
  func option(value: String) throws {
    let test = try plan(["device: oak\n" + steps], device: "emulator:oak?paint=\(value)")[0]
    let text = test.standalone(in: "toys").yaml()
    let reader = ScenarioReader(machines: toyMachines(), provider: ToyProvider())
    let device = DeviceSpec(.emulator, "oak", [.init("paint", value)])
    expect(test.device, device)
    expect(try reader.read(Array(text.utf8), path: "toys/a.yaml").device, device)
  }
}
