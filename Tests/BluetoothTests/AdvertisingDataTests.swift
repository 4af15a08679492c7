import Bluetooth
import Basics
import TestSupport
import Testing

@Suite struct AdvertisingDataTests {
  let lock = AdvertisingData([
    .flags([.generalDiscoverable, .noClassic]),
    .manufacturer(0x055A, [0x00, 0x00, 0x01]),
    .completeUUIDs16([0xFD81]),
  ])

  @Test("the usual parts are written in order and read back")
  func parts() throws {
    expect(lock.encoded.hex, "02010606ff5a05000001030381fd")
    let data = try AdvertisingData(decoding: lock.encoded)
    expect(data, lock)
    expect(data.flags, [.generalDiscoverable, .noClassic])
    expect(data.manufacturerData?.hex, "5a05000001")
    expect(data.serviceUUIDs, [BluetoothUUID(0xFD81)])
    expect(data.localName, nil)
    expect(data.description, "01:06 ff:5a05000001 03:81fd")
  }

  @Test("a complete name counts before a shortened one, and long UUIDs come back")
  func others() throws {
    let uuid = try UUID128(text: "16860002-a5ae-9856-b6d3-dbb4c676993e")
    let data = AdvertisingData([
      .init(.shortenedName, [0x61]), .completeName("lock"), .completeUUIDs128([uuid]),
    ])
    expect(try AdvertisingData(decoding: data.encoded).localName, "lock")
    expect(data.serviceUUIDs, [BluetoothUUID(uuid)])
    expect(AdvertisingData([.init(.shortenedName, [0x61, 0xFF])]).localName, "a\u{FFFD}")
    expect(AdvertisingData([.init(.completeUUIDs16, [1, 2, 3])]).serviceUUIDs, [BluetoothUUID(0x0201)])
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
      _ = (data.flags, data.localName, data.serviceUUIDs, data.manufacturerData, data.description)
      guard bytes.starts(with: data.encoded) else {
        Issue.record("\(bytes.hex) became \(data.encoded.hex)")
        return
      }
    }
  }
}
