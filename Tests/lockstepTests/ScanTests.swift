import Basics
import Documents
import TestSupport
import Testing

@Suite("Scanning", .timeLimit(.minutes(10)))
struct ScanTests {
  @Test("each lock is one line, and as JSON one object", arguments: ["sesame3", "sesame5"])
  func lines(name: String) throws {
    let folder = try Command.Folder()
    let bench = try EmulatedBench([name, "--serve", "tcp-server:127.0.0.1:0", "--seed", "9"], in: folder)
    let lock = try #require(bench.announcement["advertising"])
    let plain = try Command.call("scan", "--transport", bench.transports[0], "--duration", "2s")
    expect(plain.status, 0)
    guard case .text(let uuid)? = lock["uuid"], case .text(let address)? = lock["address"] else {
      Issue.record("no identity: \(lock)")
      return
    }
    let lines = plain.output.split(separator: "\n")
    expect(lines.count, 1)
    #expect(plain.output.contains("\(uuid)   not registered   \(address)   -"), "\(plain.output)")
    let json = try Command.call(
      "scan", "--transport", bench.transports[0], "--duration", "2s", "--format", "json")
    let object = try JSON(parsing: json.output.split(separator: "\n").last.map(String.init) ?? "")
    expect(object["uuid"], .text(uuid))
    expect(object["registered"], false)
    expect(object["address"], .text(address))
  }

  @Test("where there is no lock, and no way to one, that is said")
  func nothing() throws {
    let folder = try Command.Folder()
    let bench = try EmulatedBench(["controllers", "--serve", "tcp-server:127.0.0.1:0"], in: folder)
    let empty = try Command.call("scan", "--transport", bench.transports[0], "--duration", "300 ms")
    expect(empty.status, 0)
    expect(empty.errors, "lockstep: no lock in range\n")
    let none = try Command.call("scan")
    expect(none.status, 2)
    #expect(
      none.errors.contains("--transport usb:0") && none.errors.contains("lockstep doctor"), "\(none.errors)")
    let lost = try Command.call("scan", "--transport", "tcp-client:127.0.0.1:1")
    expect(lost.status, 3)
  }
}
