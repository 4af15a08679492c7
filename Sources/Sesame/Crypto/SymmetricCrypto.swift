import CCrypto
import Crypto
import Synchronization

// The primitives are libcrypto's. This code keeps its objects alive, so that a message needs no lookup of an
// algorithm by name and no key schedule.

extension SecretKey {
  /// The AES-128-CMAC of a message under this key (RFC 4493), 16 bytes.
  public func cmac(_ message: [UInt8]) -> SecretKey {
    let context = idleContexts.withLock { $0.popLast() } ?? CMACContext()
    defer { idleContexts.withLock { $0.append(context) } }
    return context.authenticate(message, with: self)
  }
}

private let idleContexts = Mutex<[CMACContext]>([])

/// A libcrypto context for AES-128-CMAC that takes a new key for each message.
///
/// It is sendable because only one user at a time holds it between taking it from ``idleContexts`` and returning it.
@safe
private final class CMACContext: @unchecked Sendable {
  private let context: OpaquePointer

  init() {
    unsafe context = require(EVP_MAC_CTX_new(cmacAlgorithm.pointer))
    let cipher = unsafe UnsafeMutablePointer(mutating: cString("AES-128-CBC"))
    let parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(cString("cipher"), cipher, 0), OSSL_PARAM_construct_end(),
    ]
    require(unsafe EVP_MAC_CTX_set_params(context, parameters))
  }

  deinit {
    unsafe EVP_MAC_CTX_free(context)
  }

  func authenticate(_ message: [UInt8], with key: SecretKey) -> SecretKey {
    var words = key.words
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      let bytes = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
      require(unsafe EVP_MAC_init(context, bytes, 16, nil))
      require(
        unsafe message.withUnsafeBufferPointer { unsafe EVP_MAC_update(context, $0.baseAddress, $0.count) })
      var length = 0
      require(unsafe EVP_MAC_final(context, bytes, &length, 16))
    }
    return SecretKey(words)
  }
}

/// AES-128 in CCM mode (NIST SP 800-38C) under one key.
///
/// The key schedules are set up once, one for each direction because libcrypto needs both; a message only
/// adds its nonce. It may be shared between threads: each call takes a lock.
public final class AESCCM: Sendable {
  private let nonceLength: Int
  private let tagLength: Int
  private let sealing: Mutex<CCMContext>
  private let opening: Mutex<CCMContext>

  /// Sets up a key; the lengths are in bytes, 7 to 13 for the nonce and 4 to 16 for the tag.
  public init(key: SecretKey, nonceLength: Int = 13, tagLength: Int = 4) {
    precondition((7...13).contains(nonceLength), "a CCM nonce has 7 to 13 bytes")
    precondition((4...16).contains(tagLength) && tagLength % 2 == 0, "a CCM tag has 4, 6, … 16 bytes")
    self.nonceLength = nonceLength
    self.tagLength = tagLength
    sealing = Mutex(CCMContext(key: key, seals: true, nonceLength: nonceLength, tagLength: tagLength))
    opening = Mutex(CCMContext(key: key, seals: false, nonceLength: nonceLength, tagLength: tagLength))
  }

  /// The maximum message length: its length field has the bytes that the nonce leaves.
  public var capacity: Int { nonceLength == 13 ? 0xFFFF : 0xFF_FFFF }

  /// Encrypts a message; the tag follows it.
  func seal(_ plaintext: [UInt8], nonce: NonceBlock, additionalData: [UInt8]) -> [UInt8] {
    precondition(plaintext.count <= capacity, "a CCM message is longer than its nonce allows")
    return sealing.withLock { context in
      context.seal(plaintext, nonce: nonce, additionalData: additionalData, tagLength: tagLength)
    }
  }

  /// Decrypts a message with its tag; `nil` if it does not authenticate.
  func open(_ sealed: [UInt8], nonce: NonceBlock, additionalData: [UInt8]) -> [UInt8]? {
    guard sealed.count >= tagLength, sealed.count - tagLength <= capacity else { return nil }
    return opening.withLock { context in
      context.open(sealed, nonce: nonce, additionalData: additionalData, tagLength: tagLength)
    }
  }
}

/// A nonce at the front of 16 bytes, stored as two numbers to avoid allocation.
struct NonceBlock: Equatable {
  var low: UInt64
  var high: UInt64
}

@safe
private struct CCMContext: ~Copyable {
  private let context: OpaquePointer
  private let direction: Int32

  init(key: SecretKey, seals: Bool, nonceLength: Int, tagLength: Int) {
    unsafe context = require(EVP_CIPHER_CTX_new())
    direction = seals ? 1 : 0
    require(unsafe EVP_CipherInit_ex2(context, ccmAlgorithm.pointer, nil, nil, direction, nil))
    require(unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceLength), nil))
    require(unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), nil))
    unsafe withUnsafeBytes(of: key.words) { key in
      let key = unsafe key.bindMemory(to: UInt8.self).baseAddress
      require(unsafe EVP_CipherInit_ex2(context, nil, key, nil, direction, nil))
    }
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(context)
  }

  func seal(_ plaintext: [UInt8], nonce: NonceBlock, additionalData: [UInt8], tagLength: Int) -> [UInt8] {
    let count = plaintext.count
    begin(nonce)
    announce(count, additionalData)
    return unsafe [UInt8](unsafeUninitializedCapacity: count + tagLength) { output, filled in
      let start = unsafe output.baseAddress.unsafelyUnwrapped
      unsafe withBytes(plaintext) { input in
        var length: Int32 = 0
        require(unsafe EVP_CipherUpdate(context, start, &length, input, Int32(count)))
      }
      require(unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), start + count))
      filled = count + tagLength
    }
  }

  func open(_ sealed: [UInt8], nonce: NonceBlock, additionalData: [UInt8], tagLength: Int) -> [UInt8]? {
    let count = sealed.count - tagLength
    var authenticates = false
    begin(nonce)
    let plaintext = unsafe withBytes(sealed) { input in
      let tag = unsafe UnsafeMutablePointer(mutating: input + count)
      require(unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), tag))
      announce(count, additionalData)
      // An empty message needs a buffer, too: without one, libcrypto treats it as additional data.
      return unsafe [UInt8](unsafeUninitializedCapacity: max(1, count)) { output, filled in
        var length: Int32 = 0
        let result = unsafe EVP_CipherUpdate(context, output.baseAddress, &length, input, Int32(count))
        authenticates = result > 0
        filled = authenticates ? count : 0
      }
    }
    guard authenticates else {
      ERR_clear_error()
      return nil
    }
    return plaintext
  }

  private func begin(_ nonce: NonceBlock) {
    unsafe withUnsafeBytes(of: nonce) { nonce in
      let nonce = unsafe nonce.bindMemory(to: UInt8.self).baseAddress
      require(unsafe EVP_CipherInit_ex2(context, nil, nil, nonce, direction, nil))
    }
  }

  /// Announces the length of the message, which CCM needs first, and the additional data.
  private func announce(_ count: Int, _ additionalData: [UInt8]) {
    var length: Int32 = 0
    require(unsafe EVP_CipherUpdate(context, nil, &length, nil, Int32(count)))
    guard !additionalData.isEmpty else { return }
    unsafe withBytes(additionalData) { data in
      require(unsafe EVP_CipherUpdate(context, nil, &length, data, Int32(additionalData.count)))
    }
  }
}

private let cmacAlgorithm = unsafe Algorithm(EVP_MAC_fetch(nil, "CMAC", nil))
private let ccmAlgorithm = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-128-CCM", nil))
