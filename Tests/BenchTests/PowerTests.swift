import Conformance
@testable import Bench
import System
import Basics
import Synchronization
import TestSupport
import Testing

@testable import Transports

@Suite("Turning a dongle's power off and on", .timeLimit(.minutes(10)))
struct PowerTests {
  private let folder = TestFolder()
  private var power: String { folder.path + "/power" }

  private func cycle(
    off: String, on: String? = nil, check: String? = nil, settle: Interval = .seconds(60),
    dongle: String? = nil, commandTimeout: Interval = .seconds(10), in place: String? = nil
  ) -> Result<String, PowerControl.Fault> {
    folder.write("power", "")
    let power = Inventory.PowerSwitch(
      name: "hub", off: off, on: on ?? "touch \(power)", check: check, settle: settle,
      folder: place)
    do {
      let control = PowerControl(
        power, dongle: dongle, root: folder.path, commandTimeout: commandTimeout)
      return .success(try control.cycle(until: Waiting.now + timeLimit))
    } catch {
      return .failure(error)
    }
  }

  private func fault(_ text: String) -> Result<String, PowerControl.Fault> { .failure(.init(text: text)) }

  @Test("the commands run in the folder of the bench")
  func place() throws {
    _ = try cycle(off: "rm power", on: "touch power", check: "test -e power", in: folder.path).get()
    expect(folder.names, ["power"])
  }

  @Test("power that fell, as its check says, and came back is told")
  func check() throws {
    let text = try cycle(off: "rm \(power)", check: "test -e \(power)").get()
    #expect(
      text.hasPrefix("the power of hub fell ") && text.hasSuffix(" after 'off', and is back"), "\(text)")
    expect(folder.names, ["power"])
  }

  @Test("power that falls only after a while is waited for")
  func slow() throws {
    let age = "$(($(date +%s%N) - $(date -r \(power) +%s%N)))"
    #expect(throws: Never.self) {
      try cycle(off: "touch \(power)", on: "touch -d '1 hour' \(power)", check: "test \(age) -lt 300000000")
        .get()
    }
  }

  @Test("a hub that says that it switched, and did not, is found out, and is left with power")
  func misbehaviour() {
    expect(
      cycle(
        off: "echo off", on: "touch \(folder.path)/on", check: "test -e \(power)", settle: .milliseconds(600)),
      fault("the power of hub did not fall within 600 ms of 'off'"))
    expect(folder.names, ["on", "power"])
  }

  @Test("a dongle that is gone from its bus has no power")
  func bus() throws {
    folder.write("idVendor", "0a12")
    let place = "\(folder.path)/sys/bus/usb/devices/1-2"
    let plug = "mkdir -p \(place) && cp \(folder.path)/idVendor \(place)"
    expect(try ChildProcess(command: plug).stop(grace: timeLimit), .exit(0))
    #expect(throws: Never.self) { try cycle(off: "rm -r \(place)", on: plug, dongle: "1-2").get() }
    let settle = Interval.milliseconds(600)
    expect(
      cycle(off: "true", settle: settle, dongle: "1-2"),
      fault("the power of hub did not fall within 600 ms of 'off'"))
    expect(
      cycle(off: "rm -r \(place)", on: "true", settle: settle, dongle: "1-2"),
      fault("the power of hub is not back 600 ms after 'on'"))
  }

  @Test("where nobody can tell whether power fell, it did not")
  func blind() {
    let result = cycle(off: "rm \(power)")
    expect(
      result,
      fault(
        "it is unknown whether the power of hub fell: it has no check, and the controller is on no bus"))
    expect(folder.names, ["power"])
  }

  /// What may be wrong with a command, and how it is told.
  static let troubles: [(command: String, text: String)] = [
    ("exit 3", "ended with status 3"), ("kill -9 $$", "was ended by signal 9"),
    ("/no/such/program", "ended with status 127"),
    ("sleep 600 & sleep 600", "took longer than 2 s, and was killed"),
  ]

  @Test("a command that fails or hangs is told, and none stays behind", arguments: troubles.indices)
  func commands(index: Int) {
    let (command, text) = Self.troubles[index]
    let limit = command.hasPrefix("sleep") ? Interval.seconds(2) : timeLimit
    expect(
      cycle(off: command, check: "test -e \(power)", commandTimeout: limit), fault("'off' of hub \(text)"))
    expect(
      cycle(off: "rm \(power)", on: command, check: "test -e \(power)", commandTimeout: limit),
      fault("'on' of hub \(text)"))
    // A check that cannot be made says nothing.
    if command != "exit 3" {
      expect(
        cycle(off: "rm \(power)", check: command, settle: .milliseconds(600), commandTimeout: limit),
        fault("the power of hub did not fall within 600 ms of 'off'"))
    }
  }
}

@Suite("Calls that may never come back", .timeLimit(.minutes(10)))
struct BoundedCallTests {
  @Test("one that comes back gives what it has, and one that does not is left alone")
  func bounded() {
    expect(BoundedCall.run(until: Waiting.now + timeLimit) { 42 }, 42)
    let isLetGo = Mutex(false)
    let isOver = Mutex(false)
    let late: Int? = BoundedCall.run(until: Waiting.now + .milliseconds(100)) {
      while !isLetGo.withLock({ $0 }) { rest(for: .milliseconds(1)) }
      isOver.withLock { $0 = true }
      return 42
    }
    expect(late, nil)
    // What it does once nobody waits for it harms nobody.
    isLetGo.withLock { $0 = true }
    eventually { isOver.withLock { $0 } }
  }
}
