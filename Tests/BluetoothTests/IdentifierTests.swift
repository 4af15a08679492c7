import Basics
import Bluetooth
import TestSupport
import Testing

@Suite struct IdentifierTests {
  @Test("a UUID keeps its bytes in the order of its text")
  func uuid() throws {
    let uuid = try UUID128(text: "42918AD1-8154-4aff-bd1f-f0cde88a8de1")
    expect(uuid.description, "42918ad1-8154-4aff-bd1f-f0cde88a8de1")
    expect(uuid.bytes.hex, "42918ad181544affbd1ff0cde88a8de1")
    expect(try UUID128(bytes: uuid.bytes), uuid)
    expect(try UUID128(text: "42918AD181544affbd1ff0cde88a8de1"), uuid)
  }

  @Test(
    "what is not a UUID is refused at its place",
    arguments: [
      ("", 0), ("42918ad1", 8), ("42918ad1-8154-4aff-bd1f-f0cde88a8de", 35),
      ("42918ad1-8154-4aff-bd1f-f0cde88a8de1a", 36), ("42918ad1x8154-4aff-bd1f-f0cde88a8de1", 8),
      ("4291-ad1-8154-4aff-bd1f-f0cde88a8de1", 4),
    ])
  func badUUID(text: String, offset: Int) {
    #expect(throws: DecodeError.malformed("a UUID", at: offset)) { try UUID128(text: text) }
  }

  @Test(
    "all forms of a UUID are one",
    arguments: [
      ("fff1", ["FFF1", "0000fff1", "0000FFF1", "0000fff1-0000-1000-8000-00805f9b34fb"], "fff1"),
      ("fff1", ["0000FFF100001000800000805F9B34FB"], "fff1"),
      ("0001fff1", ["0001FFF1-0000-1000-8000-00805f9b34fb"], "0001fff1-0000-1000-8000-00805f9b34fb"),
      ("16860002-a5ae-9856-b6d3-dbb4c676993e", ["16860002A5AE9856B6D3DBB4C676993E"], nil),
    ] as [(String, [String], String?)])
  func forms(text: String, others: [String], shown: String?) {
    let uuid = BluetoothUUID(text: text)
    expect(uuid?.description, shown ?? text)
    for other in others { expect(BluetoothUUID(text: other), uuid) }
  }

  @Test(
    "what is no UUID is none",
    arguments: ["", "fff", "ffg1", "+ff1", "0000fff1-", "fff1-", "0xfff1", "fff1 "])
  func noUUID(text: String) { expect(BluetoothUUID(text: text), nil) }

  @Test("a short UUID equals its long form, and the air carries the shortest")
  func shortUUID() throws {
    let service = BluetoothUUID(0xFD81)
    let long = BluetoothUUID(try UUID128(text: "0000fd81-0000-1000-8000-00805f9b34fb"))
    let write = BluetoothUUID(try UUID128(text: "16860002-a5ae-9856-b6d3-dbb4c676993e"))
    expect(long, service)
    expect(long.short, 0xFD81)
    expect(long.littleEndian, [0x81, 0xFD])
    expect(service.description, "fd81")
    expect(write.short, nil)
    expect(write.littleEndian.hex, "3e9976c6b4dbd3b65698aea502008616")
    expect(try BluetoothUUID(littleEndian: write.littleEndian), write)
    expect(try BluetoothUUID(littleEndian: [0x81, 0xFD]), service)
    expect(write.description, "16860002-a5ae-9856-b6d3-dbb4c676993e")
    #expect(throws: DecodeError.length(3, of: "UUID")) { try BluetoothUUID(littleEndian: [1, 2, 3]) }
  }

  @Test("an address shows its most significant byte first and sends it last")
  func address() throws {
    let address = try BluetoothAddress(text: "C7:e6:da:90:f5:f9")
    expect(address.description, "c7:e6:da:90:f5:f9")
    expect(address.encoded.hex, "f9f590dae6c7")
    expect(try BluetoothAddress(decoding: address.encoded), address)
    expect(address.isStaticRandom, true)
    expect(BluetoothAddress.staticRandom(0x24AA_9C62_6376).description, "e4:aa:9c:62:63:76")
    expect(BluetoothAddress(0x24AA_9C62_6376).isStaticRandom, false)
  }

  @Test(
    "what is not an address is refused at its place",
    arguments: [
      ("", 0), ("c7:e6:da:90:f5", 14), ("c7-e6-da-90-f5-f9", 2), ("c7:e6:da:90:f5:f9:00", 17), ("g7:e6", 0),
    ])
  func badAddress(text: String, offset: Int) {
    #expect(throws: DecodeError.malformed("a Bluetooth address", at: offset)) {
      try BluetoothAddress(text: text)
    }
  }
}
