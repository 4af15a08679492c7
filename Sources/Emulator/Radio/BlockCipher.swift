import Bluetooth

/// AES-128 of one block (FIPS 197), as LE Encrypt has it: key, text and result least significant byte first
/// (Core 5.4, Vol 4 Part E §7.8.22).
///
/// Slow and plain: a host asks for a block now and then, and nothing secret passes here.
func encrypt(_ plaintext: UUID128, _ key: UUID128) -> UUID128 {
  var roundKey = Array(key.bytes.reversed())
  var state = zip(plaintext.bytes.reversed(), roundKey).map(^)
  var constant: UInt8 = 1
  for round in 1...10 {
    state = state.indices.map { substitution[Int(state[($0 + $0 % 4 * 4) % 16])] }
    if round < 10 { mixColumns(&state) }
    advance(&roundKey, constant)
    constant = double(constant)
    for index in 0..<16 { state[index] ^= roundKey[index] }
  }
  var high: UInt64 = 0
  var low: UInt64 = 0
  for index in 0..<8 {
    low |= UInt64(state[index]) << UInt64(8 * index)
    high |= UInt64(state[index + 8]) << UInt64(8 * index)
  }
  return UUID128(high: high, low: low)
}

private func mixColumns(_ state: inout [UInt8]) {
  for column in stride(from: 0, to: 16, by: 4) {
    let old = Array(state[column..<column + 4])
    for row in 0..<4 {
      let next = old[(row + 1) % 4]
      state[column + row] = double(old[row]) ^ double(next) ^ next ^ old[(row + 2) % 4] ^ old[(row + 3) % 4]
    }
  }
}

/// The key of the next round.
private func advance(_ key: inout [UInt8], _ constant: UInt8) {
  for index in 0..<4 { key[index] ^= substitution[Int(key[12 + (index + 1) % 4])] }
  key[0] ^= constant
  for index in 4..<16 { key[index] ^= key[index - 4] }
}

/// Twice a byte, in the field of 256 elements.
private func double(_ byte: UInt8) -> UInt8 { byte << 1 ^ (byte & 0x80 == 0 ? 0 : 0x1B) }

/// The substitution box: the inverse in the field, and an affine map.
private let substitution: [UInt8] = {
  var box = [UInt8](repeating: 0x63, count: 256)
  // 3 generates the field's multiplication, and `inverse` runs the other way round.
  var value: UInt8 = 1
  var inverse: UInt8 = 1
  repeat {
    value ^= double(value)
    inverse ^= inverse << 1
    inverse ^= inverse << 2
    inverse ^= inverse << 4
    if inverse & 0x80 != 0 { inverse ^= 0x09 }
    var mapped = inverse
    for turn in 1...4 as ClosedRange<UInt8> { mapped ^= inverse << turn | inverse >> (8 - turn) }
    box[Int(value)] = mapped ^ 0x63
  } while value != 1
  return box
}()
