import Basics

/// The corpus of rare tests: each was the first to do something, and further tests begin like it.
struct RareTests: Sendable {
  private static let size = 256
  private var tests: [TestCase] = []
  private var uses: [UInt32] = []

  var count: Int { tests.count }

  /// Adds a test. If the corpus is full, it replaces the test that was used most.
  mutating func insert(_ test: TestCase) {
    guard !test.choices.isEmpty else { return }
    guard tests.count == Self.size else {
      tests.append(test)
      return uses.append(0)
    }
    var maximum = 0
    for index in uses.indices where uses[index] > uses[maximum] { maximum = index }
    tests[maximum] = test
    uses[maximum] = 0
  }

  /// Returns the test that was used least so far, any of several, and counts the use.
  mutating func takeLeastUsed(_ generator: inout SeededGenerator) -> TestCase? {
    guard !tests.isEmpty else { return nil }
    let first = generator.below(tests.count)
    var minimum = first
    for step in 1..<max(tests.count, 2) {
      let index = (first + step) % tests.count
      if uses[index] < uses[minimum] { minimum = index }
    }
    uses[minimum] += 1
    return tests[minimum]
  }
}
