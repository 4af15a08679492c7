import Bluetooth
@testable import Sesame

/// Nonces as bytes, which is how documents and vectors have them.
extension NonceBlock {
  init(_ nonce: [UInt8]) {
    self.init(low: 0, high: 0)
    for (index, byte) in nonce.enumerated() {
      if index < 8 {
        low |= UInt64(byte) << (8 * index)
      } else {
        high |= UInt64(byte) << (8 * (index - 8))
      }
    }
  }
}

extension AESCCM {
  func seal(_ plaintext: [UInt8], nonce: [UInt8], additionalData: [UInt8]) -> [UInt8] {
    seal(plaintext, nonce: NonceBlock(nonce), additionalData: additionalData)
  }

  func open(_ sealed: [UInt8], nonce: [UInt8], additionalData: [UInt8]) -> [UInt8]? {
    open(sealed, nonce: NonceBlock(nonce), additionalData: additionalData)
  }
}

extension SessionToken {
  func nonce(counter: UInt64, from sender: SessionEnd) -> [UInt8] {
    let block = block(counter: counter, from: sender)
    var bytes: [UInt8] = []
    bytes.append(littleEndian: block.low)
    bytes.append(littleEndian: block.high)
    return [UInt8](bytes.prefix(13))
  }
}
