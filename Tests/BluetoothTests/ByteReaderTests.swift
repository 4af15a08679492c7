import Basics
import Bluetooth
import TestSupport
import Testing

@Suite struct ByteReaderTests {
  @Test("fields come little-endian, in order, and the offset follows")
  func fields() throws {
    let text = "01" + "ff" + "3412" + "feff" + "78563412" + "feffffff" + "f0debc9a78563412"
    let bytes = try [UInt8](hex: text + "1234" + "aabbcc")
    var reader = ByteReader(bytes.span)
    expect(try reader.u8(), 0x01)
    expect(try reader.i8(), -1)
    expect(try reader.u16(), 0x1234)
    expect(try reader.i16(), -2)
    expect(try reader.u32(), 0x1234_5678)
    expect(try reader.i32(), -2)
    expect(reader.offset, 14)
    expect(try reader.u64(), 0x1234_5678_9ABC_DEF0)
    expect(try reader.bigEndian(UInt16.self), 0x1234)
    expect(try reader.bytes(2), [0xAA, 0xBB])
    expect(reader.remaining, 1)
    expect(reader.peek(), 0xCC)
    expect(reader.rest(), [0xCC])
    expect(reader.isAtEnd, true)
    try reader.end()
  }

  @Test("a field that is cut short says where the bytes end and how many are missing")
  func truncation() {
    let bytes: [UInt8] = [1, 2, 3]
    var reader = ByteReader(bytes.span)
    #expect(throws: DecodeError.truncated(at: 3, missing: 1)) { try reader.u32() }
    expect(reader.offset, 0)
    #expect(throws: DecodeError.truncated(at: 3, missing: 7)) { try reader.bytes(10) }
    expect(try? reader.bytes(3), [1, 2, 3])
    #expect(throws: DecodeError.truncated(at: 3, missing: 1)) { try reader.u8() }
  }

  @Test("what is left over is an error with its place and length")
  func trailing() throws {
    let bytes: [UInt8] = [1, 2, 3]
    var reader = ByteReader(bytes.span)
    try reader.skip(1)
    #expect(throws: DecodeError.trailing(at: 1, count: 2)) { try reader.end() }
  }

  @Test("a reader set apart ends where it should and counts on from its place")
  func nested() throws {
    let bytes: [UInt8] = [0, 1, 2, 3, 4]
    var reader = ByteReader(bytes.span)
    try reader.skip(1)
    var inner = try reader.reader(2)
    expect(inner.rest(), [1, 2])
    #expect(throws: DecodeError.truncated(at: 3, missing: 1)) { try inner.u8() }
    expect(reader.rest(), [3, 4])
  }

  @Test("integers are written as they are read")
  func writing() {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt16(0x1234))
    bytes.append(littleEndian: Int16(-2))
    bytes.append(littleEndian: UInt64(1))
    bytes.append(bigEndian: UInt32(0x0102_0304))
    expect(bytes.hex, "3412feff010000000000000001020304")
  }

  @Test(
    "errors read as a place and a reason",
    arguments: [
      (DecodeError.truncated(at: 3), "at 3: 1 more byte needed"),
      (.truncated(at: 0, missing: 2), "at 0: 2 more bytes needed"),
      (.trailing(at: 7, count: 1), "at 7: 1 byte left over"),
      (.length(5, of: "mech status"), "at 0: no mech status is 5 bytes long"),
      (.value(254, of: "product model", at: 2), "at 2: 254 is not a valid product model"),
      (.missing("local name"), "at 0: the local name is missing"),
      (.malformed("base64", at: 9).shifted(by: 4), "at 13: not base64"),
    ])
  func descriptions(error: DecodeError, text: String) {
    expect(error.description, text)
  }
}
