import CCrypto

/// Encrypts one block of 16 bytes with AES-128 (FIPS 197) and a key of 16 bytes.
public func encryptBlock(_ plaintext: [UInt8], key: [UInt8]) -> [UInt8] {
  precondition(plaintext.count == 16 && key.count == 16, "a block and a key have 16 bytes")
  let context = unsafe require(EVP_CIPHER_CTX_new())
  defer { unsafe EVP_CIPHER_CTX_free(context) }
  require(unsafe EVP_CipherInit_ex2(context, algorithm.pointer, key, nil, 1, nil))
  require(unsafe EVP_CIPHER_CTX_set_padding(context, 0))
  return unsafe [UInt8](unsafeUninitializedCapacity: 16) { output, filled in
    var length: Int32 = 0
    require(unsafe EVP_CipherUpdate(context, output.baseAddress, &length, plaintext, 16))
    filled = Int(length)
  }
}

private let algorithm = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-128-ECB", nil))
