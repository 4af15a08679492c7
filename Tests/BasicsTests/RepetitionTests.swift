import Basics
import TestSupport
import Testing

@Suite("What repeats in a list")
struct RepetitionTests {
  // swift-format-ignore
  static let lists: [(list: String, stretches: String)] = [
    ("", ""), ("a", "a"), ("aaa", "a*3"), ("abab", "ab*2"), ("ababa", "ab*2 a"), ("aabaabaab", "aab*3"),
    ("aaaab", "a*4 b"), ("abcdabcd", "a b c d a b c d"), ("baaaa", "b a*4"), ("abbabb", "abb*2"),
  ]

  @Test("each stretch stands there once, with how often it stands there in a row", arguments: lists)
  func stretches(_ row: (list: String, stretches: String)) {
    let found = Array(row.list).repetitions(of: 3)
    expect(
      found.map { String($0.elements) + ($0.times > 1 ? "*\($0.times)" : "") }.joined(separator: " "),
      row.stretches)
    expect(found.reduce(0) { $0 + $1.count }, row.list.count)
  }
}
