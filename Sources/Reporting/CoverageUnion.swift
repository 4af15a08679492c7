extension Journal.Coverage {
  /// Adds what another run visited of the same machine.
  ///
  /// Where one of the two does not say which cells it visited, no more is certain than the larger number.
  mutating func add(_ other: Journal.Coverage) {
    let sums = zip(visited, other.visited).map(union)
    if visited.count >= 2, visited.count == other.visited.count, legal.last == other.legal.last,
      empty.last == other.empty.last, sums.allSatisfy({ $0 != nil })
    {
      visited = sums.compactMap(\.self)
      (legal[0], empty[0]) = (count(visited[0]), count(visited[1]))
      return
    }
    visited = []
    if let first = legal.first, let more = other.legal.first { legal[0] = max(first, more) }
    if let first = empty.first, let more = other.empty.first { empty[0] = max(first, more) }
  }
}

/// The hexadecimal digits of both numbers' bits; `nil` where they are none, or not as many.
private func union(_ left: String, _ right: String) -> String? {
  guard left.count == right.count else { return nil }
  var digits = ""
  for (left, right) in zip(left, right) {
    guard let left = left.hexDigitValue, let right = right.hexDigitValue else { return nil }
    digits += String(left | right, radix: 16)
  }
  return digits
}

/// How many bits are set.
private func count(_ digits: String) -> Int {
  digits.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
}
