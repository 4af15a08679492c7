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
        "4 client HCI: ACL data, handle 0x0040, 2 bytes",
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
        ([1, 0x77, 0x20, 1, 0], false), ([3, 0, 0, 0], true), ([5, 0, 0, 0, 0], true),
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
        "7 host HCI: command 0x2077, 1 byte", "8 controller HCI: synchronous data, 3 bytes",
        "9 -- 3 packets of the capture are missing", "9 controller HCI: isochronous data, 4 bytes",
      ])
  }

  @Test("keys in commands and on the security channel are not shown")
  func keys() {
    let key = UUID128(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    let stars = String(repeating: "**", count: 16)
    let secret = [UInt8](repeating: 7, count: 16)
    expect(
      Self.text([
        (HCICommand.leEncrypt(key, UUID128(high: 0, low: 0)).packet.h4, false),
        Self.connection(.central), Self.acl([17, 0, 6, 0, 6, 7, 7, 7]),
        Self.acl([UInt8](secret.dropFirst(3)), .continuing),
      ]).filter { $0.contains("*") || $0.contains("security: ") },
      [
        "0 host 01172020" + stars + String(repeating: "00", count: 16),
        "3 lock 0240100d00" + String(repeating: "**", count: 13), "3 lock security: security 0x06, 16 bytes",
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
