import Bluetooth
import Foundation
import Basics
import TestSupport
import Testing

@Suite struct CaptureTests {
  /// 15:06:40 on 15 June 2025, and a capture of it as another writer makes it.
  private static let time = BTSnoop.unixEpoch + 1_750_000_000_000_000
  private static let file =
    "6274736e6f6f7000" + "00000001" + "000003ea"
    + "00000004" + "00000004" + "00000002" + "00000000" + "00e31550af8ae000" + "01030c00"
    + "00000007" + "00000007" + "00000003" + "00000000" + "00e31550af8ae3e8" + "040e0401030c00"
    + "0000000c" + "00000008" + "00000000" + "00000005" + "00e31550af8ae7d0" + "0200020700030004"
  private static let records = [
    BTSnoop.Record(time: time, isReceived: false, packet: [1, 3, 0x0C, 0]),
    BTSnoop.Record(time: time + 1000, isReceived: true, packet: [4, 0x0E, 4, 1, 3, 0x0C, 0]),
    BTSnoop.Record(
      time: time + 2000, flags: [], drops: 5, packet: [2, 0, 2, 7, 0, 3, 0, 4], originalLength: 12),
  ]

  private static func readAll(_ bytes: [UInt8]) throws -> (records: [BTSnoop.Record], tear: DecodeError?) {
    var reader = try BTSnoopReader(bytes)
    var records: [BTSnoop.Record] = []
    while let record = try reader.next() { records.append(record) }
    return (records, reader.tear)
  }

  @Test("a capture is written as the format has it, and read back")
  func layout() throws {
    var bytes = BTSnoop.header
    for record in Self.records { record.encode(into: &bytes) }
    expect(bytes.hex, Self.file)
    let (records, tear) = try Self.readAll(bytes)
    expect(records, Self.records)
    expect(tear, nil)
  }

  @Test(
    "direction and kind follow from the packet",
    arguments: [(1, false, 0b10), (2, false, 0b00), (2, true, 0b01), (4, true, 0b11), (5, true, 0b01)]
      as [(UInt8, Bool, UInt32)])
  func flags(indicator: UInt8, isReceived: Bool, flags: UInt32) {
    let record = BTSnoop.Record(time: 0, isReceived: isReceived, packet: [indicator])
    expect(record.flags.rawValue, flags)
  }

  @Test("a file torn anywhere gives its whole records and says where it is torn")
  func torn() throws {
    let bytes = try [UInt8](hex: Self.file)
    let ends = [16, 44, 75, 107]
    for count in 16..<bytes.count {
      let (records, tear) = try Self.readAll([UInt8](bytes[..<count]))
      expect(records, Array(Self.records.prefix(ends.lastIndex { $0 <= count } ?? 0)))
      expect(tear?.offset, ends.contains(count) ? nil : count)
    }
    for count in 0..<16 {
      #expect(throws: DecodeError.self) { try BTSnoopReader([UInt8](bytes[..<count])) }
    }
  }

  @Test("a file without the octets of H4 is read by its flags")
  func bare() throws {
    let file =
      "6274736e6f6f7000" + "00000001" + "000003e9"
      + "00000003" + "00000003" + "00000002" + "00000000" + "00e31550af8ae000" + "030c00"
      + "00000006" + "00000006" + "00000003" + "00000000" + "00e31550af8ae3e8" + "0e0401030c00"
      + "0000000b" + "00000007" + "00000000" + "00000005" + "00e31550af8ae7d0" + "00020700030004"
    expect(try Self.readAll([UInt8](hex: file)).records, Self.records)
  }

  /// A capture of the Linux monitor channel, as other writers make it.
  static func monitor(_ records: [(controller: UInt16, opcode: UInt16, bytes: [UInt8])]) -> [UInt8] {
    var file = [UInt8]("btsnoop\0".utf8)
    file.append(bigEndian: 1 as UInt32)
    file.append(bigEndian: 2001 as UInt32)
    for (number, record) in records.enumerated() {
      file.append(bigEndian: UInt32(record.bytes.count))
      file.append(bigEndian: UInt32(record.bytes.count))
      file.append(bigEndian: UInt32(record.controller) << 16 | UInt32(record.opcode))
      file.append(bigEndian: 0 as UInt32)
      file.append(bigEndian: time + UInt64(number))
      file += record.bytes
    }
    return file
  }

  @Test("what the Linux monitor writes is read: packets of several controllers, each way, and notes between")
  func monitored() throws {
    let address: [UInt8] = [6, 5, 4, 3, 2, 1]
    let file = Self.monitor([
      (0, 0, [0, 1] + address + Array("hci0\0\0\0\0".utf8)), (0, 8, []), (0, 10, address + [2, 0]),
      (0xFFFF, 12, Array("Linux version 6.1\0".utf8)), (0, 2, [3, 0x0C, 0]),
      (0, 3, [0x0E, 4, 1, 3, 0x0C, 0]),
      (1, 4, [0x40, 0, 0, 0]), (1, 5, [0x40, 0x20, 0, 0]), (1, 6, [1, 0, 0]), (1, 7, [1, 0, 0]),
      (1, 18, [0, 0, 0, 0]), (1, 19, [0, 0, 0, 0]), (1, 11, [1, 2]),
      (1, 13, [6, 3] + Array("bt\0a note\0".utf8)), (1, 14, [1]), (1, 16, [1, 0, 0, 0, 0x13, 0, 9, 9]),
      (1, 17, [1, 0, 0, 0, 0x0A, 0]), (1, 15, [1]), (1, 99, [1]), (0, 9, []), (0, 1, []),
    ])
    let (records, tear) = try Self.readAll(file)
    expect(tear, nil)
    expect(
      records.map { record in
        let controller = record.controller.map { "\($0)" } ?? "-"
        return "\(controller) " + (record.note ?? "\(record.flags.rawValue) \(record.packet.hex)")
      },
      [
        "0 a new controller, 01:02:03:04:05:06, hci0", "0 the controller is opened",
        "0 the controller is 01:02:03:04:05:06, of company 0x0002", "- system: Linux version 6.1",
        "0 2 01030c00",
        "0 3 040e0401030c00", "1 0 0240000000", "1 1 0240200000", "1 0 03010000", "1 1 03010000",
        "1 0 0500000000", "1 1 0500000000", "1 diagnostics of the controller's maker, 2 bytes",
        "1 bt: a note",
        "1 a program opens the management interface", "1 management command 0x0013, 2 bytes",
        "1 management event 0x000a, 0 bytes", "1 a program closes the management interface",
        "1 record 99 of the monitor, 1 byte", "0 the controller is closed", "0 the controller is removed",
      ])
    // Torn anywhere, nothing that is whole is lost.
    for count in 16..<file.count {
      let (whole, tear) = try Self.readAll([UInt8](file[..<count]))
      #expect(whole.elementsEqual(records.prefix(whole.count)))
      #expect(tear != nil || whole.count < records.count)
    }
  }

  @Test("links of two controllers are kept apart, and end with theirs")
  func controllers() throws {
    let complete = ConnectionComplete(
      status: .success, handle: ConnectionHandle(rawValue: 0x40), role: .central,
      peer: PeerAddress(.randomDevice, .staticRandom(7)),
      timing: ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200))
    var peripheral = complete
    peripheral.role = .peripheral
    func bare(_ packet: HCIPacket) -> [UInt8] { [UInt8](packet.h4.dropFirst()) }
    let frame = L2CAPFrame(.att, ATTPacket.notification(AttributeHandle(rawValue: 3), [1]).encoded).encoded
    let data = bare(.acl(ACLPacket(handle: complete.handle, boundary: .firstFlushable, data: frame)))
    var reader = try BTSnoopReader(
      Self.monitor([
        (0, 3, bare(HCIEvent.leConnectionComplete(complete).packet)),
        (1, 3, bare(HCIEvent.leConnectionComplete(peripheral).packet)), (0, 5, data), (1, 5, data),
        (0, 1, []),
        (0, 5, data),
      ]))
    var decoder = CaptureDecoder()
    var entries: [CaptureEntry] = []
    var ended: [Int] = []
    while let record = try reader.next() {
      let decoding = decoder.decode(record)
      entries += decoding.entries
      ended += decoding.ended
    }
    expect(ended, [1])
    expect(
      entries.map { "\($0.controller ?? 9) \($0.sender?.rawValue ?? $0.event ?? "")" },
      [
        "0 controller", "0 connected to c0:00:00:00:00:07", "1 controller",
        "1 connected by c0:00:00:00:00:07",
        "0 lock", "1 client", "0 the controller is removed", "0 lock",
      ])
  }

  @Test(
    "what is no capture says why",
    arguments: [
      ("6274736e6f6f7020" + "00000001000003ea", DecodeError.malformed("a btsnoop file", at: 0)),
      ("6274736e6f6f7000" + "00000002000003ea", .value(2, of: "btsnoop version", at: 8)),
      (
        "6274736e6f6f7000" + "00000001000003eb",
        .value(
          1003, of: "datalink (only HCI is read: 1001, 1002 with H4, 2001 of the Linux monitor)", at: 12)
      ),
      (
        "6274736e6f6f7000" + "00000001000003ea" + "ffffffff" + "00010005",
        .value(65_541, of: "length of a captured packet", at: 20)
      ),
      (
        "6274736e6f6f7000" + "00000001000003ea" + "00000003" + "00000004",
        .value(4, of: "length of what is left of 3 bytes", at: 20)
      ),
    ])
  func refusals(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try Self.readAll(bytes) }
  }
}
