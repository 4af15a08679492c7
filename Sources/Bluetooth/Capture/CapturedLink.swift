/// The state of one link in a capture.
struct CapturedLink: Sendable {
  /// The result of a fragment.
  enum Joined {
    case partial(String)
    /// A frame, with a description of the incomplete one before it.
    case whole([UInt8], FrameTrail, broken: String?)
    case dropped(String)
  }

  /// The number of the link in the capture, from 1.
  let number: Int
  /// The discovered attribute types.
  private(set) var types: [AttributeHandle: BluetoothUUID]
  /// Whether the host is the client; `nil` if that is unknown.
  private(set) var hostIsClient: Bool?
  /// The address of the other end, if the capture has the beginning.
  let peer: PeerAddress?
  /// The secret bytes in fragments from the host, and in those from its controller.
  private var sentSecrecy = FrameSecrecy()
  private var receivedSecrecy = FrameSecrecy()
  /// The incomplete frames from the host, and from its controller.
  private var sent = (assembly: FrameAssembly(), trail: FrameTrail())
  private var received = (assembly: FrameAssembly(), trail: FrameTrail())
  /// The type that the client requested, which determines the layout of the response.
  private var askedType: BluetoothUUID?

  /// Begins a link; the types are those of an earlier link to the same address.
  init(
    number: Int, hostIsClient: Bool? = nil, peer: PeerAddress? = nil,
    types: [AttributeHandle: BluetoothUUID] = [:]
  ) {
    self.number = number
    self.hostIsClient = hostIsClient
    self.peer = peer
    self.types = types
  }

  /// Records that packets are missing.
  mutating func lose() {
    sentSecrecy.lose()
    receivedSecrecy.lose()
  }

  /// The bytes of a data packet that must not be shown; the packet may be truncated anywhere after handle and
  /// flags.
  mutating func hidden(in packet: [UInt8], isReceived: Bool) -> Range<Int>? {
    isReceived ? Self.hidden(in: packet, &receivedSecrecy) : Self.hidden(in: packet, &sentSecrecy)
  }

  private static func hidden(in packet: [UInt8], _ secrecy: inout FrameSecrecy) -> Range<Int>? {
    guard packet.count >= ACLPacket.dataOffset else {
      secrecy.lose()
      return nil
    }
    return secrecy.take(
      packet[ACLPacket.dataOffset...], of: Int(packet[3]) | Int(packet[4]) << 8,
      isFirst: packet[2] >> 4 & 3 != ACLPacket.Boundary.continuing.rawValue)
  }

  /// The sender of a packet. If the role of the host is unknown, it counts as the client, which most are.
  func sender(isReceived: Bool) -> CaptureEntry.Sender {
    isReceived == (hostIsClient ?? true) ? .lock : .client
  }

  mutating func join(_ packet: ACLPacket, isReceived: Bool, number: Int) -> Joined {
    isReceived
      ? Self.join(packet, number: number, &received.assembly, &received.trail)
      : Self.join(packet, number: number, &sent.assembly, &sent.trail)
  }

  private static func join(
    _ packet: ACLPacket, number: Int, _ assembly: inout FrameAssembly, _ trail: inout FrameTrail
  ) -> Joined {
    let broken = assembly.breakOff(before: packet)
    let start = ACLPacket.dataOffset
    let fragment = CapturedBytes(number: number, range: start..<start + packet.data.count)
    trail.append(fragment, isFirst: packet.boundary != .continuing)
    switch assembly.take(packet) {
    case .partial: return .partial("a part of a frame" + (broken.map { "; \($0)" } ?? ""))
    case .whole(let bytes): return .whole(bytes, trail, broken: broken)
    case .dropped(let reason): return .dropped(reason + (broken.map { "; \($0)" } ?? ""))
    }
  }

  /// Learns the roles of the ends, and the attributes.
  ///
  /// - Returns: whether new attributes were found.
  mutating func learn(_ packet: ATTPacket, isReceived: Bool) -> Bool {
    if hostIsClient == nil, let isClient = packet.isFromClient { hostIsClient = isClient != isReceived }
    switch packet {
    case .readByTypeRequest(_, let type): askedType = type
    case .readByTypeResponse(let length, let list) where askedType == BluetoothUUID(0x2803):
      // The handle of the declaration, properties, the handle of the value, its type.
      for entry in list.split(every: Int(length)) { learn(entry, handle: 3, type: 5) }
      return true
    case .findInformationResponse(let format, let list):
      for entry in list.split(every: format == 1 ? 4 : 18) { learn(entry, handle: 0, type: 2) }
      return true
    default: break
    }
    return false
  }

  private mutating func learn(_ entry: [UInt8], handle: Int, type: Int) {
    guard let type = try? BluetoothUUID(littleEndian: [UInt8](entry.dropFirst(type))) else { return }
    // The declaration of a characteristic contains the UUID of its value attribute.
    let attribute = AttributeHandle(rawValue: UInt16(entry[handle]) | UInt16(entry[handle + 1]) << 8)
    types[attribute] = type
  }

  /// The value that a packet writes to an attribute, or notifies.
  func value(of packet: ATTPacket, _ trail: FrameTrail, controller: UInt16?) -> CapturedValue? {
    switch packet {
    case .writeCommand(let handle, let bytes), .writeRequest(let handle, let bytes):
      value(handle, bytes, isWritten: true, trail, controller)
    case .notification(let handle, let bytes), .indication(let handle, let bytes):
      value(handle, bytes, isWritten: false, trail, controller)
    default: nil
    }
  }

  private func value(
    _ handle: AttributeHandle, _ bytes: [UInt8], isWritten: Bool, _ trail: FrameTrail, _ controller: UInt16?
  ) -> CapturedValue {
    // A frame's header, an opcode, a handle.
    CapturedValue(
      link: number, peer: hostIsClient == true ? peer : nil, isWritten: isWritten, handle: handle,
      type: types[handle], discovered: types, controller: controller,
      hostIsClient: hostIsClient, bytes: bytes, trail: trail, start: L2CAPFrame.headerSize + 3)
  }
}

extension ACLPacket {
  /// The offset of the data in a packet: after the H4 octet, handle and flags, and the length.
  fileprivate static let dataOffset = 5
}

extension ATTPacket {
  /// Whether only a client sends this packet; `nil` if both ends may.
  fileprivate var isFromClient: Bool? {
    switch self {
    case .unknown: nil
    case .confirmation, .writeCommand, .signedWriteCommand: true
    case .notification, .indication, .errorResponse: false
    // A response has the number after its request.
    default: opcode % 2 == 0
    }
  }
}

extension Array<UInt8> {
  /// The whole pieces of a length.
  fileprivate func split(every length: Int) -> [[UInt8]] {
    guard length > 0 else { return [] }
    return stride(from: 0, through: count - length, by: length).map { [UInt8](self[$0..<$0 + length]) }
  }
}
