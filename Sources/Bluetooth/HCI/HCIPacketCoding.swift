/// The octet in front of a packet on a serial line or a socket (H4; Core 5.4, Vol 4 Part A §2).
enum H4Indicator: UInt8 {
  case command = 0x01
  case acl = 0x02
  case synchronous = 0x03
  case event = 0x04
  case isochronous = 0x05

  /// The number of bytes between the octet and the data (Core 5.4, Vol 4 Part E §5.4).
  var headerSize: Int {
    switch self {
    case .event: 2
    case .command, .synchronous: 3
    case .acl, .isochronous: 4
    }
  }

  /// The length of the data, from the header.
  func dataLength(of header: borrowing Span<UInt8>) -> Int {
    switch self {
    case .event: Int(header[1])
    case .command, .synchronous: Int(header[2])
    case .acl: Int(header[2]) | Int(header[3]) << 8
    // The two highest bits are reserved.
    case .isochronous: Int(header[2]) | Int(header[3] & 0x3F) << 8
    }
  }
}

extension HCIPacket {
  /// Decodes one packet with its H4 octet, from all of the bytes.
  public init(decoding h4: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(h4.span)
    try self.init(decoding: &reader)
    try reader.end()
  }

  /// Decodes one packet with its H4 octet.
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    switch try reader.choice("H4 packet indicator", as: H4Indicator.self) {
    case .command:
      let opcode = try reader.u16()
      self = .command(opcode: opcode, parameters: try reader.bytes(Int(try reader.u8())))
    case .event:
      let code = try reader.u8()
      self = .event(code: code, parameters: try reader.bytes(Int(try reader.u8())))
    case .acl:
      self = .acl(try ACLPacket(decoding: &reader))
    case .synchronous:
      self = .synchronous(try reader.wholePacket(.synchronous))
    case .isochronous:
      self = .isochronous(try reader.wholePacket(.isochronous))
    }
  }

  /// The packet with its H4 octet.
  public var h4: [UInt8] {
    var bytes: [UInt8] = []
    appendH4(to: &bytes)
    return bytes
  }

  /// Appends the packet with its H4 octet.
  public func appendH4(to bytes: inout [UInt8]) {
    switch self {
    case .command(let opcode, let parameters):
      precondition(parameters.count <= 255, "a command has at most 255 bytes of parameters")
      bytes.reserveFor(4 + parameters.count)
      bytes.append(H4Indicator.command.rawValue)
      bytes.append(littleEndian: opcode)
      bytes.append(UInt8(parameters.count))
      bytes.append(contentsOf: parameters)
    case .acl(let packet):
      bytes.reserveFor(5 + packet.data.count)
      bytes.append(H4Indicator.acl.rawValue)
      bytes.append(packet)
    case .synchronous(let packet):
      bytes.append(H4Indicator.synchronous.rawValue)
      bytes.append(contentsOf: packet)
    case .event(let code, let parameters):
      precondition(parameters.count <= 255, "an event has at most 255 bytes of parameters")
      bytes.reserveFor(3 + parameters.count)
      bytes.append(H4Indicator.event.rawValue)
      bytes.append(code)
      bytes.append(UInt8(parameters.count))
      bytes.append(contentsOf: parameters)
    case .isochronous(let packet):
      bytes.append(H4Indicator.isochronous.rawValue)
      bytes.append(contentsOf: packet)
    }
  }
}

extension ACLPacket: BinaryCodable {
  /// Reads handle and flags, a length and the data (Core 5.4, Vol 4 Part E §5.4.2).
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    let start = reader.offset
    let word = try reader.u16()
    // All four values have a meaning.
    guard let boundary = Boundary(rawValue: UInt8(word >> 12 & 3)) else {
      throw .value(Int(word >> 12 & 3), of: "packet boundary flag", at: start)
    }
    handle = ConnectionHandle(rawValue: word & ConnectionHandle.mask)
    self.boundary = boundary
    broadcast = UInt8(word >> 14)
    data = try reader.bytes(Int(try reader.u16()))
  }

  /// Appends handle and flags, a length and the data.
  public func encode(into bytes: inout [UInt8]) {
    precondition(handle.rawValue <= ConnectionHandle.mask, "a connection handle has twelve bits")
    precondition(broadcast <= 3, "the broadcast flag has two bits")
    precondition(data.count <= 0xFFFF, "a fragment is at most 65,535 bytes")
    bytes.append(littleEndian: handle.rawValue | UInt16(boundary.rawValue) << 12 | UInt16(broadcast) << 14)
    bytes.append(littleEndian: UInt16(data.count))
    bytes.append(contentsOf: data)
  }
}

extension ByteReader {
  /// Reads header and data of a packet whose contents stay bytes.
  @_lifetime(self: copy self)
  fileprivate mutating func wholePacket(_ indicator: H4Indicator) throws(DecodeError) -> [UInt8] {
    try require(indicator.headerSize)
    var ahead = self
    let header = try ahead.bytes(indicator.headerSize)
    return try bytes(header.count + indicator.dataLength(of: header.span))
  }
}

extension Array<UInt8> {
  /// Reserves capacity in an empty array; a reused one has it already.
  fileprivate mutating func reserveFor(_ count: Int) {
    if isEmpty { reserveCapacity(count) }
  }
}
