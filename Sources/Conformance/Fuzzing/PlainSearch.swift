public struct Explorer: Sendable {
  public struct Settings: Sendable { public var length = 100; public init() {} }
  let alphabet: Alphabet
  let starts: Int
  let settings: Settings
  var generator: UInt64
  public var test = TestCase(start: 0)
  public init(_ alphabet: Alphabet, starts: Int, settings: Settings = Settings(), seed: UInt64) {
    self.alphabet = alphabet
    self.starts = starts
    self.settings = settings
    generator = seed | 1
  }
  public mutating func begin() -> Int { test = TestCase(start: starts - 1); return starts - 1 }
  public mutating func next(in situation: Situation) -> Choice? {
    if test.choices.count >= settings.length { return nil }
    generator = generator &* 6364136223846793005 &+ 1442695040888963407
    if situation.isAwaiting, generator >> 40 & 7 != 0 {
      let c = Choice(alphabet.settle); test.choices.append(c); return c
    }
    var candidates: [Choice] = []
    for act in 0..<alphabet.eventCount
    where situation.legal >> UInt64(act) & 1 == 1 && !alphabet.acts[act].variants.isEmpty {
      candidates.append(Choice(act))
    }
    if candidates.isEmpty { candidates.append(Choice(alphabet.wait)) }
    let c = candidates[Int(generator >> 33) % candidates.count]
    test.choices.append(c)
    return c
  }
  public mutating func end(in situation: Situation) -> Bool { false }
  public mutating func learn(_ test: TestCase) {}
  public var contextCount: Int { 0 }
  public var corpusCount: Int { 0 }
}
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
