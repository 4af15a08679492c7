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

  @Test(
    "what is no capture says why",
    arguments: [
      ("6274736e6f6f7020" + "00000001000003ea", DecodeError.malformed("a btsnoop file", at: 0)),
      ("6274736e6f6f7000" + "00000002000003ea", .value(2, of: "btsnoop version", at: 8)),
      (
        "6274736e6f6f7000" + "00000001000007d1",
        .value(2001, of: "datalink (only HCI is read: 1001, or 1002 with H4)", at: 12)
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
