import Secrets
import TestSupport
import Testing

private let key: [UInt8] = [
  0x4A, 0x7E, 0x5C, 0x2A, 0x49, 0x3B, 0x0E, 0x4B, 0xFA, 0x9F, 0x51, 0x0D, 0x1F, 0xFB, 0xEF, 0xBE,
]

@Suite("A secret")
struct SecretTests {
  private let secret = Secret(key)

  /// Whoever holds it. A private type would be printed with its address, which may have any digits.
  struct Holder {
    var name = "front"
    var secret: Secret
  }

  @Test("nothing that prints, mirrors or encodes it shows a byte")
  func hidden() {
    var dumped = ""
    dump(Holder(secret: secret), to: &dumped)
    let shown = [
      "\(secret)", String(describing: secret), String(reflecting: secret), "\(Holder(secret: secret))",
      "\([secret])", "\(Optional(secret) as Any)", dumped,
    ]
    for text in shown {
      #expect(text.contains("<secret>"), "\(text)")
      #expect(
        !text.contains("74") && !text.lowercased().contains("4a") && !text.contains("Memory"), "\(text)")
    }
    let any: Any = secret
    #expect(!(any is any Encodable) && !(any is any Equatable) && !(any is any LosslessStringConvertible))
  }

  @Test("it is lent, revealed and compared by name")
  func lent() {
    expect(secret.count, 16)
    expect(secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }, key)
    expect(Secret(text: "päss").revealed, "päss")
    #expect(secret.matches(Secret(key)))
    #expect(!secret.matches(Secret(key.dropLast())))
    for place in key.indices {
      var other = key
      other[place] ^= 0x80
      #expect(!secret.matches(Secret(other)))
    }
    #expect(Secret([]).matches(Secret([])))
  }
}
