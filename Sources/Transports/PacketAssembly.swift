import Bluetooth

/// Assembles the packets of one USB endpoint from transfers, whose boundaries are arbitrary.
///
/// The endpoint determines the packet type, so there is no type octet (Core 5.4, Vol 4 Part B §2.2).
struct PacketAssembly {
  /// The packet type of an endpoint, as the H4 indicator.
  enum Kind: UInt8 {
    case acl = 0x02
    case event = 0x04
  }

  /// The maximum accepted data length, as in ``H4Stream``.
  private static let maximumDataLength = 4096

  private let kind: Kind
  private var buffer: [UInt8] = []

  init(of kind: Kind) {
    self.kind = kind
  }

  /// The number of bytes of an incomplete packet.
  var pendingCount: Int { buffer.count }

  /// Appends a transfer's bytes, and appends the packets that they complete to `packets`.
  mutating func append(_ bytes: some Collection<UInt8>, to packets: inout [HCIPacket]) throws(DecodeError) {
    buffer.append(contentsOf: bytes)
    var start = 0
    while let size = try sizeOfPacket(at: start), buffer.count - start >= size {
      packets.append(try HCIPacket(decoding: [kind.rawValue] + buffer[start..<start + size]))
      start += size
    }
    buffer.removeFirst(start)
  }

  /// Returns the size of the packet once its header has arrived.
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
