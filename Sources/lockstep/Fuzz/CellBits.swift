/// Which cells of a machine's table were visited: a bit each.
struct CellBits: Equatable {
  private(set) var isVisited: [Bool]

  init() { isVisited = [] }

  init(_ visits: some Sequence<UInt64>) { isVisited = visits.map { $0 > 0 } }

  /// Adds what was visited elsewhere.
  mutating func formUnion(_ other: CellBits) {
    if isVisited.count < other.isVisited.count {
      isVisited += [Bool](repeating: false, count: other.isVisited.count - isVisited.count)
    }
    for index in other.isVisited.indices where other.isVisited[index] { isVisited[index] = true }
  }

  /// One visit for each cell that was visited, of so many cells.
  func visits(of count: Int) -> [UInt64] {
    (0..<count).map { $0 < isVisited.count && isVisited[$0] ? 1 : 0 }
  }

  /// Four cells a digit, the first of them in its highest bit.
  var hex: String {
    stride(from: 0, to: isVisited.count, by: 4).map { start in
      let digit = (0..<4).reduce(0) { digit, offset in
        digit << 1 | (start + offset < isVisited.count && isVisited[start + offset] ? 1 : 0)
      }
      return String(digit, radix: 16)
    }.joined()
  }

  /// Reads ``hex``; up to three cells more than there were, which are not visited.
  init?(hex: String) {
    isVisited = []
    for character in hex {
      guard let digit = character.hexDigitValue else { return nil }
      for bit in [8, 4, 2, 1] { isVisited.append(digit & bit != 0) }
    }
  }
}
