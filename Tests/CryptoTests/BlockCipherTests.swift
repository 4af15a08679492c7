import Basics
import Crypto
import TestSupport
import Testing

@Suite("AES-128 of one block")
struct BlockCipherTests {
  private static func bytes(_ words: UInt64...) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
  }

  @Test("gives what the standards give (FIPS 197, appendices B and C; Core 5.4, Vol 6 Part C §1)")
  func vectors() {
    let vectors: [(key: [UInt8], text: [UInt8], result: String)] = [
      (
        Self.bytes(0x2B7E_1516_28AE_D2A6, 0xABF7_1588_09CF_4F3C),
        Self.bytes(0x3243_F6A8_885A_308D, 0x3131_98A2_E037_0734), "3925841d02dc09fbdc118597196a0b32"
      ),
      (
        Self.bytes(0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F),
        Self.bytes(0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF), "69c4e0d86a7b0430d8cdb78070b4c55a"
      ),
      (
        Self.bytes(0x4C68_3841_39F5_74D8, 0x36BC_F34E_9DFB_01BF),
        Self.bytes(0x0213_2435_4657_6879, 0xACBD_CEDF_E0F1_0213), "99ad1b5226a37e3e058e3b8e27c2c666"
      ),
    ]
    for vector in vectors { expect(encryptBlock(vector.text, key: vector.key).hex, vector.result) }
  }
}
