/// Elements of a list that occur several times in a row.
public struct Repetition<Element> {
  /// The elements of one occurrence.
  public var elements: ArraySlice<Element>
  /// The number of occurrences.
  public var times: Int

  /// The number of elements of the list that it covers.
  public var count: Int { elements.count * times }
}

extension Array where Element: Equatable {
  /// Returns the list as stretches of a few elements, each with the number of its occurrences in a row, which is
  /// mostly one.
  ///
  /// - Parameter longest: The maximum number of elements in a stretch.
  public func repetitions(of longest: Int) -> [Repetition<Element>] {
    var repetitions: [Repetition<Element>] = []
    var begin = 0
    while begin < count {
      var best = Repetition(elements: self[begin...begin], times: 1)
      for length in 1...longest where begin + 2 * length <= count {
        let next = Repetition(elements: self[begin..<begin + length], times: times(of: length, from: begin))
        if next.times > 1, next.count > best.count { best = next }
      }
      begin += best.count
      repetitions.append(best)
    }
    return repetitions
  }

  /// Returns how often in a row the elements from an index on occur.
  private func times(of length: Int, from begin: Int) -> Int {
    var end = begin + length
    while end < count, self[end] == self[end - length] { end += 1 }
    return (end - begin) / length
  }
}
