import Crypto
import TestSupport
import Testing

@Suite("SHA-256")
struct DigestTests {
  @Test("gives what the standard gives (FIPS 180-4, examples), in base64")
  func vectors() {
    for (text, digest) in [
      ("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
      ("abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
    ] {
      expect(sha256InBase64(Array(text.utf8)), digest)
    }
  }
}
