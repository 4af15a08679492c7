import CCrypto

/// The SHA-256 of bytes (FIPS 180-4), in base64: by that the policy of a page names the scripts and styles that may take effect.
public func sha256InBase64(_ bytes: [UInt8]) -> String {
  var digest = [UInt8](repeating: 0, count: 32)
  require(unsafe withBytes(bytes) { unsafe EVP_Digest($0, bytes.count, &digest, nil, EVP_sha256(), nil) })
  // Four characters for each three bytes, and a NUL that is not counted.
  var text = [UInt8](repeating: 0, count: 45)
  let count = unsafe EVP_EncodeBlock(&text, digest, 32)
  return String(decoding: text.prefix(Int(count)), as: UTF8.self)
}
