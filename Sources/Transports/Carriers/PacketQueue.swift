import Bluetooth

/// Packets that arrived and that nobody has taken yet, the oldest first.
///
/// It is bounded by whoever fills it: with the queue full nothing more is read, and the other end has to wait.
struct PacketQueue {
  /// As many as may wait here before reading stops.
  static let limit = 1024

  private var packets: [HCIPacket] = []
  private var start = 0

  var count: Int { packets.count - start }
  var isFull: Bool { count >= Self.limit }

  mutating func append(_ packet: HCIPacket) { packets.append(packet) }

  mutating func next() -> HCIPacket? {
    guard start < packets.count else { return nil }
    let packet = packets[start]
    start += 1
    if start == packets.count || start > Self.limit {
      packets.removeFirst(start)
      start = 0
    }
    return packet
  }

  /// The newest, from the one that came in as number `count` of those that wait.
  func newest(from count: Int) -> ArraySlice<HCIPacket> { packets[(start + count)...] }

  /// Drops packets from an index of ``newest(from:)`` on.
  mutating func drop(from index: Int) { packets.removeSubrange(index...) }
}
