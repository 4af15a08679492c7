/// Elements of a list, and how often they stand there in a row.
public struct Repetition<Element> {
  /// The elements that stand there each time.
  public var elements: ArraySlice<Element>
  /// How often they stand there.
  public var times: Int

  /// How many elements of the list they are.
  public var count: Int { elements.count * times }
}

extension Array where Element: Equatable {
  /// The list as stretches of a few elements that stand there several times in a row; most stand there once.
  ///
  /// - Parameter longest: The most elements of a stretch.
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

  /// How often so many elements stand in a row from an index on.
  private func times(of length: Int, from begin: Int) -> Int {
    var end = begin + length
    while end < count, self[end] == self[end - length] { end += 1 }
    return (end - begin) / length
  }
}
