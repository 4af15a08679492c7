import Basics
import Bench
import Conformance
import Harness
import Journal
import TestSupport
import Testing

@testable import Devices

@Suite("The settings of a lock")
struct LabSettingsTests {
  private let folder = TestFolder()

  private static let inventory = """
    bench: b
    dongles:
      - { name: blue, transport: "usb:0A12:0001" }
      - { name: red, transport: "usb:1-2.3" }
    locks:
      - { name: front, file: front.yaml, park: as-found, dongles: [red, blue], allow: [reset], limits: { per-hour: 7 } }
      - { name: back, file: back.yaml, dongles: [blue] }
      - { name: played, device: "emulator:sesame5?loss=0.01", park: unlocked }
      - { name: door, device: "exec:./door.py" }

    """

  private func bench(_ text: String = inventory) throws -> BenchFile {
    try BenchFile(reading: folder.write("bench.yaml", text))
  }

  private func lock(_ name: String) throws -> BenchLock {
    let bench = try bench()
    return BenchLock(bench: bench, lock: try bench.lock(name))
  }

  private func settings(
    _ name: String?, isNamed: Bool = true, actuations: Int? = nil, park: ParkPosition? = nil,
    allowing: [String] = []
  ) throws -> [String] {
    let lock = try name.map { name in try self.lock(name) }
    let settings = LabSettings(
      of: lock, isNamed: isNamed, actuations: actuations, park: park, allowing: allowing)
    let rules = settings.interlock
    return [
      rules.budget.map { "\($0)" } ?? "no limit", rules.park.rawValue, rules.allowed.joined(separator: " "),
      rules.limits.perHour.map { "\($0)" } ?? "no limit",
    ]
  }

  @Test(
    "the motor of a real lock has a limit unless another is asked for, and that of an emulated one has not")
  func budgets() throws {
    let usual = "\(LabSettings.usualActuations)"
    expect(try settings("front")[0], usual)
    expect(try settings("front", actuations: 3)[0], "3")
    // A lock that is named by its own file, on no bench.
    expect(try settings(nil)[0], usual)
    expect(try settings("played")[0], "no limit")
    expect(try settings("played", actuations: 3)[0], "3")
    expect(try settings(nil, isNamed: false)[0], "no limit")
  }

  @Test("the command line comes before the bench, and the bench before what is usual")
  func precedence() throws {
    expect(try settings("front").dropFirst(), ["as-found", "reset", "7"])
    expect(
      try settings("front", park: .unlocked, allowing: ["configure"]).dropFirst(),
      ["unlocked", "configure reset", "7"])
    expect(try settings("back").dropFirst(), ["locked", "", "no limit"])
    expect(try settings(nil, allowing: ["reset"]).dropFirst(), ["locked", "reset", "no limit"])
  }

  @Test(
    "a lock of a bench is driven in place of the scenarios' own device, and its commands run in the bench's folder"
  )
  func device() throws {
    func device(_ name: String) throws -> DeviceSpec? {
      LabSettings(of: try lock(name), isNamed: true).device
    }
    expect(try device("front"), DeviceSpec(.lock, "front"))
    expect(try device("played"), DeviceSpec(.emulator, "sesame5", [.init("loss", "0.01")]))
    expect(try device("door"), DeviceSpec(.exec, "./door.py").placed(in: folder.path))
    expect(LabSettings(of: nil, isNamed: true).device, nil)
    // `--device` is for what no bench names.
    let world = World(lab: LabSettings(of: try lock("played"), isNamed: false))
    expect(try world.deviceSpec("reference")?.name, "sesame5")
    expect(try World().deviceSpec("reference"), DeviceSpec(.emulator, "reference"))
    expect(try World().deviceSpec(nil), nil)
  }

  private func problem(_ body: () throws -> Void) throws -> String {
    do {
      try body()
      return "none"
    } catch let error as UsageError { return error.message.replacing(folder.path, with: "") }
  }

  @Test("a bench that names an emulated lock which there is not is refused when it is read")
  func unknownDevices() throws {
    func problem(_ device: String) throws -> String {
      try self.problem { _ = try bench("bench: b\nlocks: [{ name: a, device: \"\(device)\" }]\n") }
    }
    #expect(try problem("emulator:sesame9").contains("unknown lock `sesame9`: did you mean `sesame3`?"))
    // A machine's usual device that is no lock.
    #expect(try problem("emulator:launcher").contains("unknown lock `launcher`"))
    #expect(try problem("emulator:sesame5?loss=7").contains("`7` is not a value of `loss`"))
    #expect(try problem("sesame5").contains("expected a device such as emulator:sesame5"))
    // A program is not started to read a file.
    expect(try problem("exec:./nothing"), "none")
  }

  @Test("a name is that of a bench's lock, or of a lock file where the bench does not know it")
  func names() throws {
    let bench = folder.write("bench.yaml", Self.inventory)
    let file = folder.write("mine.yaml", "lock: sesame5\naddress: c7:e6:da:90:f5:f9\n")
    expect(try BenchLock(named: "front", on: bench)?.lock.name, "front")
    expect(try BenchLock(named: file, on: bench)?.lock.name, nil)
    expect(try BenchLock(named: file, on: nil)?.lock.name, nil)
    expect(try BenchLock(named: "keys/none.yaml", on: nil)?.lock.name, nil)
    expect(
      try problem { _ = try BenchLock(named: "fornt", on: bench) },
      "/bench.yaml: the bench b has no lock 'fornt': did you mean 'front'?")
  }

  @Test("a transport is a specification, or a dongle of the bench at hand")
  func transports() throws {
    let bench = try bench()
    func choice(_ text: String, _ bench: BenchFile?) throws -> String {
      let choice = try TransportChoice(naming: text, on: bench)
      return "\(choice.dongle ?? "-") \(choice.spec)"
    }
    expect(try choice("usb:0", nil), "- usb:0")
    expect(try choice("usb:0", bench), "- usb:0")
    expect(try choice("dongle:red", bench), "red usb:1-2.3")
    expect(
      try problem { _ = try choice("dongle:red", nil) },
      "'--transport dongle:red' is a dongle of a bench: name the bench with --bench FILE")
    expect(
      try problem { _ = try choice("dongle:rde", bench) },
      "/bench.yaml: the bench b has no dongle 'rde': did you mean 'red'?")
  }

  @Test("a visit goes to an address, or to the lock of a file or a bench over its dongles in their order")
  func visits() throws {
    folder.write("front.yaml", "lock: sesame5\naddress: c7:e6:da:90:f5:f9\n")
    folder.write("back.yaml", "driver: ./keypad\nmachine: door\nid: KP-0042\n")
    let bench = folder.write("bench.yaml", Self.inventory)
    func target(
      _ name: String, _ transport: String? = "usb:0", bench: String? = nil
    ) throws -> [String] {
      let target = try GATTTarget(naming: name, transport: transport, bench: bench)
      return ["\(target.device)", target.lockIdentity ?? "-"]
        + target.transports.map { $0.dongle ?? "\($0.spec)" }
    }
    let address = try target("c7:e6:da:90:f5:f9")
    expect(address.dropFirst(), ["-", "usb:0"])
    let lock = try target("front", nil, bench: bench)
    expect(lock.first, address.first)
    expect(lock.dropFirst(2), ["red", "blue"])
    expect(try target("lock:\(folder.path)/front.yaml", "dongle:blue", bench: bench).last, "blue")
    expect(
      try problem { _ = try target("back", nil, bench: bench) },
      "/back.yaml: the file does not say where the lock is: give its address")
    expect(
      try problem { _ = try target("played", nil, bench: bench) },
      "the lock 'played' is played by this program, and is on no air: 'lockstep emulate' serves one")
    expect(
      try problem { _ = try target("c7:e6:da:90:f5:f9", nil) },
      "a visit needs a controller: --transport usb:0, or another; 'lockstep doctor' says what there is")
  }

  @Test("the order of a watching process reads back as it was written, and without what it needs it is none")
  func watchOrders() throws {
    for (bench, log) in [(nil, nil), ("b.yaml", nil), (nil, "r/watcher.log"), ("b.yaml", "r/watcher.log")] {
      for park in ParkPosition.allCases {
        let order = LockWatchOrder(lock: "front", bench: bench, transport: "dongle:red", park: park, log: log)
        expect(LockWatchOrder(order.line), order)
      }
    }
    let line = LockWatchOrder(lock: "front", bench: nil, transport: "usb:0", park: .asFound, log: nil).line
    expect(line, #"{"lock":"front","transport":"usb:0","park":"as-found"}"#)
    let malformed = [
      "", "[]", line.replacing("as-found", with: "open"), line.replacing("lock", with: "door"),
      line.replacing(#""usb:0""#, with: "7"),
    ]
    expect(malformed.compactMap { LockWatchOrder($0) }, [])
  }
}
