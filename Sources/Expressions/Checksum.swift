/// The checksums that protocols of locks use.
enum Checksum {
  /// CRC-8: polynomial 0x07, initial value 0 (CRC-8/SMBUS).
  static func crc8(_ bytes: [UInt8]) -> UInt8 {
    var crc: UInt8 = 0
    for byte in bytes {
      crc ^= byte
      for _ in 0..<8 { crc = crc & 0x80 == 0 ? crc << 1 : (crc << 1) ^ 0x07 }
    }
    return crc
  }

  /// CRC-16: polynomial 0x1021, initial value 0xFFFF (CRC-16/CCITT-FALSE).
  static func crc16(_ bytes: [UInt8]) -> UInt16 {
    var crc: UInt16 = 0xFFFF
    for byte in bytes {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : (crc << 1) ^ 0x1021 }
    }
    return crc
  }

  /// CRC-32: reflected polynomial 0xEDB88320, initial and final value 0xFFFFFFFF (CRC-32/ISO-HDLC, as in zip).
  static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
    }
    return ~crc
  }
}
