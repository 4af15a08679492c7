import Bluetooth
import Sesame
import Basics
import TestSupport
import Testing

@Suite struct CryptoTests {
  let key: SecretKey

  init() throws {
    key = try SecretKey(bytes: [UInt8](hex: "2b7e151628aed2a6abf7158809cf4f3c"))
  }

  @Test("two key pairs agree, from either side, and a key pair comes back from its scalar")
  func agreement() throws {
    var source = SeededGenerator(seed: 7)
    for _ in 0..<10 {
      let left = PrivateKey(from: &source)
      let right = PrivateKey(from: &source)
      expect(try left.sharedSecret(with: right.publicKey), try right.sharedSecret(with: left.publicKey))
      expect(try PrivateKey(scalar: left.exposedScalar).publicKey, left.publicKey)
    }
  }

  @Test("one seed gives one key, another seed another")
  func determinism() {
    func publicKey(seed: UInt64) -> PublicKey {
      var source = SeededGenerator(seed: seed)
      return PrivateKey(from: &source).publicKey
    }
    expect(publicKey(seed: 1), publicKey(seed: 1))
    #expect(publicKey(seed: 1) != publicKey(seed: 2))
  }

  @Test("a point that is not on the curve is refused, and the next good one works")
  func badPoints() throws {
    var source = SeededGenerator(seed: 8)
    let own = PrivateKey(from: &source)
    let peer = PrivateKey(from: &source)
    let secret = try own.sharedSecret(with: peer.publicKey)
    var moved = peer.publicKey.bytes
    moved[63] ^= 1
    let fieldSize = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    let bad = [
      moved, [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
      try [UInt8](hex: fieldSize) + [UInt8](repeating: 0, count: 32), source.bytes(64),
    ]
    for bytes in bad {
      let point = try PublicKey(bytes: bytes)
      expect(point.isOnCurve, false)
      #expect(throws: DecodeError.malformed("a point of the curve P-256", at: 0)) {
        try own.sharedSecret(with: point)
      }
      expect(try own.sharedSecret(with: peer.publicKey), secret)
    }
    expect(peer.publicKey.isOnCurve, true)
    #expect(throws: DecodeError.length(65, of: "public key")) { try PublicKey(bytes: [4] + moved) }
  }

  @Test(
    "a scalar must be from 1 to the order less 1",
    arguments: [
      ("0000000000000000000000000000000000000000000000000000000000000000", false),
      ("0000000000000000000000000000000000000000000000000000000000000001", true),
      ("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550", true),
      ("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", false),
      ("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", false),
      ("01", false),
    ])
  func scalars(text: String, isValid: Bool) throws {
    let scalar = try [UInt8](hex: text)
    expect((try? PrivateKey(scalar: scalar))?.exposedScalar, isValid ? scalar : nil)
  }

  @Test("a source that starts with impossible scalars is asked again")
  func redraw() {
    var source = Script(words: [0xFF, 0xFF, 0x00, 0x11])
    expect(PrivateKey(from: &source).exposedScalar, [UInt8](repeating: 0x11, count: 32))
  }

  @Test("a token takes its bytes in the order they are drawn")
  func token() {
    var source = SeededGenerator(seed: 9)
    var same = source
    expect(source.token().encoded, same.bytes(4))
  }

  @Test("messages of every length come back, and a changed bit never does")
  func ccm() {
    let cipher = AESCCM(key: key)
    var source = SeededGenerator(seed: 10)
    let nonce = source.bytes(13)
    for length in 0..<64 {
      let plaintext = source.bytes(length)
      let sealed = cipher.seal(plaintext, nonce: nonce, additionalData: [0])
      expect(sealed.count, length + 4)
      expect(cipher.open(sealed, nonce: nonce, additionalData: [0]), plaintext)
      var changed = sealed
      changed[source.below(changed.count)] ^= 1 << UInt8(source.below(8))
      expect(cipher.open(changed, nonce: nonce, additionalData: [0]), nil)
      expect(cipher.open(sealed, nonce: nonce, additionalData: [1]), nil)
      expect(cipher.open(sealed, nonce: nonce, additionalData: []), nil)
      expect(cipher.open(sealed.dropLast(), nonce: nonce, additionalData: [0]), nil)
    }
    expect(cipher.open([1, 2, 3], nonce: nonce, additionalData: [0]), nil)
    expect(cipher.open([UInt8](repeating: 0, count: 70_000), nonce: nonce, additionalData: [0]), nil)
  }

  @Test("one key serves many threads at once")
  func threads() async throws {
    let cipher = AESCCM(key: key)
    let key = key
    let own = try PrivateKey(scalar: [UInt8](repeating: 0x5A, count: 32))
    let peer = try PrivateKey(scalar: [UInt8](repeating: 0x31, count: 32)).publicKey
    let secret = try own.sharedSecret(with: peer)
    let mac = key.cmac([1, 2, 3])
    let right = await withTaskGroup(of: Int.self) { group in
      for seed in 0..<8 as Range<UInt64> {
        group.addTask {
          var source = SeededGenerator(seed: seed)
          return (0..<100).count { _ in
            let nonce = source.bytes(13)
            let plaintext = source.bytes(20)
            let sealed = cipher.seal(plaintext, nonce: nonce, additionalData: [0])
            return cipher.open(sealed, nonce: nonce, additionalData: [0]) == plaintext
              && key.cmac([1, 2, 3]) == mac && (try? own.sharedSecret(with: peer)) == secret
          }
        }
      }
      return await group.reduce(0, +)
    }
    expect(right, 800)
  }

  @Test("no text form shows a key")
  func redaction() throws {
    let own = try PrivateKey(scalar: [UInt8](repeating: 0x5A, count: 32))
    let secret = try own.sharedSecret(with: own.publicKey)
    for value in [key, own, secret] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), "\([value])", dumped] {
        for hidden in ["2b7e", "5a5a", "0x2b", "43,", "90,", secret.exposedBytes.prefix(4).hex] {
          #expect(!text.replacing(own.publicKey.description, with: "").contains(hidden), "\(text)")
        }
      }
    }
    expect("\(key)", "<secret key>")
  }

  @Test("a key has 16 bytes and comes back from them")
  func keyBytes() throws {
    expect(try SecretKey(bytes: key.exposedBytes), key)
    #expect(throws: DecodeError.length(15, of: "key")) {
      try SecretKey(bytes: [UInt8](repeating: 1, count: 15))
    }
    let uuid = try UUID128(text: "01234567-89ab-cdef-0123-456789abcdef")
    expect(SecretKey(uuid).exposedBytes, uuid.bytes)
  }
}

/// Gives bytes of one value for each draw, from a list.
private struct Script: SecretSource {
  var words: [UInt8]

  mutating func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: words.removeFirst(), count: count) }
}
