import Basics
import Conformance
import Documents
import Harness
import TestSupport
import Testing

@testable import Devices

@Suite("Saved cases", .timeLimit(.minutes(10)))
struct SavedCaseTests {
  private static let steps = "steps: [closeTo, connect, until: { status: locked }, wait: 1 s]"
  private static let history =
    "steps: [closeTo, connect, readHistory, expect: { history: empty, within: 10 s }, lock: { tag: Bob }]"
  private static let sesame = "machine: sesame\n"
  private static let plain = sesame + "device: { lock: sesame5, registered: true, configured: true }\n"

  /// A scenario, the device that takes the place of its own, and the device and the start of the saved case.
  // swift-format-ignore
  static let cases: [(scenario: String, device: String?, written: String)] = [
    (plain + steps, nil, "{ emulator: sesame5, registered: true, configured: true }"),
    (plain + steps, "sesame5?defect=history-tag-missing&defect=deaf-unlock", "{ emulator: sesame5, registered: true, configured: true, defect: [history-tag-missing, deaf-unlock] }"),
    (plain + history, "sesame5?as=real&defect=history-tag-missing", "{ emulator: sesame5, registered: true, configured: true, bolt: locked, history: empty, as: real, defect: history-tag-missing }"),
    (plain + history, "sesame5?history=empty&as=real", "{ emulator: sesame5, registered: true, configured: true, history: empty, bolt: locked, as: real }"),
    (plain + history, "sesame5pro?as=real&found=unlocked&bolt=unlocked", "{ emulator: sesame5pro, registered: true, configured: true, bolt: unlocked, history: empty, as: real, found: unlocked }"),
    (sesame + "device: { lock: sesame3, registered: true, configured: true, motor: 2 s }\n" + history, "sesame3?as=real", "{ emulator: sesame3, registered: true, configured: true, bolt: locked, history: empty, motor: 2 s, as: real }"),
    (sesame + "device: { lock: sesame5, as: real, registered: true, history: empty }\n" + history, nil, "{ emulator: sesame5, registered: true, history: empty, configured: true, bolt: locked, as: real }"),
    (sesame + "device: 'emulator:sesame5?as=real&history=empty'\n" + history, nil, "{ emulator: sesame5, history: empty, registered: true, configured: true, bolt: locked, as: real }"),
    // In whatever form a condition is given, it is the machine's flag.
    (plain + steps, "sesame5?registered=off&configured=0", "{ emulator: sesame5, registered: false, configured: false }"),
    (sesame + "device: 'emulator:sesame5?registered=on'\n" + steps, nil, "{ emulator: sesame5, registered: true, configured: true }"),
    (plain + steps, "sesame5?bolt=moved&jam", "{ emulator: sesame5, registered: true, configured: true, bolt: moved, jam: true }"),
    (plain + steps, "sesame5?link=radio&loss=0.01", "{ emulator: sesame5, registered: true, configured: true, link: radio, loss: 0.01 }"),
    // Events that another device cannot have are not drawn.
    (plain + "steps: [fuzz: { events: 9, weights: { battery: 3, lock: 2 } }, repeat: { times: 2, steps: [fuzz: { events: 1, weights: { battery: 0 } }] }]", "sesame5?as=real", "{ emulator: sesame5, registered: true, configured: true, bolt: locked, as: real }"),
    ("device: 'emulator:reference?defect=deaf-unlock'\nsteps: [closeTo]", "reference?loss=0.5", ""),
    ("device: launcher\nsteps: [wait: 1 s]", nil, ""), ("device: flow\nsteps: [wait: 1 s]", nil, ""),
    ("device: door\nsteps: [wait: 1 s]", nil, ""), ("device: socket\nsteps: [wait: 1 s]", "socket?link=radio", ""),
  ]

  private func item(_ text: String, _ path: String, _ world: World) throws -> ScenarioSet.Item {
    let scenario = try world.reader.read(Array(text.utf8), path: path)
    return ScenarioSet.Item(
      path: path, scenario: scenario,
      machine: try world.machines.machine(scenario.machine, in: Path.folder(of: path)))
  }

  private func planned(_ item: ScenarioSet.Item, _ device: String?, _ world: World) throws -> Case {
    var selection = Plan.Selection()
    selection.seed = 7
    selection.device = try device.map { try DeviceSpec(text: $0) }
    let plan = try Plan(ScenarioSet([item]), selection, provider: world.devices)
    return try #require(plan.cases.first)
  }

  /// Saves the case of a scenario, and reads it again.
  private func saved(
    _ text: String, _ device: String?, again: String? = nil
  ) throws -> (test: Case, text: String, again: Case) {
    let world = World(answerTimeout: timeLimit)
    defer { world.devices.shutDown() }
    let test = try planned(try item("scenario: A test\n" + text, "suite/a.yaml", world), device, world)
    expect(test.skipReason, nil)
    let yaml = test.standalone(in: "out/failures").yaml()
    let copy = try planned(try item(yaml, "out/failures/a.yaml", world), again, world)
    return (test, yaml, copy)
  }

  private func compare(_ test: Case, _ again: Case) {
    expect(again.skipReason, nil)
    expect(again.start, test.start)
    expect(again.device, test.device)
    expect(again.seed, test.seed)
    expect(again.scenario.steps, test.scenario.steps)
    expect(again.digest, test.digest)
  }

  @Test("a saved case is read without problems, and is the same case", arguments: cases)
  func emulated(scenario: String, device: String?, written: String) throws {
    let (test, text, again) = try saved(scenario, device)
    compare(test, again)
    guard !written.isEmpty else { return }
    let entries = text.split(separator: "\n").map(String.init)
    let first = try #require(entries.firstIndex { $0.hasPrefix("device:") })
    let last = try #require(entries.firstIndex { $0.hasPrefix("seed:") })
    let lines = [entries[first].dropFirst(7)] + entries[(first + 1)..<last].map { Substring($0) }
    let block = lines.map { $0.drop { " {".contains($0) } }.filter { !$0.isEmpty }.map(String.init)
    expect(block.count > 1 ? "{ \(block.joined(separator: ", ")) }" : "{ \(block[0])", written)
  }

  @Test("so is one on a program, on a driver's lock, and on another device than its own")
  func programs() throws {
    let folder = TestFolder()
    func program(_ name: String, _ members: String) -> String {
      "python3 "
        + folder.write(
          name,
          """
          import sys
          for line in sys.stdin:
            if "hello" in line: print('{"hello":{"protocol":2\(members)}}')
            print('{"settled":true}', flush=True)
          """)
    }
    let lock = program("lock.py", #","stimuli":["closeTo","connect"],"faults":{"battery":[true,false]}"#)
    let pair = "driver:\(program("client.py", ""))?peripheral=\(program("peripheral.py", ""))"
    let exec = Self.sesame + "device: { exec: '\(lock)', battery: 4.5, clock: ':' }\nsteps: [closeTo]"
    let driven =
      Self.sesame + "device: { driver: '\(program("other.py", ""))', peripheral: x, bolt: moved }\n"
    for (text, device) in [
      (exec, nil), (Self.plain + "steps: [closeTo]", "exec:\(lock)"),
      (Self.plain + "steps: [wait: 1 s]", pair),
      (driven + "steps: [wait: 1 s]", pair + "&loss=0.01"),
    ] {
      let (test, _, again) = try saved(text, device)
      compare(test, again)
    }
    // A condition of one device may be an option of another.
    let own = Self.sesame + "device: { exec: '\(lock)', battery: 4.5 }\nsteps: [closeTo]"
    for (device, volts) in [("sesame5", "4.5"), ("sesame5?battery=6", "6")] {
      let (test, _, again) = try saved(own, device)
      compare(test, again)
      expect(again.device.settings, [DeviceSpec.Setting("battery", volts)])
    }
    // What the other device does not accept is said before, and not by the saved file.
    let world = World(answerTimeout: timeLimit)
    defer { world.devices.shutDown() }
    let fault = try item(
      "scenario: A\n" + Self.plain + "steps: [closeTo, fault: { battery: 5 }]", "a.yaml", world)
    let reason = try planned(fault, "exec:\(lock)", world).skipReason
    #expect(reason?.hasPrefix("needs the fault battery as ") == true, "\(reason ?? "none")")
  }

  @Test("one on a real lock is read with the device of its scenario, and is the same on that lock")
  func realLock() throws {
    let folder = TestFolder()
    let lock = "lock:" + folder.write("lock.yaml", "lock: sesame5\naddress: c7:e6:da:90:f5:f9\n")
    let own = Self.sesame + "device: { lock: sesame5, registered: false }\n"
    let (test, text, again) = try saved(own + Self.history, lock, again: lock)
    expect(test.start.setting("history"), .text("empty"))
    #expect(text.contains("device: { emulator: sesame5, registered: false }\n"), "\(text)")
    compare(test, again)
  }
}
