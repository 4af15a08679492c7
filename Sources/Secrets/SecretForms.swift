/// What a secret looks like in each ``Alphabet``: every stretch of 64 bits or so, at any place of it, as a number.
///
/// So a secret is also found where a part of it was cut off, and looking costs the same however many there are.
struct SecretForms: Sendable {
  private var windows: [WindowSet]
  private var sequences: [[[UInt8]]]

  init() {
    windows = Alphabet.allCases.map { _ in WindowSet() }
    sequences = Alphabet.allCases.map { _ in [] }
  }

  /// Adds a secret.
  ///
  /// - Returns: whether anything of it can be told from ordinary text.
  mutating func add(_ bytes: [UInt8]) -> Bool {
    var isFound = false
    for bytes in [bytes, bytes.reversed()] {
      isFound = add(bytes, to: .bytes) || isFound
      isFound = add(latin1(bytes), to: .bytes) || isFound
      let digits = bytes.flatMap { [$0 >> 4, $0 & 15] }
      isFound = add(digits, to: .hexadecimal) || isFound
      isFound = add(digits.reversed(), to: .hexadecimal) || isFound
      for lead in 0..<3 {
        let characters = sextets(bytes, after: lead)
        isFound = add(characters, to: .base64) || isFound
        isFound = add(characters.reversed(), to: .base64) || isFound
      }
    }
    // Backwards by characters is something else than backwards by bytes.
    if let text = String(validating: bytes, as: UTF8.self) {
      isFound = add(Array(String(text.reversed()).utf8), to: .bytes) || isFound
    }
    return isFound
  }

  /// Whether a window is a part of a secret.
  func contains(_ window: UInt64, in alphabet: Alphabet) -> Bool {
    windows[alphabet.rawValue].contains(window)
  }

  /// Whether symbols stand so in a secret.
  func contains(_ symbols: [UInt8], in alphabet: Alphabet) -> Bool {
    sequences[alphabet.rawValue].contains { sequence in
      guard sequence.count >= symbols.count else { return false }
      return (0...sequence.count - symbols.count).contains { start in
        sequence[start..<start + symbols.count].elementsEqual(symbols)
      }
    }
  }

  private mutating func add(_ sequence: [UInt8], to alphabet: Alphabet) -> Bool {
    guard !sequences[alphabet.rawValue].contains(sequence) else { return true }
    var isFound = false
    var window: UInt64 = 0
    for (index, symbol) in sequence.enumerated() {
      window = alphabet.push(symbol, onto: window)
      guard index + 1 >= alphabet.length else { continue }
      let symbols = sequence[index + 1 - alphabet.length...index]
      guard isTelling(symbols) else { continue }
      windows[alphabet.rawValue].insert(window)
      isFound = true
    }
    if isFound { sequences[alphabet.rawValue].append(sequence) }
    return isFound
  }

  /// Zeros, and whatever else is mostly one symbol, stand in too many places that are nobody's secret.
  private func isTelling(_ symbols: ArraySlice<UInt8>) -> Bool {
    symbols.allSatisfy { symbol in symbols.count { $0 == symbol } * 2 <= symbols.count }
  }

  /// Bytes of which each was taken for a character, in UTF-8.
  private func latin1(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
  }

  /// The base64 characters, as numbers, that follow from these bytes alone when others stand before and behind them.
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

/// What a secret can be written in.
enum Alphabet: Int, CaseIterable {
  /// Bytes: raw, as characters, as decimal numbers.
  case bytes
  case hexadecimal
  case base64

  /// The bits of one symbol.
  var bits: Int {
    switch self {
    case .bytes: 8
    case .hexadecimal: 4
    case .base64: 6
    }
  }

  /// The symbols of a window; the base64 of eight bytes has at least so many of its own.
  var length: Int {
    switch self {
    case .bytes: 8
    case .hexadecimal: 16
    case .base64: 10
    }
  }

  func push(_ symbol: UInt8, onto window: UInt64) -> UInt64 {
    let mask = UInt64.max >> (64 - bits * length)
    return (window << bits | UInt64(symbol)) & mask
  }
}

/// A set of numbers that nearly all others are quickly told from.
private struct WindowSet: Sendable {
  private var filter = [UInt64](repeating: 0, count: 64)
  private var numbers: Set<UInt64> = []

  mutating func insert(_ number: UInt64) {
    let (word, bit) = place(number)
    filter[word] |= 1 << bit
    numbers.insert(number)
  }

  func contains(_ number: UInt64) -> Bool {
    let (word, bit) = place(number)
    return filter[word] >> bit & 1 == 1 && numbers.contains(number)
  }

  private func place(_ number: UInt64) -> (word: Int, bit: UInt64) {
    let hash = (number &* 0x9E37_79B9_7F4A_7C15) >> 52
    return (Int(hash >> 6), hash & 63)
  }
}
