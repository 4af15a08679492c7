import Links
public import Bench
import Controllers
import System
public import Bluetooth
public import Basics
public import Transports

/// The transport between the host of an emulated lock and its peers, in real time.
public protocol EmulatedAir: AnyObject {
  /// The descriptors to poll.
  var descriptors: [(descriptor: Int32, events: Int16)] { get }
  /// The latest time at which ``service()`` has work to do.
  var deadline: Instant? { get }
  /// The addresses at which others reach the lock, in words.
  var endpoints: [String] { get }
  /// The conditions of the model that hold on this transport.
  var conditions: [String] { get }

  /// Sends a packet of the lock's host to its controller.
  func send(_ packet: HCIPacket) throws(TransportFault)
  /// Does the work that is due.
  func service() throws(TransportFault)
  /// Returns the next packet for the lock's host.
  func take() -> HCIPacket?
  /// Returns the events since the last call, one per line.
  func takeDiagnostics() -> [String]
}

/// An external controller, whose radio the lock uses.
public final class TransportAir: EmulatedAir {
  private let transport: Transport
  /// The lease that keeps other users from the controller.
  private let lease: Lease?

  public init(_ transport: Transport, _ lease: Lease?) {
    self.transport = transport
    self.lease = lease
    // The message that the transport was opened is not needed.
    _ = transport.takeDiagnostics()
  }

  public var descriptors: [(descriptor: Int32, events: Int16)] { transport.descriptors }
  public var deadline: Instant? { transport.pollTimeout.map { transport.now + $0 } }
  public var endpoints: [String] { ["\(transport.spec)"] }
  public var conditions: [String] { transport.spec.isController ? RealAir.conditions : [] }

  public func send(_ packet: HCIPacket) throws(TransportFault) { try transport.send(packet) }
  public func service() throws(TransportFault) { try transport.service() }
  public func take() -> HCIPacket? { transport.take() }
  public func takeDiagnostics() -> [String] { transport.takeDiagnostics() }
}

/// An emulated radio in real time, with the lock's controller, if any, and one controller for each connected program.
public final class RadioAir: EmulatedAir {
  /// A controller for an external program.
  private struct Port {
    let transport: Transport
    let controller: ControllerID
    var hasPeer = false
  }

  private var radio: Radio
  private let lock: ControllerID
  private var ports: [Port] = []
  private var forLock = FIFO<HCIPacket>()
  private var diagnostics: [String] = []

  /// Starts to serve programs on the given transports.
  public init(serving specs: [TransportSpec], seed: UInt64) throws(TransportFault) {
    radio = Radio(seed: seed)
    lock = radio.addController()
    var settings = TransportSettings()
    settings.role = .controller
    settings.awaitsPeer = false
    for spec in specs {
      let controller = radio.addController()
      radio.setPower(controller, false, at: Waiting.now)
      ports.append(Port(transport: try Transport(opening: spec, settings: settings), controller: controller))
    }
  }

  public var descriptors: [(descriptor: Int32, events: Int16)] { ports.flatMap { $0.transport.descriptors } }
  public var deadline: Instant? {
    let polls = ports.compactMap { port in port.transport.pollTimeout.map { Waiting.now + $0 } }
    return (polls + [radio.deadline].compactMap(\.self)).min()
  }
  /// The servers, with the ports that the system chose.
  public var endpoints: [String] {
    ports.map { port in
      guard case .tcpServer(let host, 0) = port.transport.spec, let number = port.transport.port else {
        return "\(port.transport.spec)"
      }
      return "\(TransportSpec.tcpServer(host: host, port: number))"
    }
  }
  public var conditions: [String] { [] }

  public func send(_ packet: HCIPacket) throws(TransportFault) {
    radio.send(packet, to: lock, at: Waiting.now)
    deliver()
  }

  public func service() throws(TransportFault) {
    for index in ports.indices { try service(index) }
    radio.advance(to: Waiting.now)
    deliver()
  }

  public func take() -> HCIPacket? { forLock.popFirst() }

  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics
  }

  /// Processes the packets of an external program. If it disconnects, its controller loses power.
  private func service(_ index: Int) throws(TransportFault) {
    let transport = ports[index].transport
    do {
      try transport.service()
    } catch {
      // The diagnostic of a disconnection is of no use.
      try transport.reopen()
    }
    _ = transport.takeDiagnostics()
    if transport.hasPeer != ports[index].hasPeer {
      ports[index].hasPeer = transport.hasPeer
      radio.setPower(ports[index].controller, transport.hasPeer, at: Waiting.now)
      diagnostics.append(
        "\(transport.spec): \(transport.hasPeer ? "a client connected" : "the client disconnected")")
    }
    while let packet = transport.take() { radio.send(packet, to: ports[index].controller, at: Waiting.now) }
  }

  private func deliver() {
    while let (controller, packet) = radio.nextPacket() {
      if controller == lock {
        forLock.append(packet)
      } else if let port = ports.first(where: { $0.controller == controller }) {
        // A failure shows when the port is serviced next.
        try? port.transport.send(packet)
      }
    }
  }
}
