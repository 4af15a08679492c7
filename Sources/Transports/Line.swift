import Bluetooth
import Basics

/// The open connection under a transport: it moves packets and never blocks.
///
/// Every call comes with a system call, so dynamic dispatch does not matter.
protocol Line: AnyObject {
  /// Whether a peer is connected; a server may be without one.
  var hasPeer: Bool { get }

  /// Whether the queue of packets to send is full.
  var isFull: Bool { get }

  /// What to poll, given whether more packets are wanted.
  func descriptors(reading: Bool) -> [(descriptor: Int32, events: Int16)]

  /// When ``service(_:at:)`` must be called even if nothing is ready.
  var deadline: Instant? { get }

  /// Sends a packet, or queues it until it can be sent.
  func send(_ packet: HCIPacket, at now: Instant) throws(TransportFault)

  /// Sends and receives what is possible without waiting, and checks the timeouts. Reports other observations as
  /// diagnostics.
  func service(_ traffic: inout Traffic, at now: Instant) throws(TransportFault)

  /// Disconnects the peer and keeps what the next opening needs; returns false if nothing can be kept.
  func restart() -> Bool

  /// Releases all resources. No call may follow.
  func close()
}

/// The packets and diagnostics from a line.
struct Traffic {
  /// The maximum number of queued packets. When it is reached, reading stops and the peer has to wait.
  private static let limit = 1024

  /// The packets that have arrived and have not been taken yet.
  var inbox = FIFO<HCIPacket>()
  var diagnostics: [String] = []

  var isFull: Bool { inbox.count >= Self.limit }
}
