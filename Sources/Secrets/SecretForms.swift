/// The forms of all secrets in each ``SymbolAlphabet``: every window of about 64 bits, at any offset, as a number.
///
/// A secret is therefore found even if a part of it is missing, and a search costs the same for any number of
/// secrets.
struct SecretForms: Sendable {
  private var windows: [WindowSet]
  /// By alphabet and length, all sequences that are shorter than a window, as numbers.
  private var fragments: [[Set<UInt64>]]

  init() {
    windows = SymbolAlphabet.allCases.map { _ in WindowSet() }
    fragments = SymbolAlphabet.allCases.map { Array(repeating: [], count: $0.length) }
  }

  /// Adds a secret.
  ///
  /// - Returns: whether any part of it can be distinguished from ordinary text.
  mutating func add(_ bytes: [UInt8]) -> Bool {
    var isFound = false
    // Bluetooth sends most numbers with the least significant byte first.
    for bytes in [bytes, bytes.reversed()] {
      isFound = add(bytes, to: .bytes) || isFound
      isFound = add(latin1(bytes), to: .bytes) || isFound
      let digits = bytes.flatMap { [$0 >> 4, $0 & 15] }
      isFound = add(digits, to: .hexadecimal) || isFound
      for lead in 0..<3 { isFound = add(sextets(bytes, after: lead), to: .base64) || isFound }
    }
    return isFound
  }

  /// Returns whether a window is part of a secret.
  func contains(_ window: UInt64, in alphabet: SymbolAlphabet) -> Bool {
    windows[alphabet.rawValue].contains(window)
  }

  /// Returns whether a sequence that is shorter than a window is part of a secret.
  func contains(_ fragment: UInt64, of count: Int, in alphabet: SymbolAlphabet) -> Bool {
    fragments[alphabet.rawValue][count].contains(fragment)
  }

  private mutating func add(_ sequence: [UInt8], to alphabet: SymbolAlphabet) -> Bool {
    let length = alphabet.length
    var isFound = false
    for start in sequence.indices.dropLast(length - 1)
    where isDistinctive(sequence[start..<start + length]) {
      windows[alphabet.rawValue].insert(alphabet.number(sequence[start..<start + length]))
      isFound = true
    }
    guard isFound else { return false }
    for count in 1..<length {
      for start in 0...sequence.count - count {
        fragments[alphabet.rawValue][count].insert(alphabet.number(sequence[start..<start + count]))
      }
    }
    return true
  }

  /// Returns whether a window is distinctive: zeros, and other windows of mostly one symbol, also occur outside
  /// secrets.
  private func isDistinctive(_ symbols: ArraySlice<UInt8>) -> Bool {
    symbols.allSatisfy { symbol in symbols.count { $0 == symbol } * 2 <= symbols.count }
  }

  /// Returns the UTF-8 of bytes that were decoded as Latin-1.
  private func latin1(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
  }

  /// Returns the base64 characters, as numbers, that depend on these bytes alone if other bytes precede and follow
  /// them.
  private func sextets(_ bytes: [UInt8], after lead: Int) -> [UInt8] {
    let bits = ([UInt8](repeating: 0, count: lead) + bytes).flatMap { byte in
      (0..<8).map { byte >> (7 - $0) & 1 }
    }
    let first = (lead * 8 + 5) / 6
    return (first..<bits.count / 6).map { place in
      bits[place * 6..<place * 6 + 6].reduce(0) { $0 << 1 | $1 }
    }
  }
}

/// An alphabet in which a secret can be written.
enum SymbolAlphabet: Int, CaseIterable {
  /// Raw bytes, and bytes as characters.
  case bytes
  case hexadecimal
  case base64

  /// The number of bits in a symbol.
  var bits: Int {
    switch self {
    case .bytes: 8
    case .hexadecimal: 4
    case .base64: 6
    }
  }

  /// The number of symbols in a window; the base64 of eight bytes has at least ten that depend on these bytes
  /// alone.
  var length: Int {
    switch self {
    case .bytes: 8
    case .hexadecimal: 16
    case .base64: 10
    }
  }

  /// Returns symbols as one number.
  func number(_ symbols: ArraySlice<UInt8>) -> UInt64 {
    symbols.reduce(0) { $0 << bits | UInt64($1) }
  }

  /// Returns a window that is moved on by one symbol.
  func push(_ symbol: UInt8, onto window: UInt64) -> UInt64 {
    let mask = UInt64.max >> (64 - bits * length)
    return (window << bits | UInt64(symbol)) & mask
  }
}

/// A set of numbers with a filter that quickly excludes most others.
private struct WindowSet: Sendable {
  private var filter = [UInt64](repeating: 0, count: 64)
  private var numbers: Set<UInt64> = []

  mutating func insert(_ number: UInt64) {
    let (word, bit) = slot(for: number)
    filter[word] |= 1 << bit
    numbers.insert(number)
  }

  func contains(_ number: UInt64) -> Bool {
    let (word, bit) = slot(for: number)
    return filter[word] >> bit & 1 == 1 && numbers.contains(number)
  }

  private func slot(for number: UInt64) -> (word: Int, bit: UInt64) {
    let hash = (number &* 0x9E37_79B9_7F4A_7C15) >> 52
    return (Int(hash >> 6), hash & 63)
  }
}
