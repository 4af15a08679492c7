import Bluetooth
import Basics
import TestSupport
import Testing

@Suite struct AdvertisingDataTests {
  let lock = AdvertisingData([
    .flags([.generalDiscoverable, .noClassic]),
    .init(.manufacturerData, [0x5A, 0x05, 0x00, 0x00, 0x01]),
    .completeUUIDs16([0xFD81]),
  ])

  @Test("the usual parts are written in order and read back")
  func parts() throws {
    expect(lock.encoded.hex, "02010606ff5a05000001030381fd")
    let data = try AdvertisingData(decoding: lock.encoded)
    expect(data, lock)
    expect(data.manufacturerData?.hex, "5a05000001")
    expect(data.first(.completeUUIDs16), [0x81, 0xFD])
    expect(data.localName, nil)
    expect(data.description, "01:06 ff:5a05000001 03:81fd")
  }

  @Test("a complete name counts before a shortened one")
  func others() throws {
    let data = AdvertisingData([.init(.shortenedName, [0x61]), .completeName("lock")])
    expect(try AdvertisingData(decoding: data.encoded).localName, "lock")
    expect(AdvertisingData([.init(.shortenedName, [0x61, 0xFF])]).localName, "a\u{FFFD}")
  }

  @Test("a length of zero ends the data")
  func earlyEnd() throws {
    expect(try AdvertisingData(decoding: [2, 1, 6, 0, 9, 9]), AdvertisingData([.init(.flags, [6])]))
  }

  @Test("a structure cut short is refused at the end of the bytes")
  func truncated() {
    #expect(throws: DecodeError.truncated(at: 2, missing: 1)) { try AdvertisingData(decoding: [2, 1]) }
    #expect(throws: DecodeError.truncated(at: 5, missing: 4)) {
      try AdvertisingData(decoding: [2, 1, 6, 5, 9])
    }
  }

  @Test("bytes drawn at random never trap, and what decodes encodes to what was significant")
  func garbage() throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<3000 {
      let bytes = generator.bytes(generator.below(32)).map { $0 < 200 ? $0 % 9 : $0 }
      guard let data = try? AdvertisingData(decoding: bytes) else { continue }
      _ = (data.localName, data.manufacturerData, data.description)
      guard bytes.starts(with: data.encoded) else {
        Issue.record("\(bytes.hex) became \(data.encoded.hex)")
        return
      }
    }
  }
}
