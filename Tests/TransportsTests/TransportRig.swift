import System
import Bluetooth
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

/// How a transport under test reaches its peer.
enum TransportWay: String, CaseIterable, Sendable {
  case tcpClient, tcpServer, unixClient, serial

  /// Those where the other end can close the connection in order.
  static let closable: [TransportWay] = [.tcpClient, .tcpServer, .unixClient]
}

/// A transport, and its other end in our hands. Nothing here waits for ever, and there is no thread:
/// the system holds what either end has said until the other listens.
final class TransportRig {
  let transport: Transport
  private var listener: Int32 = -1
  private var peer: Int32 = -1
  private let way: TransportWay
  private let files: TemporaryFolder

  /// Settings in which only what a test asks for is late, and a lock folder of their own.
  static func settings(_ files: TemporaryFolder) -> TransportSettings {
    var settings = TransportSettings()
    settings.lockFolder = files.path + "/locks"
    settings.openTimeout = timeLimit
    settings.sendTimeout = timeLimit
    settings.packetTimeout = timeLimit
    settings.reopenTimeout = .milliseconds(400)
    return settings
  }

  init(_ way: TransportWay, _ change: (inout TransportSettings) -> Void = { _ in }) throws {
    self.way = way
    files = try TemporaryFolder()
    var settings = Self.settings(files)
    settings.awaitsPeer = way != .tcpServer
    change(&settings)
    switch way {
    case .tcpClient:
      let (socket, port) = try listenOnLoopback()
      listener = socket
      transport = try Transport(opening: .tcpClient(host: "127.0.0.1", port: port), settings: settings)
    case .tcpServer:
      transport = try Transport(opening: .tcpServer(host: "127.0.0.1", port: 0), settings: settings)
    case .unixClient:
      listener = try listen(at: files.path + "/socket")
      transport = try Transport(opening: .unixClient(path: files.path + "/socket"), settings: settings)
    case .serial:
      let (master, path) = try openTerminal()
      peer = master
      transport = try Transport(
        opening: .serial(path: path, speed: 115_200, hasFlowControl: false), settings: settings)
    }
    try meet()
    _ = transport.takeDiagnostics()
  }

  deinit {
    transport.close()
    for descriptor in [listener, peer] where descriptor >= 0 { close(descriptor) }
  }
}

extension TransportRig {
  /// Takes the transport's call, or calls it.
  func meet() throws {
    switch way {
    case .tcpClient, .unixClient:
      peer = try check(accept(listener, nil, nil))
      setNonBlocking(peer)
    case .tcpServer:
      peer = try callLoopback(transport.port!)
      try transport.service()
      #expect(transport.hasPeer)
    case .serial: break
    }
  }

  /// Says bytes to the transport, as many as the system takes.
  @discardableResult
  func say(_ bytes: [UInt8]) -> Int { unsafe write(peer, bytes, bytes.count) }

  /// What the transport has said, up to a number of bytes.
  func hear(_ count: Int) -> [UInt8] {
    var heard: [UInt8] = []
    let limit = Waiting.now + timeLimit
    while heard.count < count, Waiting.now < limit {
      Waiting.wait(for: [(peer, Int16(POLLIN))], until: limit)
      var bytes = [UInt8](repeating: 0, count: count - heard.count)
      let got = unsafe read(peer, &bytes, bytes.count)
      if got == 0 { break }
      heard += bytes.prefix(max(0, got))
    }
    return heard
  }

  /// Ends the connection.
  func hangUp() {
    close(peer)
    peer = -1
  }

  /// Opens the transport again after a fault, with another peer.
  func openAgain() throws {
    if way != .serial, peer >= 0 { hangUp() }
    try transport.reopen()
    try meet()
    _ = transport.takeDiagnostics()
  }

  /// What the transport receives: the packets, and the fault that ends them.
  func outcome(packets count: Int = .max) -> (packets: [HCIPacket], fault: TransportFault?) {
    var packets: [HCIPacket] = []
    let limit = Waiting.now + timeLimit
    do throws(TransportFault) {
      while packets.count < count, let packet = try transport.receive(until: limit) { packets.append(packet) }
      return (packets, nil)
    } catch {
      return (packets, error)
    }
  }
}

/// A folder that goes when it is no longer used.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/lockstep-test-XXXXXX\0".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { template in
      guard let path = unsafe mkdtemp(template.baseAddress!) else { throw SystemFailure(code: errno) }
      return unsafe String(cString: path)
    }
  }

  deinit { remove(path) }

  private func remove(_ path: String) {
    for name in folderEntries(path) ?? [] { remove(path + "/" + name) }
    if unsafe unlink(path) != 0 { _ = unsafe rmdir(path) }
  }
}

struct SystemFailure: Error {
  var code: Int32
}

func check(_ status: Int32) throws -> Int32 {
  guard status >= 0 else { throw SystemFailure(code: errno) }
  return status
}

func setNonBlocking(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }

private let streamKind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

private func withLoopback<Result>(
  _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  return unsafe withUnsafePointer(to: &address) { address in
    unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
  }
}

/// A socket that listens on 127.0.0.1, at a port that the system picks.
func listenOnLoopback() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = try check(socket(AF_INET, streamKind, 0))
  _ = try check(unsafe withLoopback(0) { unsafe bind(descriptor, $0, $1) })
  _ = try check(listen(descriptor, 5))
  return (descriptor, TCP.localPort(of: descriptor)!)
}

/// A connection to a port on 127.0.0.1.
func callLoopback(_ port: UInt16) throws -> Int32 {
  let descriptor = try check(socket(AF_INET, streamKind, 0))
  guard unsafe withLoopback(port, { unsafe connect(descriptor, $0, $1) }) == 0 else {
    let code = errno
    close(descriptor)
    throw SystemFailure(code: code)
  }
  setNonBlocking(descriptor)
  return descriptor
}

private func listen(at path: String) throws -> Int32 {
  let descriptor = try check(socket(AF_UNIX, streamKind, 0))
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
  let status = unsafe withUnsafePointer(to: &address) { address in
    unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  _ = try check(status)
  _ = try check(Glibc.listen(descriptor, 5))
  return descriptor
}

/// A serial line without a wire: our end, and the path of the other.
func openTerminal() throws -> (master: Int32, path: String) {
  var master: Int32 = -1
  var slave: Int32 = -1
  var name = [CChar](repeating: 0, count: 100)
  _ = try check(unsafe openpty(&master, &slave, &name, nil, nil))
  defer { close(slave) }
  setNonBlocking(master)
  return (master, String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
}
