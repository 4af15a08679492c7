import Bluetooth
import Basics
import TestSupport
import Testing

/// What packets mean, layer by layer.
@Suite struct CaptureDecoderTests {
  private static let link = ConnectionHandle(rawValue: 0x0040)
  private static let peer = PeerAddress(.randomDevice, .staticRandom(0x1122_3344_5566))

  /// A line for each layer of each packet, and one for each event.
  private static func text(
    _ packets: [(packet: [UInt8], isReceived: Bool)], drops: [UInt32] = [], cut: [Int: UInt32] = [:]
  ) -> [String] {
    var decoder = CaptureDecoder(names: [BluetoothUUID(0xFD81): "The service"])
    return packets.enumerated().flatMap { index, packet in
      var record = BTSnoop.Record(
        time: UInt64(index), isReceived: packet.isReceived, packet: packet.packet,
        drops: index < drops.count ? drops[index] : 0)
      if let length = cut[index] { record.originalLength = length }
      return decoder.decode(record).entries.flatMap { entry -> [String] in
        if let event = entry.event { return ["\(entry.number) -- \(event)"] }
        let heading = "\(entry.number) \(entry.sender?.rawValue ?? "?")"
        let secrets = entry.secrets.isEmpty ? [] : ["\(heading) \(entry.hex)"]
        return secrets + entry.layers.map { "\(heading) \($0.name): \($0.text)" }
      }
    }
  }

  private static func acl(
    _ data: [UInt8], _ boundary: ACLPacket.Boundary = .firstFlushable, isReceived: Bool = true
  ) -> (packet: [UInt8], isReceived: Bool) {
    (HCIPacket.acl(ACLPacket(handle: link, boundary: boundary, data: data)).h4, isReceived)
  }

  private static func att(_ packet: ATTPacket, isReceived: Bool) -> (packet: [UInt8], isReceived: Bool) {
    acl(
      L2CAPFrame(.att, packet.encoded).encoded, isReceived ? .firstFlushable : .first, isReceived: isReceived)
  }

  private static func connection(_ role: LinkRole) -> (packet: [UInt8], isReceived: Bool) {
    let complete = ConnectionComplete(
      status: .success, handle: link, role: role, peer: peer,
      timing: ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200))
    return (HCIEvent.leConnectionComplete(complete).packet.h4, true)
  }

  @Test("a link from its beginning to its end: attributes are called by what was discovered")
  func wholeLink() throws {
    let handle = AttributeHandle.init(rawValue:)
    let notify = BluetoothUUID(try UUID128(text: "16860003-a5ae-9856-b6d3-dbb4c676993e"))
    let range = AttributeRange(handle(10), handle(15))
    let packets: [(packet: [UInt8], isReceived: Bool)] = [
      (HCICommand.leSetScanEnable(true, true).packet.h4, false),
      (
        HCIEvent.leAdvertisingReport([
          AdvertisingReport(.connectable, from: Self.peer, [2, 1, 6], rssi: -60)
        ]).packet.h4, true
      ),
      (HCICommand.leCreateConnection(ConnectionRequest(peer: Self.peer)).packet.h4, false),
      (HCIEvent.commandStatus(status: .success, credits: 1, opcode: 0x200D).packet.h4, true),
      Self.connection(.central),
      Self.att(.findByTypeValueRequest(.all, type: 0x2800, value: [0x81, 0xFD]), isReceived: false),
      Self.att(.findByTypeValueResponse([range]), isReceived: true),
      Self.att(.readByTypeRequest(range, type: BluetoothUUID(0x2803)), isReceived: false),
      Self.att(
        .readByTypeResponse(length: 21, [13, 0, 0x10, 14, 0] + notify.littleEndian), isReceived: true),
      Self.att(.findInformationRequest(AttributeRange(handle(15), handle(15))), isReceived: false),
      Self.att(.findInformationResponse(format: 1, [15, 0, 0x02, 0x29]), isReceived: true),
      Self.att(.writeRequest(handle(15), [1, 0]), isReceived: false),
      Self.att(.errorResponse(request: 0x12, handle(15), .writeNotPermitted), isReceived: true),
      Self.att(.notification(handle(14), [1, 2, 3]), isReceived: true),
      (HCICommand.disconnect(Self.link, .remoteUserTerminated).packet.h4, false),
      (
        HCIEvent.disconnectionComplete(status: .success, Self.link, reason: .connectionTimeout).packet.h4,
        true
      ),
    ]
    expect(
      Self.text(packets).filter { !$0.contains("HCI: ACL") && !$0.contains("L2CAP:") },
      [
        "0 host HCI: command LE Set Scan Enable, on, without duplicates",
        "1 controller HCI: event LE Advertising Report, connectable of d1:22:33:44:55:66 at -60 dBm, 01:06",
        "2 host HCI: command LE Create Connection, to d1:22:33:44:55:66",
        "3 controller HCI: event Command Status, LE Create Connection",
        "4 controller HCI: event LE Connection Complete, handle 0x0040, to d1:22:33:44:55:66, every 7.5 ms, "
          + "latency 0, timeout 2000 ms",
        "4 -- connected to d1:22:33:44:55:66",
        "5 client ATT: Find By Type Value Request, 0x0001–0xffff, Primary Service of The service",
        "6 lock ATT: Find By Type Value Response, 0x000a–0x000f",
        "7 client ATT: Read By Type Request, 0x000a–0x000f, Characteristic",
        "8 lock ATT: Read By Type Response, 0x000d value 0x000e 16860003-a5ae-9856-b6d3-dbb4c676993e",
        "9 client ATT: Find Information Request, 0x000f–0x000f",
        "10 lock ATT: Find Information Response, 0x000f Client Characteristic Configuration",
        "11 client ATT: Write Request, handle 0x000f (Client Characteristic Configuration), 2 bytes",
        "12 lock ATT: Error Response, to Write Request, handle 0x000f (Client Characteristic Configuration), "
          + "0x03 (write not permitted)",
        "13 lock ATT: Notification, handle 0x000e (16860003-a5ae-9856-b6d3-dbb4c676993e), 3 bytes",
        "14 host HCI: command Disconnect, handle 0x0040, reason 0x13 (ended by the remote user)",
        "15 controller HCI: event Disconnection Complete, handle 0x0040, reason 0x08 (connection timeout)",
        "15 -- disconnected: 0x08 (connection timeout)",
      ])
  }

  @Test("frames are put together from their fragments; what is no frame is said")
  func fragments() {
    let frame = L2CAPFrame(.att, ATTPacket.notification(AttributeHandle(rawValue: 14), [1, 2, 3]).encoded)
      .encoded
    let packets = [
      Self.connection(.peripheral), Self.acl([UInt8](frame[..<1])),
      Self.acl([UInt8](frame[1..<6]), .continuing), Self.acl([UInt8](frame[6...]), .continuing),
      Self.acl([1, 2], .continuing), Self.acl([UInt8](frame[..<4])), Self.acl(frame + [0]),
      Self.acl([3, 0, 4, 0, 0x1B, 0x0E, 0]), Self.acl([2, 0, 4, 0, 0x1B, 0x0E]),
      Self.acl([1, 0, 0x40, 0, 9]), Self.acl([6, 0, 5, 0, 1, 7, 2, 0, 0, 0]),
      Self.acl([2, 0, 6, 0, 5, 5]), Self.acl([2, 0, 5, 0, 1, 7]),
    ]
    expect(
      Array(Self.text(packets).dropFirst(2)),
      [
        "1 client HCI: ACL data, handle 0x0040, 1 byte", "1 client L2CAP: a part of a frame",
        "2 client HCI: ACL data, handle 0x0040, 5 bytes", "2 client L2CAP: a part of a frame",
        "3 client HCI: ACL data, handle 0x0040, 4 bytes",
        "3 client L2CAP: channel 0x0004 (ATT), 6 bytes", "3 client ATT: Notification, handle 0x000e, 3 bytes",
        "4 client 0240100200****", "4 client HCI: ACL data, handle 0x0040, 2 bytes",
        "4 client L2CAP: malformed: a later fragment without a first",
        "5 client HCI: ACL data, handle 0x0040, 4 bytes", "5 client L2CAP: a part of a frame",
        "6 client HCI: ACL data, handle 0x0040, 11 bytes",
        "6 client L2CAP: malformed: a fragment of 11 bytes, longer than its frame; "
          + "a frame broken off after 4 bytes by another",
        "7 client HCI: ACL data, handle 0x0040, 7 bytes", "7 client L2CAP: channel 0x0004 (ATT), 3 bytes",
        "7 client ATT: Notification, handle 0x000e, 0 bytes",
        "8 client HCI: ACL data, handle 0x0040, 6 bytes", "8 client L2CAP: channel 0x0004 (ATT), 2 bytes",
        "8 client ATT: malformed: at 2: 1 more byte needed",
        "9 client HCI: ACL data, handle 0x0040, 5 bytes", "9 client L2CAP: channel 0x0040, 1 byte",
        "10 client HCI: ACL data, handle 0x0040, 10 bytes",
        "10 client L2CAP: channel 0x0005 (signalling), 6 bytes",
        "10 client signalling: Command Reject 7, reason 0x0000",
        "11 client HCI: ACL data, handle 0x0040, 6 bytes",
        "11 client L2CAP: channel 0x0006 (security), 2 bytes",
        "11 client security: Pairing Failed, reason 0x05",
        "12 client HCI: ACL data, handle 0x0040, 6 bytes",
        "12 client L2CAP: channel 0x0005 (signalling), 2 bytes",
        "12 client signalling: malformed: at 2: 2 more bytes needed",
      ])
  }

  @Test("what cannot be read says where and why, and what a capture left out is told")
  func malformed() {
    let lines = Self.text(
      [
        ([], false), ([9], true), ([1, 6, 4, 3, 0x40], false), ([1, 6, 4, 2, 0x40, 0], false),
        ([4, 0x3E, 1, 0x63], true), ([4, 5, 2, 0, 0x40], true), ([2, 0x40, 0x20, 9, 0, 1], true),
        ([1, 0xFF, 0x20, 1, 0], false), ([3, 0, 0, 0], true), ([5, 0, 0, 0, 0], true),
      ], drops: [0, 0, 0, 0, 0, 0, 0, 0, 0, 3], cut: [6: 14])
    expect(
      lines,
      [
        "0 host HCI: malformed: at 0: 1 more byte needed",
        "1 controller HCI: malformed: at 0: 9 is not a valid H4 packet indicator",
        "2 host HCI: malformed: at 5: 2 more bytes needed",
        "3 host HCI: malformed: at 6: 1 more byte needed",
        "4 controller HCI: event LE event 0x63, 0 bytes",
        "5 controller HCI: malformed: at 5: 1 more byte needed",
        "6 controller HCI: malformed: the capture kept 6 of its 14 bytes",
        "7 host 01ff2001**", "7 host HCI: command 0x20ff, 1 byte",
        "8 controller HCI: synchronous data, 3 bytes",
        "9 -- 3 packets of the capture are missing", "9 controller HCI: isochronous data, 4 bytes",
      ])
  }

  private static let stars = String(repeating: "**", count: 7)

  /// Packets with what is not shown of them; `k` is 16 bytes of a key.
  static let secrets: [(name: String, packet: String, shown: String)] = [
    ("Link Key Request Reply", "010b0416060504030201k", "010b0416060504030201K"),
    (
      "PIN Code Request Reply", "010d041706050403020104" + "31323334" + "000000000000000000000000",
      "010d0417060504030201*17"
    ),
    ("User Passkey Request Reply", "012e040a06050403020140e20100", "012e040a060504030201*4"),
    ("Remote OOB Data Request Reply", "01300426060504030201kk", "01300426060504030201KK"),
    ("Remote OOB Extended Data Request Reply", "01450446060504030201kkkk", "01450446060504030201KKKK"),
    ("Create Physical Link", "01350414012003k", "0135041401****K"),
    ("Write Stored Link Key", "01110c1701060504030201k", "01110c17" + stars + "K"),
    ("LE Encrypt", "01172020kk", "01172020KK"),
    ("LE Enable Encryption", "0119201c40000000000000000000cdabk", "0119201c40000000000000000000cdabK"),
    ("LE Long Term Key Request Reply", "011a20124000k", "011a20124000K"),
    ("LE Add Device To Resolving List", "0127202700060504030201kk", "0127202700060504030201KK"),
    (
      "LE Create BIG", "0168201f000001102700640" + "00a000002000001k",
      "0168201f00000110270064000a000002000001K"
    ),
    ("LE BIG Create Sync", "016b201900010001k0064000101", "016b201900010001K*5"),
    ("a command of the maker", "0100fc0201ab", "0100fc02*2"),
    ("a command that is not known", "01ff270101", "01ff2701*1"),
    ("a command that tells nothing", "01030c00", "01030c00"),
    ("a command whose parameters are harmless", "010104053" + "38b9e0800", "0101040533" + "8b9e0800"),
    ("Return Link Keys", "04151701060504030201k", "041517" + stars + "K"),
    ("Link Key Notification", "041817060504030201k05", "041817060504030201K*1"),
    ("User Passkey Notification", "043b0a06050403020140e20100", "043b0a060504030201*4"),
    ("LE Generate DHKey Complete", "043e220900kk", "043e220900KK"),
    ("an event of the maker", "04ff021234", "04ff02*2"),
    ("an LE event that is not known", "043e03f00102", "043e03f0*2"),
    ("an event whose parameters are harmless", "0416060605040302c1", "0416060605040302c1"),
    ("what Read Local OOB Data returns", "040e2401570c00kk", "040e2401570c00KK"),
    ("what LE Rand returns", "040e0c0118200001020304050607" + "08", "040e0c01182000*8"),
    ("what a command of the maker returns", "040e050100fc0007", "040e050100fc00*1"),
    ("what a harmless command returns", "040e0a010910000605040302c1", "040e0a010910000605040302c1"),
    ("a packet of no kind", "06aabb", "06*2"),
    ("a key on the security channel", "02402015001100060006k", "02402015001100060006K"),
    ("a key on the security channel of BR/EDR", "02402015001100070008k", "02402015001100070008K"),
    ("a random number of a pairing", "02402015001100060004k", "02402015001100060004K"),
    ("a security command that is reserved", "0240200600020006000f07", "0240200600020006000f*1"),
    ("a pairing request", "0240200b00070006000103000910" + "0201", "0240200b0007000600010300091002" + "01"),
  ]

  @Test(
    "keys, and what leads to one, are not shown, nor what is not known to be harmless: whole, cut anywhere, with more behind",
    arguments: secrets)
  func secrecy(name: String, packet: String, shown: String) throws {
    let key = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
    let bytes = try [UInt8](hex: packet.replacing("k", with: key))
    var expected = shown.replacing("K", with: String(repeating: "**", count: 16))
    if let star = expected.lastIndex(of: "*"), let count = Int(expected[expected.index(after: star)...]) {
      expected = expected[..<star] + String(repeating: "**", count: count)
    }
    for count in 1...bytes.count {
      var decoder = CaptureDecoder()
      var record = BTSnoop.Record(time: 0, isReceived: bytes[0] != 1, packet: [UInt8](bytes[..<count]))
      record.originalLength = UInt32(bytes.count)
      let entry = decoder.decode(record).entries.first { $0.event == nil }
      expect(entry?.hex, String(expected.prefix(2 * count)))
    }
    var decoder = CaptureDecoder()
    let longer = BTSnoop.Record(time: 0, isReceived: bytes[0] != 1, packet: bytes + [7])
    let isHidden = expected.hasSuffix("*")
    expect(decoder.decode(longer).entries.first { $0.event == nil }?.hex, expected + (isHidden ? "**" : "07"))
  }

  @Test("a key is not shown in any fragment, nor is what belongs to a frame whose beginning is not there")
  func secretFragments() throws {
    let frame = [17, 0, 6, 0, 6] + [UInt8](repeating: 0xEE, count: 16)
    for cut in 1..<frame.count {
      let shown = Self.text([
        Self.connection(.central), Self.acl([UInt8](frame[..<cut])),
        Self.acl([UInt8](frame[cut...]), .continuing),
      ]).joined()
      #expect(!shown.contains("ee"), "cut at \(cut): \(shown)")
    }
    // The capture cut the first fragment before its channel, and has none of the second frame.
    let later = Self.acl([UInt8](repeating: 7, count: 16), .continuing)
    let attribute = Self.att(.notification(AttributeHandle(rawValue: 3), [9, 9]), isReceived: true)
    let cut: (packet: [UInt8], isReceived: Bool) = ([2, 0x40, 0x20, 5, 0, 17, 0, 6], true)
    let hidden = "lock 0240101000" + String(repeating: "**", count: 16)
    expect(
      Self.text([cut, later, later, attribute], cut: [0: 10]).filter { $0.contains("*") },
      ["1 \(hidden)", "2 \(hidden)"])
    // Packets are missing between.
    let first = Self.acl([18, 0, 4, 0, 0x1B, 3])
    expect(Self.text([first, later], drops: [0, 1]).filter { $0.contains("*") }, ["1 \(hidden)"])
    expect(Self.text([first, later]).filter { $0.contains("*") }, [])
  }

  @Test("reserved bits are ignored, and said once for each kind")
  func reserved() {
    let completed: [UInt8] = [4, 0x13, 5, 1, 0x40, 0x10, 2, 0]
    let longer: [UInt8] = [4, 0x13, 6, 1, 0x40, 0x10, 2, 0, 9]
    expect(
      Self.text([(completed, true), (completed, true), (longer, true), (longer, true)]),
      [
        "0 controller HCI: event Number Of Completed Packets, handle 0x0040: 2 "
          + "(ignored here and from now on: reserved bits above a connection handle)",
        "1 controller HCI: event Number Of Completed Packets, handle 0x0040: 2",
        "2 controller HCI: event Number Of Completed Packets, handle 0x0040: 2 "
          + "(ignored here and from now on: bytes behind the last known field)",
        "3 controller HCI: event Number Of Completed Packets, handle 0x0040: 2",
      ])
  }

  @Test("what an earlier link to an address told of its attributes counts on the next one")
  func rediscovery() {
    let handle = AttributeHandle(rawValue: 14)
    let write = Self.att(.writeCommand(handle, [1, 2, 3]), isReceived: false)
    let packets: [(packet: [UInt8], isReceived: Bool)] = [
      Self.connection(.central),
      Self.att(.readByTypeRequest(.all, type: BluetoothUUID(0x2803)), isReceived: false),
      Self.att(.readByTypeResponse(length: 7, [13, 0, 8, 14, 0, 0x19, 0x2A]), isReceived: true), write,
      (
        HCIEvent.disconnectionComplete(status: .success, Self.link, reason: .connectionTimeout).packet.h4,
        true
      ),
      Self.connection(.central), write,
    ]
    expect(
      Self.text(packets).filter { $0.contains("Write") },
      [
        "3 client ATT: Write Command, handle 0x000e (Battery Level), 3 bytes",
        "6 client ATT: Write Command, handle 0x000e (Battery Level), 3 bytes",
      ])
  }

  @Test("who is who is told by what is said, where a capture begins in the middle")
  func middle() {
    let handle = AttributeHandle(rawValue: 14)
    expect(
      Self.text([
        Self.att(.notification(handle, [1]), isReceived: false),
        Self.att(.writeCommand(handle, []), isReceived: true),
      ]).filter { $0.contains("ATT: ") },
      [
        "0 lock ATT: Notification, handle 0x000e, 1 byte",
        "1 client ATT: Write Command, handle 0x000e, 0 bytes",
      ])
  }

  @Test("a recorder keeps the beginning and the end of what is too much, and says how much it left out")
  func recorder() {
    let recorder = PacketRecorder(limit: 4000)
    recorder.startOver(at: .zero + .seconds(1))
    for number in 0..<100 {
      recorder.note(
        frame: [UInt8(number)], isReceived: number % 2 == 0,
        at: .zero + .seconds(1) + .milliseconds(Int64(number)))
    }
    let records = recorder.records
    let times = records.map { Int($0.time - PacketRecorder.virtualEpoch) / 1000 }
    // Frames take some eighty bytes of memory: half of the limit is for the first, the rest for the last.
    expect(times, Array(0..<25) + Array(77..<100))
    expect(records.map(\.drops), [UInt32](repeating: 0, count: 25) + [UInt32](repeating: 52, count: 23))
    expect(records.last?.packet.hex, "0240000800" + "04000400" + "520d0063")
    recorder.startOver(at: .zero)
    #expect(recorder.isEmpty && recorder.records.isEmpty)
  }
}
