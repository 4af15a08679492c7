import Bluetooth

/// Puts the packets of one USB endpoint together from transfers, which divide them as they like.
///
/// The endpoint tells the kinds apart, so no octet stands in front (Core 5.4, Vol 4 Part B §2.2).
struct PacketAssembly {
  /// What an endpoint carries, as H4 would write it.
  enum Kind: UInt8 {
    case acl = 0x02
    case event = 0x04
  }

  /// The longest data that is believed, as in ``H4Stream``.
  private static let maximumDataLength = 4096

  private let kind: Kind
  private var buffer: [UInt8] = []

  init(of kind: Kind) {
    self.kind = kind
  }

  /// How many bytes wait for the rest of their packet.
  var pendingCount: Int { buffer.count }

  /// Appends a transfer, and returns the packets that it completes.
  mutating func append(_ bytes: some Collection<UInt8>, to packets: inout [HCIPacket]) throws(DecodeError) {
    buffer.append(contentsOf: bytes)
    var start = 0
    while let size = try sizeOfPacket(at: start), buffer.count - start >= size {
      packets.append(try HCIPacket(decoding: [kind.rawValue] + buffer[start..<start + size]))
      start += size
    }
    buffer.removeFirst(start)
  }

  /// The size of the packet, once its header is there.
  private func sizeOfPacket(at start: Int) throws(DecodeError) -> Int? {
    let headerSize = kind == .event ? 2 : 4
    guard buffer.count - start >= headerSize else { return nil }
    switch kind {
    case .event:
      return headerSize + Int(buffer[start + 1])
    case .acl:
      let length = Int(buffer[start + 2]) | Int(buffer[start + 3]) << 8
      guard length <= Self.maximumDataLength else { throw .value(length, of: "data length", at: 2) }
      return headerSize + length
    }
  }
}
