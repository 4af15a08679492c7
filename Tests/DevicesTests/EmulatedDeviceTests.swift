import Automata
import Bench
import Basics
import Conformance
import Harness
import Journal
import TestSupport
import Testing

@testable import Devices

@Suite("Emulated devices by name")
struct EmulatedDeviceTests {
  private func problem(_ text: String) -> String {
    do {
      _ = try Devices().describe(try DeviceSpec(text: text))
      return "none"
    } catch { return "\(error)" }
  }

  // swift-format-ignore
  static let mistakes: [(text: String, problem: String)] = [
    ("refernce", "unknown device `refernce`: did you mean `reference`?"),
    ("sesame5?loss=2", "`2` is not a value of `loss`: expected a probability from 0 to 1"),
    ("reference?loss=1.1", "`1.1` is not a value of `loss`: expected a number from 0 to 1"),
    ("reference?loss=-0", "none"), ("reference?loss=nan", "`nan` is not a value of `loss`: expected a number from 0 to 1"),
    ("reference?loss=1", "none"), ("reference?defect=deaf-unlock", "none"),
    ("reference?defect=deaf-unlok", "unknown defect `deaf-unlok`: did you mean `deaf-unlock`?"),
    ("socket?link=air", "unknown link `air`: expected one of direct, radio"),
    ("socket?link=radio", "none"), ("door?defect=x", "unknown defect `x`: expected one of bouncing, silent"),
    ("sesame5?as=unreal", "`unreal` is not a value of `as`: expected emulated, real"),
    ("sesame5?motr=2 s", "unknown setting `motr`: did you mean `motor`?"),
    // A condition of a test's start is no option of the device.
    ("sesame5?registered=no", "unknown setting `registered`"),
  ]

  @Test("an option that a device does not have, and a value out of range, is refused", arguments: mistakes)
  func mistake(text: String, problem: String) { expect(self.problem(text), problem) }

  @Test(
    "every device has its own machine and known defects, and the usual device of a machine is one of them")
  func catalog() throws {
    let devices = Devices()
    for device in EmulatedDevice.all {
      let description = try devices.describe(DeviceSpec(.emulator, device.name))
      expect(description.machines, device.machines)
      expect(description.options.contains("defect"), true)
      for defect in device.defects {
        expect(problem("\(device.name)?defect=\(defect)"), "none")
      }
      let machine = try World().machines.machine(device.machines[0])
      let stimuli = machine.machine.definition.events.map(\.name)
      expect((description.abilities.stimuli ?? []).filter { !stimuli.contains($0) }, [])
    }
    expect(Set(devices.emulators).count, devices.emulators.count)
    let machines = ["sesame", "sesame-table", "socket", "door", "nothing"]
    expect(
      machines.map { devices.usualDevice(of: $0)?.description },
      ["emulator:sesame5", "emulator:reference", "emulator:socket", "emulator:door", nil])
  }

  /// A lock for `emulate`, and why there is none.
  // swift-format-ignore
  static let choices: [(text: String, problem: String)] = [
    ("sesame5", "none"), ("sesame5?registered=no", "none"), ("sesame3?defect=deaf-unlock&configured=no", "none"),
    ("exec:./door", "'exec:./door' is no emulated lock"), ("lock:a.yaml", "'lock:a.yaml' is no emulated lock"),
    ("reference", "unknown device `reference`"), ("sesame55", "unknown device `sesame55`: did you mean `sesame5`?"),
    // What is only for commands that drive a lock.
    ("sesame5?as=real", "`as=real` is for commands that drive a lock, and this command emulates one"),
    ("sesame5?link=radio", "`link=radio` has no effect on a lock that is on the air"),
    ("sesame5?motr=2 s", "unknown setting `motr`: did you mean `motor`?"),
  ]

  @Test(
    "a lock that can be put on the air is one of ours, with options and conditions of its own",
    arguments: choices)
  func choice(text: String, problem: String) {
    do throws(UsageError) {
      _ = try EmulatedLockChoice(text)
      expect("none", problem)
    } catch { expect(error.message, problem) }
  }

  @Test(
    "a lock that is driven as a real one is guarded like one",
    arguments: [
      ("lock:a.yaml", true), ("sesame5", false), ("sesame5?as=real", true), ("sesame5?as=emulated", false),
      ("exec:x?as=real", false), ("driver:x?peripheral=y", false),
    ])
  func interlocked(text: String, isInterlocked: Bool) throws {
    expect(try DeviceSpec(text: text).isInterlocked, isInterlocked)
  }
}

@Suite("Devices of a run")
struct DevicesTests {
  private static let real = "sesame5?as=real"

  private func devices(allowing allowed: [String] = []) -> Devices {
    Devices(lab: LabSettings(of: nil, isNamed: false, allowing: allowed))
  }

  private func prepare(_ device: any DeviceUnderTest, _ settings: [Argument]) throws {
    func prepare(_ device: some DeviceUnderTest) throws {
      var device = device
      device.adopt(Vocabulary(machine: try World().machines.machine("sesame").machine))
      try device.reset(to: StartCondition(settings))
    }
    try prepare(device)
  }

  @Test("what is known of a simulated real lock is what may be done to a real one")
  func description() throws {
    let plain = try devices().describe(DeviceSpec(text: "sesame5"))
    let real = try devices().describe(DeviceSpec(text: Self.real))
    let free = try devices(allowing: ["reset", "register", "configure"]).describe(DeviceSpec(text: Self.real))
    expect(plain.withheld.map(\.stimulus), [])
    expect(real.withheld.map(\.stimulus), ["reset", "register", "configure"])
    expect(free.withheld.map(\.stimulus), [])
    expect(real.given, [Argument("registered", .flag(true)), Argument("configured", .flag(true))])
    expect([plain.given, free.given], [[], []])
    expect([plain, real].map(\.firmware), [plain.firmware, plain.firmware])
    expect([plain, real].map(\.family), ["sesame-os3", "sesame-os3"])
    expect(
      try devices().describe(DeviceSpec(text: "sesame5?as=real&found=unregistered")).given.first?.value,
      .flag(false))
  }

  @Test("a simulated real lock is one lock from case to case, and its park is reported at the end")
  func oneLock() throws {
    let devices = devices()
    let spec = try DeviceSpec(text: Self.real)
    let other = try DeviceSpec(text: "sesame3?as=real")
    let first = try devices.device(spec, seed: 1)
    #expect(try devices.device(spec, seed: 2) as AnyObject === first as AnyObject)
    #expect(try devices.device(other, seed: 1) as AnyObject !== first as AnyObject)
    // Another lock has no history, and is none of the run's.
    let another = try #require(try devices.another(spec, seed: 1))
    #expect(another as AnyObject !== first as AnyObject)
    #expect(try devices.device(spec, seed: 1) as AnyObject === first as AnyObject)
    try prepare(first, [Argument("bolt", .text("unlocked"))])
    let park = devices.park()
    expect(park.locks.map(\.name), ["emulator:sesame5?as=real"])
    expect(park.locks.map(\.park), [.parked])
    expect(park.fault, nil)
  }

  @Test("only a device that lives on from case to case has another of its kind, and a link to watch")
  func another() throws {
    let folder = TestFolder()
    for (text, keepsState) in [("reference", false), ("sesame5", false), (Self.real, true)] {
      let (devices, spec) = (devices(), try DeviceSpec(text: text))
      expect(try devices.device(spec, seed: 1).abilities.keepsState, keepsState)
      expect(try devices.another(spec, seed: 1) != nil, keepsState)
      expect(devices.watchLink(of: spec, in: folder.path) != nil, keepsState)
    }
    expect(devices().watchLink(of: try DeviceSpec(text: "lock:none.yaml"), in: folder.path) != nil, true)
    expect(try devices().another(try DeviceSpec(text: "lock:none.yaml"), seed: 1) == nil, true)
  }

  @Test("a device that there is not is trouble of the lab, and says why")
  func missing() throws {
    for (text, detail) in [
      ("oak", "unknown device `oak`"), ("sesame5?as=unreal", "`unreal` is not a value of `as`"),
      ("lock:none.yaml", "none.yaml: there is no such file or folder"),
    ] {
      let spec = try DeviceSpec(text: text)
      do throws(LabFault) {
        _ = try devices().device(spec, seed: 1)
        Issue.record("there is a \(text)")
      } catch {
        expect(error.symptom, .noDevice)
        #expect(error.detail.hasPrefix(detail), "\(error)")
      }
    }
  }

  @Test("the health of an emulated lock is that of a lock, and of a program nothing is known")
  func health() throws {
    expect(devices().checkHealth(of: try DeviceSpec(text: "sesame5")), [])
    expect(devices().checkHealth(of: try DeviceSpec(text: "sesame5?as=real")), [])
    expect(
      devices().checkHealth(of: try DeviceSpec(text: "exec:./door")),
      [
        "the health check cannot begin: a program does not describe how to manage a real lock"
      ])
  }
}
