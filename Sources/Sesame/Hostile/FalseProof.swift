/// What a client shows a lock in place of the proof that it has the lock's key.
public enum FalseProof: String, CaseIterable, Sendable {
  /// The proof of a secret that differs in one bit.
  case wrongSecret = "secret"
  /// The right proof with one bit inverted.
  case wrongBit = "bit"
  /// Zeros.
  case zeros
  /// The right proof without its last byte.
  case cut
  /// Nothing at all, in a login without a proof.
  case empty
  /// The proof of the key that was valid before the last reset; that of a wrong secret, when none is known. To a lock
  /// without an owner it is shown as soon as the lock's token came, in place of waiting for the user.
  case oldKey = "old-key"
  /// A registration, as if the lock had no owner.
  case registration
}

extension FalseProof {
  /// A login with this proof, made of the one with the right proof, which ends with it.
  func login(insteadOf login: [UInt8]) -> [UInt8] {
    let length = 4
    switch self {
    case .wrongBit: return login.withOneBitFlipped
    case .zeros: return login.dropLast(length) + [UInt8](repeating: 0, count: length)
    case .cut: return login.dropLast()
    case .empty: return login.dropLast(length)
    case .wrongSecret, .oldKey, .registration: return login
    }
  }
}
