/// A substitute for the proof that a client has the lock's key.
public enum FalseProof: String, CaseIterable, Sendable {
  /// The proof of a secret that differs in one bit.
  case wrongSecret = "secret"
  /// The right proof with one bit of its first byte inverted, which is another bit than that of the fault
  /// `corrupt`.
  case wrongBit = "bit"
  /// Zeros.
  case zeros
  /// The right proof without its last byte.
  case cut
  /// Nothing at all, in a login without a proof.
  case empty
  /// The proof of the key that was valid before the last reset; that of a wrong secret if none is known. For
  /// a lock without an owner it is sent right after the lock's token, in place of waiting for the user.
  case oldKey = "old-key"
  /// A registration, as if the lock had no owner.
  case registration
}

extension FalseProof {
  /// A login with this proof, made from a login that ends with the right one.
  func login(insteadOf login: [UInt8]) -> [UInt8] {
    let length = 4
    switch self {
    case .wrongBit:
      guard login.count >= length else { return login }
      var login = login
      login[login.count - length] ^= 1
      return login
    case .zeros: return login.dropLast(length) + [UInt8](repeating: 0, count: length)
    case .cut: return login.dropLast()
    case .empty: return login.dropLast(length)
    case .wrongSecret, .oldKey, .registration: return login
    }
  }
}
