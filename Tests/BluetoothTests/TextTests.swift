import Bluetooth
import Basics
import TestSupport
import Testing

@Suite struct TextTests {
  @Test("hexadecimal goes both ways, in either case")
  func hex() throws {
    expect([UInt8]([0x00, 0x9A, 0xFF]).hex, "009aff")
    expect(try [UInt8](hex: "009AfF"), [0x00, 0x9A, 0xFF])
    expect(try [UInt8](hex: ""), [])
  }

  @Test(
    "what is not hexadecimal is refused at its place",
    arguments: [
      ("0", DecodeError.malformed("an even number of hexadecimal digits", at: 1)),
      ("0g", .malformed("hexadecimal", at: 1)),
      ("00 11", .malformed("hexadecimal", at: 2)),
      ("é0", .malformed("hexadecimal", at: 0)),
    ])
  func badHex(text: String, error: DecodeError) {
    #expect(throws: error) { try [UInt8](hex: text) }
  }

  @Test(
    "base64 gives the examples of RFC 4648, padded and not",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"), ("\u{FB}\u{FF}", "w7vDvw=="),
    ])
  func base64(plain: String, text: String) throws {
    let bytes = [UInt8](plain.utf8)
    expect(bytes.base64, text)
    expect(try [UInt8](base64: text), bytes)
    let bare = String(text.prefix { $0 != "=" })
    expect(bytes.base64(padded: false), bare)
    expect(try [UInt8](base64: bare), bytes)
  }

  @Test(
    "what is not base64 is refused at its place",
    arguments: [
      ("Z", 1), ("Zg=", 2), ("Zg===", 2), ("Zh==", 2), ("Zm9=", 3), ("Zm 9", 2), ("Zg==Zg==", 4), ("====", 0),
      ("Zm9v-_", 4),
    ])
  func badBase64(text: String, offset: Int) {
    #expect(throws: DecodeError.malformed("base64", at: offset)) { try [UInt8](base64: text) }
  }

  @Test("bytes drawn at random come back from their text")
  func roundTrips() throws {
    var generator = SeededGenerator(seed: 1)
    for length in 0..<200 {
      let bytes = generator.bytes(length)
      guard try [UInt8](hex: bytes.hex) == bytes, try [UInt8](base64: bytes.base64) == bytes,
        try [UInt8](base64: bytes.base64(padded: false)) == bytes
      else {
        Issue.record("\(bytes.hex) does not come back")
        return
      }
    }
  }

  @Test("text drawn at random never traps a parser")
  func garbage() {
    var generator = SeededGenerator(seed: 2)
    let characters: [Character] = ["0", "f", "A", "z", "+", "/", "=", "-", ":", "é", " "]
    for _ in 0..<3000 {
      let text = String((0..<generator.below(40)).map { _ in characters[generator.below(characters.count)] })
      _ = try? [UInt8](hex: text)
      _ = try? [UInt8](base64: text)
      _ = try? UUID128(text: text)
      _ = try? BluetoothAddress(text: text)
    }
  }
}
