import Basics
import Bluetooth

/// What a host wants done, sorted: packets for the controller, and reports for the session around the host, each in its order.
struct HostOutput: Sendable {
  private var packets = FIFO<HCIPacket>()
  private var reports = FIFO<HostEvent>()

  mutating func add(_ actions: [HostAction]) {
    for action in actions {
      switch action {
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
