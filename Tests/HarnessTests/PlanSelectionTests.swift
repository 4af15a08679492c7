import Basics
import Conformance
import TestSupport
import Testing

@testable import Harness

@Suite("The cases of a plan")
struct PlanSelectionTests {
  /// Ten scenarios, `0.yaml` to `9.yaml`, of which the even ones have a tag.
  private static func cases(_ change: (inout Plan.Selection) -> Void) throws -> [Case] {
    let provider = ToyProvider()
    let reader = ScenarioReader(machines: toyMachines(), provider: provider)
    let machine = try toyMachines().machine("door")
    let items = try (0..<10).map { number in
      let tags = number % 2 == 0 ? "tags: [even]\n" : ""
      let text = "scenario: Title \(number)\n\(tags)device: oak\nsteps: [open]\n"
      return ScenarioSet.Item(
        path: "\(number).yaml", scenario: try reader.read(Array(text.utf8), path: "\(number).yaml"),
        machine: machine)
    }
    var selection = Plan.Selection()
    change(&selection)
    return Array(try Plan(ScenarioSet(items), selection, provider: provider).cases)
  }

  /// What is selected, and the ids of the cases in their order.
  // swift-format-ignore
  static let selections: [(change: @Sendable (inout Plan.Selection) throws -> Void, ids: String)] = [
    ({ _ in }, "0 1 2 3 4 5 6 7 8 9"),
    ({ $0.filters = [try ScenarioFilter("path(3)"), try ScenarioFilter("path(1)")] }, "1 3"),
    ({ $0.filters = [try ScenarioFilter("none()")] }, ""),
    // What failed is named without its extension.
    ({ $0.failed = (["7", "2"], .only) }, "2 7"), ({ $0.failed = (["7", "2"], .first) }, "2 7 0 1 3 4 5 6 8 9"),
    ({ $0.failed = (["7.yaml"], .only) }, "0 1 2 3 4 5 6 7 8 9"),
    // Where none of the selected scenarios failed, all of them run: an empty run would look like success.
    ({ $0.failed = (["11"], .only) }, "0 1 2 3 4 5 6 7 8 9"), ({ $0.failed = ([], .only) }, "0 1 2 3 4 5 6 7 8 9"),
    ({ $0.filters = [try ScenarioFilter("tag(even)")]; $0.failed = (["7"], .only) }, "0 2 4 6 8"),
    ({ $0.filters = [try ScenarioFilter("tag(even)")]; $0.failed = (["7", "4"], .only) }, "4"),
    ({ $0.leading = ["8.yaml", "3.yaml"] }, "3 8 0 1 2 4 5 6 7 9"), ({ $0.leading = ["8"] }, "0 1 2 3 4 5 6 7 8 9"),
    ({ $0.leading = ["8.yaml"]; $0.failed = (["7", "8", "1"], .first) }, "8 1 7 0 2 3 4 5 6 9"),
    ({ $0.shard = (1, 3) }, "0 3 6 9"), ({ $0.shard = (3, 3) }, "2 5 8"), ({ $0.shard = (11, 11) }, ""),
    // A part is one of what is selected, in the order in which it runs.
    ({ $0.filters = [try ScenarioFilter("tag(even)")]; $0.shard = (2, 2) }, "2 6"),
    ({ $0.leading = ["9.yaml"]; $0.shard = (1, 5) }, "9 4"),
    ({ $0.failed = (["7", "2", "5"], .only); $0.rounds = 2; $0.shard = (1, 2) }, "2#1 2#2 7#1 7#2"),
  ]

  @Test(
    "filters, earlier failures, precedence and parts select the cases in this order",
    arguments: selections.indices)
  func selection(index: Int) throws {
    let (change, ids) = Self.selections[index]
    var selection = Plan.Selection()
    try change(&selection)
    expect(try Self.cases { $0 = selection }.map(\.id).joined(separator: " "), ids)
  }

  @Test("every case is in exactly one part, whatever their number", arguments: 1...12)
  func parts(count: Int) throws {
    let all = try Self.cases { $0.rounds = 2 }.map(\.id)
    let parts = try (1...count).map { part in
      try Self.cases {
        $0.rounds = 2
        $0.shard = (part, count)
      }.map(\.id)
    }
    expect(parts.joined().sorted(), all.sorted())
    #expect(parts.map(\.count).max()! - parts.map(\.count).min()! <= 2)
  }

  @Test("a case is the same test of the same device if its digest is the same")
  func digest() throws {
    let test = try #require(try Self.cases { $0.seed = 3 }.first)
    func digest(_ change: (inout Case) -> Void) -> String {
      var other = test
      change(&other)
      return other.digest
    }
    let same = [
      digest { $0.id = "x" }, digest { $0.file = "x.yaml" }, digest { $0.attempt = 2 },
      digest { $0.skipReason = "cold" }, digest { $0.text = "x" }, digest { $0.scenario.line = 9 },
    ]
    expect(same, same.map { _ in test.digest })
    let others = [
      digest { $0.seed = 4 }, digest { $0.firmware = "3.0" }, digest { $0.device.name = "glass" },
      digest { $0.device.settings = [.init("paint", "red")] }, digest { $0.scenario.steps = [Step(.settle)] },
      digest { $0.start.settings = [Argument("ajar", .flag(true))] },
      digest { $0.scenario.assumed = ["slow"] },
    ]
    expect(Set(others + [test.digest]).count, others.count + 1)
  }

  @Test(
    "a case has a name for files",
    arguments: [
      ("Scenarios/door/jam", "door-jam"), ("Scenarios/jam", "jam"), ("a/b/c#2", "b-c-2"), ("jam", "jam"),
      ("Scenarios/Türen/zu spät", "T-ren-zu-sp-t"),
    ])
  func slug(id: String, slug: String) throws {
    var test = try #require(try Self.cases { _ in }.first)
    test.id = id
    expect(test.slug, slug)
  }
}

@Suite("What a scenario needs of a program")
struct ProgramNeedsTests {
  private static func described(_ change: (inout DeviceDescription) -> Void = { _ in }) -> DeviceDescription {
    var description = DeviceDescription(
      family: nil, machines: nil,
      abilities: Abilities(
        stimuli: ["open", "close"], faults: ["wind"], settings: ["ajar"], showsEffects: true),
      readings: ["battery"])
    change(&description)
    return description
  }

  private static func skipReason(
    _ steps: String, start: String, _ description: DeviceDescription
  ) throws -> String? {
    let provider = ToyProvider()
    // It is read for a device that can do everything.
    provider.program = described { ($0.abilities.stimuli, $0.abilities.settings) = (nil, nil) }
    let reader = ScenarioReader(machines: toyMachines(), provider: provider)
    let text = "scenario: A door\nmachine: door\ndevice: { exec: ./door\(start) }\nsteps: [\(steps)]\n"
    let scenario = try reader.read(Array(text.utf8), path: "a.yaml")
    provider.program = description
    let item = ScenarioSet.Item(
      path: "a.yaml", scenario: scenario, machine: try toyMachines().machine("door"))
    return try Plan(ScenarioSet([item]), Plan.Selection(), provider: provider).cases[0].skipReason
  }

  /// Steps, a start setting, the device, and why the case is skipped.
  // swift-format-ignore
  static let needs: [(steps: String, start: String, device: DeviceDescription, reason: String?)] = [
    ("open, close, fault: wind", "", described(), nil),
    ("tire", "", described(), "needs the stimulus tire, which ./door does not have"),
    ("now: tire", "", described(), "needs the stimulus tire, which ./door does not have"),
    ("refuse: tire", "", described(), "needs the stimulus tire, which ./door does not have"),
    ("repeat: { times: 2, steps: [open, tire] }", "", described(), "needs the stimulus tire, which ./door does not have"),
    ("tire", "", described { $0.abilities.stimuli = nil }, nil),
    ("open", "", described { $0.withheld = [("open", "it needs --allow open")] }, "needs the stimulus open: it needs --allow open"),
    ("fault: wind", "", described { $0.abilities.faults = [] }, "needs the fault wind, which ./door cannot inject"),
    ("fault: { wind: 3 }", "", described { $0.reason = { $0.value == .integer(3) ? "too strong" : nil } }, "needs the fault wind 3: too strong"),
    ("fault: { wind: 2 }", "", described { $0.reason = { $0.value == .integer(3) ? "too strong" : nil } }, nil),
    ("open", ", ajar: true", described { $0.abilities.settings = [] }, "needs the start setting ajar, which ./door does not support"),
    ("open", ", ajar: true", described { $0.given = [Argument("ajar", .flag(false))] }, "needs ajar: yes at the start, but ./door starts with ajar: no"),
    ("open", ", ajar: true", described { $0.given = [Argument("ajar", .flag(true))] }, nil),
    ("expect: { effect: ring, within: 1 s }", "", described { $0.abilities.showsEffects = false }, "needs effects, which ./door does not show"),
    ("expect: { status: closed, battery: 5 }", "", described { $0.readings = [] }, "needs the reading battery, which ./door does not report"),
    // A device that did not report its abilities lacks nothing: each of its tests ends with its fault.
    ("tire, fault: wind", "", described { $0.abilities.stimuli = []; $0.abilities.faults = []; $0.abilities.areUnknown = true }, nil),
  ]

  @Test("a case is skipped for what its device lacks, with the reason", arguments: needs.indices)
  func reason(index: Int) throws {
    let (steps, start, device, reason) = Self.needs[index]
    expect(try Self.skipReason(steps, start: start, device), reason)
  }
}
