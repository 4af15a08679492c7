public import Basics
public import Conformance

/// Draws tests: legal choices, and now and then a wait, a disturbance or what must be refused.
public struct Drawing: ChoiceSource {
  private let alphabet: Alphabet
  private var random: SeededGenerator
  private let starts: Range<Int>
  private let length: Int
  private let others: Int
  private var left = 0

  /// Prepares tests of so many choices.
  ///
  /// - Parameters:
  ///   - starts: the numbers of the starts that are drawn.
  ///   - others: one in so many choices is something else than a stimulus that is allowed; none when 0.
  public init(
    _ alphabet: Alphabet, starts: Range<Int>, _ random: SeededGenerator, length: Int = 50, others: Int = 0
  ) {
    (self.alphabet, self.starts, self.random) = (alphabet, starts, random)
    (self.length, self.others) = (length, others)
  }

  public mutating func begin() -> Int {
    left = length
    return starts.lowerBound + random.below(starts.count)
  }

  public mutating func next(in explorationState: ExplorationState) -> Choice? {
    guard left > 0 else { return nil }
    left -= 1
    if others > 0, random.below(others) == 0 {
      let acts = alphabet.acts.indices.filter { act in
        !alphabet.acts[act].variants.isEmpty
          && (act >= alphabet.eventCount || explorationState.forbidden >> UInt64(act) & 1 == 1)
          && (act != alphabet.edge || explorationState.hasDeadline)
      }
      if !acts.isEmpty {
        let act = acts[random.below(acts.count)]
        return Choice(
          act, variant: random.below(alphabet.acts[act].variants.count),
          isForbidden: act < alphabet.eventCount)
      }
    }
    if explorationState.isAwaiting, random.below(4) > 0 { return Choice(alphabet.settle) }
    let legal = (0..<alphabet.eventCount).filter {
      explorationState.legal >> UInt64($0) & 1 == 1 && !alphabet.acts[$0].variants.isEmpty
    }
    guard !legal.isEmpty else { return explorationState.hasDeadline ? Choice(alphabet.settle) : nil }
    let act = legal[random.below(legal.count)]
    return Choice(act, variant: random.below(alphabet.acts[act].variants.count))
  }
}
