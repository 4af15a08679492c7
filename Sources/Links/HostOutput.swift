import Basics
import Bluetooth

/// A host's actions, sorted: packets for the controller, and reports for the session around the host, each in
/// order.
struct HostOutput: Sendable {
  private var packets = FIFO<HCIPacket>()
  private var reports = FIFO<HostEvent>()

  /// Adds a host's actions.
  mutating func add(_ actions: consuming [HostAction]) {
    // Moving the actions out of the array is cheaper than copying them: they are large.
    actions.reverse()
    while let action = actions.popLast() {
      switch consume action {
      case .transmit(let packet): packets.append(packet)
      case .report(let report): reports.append(report)
      }
    }
  }

  mutating func takeReport() -> HostEvent? { reports.popFirst() }
  mutating func takePacket() -> HCIPacket? { packets.popFirst() }

  mutating func takePackets() -> [HCIPacket] {
    defer { packets.removeAll() }
    return Array(packets)
  }

  mutating func removeAll() {
    packets.removeAll()
    reports.removeAll()
  }
}
