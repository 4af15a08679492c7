import Basics
import Testing

/// The values are those of the draft of FNV (draft-eastlake-fnv, appendix C).
@Test(
  "fingerprints are FNV-1a over 64 bits, in sixteen digits",
  arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
func fingerprint(text: String, digits: String) {
  var parts = Fingerprint()
  for character in text { parts.mix(String(character)) }
  #expect(Fingerprint(text).description == digits && parts == Fingerprint(text))
}
