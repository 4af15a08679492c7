import Bluetooth

/// A single flaw of a message to a lock.
public enum MessageFlaw: String, CaseIterable, Sendable {
  /// It is in clear where ciphertext is required.
  case inClear = "in-clear"
  /// A bit of its tag is inverted.
  case wrongTag = "wrong-tag"
  /// It is encrypted with a random key, like all ciphertext before a session.
  case wrongKey = "wrong-key"
  /// It is encrypted with the session key derived from the owner's key before the last reset; with a random
  /// key if none is known, and in OS2, where session keys do not depend on it.
  case oldKey = "old-key"
  /// It is sealed with the counter of the message after it.
  case nextCounter = "counter+1"
  /// It is sealed with the counter of the message before it.
  case previousCounter = "counter-1"
  /// It is sealed with the counter of the first message; the first message with that of the second.
  case firstCounter = "counter-0"
  /// Its last byte is missing.
  case cutByOne = "cut-1"
  /// Its last four bytes are missing, which is the length of the tag.
  case cutByFour = "cut-4"
  /// It consists of a header only.
  case cutToNothing = "cut-all"
  /// It has one extra byte.
  case extended = "extended"
  /// It is in clear, and of an undefined kind.
  case kind3 = "kind-3"
  /// It is in clear, and of an undefined kind.
  case kind4 = "kind-4"
  /// It is in clear, and of a kind that looks like clear text to a receiver that checks only two bits.
  case kind5 = "kind-5"
  /// It is in clear, and of an undefined kind.
  case kind63 = "kind-63"
  /// It is in clear, and of the greatest possible kind.
  case kind127 = "kind-127"
  /// The tag is wrong, and the first frame is marked as a continuation.
  case noBeginning = "no-beginning"
  /// The tag is wrong, and the last frame is marked as incomplete.
  case noEnd = "no-end"
  /// The tag is wrong, and the first two frames are swapped.
  case swapped = "swapped"
  /// It is longer than any lock accepts.
  case tooLong = "too-long"
}

extension MessageFlaw {
  /// The frames of a request with this flaw, which a correct lock does not obey.
  ///
  /// - Parameters:
  ///   - cipher: the session's cipher, ready for the next message; `nil` without a session.
  ///   - old: the same with the key from before the last reset; `nil` without one.
  func frames(
    of request: [UInt8], _ cipher: SessionCipher?, old: SessionCipher? = nil
  ) -> [[UInt8]] {
    let cipher = self == .oldKey ? old ?? Self.foreign : cipher
    let segmenter = Segmenter()
    switch self {
    case .inClear: return segmenter.frames(of: request, .plaintext)
    case .kind3: return segmenter.frames(of: request, MessageKind(rawValue: 3))
    case .kind4: return segmenter.frames(of: request, MessageKind(rawValue: 4))
    case .kind5: return segmenter.frames(of: request, MessageKind(rawValue: 5))
    case .kind63: return segmenter.frames(of: request, MessageKind(rawValue: 63))
    case .kind127: return segmenter.frames(of: request, MessageKind(rawValue: 127))
    case .tooLong: return segmenter.frames(of: [UInt8](repeating: 0, count: 300), .ciphertext)
    case .noBeginning:
      var frames = segmenter.frames(of: untagged(request, cipher), .ciphertext)
      frames[0][0] &= ~1
      return frames
    case .noEnd:
      var frames = segmenter.frames(of: untagged(request, cipher), .ciphertext)
      frames[frames.count - 1][0] &= 1
      return frames
    case .swapped:
      let long = untagged(request + [UInt8](repeating: 0, count: Segmenter.defaultFrameSize), cipher)
      var frames = segmenter.frames(of: long, .ciphertext)
      frames.swapAt(0, 1)
      return frames
    case .wrongTag, .wrongKey, .oldKey, .nextCounter, .previousCounter, .firstCounter, .cutByOne, .cutByFour,
      .cutToNothing, .extended:
      return segmenter.frames(of: sealed(request, cipher), .ciphertext)
    }
  }

  /// The ciphertext of a request with a flaw in its encryption.
  private func sealed(_ request: [UInt8], _ cipher: SessionCipher?) -> [UInt8] {
    var cipher = cipher ?? Self.foreign
    switch self {
    case .wrongKey: cipher = Self.foreign
    case .nextCounter: cipher.sendCounter &+= 1
    case .previousCounter: cipher.sendCounter &-= 1
    case .firstCounter: cipher.sendCounter = cipher.sendCounter == 0 ? 1 : 0
    default: break
    }
    let sealed = cipher.encrypt(request)
    switch self {
    case .cutByOne: return Array(sealed.dropLast())
    case .cutByFour: return Array(sealed.dropLast(SessionCipher.tagLength))
    case .cutToNothing: return []
    case .extended: return sealed + [0]
    case .wrongTag: return sealed.withOneBitFlipped
    default: return sealed
    }
  }

  private func untagged(_ request: [UInt8], _ cipher: SessionCipher?) -> [UInt8] {
    var cipher = cipher ?? Self.foreign
    return cipher.encrypt(request).withOneBitFlipped
  }

  /// The frames of a message in clear with this flaw, if such a message can have it.
  func frames(ofClear message: [UInt8]) -> [[UInt8]] {
    let segmenter = Segmenter()
    switch self {
    case .inClear: return segmenter.frames(of: message, .plaintext)
    case .wrongTag: return segmenter.frames(of: message.withOneBitFlipped, .plaintext)
    case .cutByOne: return segmenter.frames(of: Array(message.dropLast()), .plaintext)
    case .cutByFour: return segmenter.frames(of: Array(message.dropLast(4)), .plaintext)
    case .cutToNothing: return segmenter.frames(of: [], .plaintext)
    case .extended: return segmenter.frames(of: message + [0], .plaintext)
    default: return frames(of: message, nil)
    }
  }

  /// A cipher with a random key.
  private static var foreign: SessionCipher {
    SessionCipher(
      key: SecretKey(UUID128(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100)),
      token: .os3(Token(word: 0)), end: .app)
  }
}

extension [UInt8] {
  /// The bytes with one bit inverted, at the end. The link's fault `corrupt` inverts another bit: otherwise
  /// both together would restore the message.
  var withOneBitFlipped: [UInt8] {
    var bytes = self
    if let last = bytes.indices.last { bytes[last] ^= 0x80 }
    return bytes
  }
}
