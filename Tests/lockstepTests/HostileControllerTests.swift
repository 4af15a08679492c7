import Foundation
import TestSupport
import Testing

/// A server that says the same to whoever connects, again and again, and never listens.
private final class HostileServer: @unchecked Sendable {
  let port: UInt16
  private let listener: Int32

  init(saying words: [UInt8]) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
      }
    }
    try #require(status == 0 && listen(listener, 5) == 0)
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { Self.serve(listener, words) }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func serve(_ listener: Int32, _ words: [UInt8]) {
    while true {
      let peer = accept(listener, nil, nil)
      guard peer >= 0 else { break }
      Thread.detachNewThread {
        if words.isEmpty { sleep(10) }
        while !words.isEmpty, unsafe send(peer, words, words.count, Int32(MSG_NOSIGNAL)) > 0 {}
        close(peer)
      }
    }
    close(listener)
  }

  var transport: String { "tcp-client:127.0.0.1:\(port)" }
}

@Suite("Controllers that are none, or broken", .timeLimit(.minutes(10)))
struct HostileControllerTests {
  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    try folder.write("visit.yaml", visit("A visit", "disconnect"))
    try folder.write(
      "lock.yaml",
      """
      lock: sesame5
      uuid: 01234567-89ab-cdef-0123-456789abcdef
      secret: d948215b7f16c6d281fe80037f2c37c4

      """)
    _ = unsafe chmod(folder.path + "/lock.yaml", 0o600)
  }

  /// Events that answer nothing, without a pause.
  private static let babble = Array(repeating: [0x04, 0xFF, 0x01, 0x00] as [UInt8], count: 1000).flatMap(
    \.self)

  // swift-format-ignore
  static let servers: [(words: [UInt8], symptom: String, detail: String)] = [
    ([0x63, 0x01], "malformed packets from the controller", "sent what is no HCI packet (99 is not a valid H4 packet indicator)"),
    ([], "controller silent", "the controller does not answer the command 0x0c03"),
    (babble, "controller silent", "the controller does not answer the command 0x0c03"),
  ]

  @Test("a scan says so in one sentence, however short it was to be", arguments: servers.indices)
  func scan(index: Int) throws {
    let (words, symptom, detail) = Self.servers[index]
    let server = try HostileServer(saying: words)
    let result = try Command.call("scan", "--transport", server.transport, "--duration", "300ms")
    expect(result.status, 3)
    expect(result.output, "")
    #expect(result.errors.hasPrefix("lockstep: \(symptom): "), "\(result.errors)")
    #expect(result.errors.contains(detail), "\(result.errors)")
    expect(result.errors.split(separator: "\n").count, 1)
  }

  @Test("a visit says so in one sentence", arguments: servers.indices)
  func gatt(index: Int) throws {
    let (words, _, detail) = Self.servers[index]
    let server = try HostileServer(saying: words)
    let result = try Command.call("gatt", "c7:e6:da:90:f5:f9", "--transport", server.transport)
    expect(result.status, 3)
    expect(result.output, "")
    #expect(result.errors.hasPrefix("lockstep: ") && result.errors.contains(detail), "\(result.errors)")
    expect(result.errors.split(separator: "\n").count, 1)
  }

  @Test("an emulated lock says so in one sentence", arguments: servers.indices)
  func emulate(index: Int) throws {
    let (words, _, detail) = Self.servers[index]
    let server = try HostileServer(saying: words)
    let result = try Command.call("emulate", "sesame5", "--transport", server.transport, "--duration", "20s")
    expect(result.status, 3)
    #expect(result.errors.hasPrefix("lockstep: ") && result.errors.contains(detail), "\(result.errors)")
    expect(result.errors.split(separator: "\n").count, 1)
  }

  @Test("a run is in trouble, and its journal and report are whole", arguments: servers.indices)
  func run(index: Int) throws {
    let (words, _, detail) = Self.servers[index]
    let server = try HostileServer(saying: words)
    let line =
      "LOCKSTEP_STATE=$PWD/state/lockstep \"$LOCKSTEP\" run visit.yaml --transport \(server.transport) --device lock:lock.yaml"
    let result = try Command.shell(line, in: folder.path)
    expect(result.status, 3)
    #expect(result.output.contains(detail), "\(result.output)")
    let journal = try folder.journal()
    #expect(journal.split(separator: "\n").last?.contains("\"status\":3}") == true, "\(journal)")
    #expect(journal.hasSuffix("}\n"), "\(journal)")
    let report = try folder.read("Reports/junit.xml")
    #expect(report.contains("errors=\"1\"") && report.contains("type=\"lab-fault\""), "\(report)")
    #expect(report.hasSuffix("</testsuites>\n"), "\(report)")
  }
}
