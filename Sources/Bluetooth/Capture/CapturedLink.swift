/// What a capture has of one link.
struct CapturedLink: Sendable {
  /// What came of a fragment.
  enum Joined {
    case partial(String)
    /// A frame, and what it broke off.
    case whole([UInt8], FrameTrail, broken: String?)
    case dropped(String)
  }

  /// Which link of the capture it is; from 1.
  let number: Int
  /// The types of attributes, as far as they were discovered.
  private(set) var types: [AttributeHandle: BluetoothUUID]
  /// Whether the host is the client; `nil` until something tells.
  private(set) var hostIsClient: Bool?
  /// Who is at the other end, where the capture has the beginning.
  let peer: PeerAddress?
  /// What of fragments is not shown: of those from the host, and from its controller.
  private var sentSecrecy = FrameSecrecy()
  private var receivedSecrecy = FrameSecrecy()
  /// Frames that are being put together: from the host, and from its controller.
  private var sent = (assembly: FrameAssembly(), trail: FrameTrail())
  private var received = (assembly: FrameAssembly(), trail: FrameTrail())
  /// The type that the client asks for, so that the answer can be read.
  private var askedType: BluetoothUUID?

  /// Begins a link; the types are those that an earlier link to the same address told.
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

  /// Which bytes of a packet with data are not shown; the packet may be cut anywhere behind handle and flags.
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

  /// Who sent a packet. A host of which nothing is known is taken for the client's, as most are.
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
    let place = CapturedBytes(number: number, range: start..<start + packet.data.count)
    trail.append(place, isFirst: packet.boundary != .continuing)
    switch assembly.take(packet) {
    case .partial: return .partial("a part of a frame" + (broken.map { "; \($0)" } ?? ""))
    case .whole(let bytes): return .whole(bytes, trail, broken: broken)
    case .dropped(let reason): return .dropped(reason + (broken.map { "; \($0)" } ?? ""))
    }
  }

  /// Learns the roles of the ends, and the attributes.
  ///
  /// - Returns: whether it learnt of attributes.
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
    let place = AttributeHandle(rawValue: UInt16(entry[handle]) | UInt16(entry[handle + 1]) << 8)
    types[place] = type
  }

  /// The value that a packet carries to an attribute, or tells of it unasked.
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
  /// Where the data are in a packet: behind the octet of H4, handle and flags, and the length.
  fileprivate static let dataOffset = 5
}

extension ATTPacket {
  /// Whether only a client sends this; `nil` for what tells nothing.
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
