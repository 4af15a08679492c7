/// Returns the name that was most likely intended, or `nil` if none is near.
///
/// Case, hyphens, underscores and spaces do not count. A third of the other letters may be wrong, by the distance of
/// Damerau and Levenshtein: insertions, deletions, substitutions and swaps of neighbours. Of two equally near names,
/// the first wins. No name is near a word of more than 64 letters.
public func nearestName(to name: String, in candidates: some Sequence<String>) -> String? {
  let wanted = folded(name)
  guard (1...64).contains(wanted.count) else { return nil }
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let letters = folded(candidate)
    // The shorter of the two limits how many mistakes are plausible, and only a nearer name than the best counts.
    let limit = min(best.map { $0.distance - 1 } ?? .max, min(wanted.count, letters.count) / 3)
    guard limit >= 0, abs(wanted.count - letters.count) <= limit else { continue }
    let distance = editDistance(wanted, letters)
    if distance <= limit { best = (candidate, distance) }
  }
  return best?.name
}

private func folded(_ name: String) -> [Character] {
  name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
}

/// Returns the least number of edits between two words, if no part is edited twice (optimal string alignment).
func editDistance(_ left: [Character], _ right: [Character]) -> Int {
  var beforePrevious = [Int](repeating: 0, count: right.count + 1)
  var previous = Array(0...right.count)
  for i in left.indices {
    var current = [i + 1]
    current.reserveCapacity(right.count + 1)
    for j in right.indices {
      let isSame = left[i] == right[j]
      var cost = min(previous[j + 1] + 1, current[j] + 1, previous[j] + (isSame ? 0 : 1))
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        cost = min(cost, beforePrevious[j - 1] + 1)
      }
      current.append(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.count]
}
