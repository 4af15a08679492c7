import Automata
import Basics
import Devices
import Documents
import Foundation
import Harness
import Models
import TestSupport
import Testing

/// Files of one test, which go with it.
private final class Files {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "lockstep-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ name: String, _ text: String) throws -> String {
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path
  }
}

/// Steps, and whether they have the form of steps.
private typealias Steps = [(step: String, isValid: Bool)]

/// Holds the steps, each in a scenario by itself, against a schema.
private func check(_ steps: Steps, against schema: String, machine: String, in files: Files) throws {
  let paths = try steps.enumerated().map { number, step in
    try files.write("\(number)", "scenario: A\nmachine: \(machine)\nsteps:\n  - \(step.step)\n")
  }
  let lines = validate(paths, against: schema)
  expect(lines.count, steps.count)
  for (line, step) in zip(lines, steps) {
    #expect(line.hasSuffix(" valid") == step.isValid, "\(machine): \(step.step): \(line)")
  }
}

@Suite("The JSON Schema of scenarios", .enabled(if: hasSchemaValidator))
struct SchemaTests {
  private let schema = Suite.root + "/Scenarios/schema/scenario.schema.json"

  @Test("every scenario is valid")
  func scenarios() {
    let lines = validate(Suite.items.map(\.path), against: schema)
    expect(lines.count, Suite.items.count)
    expect(lines.filter { !$0.hasSuffix(" valid") }, [])
  }

  /// Names are not the schema's business.
  // swift-format-ignore
  private static let steps: Steps = [
    ("connect", true), ("setAutolock: 10 s", true), ("lock: { tag: Alice }", true), ("connect:", false),
    ("until: { status: locked }", true), ("until: { status: [locked, moved], within: 7.5 ms }", true),
    ("until: { within: 3 s }", false), ("until: { status: locked, within: 3 }", false), ("until: locked", false),
    ("expect: { status: locked, for: 5 s }", true), ("expect: { refused: true }", true), ("expect: { refused: no way }", true),
    ("expect: { battery: 5.9 }", true), ("expect: { battery: { above: 5, below: 6 } }", true),
    ("expect: { battery: { over: 5 } }", false), ("expect: { quiet: 3 s }", true), ("expect: { quiet: soon }", false),
    ("wait: 3 s", true), ("wait: 3", false), ("wait: [3 s]", false), ("wait: 3 weeks", false),
    ("fault: jam", true), ("fault: { drop: next-notification }", true), ("fault: { a: 1, b: 2 }", false),
    ("refuse: lock", true), ("refuse: { lock: { tag: A } }", true), ("refuse: [lock]", false), ("now: disconnect", true),
    ("repeat: { times: 3, steps: [lock, wait: 1 s] }", true), ("repeat: { times: 0, steps: [lock] }", false),
    ("repeat: { times: 3 }", false), ("repeat: { times: 3, steps: [wait: 3] }", false), ("note: text", true),
    ("note: [a]", false), ("{ lock: , unlock: }", false), ("[lock]", false),
    ("fuzz: { events: 9, levels: [events, link] }", true), ("fuzz: { events: 9, levels: lnik }", false),
  ]

  @Test("the schema and the reader have the same grammar")
  func grammar() throws {
    try check(Self.steps, against: schema, machine: "sesame", in: Files())
  }
}

@Suite("The JSON Schema of the scenarios of one machine", .enabled(if: hasSchemaValidator))
struct MachineScenarioSchemaTests {
  private let world = World()

  private func schema(_ machine: String, on device: String? = nil, in files: Files) throws -> String {
    let device = try device.map { try DeviceSpec(text: $0) }
    let schema = try Scenario.schema(
      of: try world.machines.machine(machine), on: device, provider: world.devices)
    return try files.write("schema.json", schema.indented)
  }

  @Test("every scenario of the machine is valid", arguments: MachineDefinition.catalog.map(\.name))
  func scenarios(machine: String) throws {
    let files = try Files()
    let paths = Suite.items.filter { $0.machine.label == machine }.map(\.path)
    #expect(!paths.isEmpty)
    let lines = validate(paths, against: try schema(machine, in: files))
    expect(lines.count, paths.count)
    expect(lines.filter { !$0.hasSuffix(" valid") }, [])
  }

  /// Steps of a machine, and whether all names in them are its own, or those of a device that goes with it.
  // swift-format-ignore
  private static let steps: [(machine: String, device: String?, steps: Steps)] = [
    ("sesame", nil, [
      ("connect", true), ("conect", false), ("conect: { tag: A }", false), ("lock: { tag: Alice }", true), ("lock: { tga: Alice }", false),
      ("connect: { tag: Alice }", false), ("setAutolock: 10 s", true), ("setAutolock: 10", false), ("gattReady", false), ("Open", false),
      ("until: { status: locked }", true), ("until: { status: [locked, moved] }", true), ("until: { status: lokced }", false),
      ("expect: { status: [locked, Opened] }", false), ("expect: { battery: 5.9 }", true), ("expect: { btatery: 5.9 }", false),
      ("expect: { battery: { above: 5 } }", true), ("expect: { effect: beep }", false),
      ("fault: jam", true), ("fault: { drop: next-notification }", true), ("fault: { jma: true }", false), ("fault: jma", false),
      ("refuse: lock", true), ("refuse: lcok", false), ("now: disconnect", true), ("now: { lock: { tag: A } }", true), ("now: { lcok: { tag: A } }", false),
      ("fuzz: { events: 9, weights: { unlock: 3, jam: 0 } }", true), ("fuzz: { events: 9, weights: { unlcok: 3 } }", false),
      ("repeat: { times: 3, steps: [lock, lcok] }", false),
      ("note: x\ndevice: sesame5", true), ("note: x\ndevice: emulator:sesame3?loss=0.1", true), ("note: x\ndevice: emulator:sesmae5", false),
      ("note: x\ndevice: door", false), ("note: x\ndevice: exec:python3 it.py", true), ("note: x\ndevice: lock:keys/it.yaml", true),
      ("note: x\ndevice: { lock: sesame5, registered: true, loss: 0.1 }", true), ("note: x\ndevice: { lock: keys/it.yaml }", true),
      ("note: x\ndevice: { lock: sesmae5 }", false), ("note: x\ndevice: { lock: sesame5, regstered: true }", false),
      ("note: x\ndevice: { exec: python3 it.py }", true), ("note: x\ndevice: { lock: sesame5, registered: 3 }", false),
    ]),
    ("sesame", "emulator:sesame5", [
      ("note: x\ndevice: sesame5", true), ("note: x\ndevice: sesame3", false), ("note: x\ndevice: exec:it", false), ("note: x\ndevice: { exec: it }", false),
    ]),
    ("door", nil, [
      ("Open", true), ("Opne", false), ("lock", false), ("until: { status: Opened }", true), ("until: { status: locked }", false),
      ("fault: jam", false), ("expect: { battery: 3 }", false),
    ]),
    ("door", "exec:python3 door.py", [("Open", true), ("Opne", false), ("note: x\ndevice: exec:it", true), ("note: x\ndevice: door", false)]),
  ]

  @Test("a name that is not the machine's is not valid", arguments: steps.indices)
  func names(index: Int) throws {
    let (machine, device, steps) = Self.steps[index]
    let files = try Files()
    try check(steps, against: try schema(machine, on: device, in: files), machine: machine, in: files)
  }

  @Test("what the machine of a file does not say may be anything, and what it says holds")
  func ofFile() throws {
    let files = try Files()
    let machine = try files.write(
      "gate.yaml",
      """
      machine: gate
      states: [Shut, Ajar]
      events: [push, { knock: { arguments: { times: { integer: [1, 9] }, by: [hand, foot] } } }, { blow: spontaneous }]
      conditions: [{ name: wind, faults: [storm] }]
      readings: { weight: number }
      starts: [{ state: Shut, when: { oiled: true } }]
      transitions:
        - { event: push, from: Shut, to: Ajar, first: creak }
        - { event: knock, from: [Shut, Ajar], to: "=" }
        - { event: blow, from: Ajar, to: Shut, given: wind }
      """)
    // swift-format-ignore
    try check([
      ("push", true), ("push: { hard: true }", true), ("psuh", false), ("knock: { times: 3 }", true), ("knock: { times: 10 }", false),
      ("knock: { by: nose }", false), ("knock: 3", false), ("fault: storm", true), ("fault: anything", true), ("expect: { weight: 3 }", true),
      ("expect: { weight: heavy }", false), ("expect: { height: 3 }", true), ("expect: { effect: creak }", true), ("expect: { effect: craek }", false),
      ("note: x\ndevice: { exec: it, oiled: true, other: 3 }", true), ("note: x\ndevice: { exec: it, oiled: 3 }", false), ("note: x\ndevice: door", true),
    ], against: try schema(machine, in: files), machine: "gate.yaml", in: files)
  }

  @Test("a device that does not go with the machine is refused, with those that do")
  func refused() throws {
    let files = try Files()
    let error = #expect(throws: DeviceProblem.self) { try schema("door", on: "sesame5", in: files) }
    expect(error?.description, "sesame5 cannot be compared with the machine `door`: it goes with sesame")
    #expect(throws: DeviceProblem.self) { try schema("door", on: "emulator:dor", in: files) }
  }
}

@Suite("The machines that are built in, as files", .enabled(if: hasSchemaValidator))
struct MachineFileSchemaTests {
  @Test("each is valid by the schema of machines")
  func valid() throws {
    let files = try Files()
    let paths = try MachineDefinition.catalog.map { try files.write("\($0.name).yaml", $0.yaml()) }
    let lines = validate(paths, against: Suite.root + "/Scenarios/schema/machine.schema.json")
    expect(lines, MachineDefinition.catalog.map { "\($0.name).yaml valid" })
  }
}
