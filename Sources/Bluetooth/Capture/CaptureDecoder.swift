/// Says what the packets of a capture mean, from HCI up to the attribute protocol.
///
/// It follows the links of the capture: it knows whose host it is, joins fragments to frames, and learns what the
/// attributes are from their discovery. Nothing is passed over: what cannot be read is a layer that says where and
/// why. What attributes hold is for others to read; they get each value with ``Decoding/value``.
public struct CaptureDecoder: Sendable {
  /// What came of a record.
  public struct Decoding: Sendable {
    /// The packet, and what happened to links before and after it.
    public var entries: [CaptureEntry] = []
    /// The value of an attribute that the packet completes.
    public var value: CapturedValue?
    /// The advertisements in it.
    public var reports: [AdvertisingReport] = []
    /// The link that ended.
    public var ended: Int?
    /// How many packets the capture lost before it.
    public var lost: UInt32 = 0
    /// Bytes that are not to be shown, here and in the records before.
    public var secrets: [CapturedBytes] = []
  }

  private let names: [BluetoothUUID: String]
  private var links: [ConnectionHandle: CapturedLink] = [:]
  private var linkCount = 0
  private var number = 0
  private var drops: UInt32 = 0

  /// Makes a decoder that has seen nothing; `names` has what types of attributes are called that have no assigned name, or
  /// another one.
  public init(names: [BluetoothUUID: String] = [:]) {
    self.names = names
  }
}

extension CaptureDecoder {
  /// Takes in the next record.
  public mutating func decode(_ record: BTSnoop.Record) -> Decoding {
    var decoding = Decoding()
    if record.drops > drops {
      decoding.lost = record.drops - drops
      let missing = decoding.lost == 1 ? "is missing" : "are missing"
      let text = "\(counted(Int(decoding.lost), "packet")) of the capture \(missing)"
      decoding.entries.append(CaptureEntry(number: number, time: record.time, event: text))
    }
    drops = max(drops, record.drops)
    let isReceived = record.flags.contains(.received)
    var entry = CaptureEntry(
      number: number, time: record.time, sender: isReceived ? .controller : .host, bytes: record.packet)
    var events: [String] = []
    read(record, isReceived: isReceived, &entry, &decoding, &events)
    entry.secrets += decoding.secrets.filter { $0.number == number }.map(\.range)
    decoding.entries.append(entry)
    for event in events {
      decoding.entries.append(CaptureEntry(number: number, time: record.time, event: event))
    }
    number += 1
    return decoding
  }

  private mutating func read(
    _ record: BTSnoop.Record, isReceived: Bool, _ entry: inout CaptureEntry, _ decoding: inout Decoding,
    _ events: inout [String]
  ) {
    // What is kept of a packet may be all that its header says, or not.
    if record.packet.count < record.originalLength {
      let text = "the capture kept \(record.packet.count) of its \(record.originalLength) bytes"
      entry.layers.append(CaptureEntry.Layer("HCI", malformed: text))
    }
    do throws(DecodeError) {
      switch try HCIPacket(decoding: record.packet) {
      case .command(let opcode, let parameters):
        let command = try within(4) { () throws(DecodeError) in
          try HCICommand(opcode: opcode, parameters: parameters)
        }
        entry.layers.append(CaptureEntry.Layer("HCI", "command \(command)"))
      case .event(let code, let parameters):
        let event = try within(3) { () throws(DecodeError) in
          try HCIEvent(code: code, parameters: parameters)
        }
        read(event, &entry, &decoding, &events)
      case .acl(let packet):
        read(packet, isReceived: isReceived, &entry, &decoding)
      case .synchronous(let bytes):
        entry.layers.append(CaptureEntry.Layer("HCI", "synchronous data, \(counted(bytes.count, "byte"))"))
      case .isochronous(let bytes):
        entry.layers.append(CaptureEntry.Layer("HCI", "isochronous data, \(counted(bytes.count, "byte"))"))
      }
    } catch {
      if entry.layers.isEmpty { entry.layers.append(CaptureEntry.Layer("HCI", error)) }
    }
    if let key = Self.key(of: record.packet) {
      decoding.secrets.append(CapturedBytes(number: number, range: key))
    }
  }

  /// Where the key in a command is.
  private static func key(of packet: [UInt8]) -> Range<Int>? {
    guard packet.count >= 3, packet[0] == H4Indicator.command.rawValue else { return nil }
    let opcode = UInt16(packet[1]) | UInt16(packet[2]) << 8
    let key = HCICommand.declaration(of: opcode)?.key ?? HCICommand.others[opcode]?.key
    return key.map { ($0.lowerBound + 4..<$0.upperBound + 4).clamped(to: packet.indices) }
  }

  private mutating func read(
    _ event: HCIEvent, _ entry: inout CaptureEntry, _ decoding: inout Decoding, _ events: inout [String]
  ) {
    entry.layers.append(CaptureEntry.Layer("HCI", "event \(event)"))
    switch event {
    case .leConnectionComplete(let connection) where connection.status == .success:
      linkCount += 1
      links[connection.handle] = CapturedLink(
        number: linkCount, hostIsClient: connection.role == .central, peer: connection.peer)
      events.append("connected \(connection.role == .central ? "to" : "by") \(connection.peer)")
    case .leConnectionComplete(let connection):
      events.append("not connected: \(connection.status)")
    case .disconnectionComplete(.success, let handle, let reason):
      decoding.ended = links.removeValue(forKey: handle)?.number
      events.append("disconnected: \(reason)")
    case .leAdvertisingReport(let reports), .leExtendedAdvertisingReport(let reports):
      decoding.reports = reports
    default: break
    }
  }
}

extension CaptureDecoder {
  private mutating func read(
    _ packet: ACLPacket, isReceived: Bool, _ entry: inout CaptureEntry, _ decoding: inout Decoding
  ) {
    entry.layers.append(
      CaptureEntry.Layer("HCI", "ACL data, handle \(packet.handle), \(counted(packet.data.count, "byte"))"))
    var link = links.removeValue(forKey: packet.handle) ?? newLink()
    defer { links[packet.handle] = link }
    entry.sender = link.sender(isReceived: isReceived)
    switch link.join(packet, isReceived: isReceived, number: number) {
    case .partial(let text): entry.layers.append(CaptureEntry.Layer("L2CAP", text))
    case .dropped(let reason): entry.layers.append(CaptureEntry.Layer("L2CAP", malformed: reason))
    case .whole(let bytes, let trail, let broken):
      if let broken { entry.layers.append(CaptureEntry.Layer("L2CAP", malformed: broken)) }
      do throws(DecodeError) {
        let frame = try L2CAPFrame(decoding: bytes)
        read(frame, trail, isReceived: isReceived, &link, &entry, &decoding)
      } catch {
        entry.layers.append(CaptureEntry.Layer("L2CAP", error))
      }
      entry.sender = link.sender(isReceived: isReceived)
    }
  }

  /// A link whose beginning the capture does not have.
  private mutating func newLink() -> CapturedLink {
    linkCount += 1
    return CapturedLink(number: linkCount)
  }

  private func read(
    _ frame: L2CAPFrame, _ trail: FrameTrail, isReceived: Bool, _ link: inout CapturedLink,
    _ entry: inout CaptureEntry, _ decoding: inout Decoding
  ) {
    let channel = L2CAPChannel(rawValue: frame.channel)
    let name = channel.map { " (\($0.text))" } ?? ""
    entry.layers.append(
      CaptureEntry.Layer(
        "L2CAP", "channel 0x\(hexText(frame.channel))\(name), \(counted(frame.payload.count, "byte"))"))
    guard let channel else { return }
    do throws(DecodeError) {
      switch channel {
      case .att:
        let packet = try ATTPacket(decoding: frame.payload)
        link.learn(packet, isReceived: isReceived)
        let text = packet.text(calling: { link.types[$0].map(name(of:)) }, types: name(of:))
        entry.layers.append(CaptureEntry.Layer(channel.text, text))
        decoding.value = link.value(of: packet, trail)
      case .signalling:
        let packet = try SignallingPacket(decoding: frame.payload)
        entry.layers.append(CaptureEntry.Layer(channel.text, "\(packet)"))
      case .security:
        let packet = try SecurityPacket(decoding: frame.payload)
        entry.layers.append(CaptureEntry.Layer(channel.text, "\(packet)"))
        if packet.bringsKey {
          let start = L2CAPFrame.headerSize + 1
          decoding.secrets += trail.places(of: start..<max(start, start + frame.payload.count - 1))
        }
      }
    } catch {
      entry.layers.append(CaptureEntry.Layer(channel.text, error))
    }
  }

  private func name(of type: BluetoothUUID) -> String { names[type] ?? type.assignedName ?? "\(type)" }
}

/// Decodes what begins so many bytes behind the octet of H4.
private func within<Value>(
  _ offset: Int, _ decode: () throws(DecodeError) -> Value
) throws(DecodeError) -> Value {
  do { return try decode() } catch { throw error.shifted(by: offset) }
}

extension L2CAPChannel {
  fileprivate var text: String {
    switch self {
    case .att: "ATT"
    case .signalling: "signalling"
    case .security: "security"
    }
  }
}
