import Basics
import Bluetooth

/// What a host wants done, sorted: packets for the controller, and reports for the session around the host, each in its order.
struct HostOutput: Sendable {
  private var packets = FIFO<HCIPacket>()
  private var reports = FIFO<HostEvent>()

  /// Receives what a host wants done.
  mutating func add(_ actions: consuming [HostAction]) {
    // Actions are moved out of the array, which is cheaper than copied: they are large.
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
