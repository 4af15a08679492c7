import Basics
import Documents
import Foundation
import TestSupport
import Testing

@Suite("Emulating for other programs", .timeLimit(.minutes(10)))
struct EmulateTests {
  private let folder: Command.Folder

  init() throws { folder = try Command.Folder() }

  @Test("a lock says who it is, keeps its key in a file of its own, and ends when it is told")
  func announces() throws {
    let bench = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    let lock = try #require(bench.announcement["advertising"])
    expect(lock["model"], "Sesame 5")
    expect(lock["registered"], true)
    let text = try folder.read("lock.yaml")
    guard case .text(let uuid)? = lock["uuid"], case .text(let address)? = lock["address"] else {
      Issue.record("no identity: \(lock)")
      return
    }
    #expect(text.hasPrefix("lock: sesame5\nuuid: \(uuid)\naddress: \"\(address)\"\nsecret: \""), "\(text)")
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/lock.yaml")[.posixPermissions]
    expect(mode as? Int, 0o600)
    expect(bench.stop(), 0)
    #expect(!(try bench.said).contains(try folder.secret()))
    // One seed is one lock: nothing is written anew.
    let again = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    again.stop()
    expect(try folder.read("lock.yaml"), text)
    expect(folder.names("."), ["lock.yaml"])
  }

  @Test(
    "a lock on somebody else's controller is found from another, and a transport that is lost ends it with 3")
  func onATransport() throws {
    let controllers = try EmulatedBench(
      ["controllers", "--serve", "tcp-server:127.0.0.1:0", "--serve", "tcp-server:127.0.0.1:0"], in: folder)
    let transports = controllers.transports
    expect(transports.count, 2)
    let lock = try EmulatedBench(["sesame3?registered=yes", "--transport", transports[0]], in: folder)
    let scan = try Command.call("scan", "--transport", transports[1], "--duration", "3s", in: folder.path)
    expect(scan.status, 0)
    #expect(scan.output.contains("Sesame 3   ") && scan.output.contains("   registered   "), "\(scan.output)")
    controllers.kill()
    expect(lock.process.waitUntilExit(), 3)
    let complaints = try lock.complaints
    #expect(complaints.hasPrefix("lockstep: controller lost: "), "\(complaints)")
  }

  @Test("--duration ends it")
  func duration() throws {
    let begin = Date()
    let result = try Command.call(
      "emulate", "sesame5pro", "--serve", "tcp-server:127.0.0.1:0", "--duration", "500 ms")
    expect(result.status, 0)
    #expect(result.output.contains("advertising as") && result.output.contains("not registered"))
    #expect((0.4...20).contains(Date().timeIntervalSince(begin)))
  }

  @Test("positions are an owner's: a lock that starts with them has one")
  func configured() throws {
    for (settings, words) in [
      ("configured=yes", "registered, advertising"), ("configured=no", "not registered"),
    ] {
      let result = try Command.call(
        "emulate", "sesame3?\(settings)", "--serve", "tcp-server:127.0.0.1:0", "--duration", "500 ms")
      expect(result.status, 0)
      #expect(result.output.contains(", \(words)"), "\(result.output)")
    }
  }

  // swift-format-ignore
  static let mistakes: [(arguments: [String], words: String)] = [
    (["sesame5"], "missing --transport or --serve: give --transport usb:0, or --serve tcp-server:127.0.0.1:9000"),
    ([], "missing LOCK"),
    (["sesame55", "--transport", "usb:0"], "did you mean `sesame5`?"),
    (["sesame5?moter=1s", "--transport", "usb:0"], "did you mean `motor`?"),
    (["exec:true", "--transport", "usb:0"], "'exec:true' is no emulated lock"),
    (["sesame3?registered=no&configured=yes", "--transport", "usb:0"], "`configured` has no effect with `registered=no`"),
    (["sesame5", "--transport", "usb:0", "--serve", "tcp-server:_:1"], "'--transport' and '--serve' exclude each other"),
    (["sesame5", "--serve", "tcp-client:127.0.0.1:1"], "'--serve' expects tcp-server:HOST:PORT"),
    (["controllers", "--transport", "usb:0"], "controllers are served"),
    (["controllers", "--serve", "tcp-server:_:1", "--key-file", "x"], "there is nothing to control and no key"),
    (["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--control", "/tmp/x"], "'--control' expects unix:PATH"),
  ]

  @Test("what is wrong with a call is said", arguments: mistakes.indices)
  func wrong(index: Int) throws {
    let (arguments, words) = Self.mistakes[index]
    let result = try Command.call(["emulate"] + arguments, in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.contains(words), "\(result.errors)")
  }
}
