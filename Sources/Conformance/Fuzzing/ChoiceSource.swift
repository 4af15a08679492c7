public import Basics

/// A source of the tester's choices, one at a time: the explorer, a tour, a repeated test.
///
/// The caller requests a start, then choices until `nil`, and reports in between what each choice cost.
public protocol ChoiceSource {
  /// Begins a test and returns the number of its start.
  mutating func begin() -> Int
  /// Returns the next choice, given the current exploration state; `nil` if the test is over.
  mutating func next(in explorationState: ExplorationState) -> Choice?
  /// Receives the device's pace: how long its motor must rest before it may move, and how many movements are left.
  mutating func take(_ pace: DevicePace)
  /// Receives how much of the device's time the last choice took.
  mutating func spend(_ time: Interval)
  /// Ends a test and returns whether it did something that few other tests did.
  mutating func end(in explorationState: ExplorationState) -> Bool
  /// Excludes a start from all further tests and returns whether another start is left.
  mutating func exclude(start: Int) -> Bool
  /// Whether the source has no more tests.
  var isFinished: Bool { get }
}

extension ChoiceSource {
  /// Ignores the pace and the time: most sources count only choices.
  public mutating func take(_ pace: DevicePace) {}
  public mutating func spend(_ time: Interval) {}
  /// Returns `false`: most sources do not compare tests.
  public mutating func end(in explorationState: ExplorationState) -> Bool { false }
  /// Returns `false`: the source needs every start.
  public mutating func exclude(start: Int) -> Bool { false }
  /// Returns `false`: the source never ends by itself.
  public var isFinished: Bool { false }
}

extension Explorer: ChoiceSource {}

extension Tour: ChoiceSource {}

/// The replay of a test. It skips choices that the alphabet of this device does not have.
public struct RepeatedTest: ChoiceSource {
  /// How to treat a choice that no longer fits: a stimulus that some possible state does not allow, or a forbidden
  /// stimulus that some possible state now allows.
  public enum Misfits: Sendable {
    /// Skip it.
    case omitted
    /// Let time pass until the model awaits nothing more; then skip it if it still does not fit.
    case awaited
    /// Let time pass in the same way; then make the choice in any case.
    case made
  }

  private let test: TestCase
  private let alphabet: Alphabet
  private let misfits: Misfits
  private var index = 0
  private var hasWaited = false

  /// Makes the replay of a test.
  public init(_ test: TestCase, _ alphabet: Alphabet, _ misfits: Misfits = .omitted) {
    (self.test, self.alphabet, self.misfits) = (test, alphabet, misfits)
  }

  public var isFinished: Bool { index == test.choices.count }

  public mutating func begin() -> Int { test.start }

  public mutating func next(in explorationState: ExplorationState) -> Choice? {
    while index < test.choices.count {
      let choice = test.choices[index]
      let isPossible = alphabet.action(of: choice) != nil
      let fits = explorationState.admits(choice, alphabet)
      if isPossible, !fits, misfits != .omitted, !hasWaited {
        hasWaited = true
        return Choice(alphabet.settle)
      }
      index += 1
      hasWaited = false
      if isPossible, fits || misfits == .made { return choice }
    }
    return nil
  }

  public mutating func exclude(start: Int) -> Bool { start != test.start }
}
