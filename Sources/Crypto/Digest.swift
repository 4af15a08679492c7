import CCrypto

/// Returns the SHA-256 of bytes (FIPS 180-4) in base64, the form in which a page's Content Security Policy allows
/// scripts and styles.
public func sha256InBase64(_ bytes: [UInt8]) -> String {
  var digest = [UInt8](repeating: 0, count: 32)
  require(unsafe withBytes(bytes) { unsafe EVP_Digest($0, bytes.count, &digest, nil, EVP_sha256(), nil) })
  // Four characters per three bytes, and a NUL that does not count.
  var text = [UInt8](repeating: 0, count: 45)
  let count = unsafe EVP_EncodeBlock(&text, digest, 32)
  return String(decoding: text.prefix(Int(count)), as: UTF8.self)
}
