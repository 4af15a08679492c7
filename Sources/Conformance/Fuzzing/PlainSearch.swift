public struct Shrinker: Sendable {
  public var best: TestCase
  var candidate: TestCase?
  var index: Int
  public init(_ failure: Execution, of test: TestCase, specification: Specification, alphabet: Alphabet) {
    best = TestCase(start: test.start, failure.performed); index = best.choices.count
  }
  public mutating func next() -> TestCase? {
    index -= 1; guard index >= 0 else { return nil }; var c = best;
    if index < c.choices.count { c.choices.remove(at: index) }; return c
  }
  public mutating func tell(_ execution: Execution, isSame: Bool) {
    if isSame { best = TestCase(start: best.start, execution.performed) }
  }
  public var isMinimal: Bool { false }
  public var phase: String { "deleting" }
}
