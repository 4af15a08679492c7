import Bluetooth
import Basics

/// What a transport runs over, once it is open: it moves packets and waits for nothing.
///
/// Every call stands beside a system call, so it may be dynamic.
protocol Line: AnyObject {
  /// Whether a peer is connected; a server may be without one.
  var hasPeer: Bool { get }

  /// Whether as much waits to be sent as may wait.
  var isFull: Bool { get }

  /// What to poll, given whether more packets are wanted.
  func descriptors(reading: Bool) -> [(descriptor: Int32, events: Int16)]

  /// When ``service(_:at:)`` must be called even if nothing is ready.
  var deadline: Instant? { get }

  /// Sends a packet, or keeps it until it can be sent.
  func send(_ packet: HCIPacket, at now: Instant) throws(TransportFault)

  /// Sends and receives what can be, and looks at the time. What it learns by the way it reports.
  func service(_ traffic: inout Traffic, at now: Instant) throws(TransportFault)

  /// Drops the other end, and keeps what a new opening needs again; false when nothing can be kept.
  func restart() -> Bool

  /// Lets go of everything. Nothing is called after it.
  func close()
}

/// What comes out of a line.
struct Traffic {
  /// As many packets as may wait before reading stops: then the other end has to wait.
  private static let limit = 1024

  /// The packets that arrived and were not taken yet.
  var inbox = FIFO<HCIPacket>()
  var diagnostics: [String] = []

  var isFull: Bool { inbox.count >= Self.limit }
}
