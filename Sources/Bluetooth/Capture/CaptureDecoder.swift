/// Decodes the packets of a capture, from HCI up to the attribute protocol.
///
/// It follows the links of the capture: it determines which host recorded it, joins fragments to frames, and learns
/// the attributes from their discovery. Nothing is skipped: an undecodable packet becomes a layer that says where and
/// why. The values of attributes are decoded elsewhere, from ``Decoding/value``.
public struct CaptureDecoder: Sendable {
  /// The result of a record.
  public struct Decoding: Sendable {
    /// The packet, with the events of links before and after it.
    public var entries: [CaptureEntry] = []
    /// The value of an attribute that the packet completes.
    public var value: CapturedValue?
    /// The advertisements in it.
    public var reports: [AdvertisingReport] = []
    /// The new advertisement of the capture's host.
    public var advertised: AdvertisingData?
    /// The links that ended.
    public var ended: [Int] = []
    /// The number of packets that the capture lost before it.
    public var lost: UInt32 = 0
    /// The bytes that must not be shown, here and in earlier records.
    public var secrets: [CapturedBytes] = []
  }

  /// A link's handle, which its controller gave it.
  private struct LinkKey: Hashable {
    var controller: UInt16?
    var handle: ConnectionHandle
  }

  private let names: [BluetoothUUID: String]
  private var links: [LinkKey: CapturedLink] = [:]
  /// The discovered attributes, by the address of their server.
  private var discovered: [PeerAddress: [AttributeHandle: BluetoothUUID]] = [:]
  private var linkCount = 0
  private var number = 0
  private var drops: UInt32 = 0
  /// The reserved values that were ignored so far: each kind is reported once.
  private var ignored = Reserved()

  /// A capture has no more addresses than there are devices, unless they are forged.
  private static let addressLimit = 10_000

  /// Makes a decoder. `names` has names for attribute types, in place of the assigned ones.
  public init(names: [BluetoothUUID: String] = [:]) {
    self.names = names
  }
}

extension CaptureDecoder {
  /// Decodes the next record.
  public mutating func decode(_ record: BTSnoop.Record) -> Decoding {
    var decoding = Decoding()
    if record.drops > drops {
      decoding.lost = record.drops - drops
      let missing = decoding.lost == 1 ? "is missing" : "are missing"
      addEvent("\(counted(Int(decoding.lost), "packet")) of the capture \(missing)", record, &decoding)
      for key in Array(links.keys) { links[key]?.lose() }
    }
    drops = max(drops, record.drops)
    if let note = record.note {
      addEvent(note, record, &decoding)
      if note == MonitorRecord.endOfController { endLinks(of: record.controller, &decoding) }
    } else {
      read(record, &decoding)
    }
    number += 1
    return decoding
  }

  private func addEvent(_ event: String, _ record: BTSnoop.Record, _ decoding: inout Decoding) {
    decoding.entries.append(
      CaptureEntry(number: number, time: record.time, controller: record.controller, event: event))
  }

  private mutating func endLinks(of controller: UInt16?, _ decoding: inout Decoding) {
    for (key, link) in links where key.controller == controller {
      decoding.ended.append(link.number)
      links[key] = nil
    }
    decoding.ended.sort()
  }

  private mutating func read(_ record: BTSnoop.Record, _ decoding: inout Decoding) {
    let isReceived = record.flags.contains(.received)
    var entry = CaptureEntry(
      number: number, time: record.time, controller: record.controller,
      sender: isReceived ? .controller : .host, bytes: record.packet)
    hide(record, isReceived: isReceived, &decoding)
    var events: [String] = []
    read(record, isReceived: isReceived, &entry, &decoding, &events)
    entry.secrets += decoding.secrets.filter { $0.number == number }.map(\.range)
    decoding.entries.append(entry)
    for event in events { addEvent(event, record, &decoding) }
  }

  /// Determines the bytes of a packet that must not be shown, before it is decoded.
  private mutating func hide(_ record: BTSnoop.Record, isReceived: Bool, _ decoding: inout Decoding) {
    let packet = record.packet
    var hidden: Range<Int>?
    if let start = Known.hiddenStart(of: packet) {
      hidden = start < packet.count ? start..<packet.count : nil
    } else if packet.first == H4Indicator.acl.rawValue, packet.count >= 3 {
      let word = UInt16(packet[1]) | UInt16(packet[2]) << 8
      let key = LinkKey(
        controller: record.controller, handle: ConnectionHandle(rawValue: word & ConnectionHandle.mask))
      if links[key] == nil { links[key] = newLink() }
      hidden = links[key]?.hidden(in: packet, isReceived: isReceived)
    }
    if let hidden { decoding.secrets.append(CapturedBytes(number: number, range: hidden)) }
  }

  private mutating func read(
    _ record: BTSnoop.Record, isReceived: Bool, _ entry: inout CaptureEntry, _ decoding: inout Decoding,
    _ events: inout [String]
  ) {
    // A truncated packet may or may not contain all that its header announces.
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
        if opcode == HCICommand.leSetAdvertisingData.opcode {
          decoding.advertised = (try? HCICommand.leSetAdvertisingData.decode(parameters)).flatMap {
            try? AdvertisingData(decoding: $0)
          }
        }
      case .event(let code, let parameters):
        var reserved = Reserved()
        let event = try within(3) { () throws(DecodeError) in
          try HCIEvent(code: code, parameters: parameters, ignoring: &reserved)
        }
        read(event, of: record.controller, ignoring: reserved, &entry, &decoding, &events)
      case .acl(let packet):
        read(packet, of: record.controller, isReceived: isReceived, &entry, &decoding)
      case .synchronous(let bytes):
        entry.layers.append(CaptureEntry.Layer("HCI", "synchronous data, \(counted(bytes.count, "byte"))"))
      case .isochronous(let bytes):
        entry.layers.append(CaptureEntry.Layer("HCI", "isochronous data, \(counted(bytes.count, "byte"))"))
      }
    } catch {
      if entry.layers.isEmpty { entry.layers.append(CaptureEntry.Layer("HCI", error)) }
    }
  }

  private mutating func read(
    _ event: HCIEvent, of controller: UInt16?, ignoring reserved: Reserved, _ entry: inout CaptureEntry,
    _ decoding: inout Decoding, _ events: inout [String]
  ) {
    let new = ignored.takeNew(from: reserved)
    let remark = new.isEmpty ? "" : " (ignored here and from now on: \(new))"
    entry.layers.append(CaptureEntry.Layer("HCI", "event \(event)\(remark)"))
    switch event {
    case .leConnectionComplete(let connection) where connection.status == .success:
      linkCount += 1
      links[LinkKey(controller: controller, handle: connection.handle)] = CapturedLink(
        number: linkCount, hostIsClient: connection.role == .central, peer: connection.peer,
        types: connection.role == .central ? discovered[connection.peer] ?? [:] : [:])
      events.append("connected \(connection.role == .central ? "to" : "by") \(connection.peer)")
    case .leConnectionComplete(let connection):
      events.append("not connected: \(connection.status)")
    case .disconnectionComplete(.success, let handle, let reason):
      let link = links.removeValue(forKey: LinkKey(controller: controller, handle: handle))
      if let link { decoding.ended.append(link.number) }
      events.append("disconnected: \(reason)")
    case .leAdvertisingReport(let reports), .leExtendedAdvertisingReport(let reports):
      decoding.reports = reports
    default: break
    }
  }
}

extension CaptureDecoder {
  private mutating func read(
    _ packet: ACLPacket, of controller: UInt16?, isReceived: Bool, _ entry: inout CaptureEntry,
    _ decoding: inout Decoding
  ) {
    entry.layers.append(
      CaptureEntry.Layer("HCI", "ACL data, handle \(packet.handle), \(counted(packet.data.count, "byte"))"))
    let key = LinkKey(controller: controller, handle: packet.handle)
    var link = links.removeValue(forKey: key) ?? newLink()
    defer { links[key] = link }
    entry.sender = link.sender(isReceived: isReceived)
    switch link.join(packet, isReceived: isReceived, number: number) {
    case .partial(let text): entry.layers.append(CaptureEntry.Layer("L2CAP", text))
    case .dropped(let reason): entry.layers.append(CaptureEntry.Layer("L2CAP", malformed: reason))
    case .whole(let bytes, let trail, let broken):
      if let broken { entry.layers.append(CaptureEntry.Layer("L2CAP", malformed: broken)) }
      do throws(DecodeError) {
        let frame = try L2CAPFrame(decoding: bytes)
        read(frame, trail, of: controller, isReceived: isReceived, &link, &entry, &decoding)
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

  private mutating func read(
    _ frame: L2CAPFrame, _ trail: FrameTrail, of controller: UInt16?, isReceived: Bool,
    _ link: inout CapturedLink, _ entry: inout CaptureEntry, _ decoding: inout Decoding
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
        if link.learn(packet, isReceived: isReceived) { remember(link) }
        let text = packet.text(calling: { link.types[$0].map(name(of:)) }, types: name(of:))
        entry.layers.append(CaptureEntry.Layer(channel.text, text))
        decoding.value = link.value(of: packet, trail, controller: controller)
      case .signalling:
        let packet = try SignallingPacket(decoding: frame.payload)
        entry.layers.append(CaptureEntry.Layer(channel.text, "\(packet)"))
      case .security, .securityBREDR:
        let packet = try SecurityPacket(decoding: frame.payload)
        entry.layers.append(CaptureEntry.Layer(channel.text, "\(packet)"))
      }
    } catch {
      entry.layers.append(CaptureEntry.Layer(channel.text, error))
    }
  }

  /// Keeps the discovered attributes for later links to the same address: clients cache them, too.
  private mutating func remember(_ link: CapturedLink) {
    guard link.hostIsClient == true, let peer = link.peer else { return }
    if discovered.count >= Self.addressLimit { discovered = [:] }
    discovered[peer] = link.types
  }

  private func name(of type: BluetoothUUID) -> String { names[type] ?? type.assignedName ?? "\(type)" }
}

/// Decodes a value at an offset after the H4 octet.
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
    case .security, .securityBREDR: "security"
    }
  }
}
