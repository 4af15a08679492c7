import Basics
public import Bluetooth
import CCrypto
import Crypto
import Synchronization

/// A public key on the curve P-256, as the wire carries it: X, then Y, 32 bytes each, most significant byte
/// first, without a prefix.
///
/// Any 64 bytes are a value of this type, because any 64 bytes may arrive. ``PrivateKey/sharedSecret(with:)``
/// and ``isOnCurve`` check whether they are a point of the curve.
public struct PublicKey: Hashable, Sendable {
  /// The length in bytes.
  public static let length = 64

  /// The 64 bytes.
  public let bytes: [UInt8]

  /// Makes a key from 64 bytes.
  public init(bytes: [UInt8]) throws(DecodeError) {
    guard bytes.count == Self.length else { throw .length(bytes.count, of: "public key") }
    self.bytes = bytes
  }

  fileprivate init(uncompressed octets: [UInt8]) {
    bytes = [UInt8](octets.dropFirst())
  }

  /// The point in the standard form: `04`, X, Y.
  fileprivate var uncompressed: [UInt8] { [0x04] + bytes }

  /// Whether the bytes are a point of the curve.
  public var isOnCurve: Bool {
    let point = CurvePoint()
    defer { ERR_clear_error() }
    return point.set(uncompressed)
  }
}

extension PublicKey: BinaryCodable {
  /// Reads the 64 bytes.
  public init(decoding reader: inout ByteReader) throws(DecodeError) {
    bytes = try reader.bytes(Self.length)
  }

  /// Appends the 64 bytes.
  public func encode(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: self.bytes)
  }
}

extension PublicKey: CustomStringConvertible {
  /// The 64 bytes in hexadecimal.
  public var description: String { bytes.hex }
}

/// The secret shared by two key pairs: the X coordinate of the product, 32 bytes, most significant byte
/// first.
public struct SharedSecret: Hashable, Sendable {
  /// The first 16 bytes, which are all that the protocol uses.
  public let key: SecretKey
  private let rest: SecretKey

  fileprivate init(_ key: SecretKey, _ rest: SecretKey) {
    self.key = key
    self.rest = rest
  }

  /// All 32 bytes.
  public var exposedBytes: [UInt8] { key.exposedBytes + rest.exposedBytes }
}

extension SharedSecret: Concealed {
  /// A placeholder that reveals nothing of the secret.
  public var description: String { "<shared secret>" }
}

/// A key pair on the curve P-256.
///
/// Making one costs a multiplication of the base point and some bookkeeping of libcrypto, about as much as
/// one agreement: make it once for a device. It may be shared between threads: agreements are serialized.
public final class PrivateKey: Sendable {
  /// The public half.
  public let publicKey: PublicKey
  private let first: SecretKey
  private let second: SecretKey
  private let agreement: Mutex<Agreement>
  /// The last agreement: a lock and its client repeat it often.
  private let latest = Mutex<(peer: PublicKey, secret: SharedSecret)?>(nil)

  /// Makes a key from the private scalar: 32 bytes, most significant byte first, from 1 to the order of the
  /// curve minus 1.
  public convenience init(scalar: [UInt8]) throws(DecodeError) {
    guard scalar.count == 32 else { throw .length(scalar.count, of: "private key") }
    let number = Scalar(scalar)
    guard number.isInRange else { throw .malformed("a private key of the curve P-256", at: 0) }
    self.init(number)
  }

  /// Draws a scalar from a source, repeatedly as long as it is out of range.
  ///
  /// A source that gives none in a hundred draws is broken, which is a programming error.
  public convenience init(from source: inout some SecretSource) {
    for _ in 0..<100 {
      let number = Scalar(source.bytes(32))
      if number.isInRange {
        self.init(number)
        return
      }
    }
    preconditionFailure("a source of keys that gives no key")
  }

  /// Draws a scalar like ``init(from:)``, and returns a known pair if its scalar is the same.
  static func drawn(from source: inout some SecretSource, or known: PrivateKey?) -> PrivateKey {
    guard let known else { return PrivateKey(from: &source) }
    var ahead = source
    guard ahead.bytes(32) == known.exposedScalar else { return PrivateKey(from: &source) }
    source = ahead
    return known
  }

  private init(_ scalar: borrowing Scalar) {
    let bytes = scalar.bytes
    var reader = ByteReader(bytes.span)
    guard let first = try? SecretKey(decoding: &reader), let second = try? SecretKey(decoding: &reader) else {
      preconditionFailure("a scalar has 32 bytes")
    }
    let point = CurvePoint()
    point.setProduct(of: scalar)
    let octets = point.uncompressed
    self.first = first
    self.second = second
    publicKey = PublicKey(uncompressed: octets)
    agreement = Mutex(Agreement(number: scalar.nativeBytes, point: octets))
  }

  /// The private scalar, for storage.
  public var exposedScalar: [UInt8] { first.exposedBytes + second.exposedBytes }

  /// Multiplies a peer's public key with this private key.
  ///
  /// Throws if the peer's bytes are not a point of the curve. (This curve has no weak points.)
  public func sharedSecret(with peer: PublicKey) throws(DecodeError) -> SharedSecret {
    if let latest = latest.withLock({ $0 }), latest.peer == peer { return latest.secret }
    let secret = agreement.withLock { $0.derive(with: peer.uncompressed) }
    guard let secret else { throw .malformed("a point of the curve P-256", at: 0) }
    latest.withLock { $0 = (peer, secret) }
    return secret
  }
}

extension PrivateKey: Concealed {
  /// Shows the public half.
  public var description: String { "<private key of \(publicKey)>" }
}

// MARK: - libcrypto

private let curve = Curve()

/// The curve P-256 and its key parameters, set up once for the process.
///
/// They are immutable afterwards, so that threads may share them.
@safe
private struct Curve: @unchecked Sendable {
  let group: OpaquePointer
  let parameters: OpaquePointer

  init() {
    unsafe group = require(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
    unsafe parameters = makeKey(EVP_PKEY_KEY_PARAMETERS, [Self.name, OSSL_PARAM_construct_end()])
  }

  /// The parameter that names the curve.
  static var name: OSSL_PARAM {
    unsafe OSSL_PARAM_construct_utf8_string(cString("group"), .init(mutating: cString("P-256")), 0)
  }
}

/// Makes a key object of libcrypto from its parameters.
private func makeKey(_ selection: Int32, _ parameters: [OSSL_PARAM]) -> OpaquePointer {
  var parameters = unsafe parameters
  let context = unsafe require(EVP_PKEY_CTX_new_from_name(nil, "EC", nil))
  defer { unsafe EVP_PKEY_CTX_free(context) }
  var key: OpaquePointer?
  require(unsafe EVP_PKEY_fromdata_init(context))
  require(unsafe EVP_PKEY_fromdata(context, &key, selection, &parameters))
  return unsafe require(key)
}

/// A private scalar, whose memory is wiped at the end of its lifetime.
@safe
private struct Scalar: ~Copyable {
  let number: OpaquePointer

  init(_ bytes: [UInt8]) {
    unsafe number = bytes.withUnsafeBufferPointer { bytes in
      unsafe require(BN_bin2bn(bytes.baseAddress, Int32(bytes.count), nil))
    }
  }

  deinit {
    unsafe BN_clear_free(number)
  }

  var isInRange: Bool {
    unsafe BN_is_zero(number) == 0 && BN_cmp(number, EC_GROUP_get0_order(curve.group)) < 0
  }

  /// 32 bytes in the machine's byte order.
  var nativeBytes: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { output, filled in
      require(unsafe BN_bn2nativepad(number, output.baseAddress, 32))
      filled = 32
    }
  }

  /// 32 bytes, most significant byte first.
  var bytes: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { output, filled in
      require(unsafe BN_bn2binpad(number, output.baseAddress, 32))
      filled = 32
    }
  }
}

@safe
private struct CurvePoint: ~Copyable {
  private let point: OpaquePointer

  init() {
    unsafe point = require(EC_POINT_new(curve.group))
  }

  deinit {
    unsafe EC_POINT_free(point)
  }

  /// Sets a point from the standard form; false if it is not on the curve.
  func set(_ octets: [UInt8]) -> Bool {
    unsafe octets.withUnsafeBufferPointer {
      unsafe EC_POINT_oct2point(curve.group, point, $0.baseAddress, $0.count, nil) > 0
    }
  }

  /// Sets the public point of a private scalar.
  func setProduct(of scalar: borrowing Scalar) {
    require(unsafe EC_POINT_mul(curve.group, point, scalar.number, nil, nil, nil))
  }

  /// The point in the standard form: `04`, X, Y.
  var uncompressed: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 1 + PublicKey.length) { output, filled in
      filled = unsafe EC_POINT_point2oct(
        curve.group, point, POINT_CONVERSION_UNCOMPRESSED, output.baseAddress, output.count, nil)
    }
  }
}

/// A private key with a prepared derivation, and a slot for the peer's point.
///
/// Setting the peer's point validates it, so the derivation skips the validation, which would multiply the
/// point by the order of the curve and double the cost.
@safe
private struct Agreement: ~Copyable {
  private let key: OpaquePointer
  private let peer: OpaquePointer
  private let context: OpaquePointer

  init(number: [UInt8], point: [UInt8]) {
    var number = number
    var point = point
    unsafe key = point.withUnsafeMutableBytes { point in
      unsafe number.withUnsafeMutableBufferPointer { number in
        unsafe makeKey(
          OSSL_KEYMGMT_SELECT_KEYPAIR | EVP_PKEY_KEY_PARAMETERS,
          [
            Curve.name,
            OSSL_PARAM_construct_octet_string(cString("pub"), point.baseAddress, point.count),
            OSSL_PARAM_construct_BN(cString("priv"), number.baseAddress, number.count),
            OSSL_PARAM_construct_end(),
          ])
      }
    }
    unsafe peer = require(EVP_PKEY_dup(curve.parameters))
    unsafe context = require(EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
    require(unsafe EVP_PKEY_derive_init(context))
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_PKEY_free(peer)
    unsafe EVP_PKEY_free(key)
  }

  /// The shared secret; `nil` if the peer's bytes are not a point of the curve.
  func derive(with octets: [UInt8]) -> SharedSecret? {
    let isPoint = unsafe octets.withUnsafeBufferPointer {
      unsafe EVP_PKEY_set1_encoded_public_key(peer, $0.baseAddress, $0.count) > 0
    }
    guard isPoint else {
      ERR_clear_error()
      return nil
    }
    var secret = (SecretKey.Words(first: 0, second: 0), SecretKey.Words(first: 0, second: 0))
    unsafe withUnsafeMutableBytes(of: &secret) { bytes in
      var length = bytes.count
      let output = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
      require(unsafe EVP_PKEY_derive_set_peer_ex(context, peer, 0))
      require(unsafe EVP_PKEY_derive(context, output, &length))
    }
    return SharedSecret(SecretKey(secret.0), SecretKey(secret.1))
  }
}
