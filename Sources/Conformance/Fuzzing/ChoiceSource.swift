public import Basics

/// A source of the tester's choices, one at a time: the explorer, a tour, a repeated test.
///
/// The caller requests a start, then choices until there is none, and reports in between what each cost.
public protocol ChoiceSource {
  /// Begins a test; gives the number of its start.
  mutating func begin() -> Int
  /// The next choice from where the test stands; `nil` where the test is over.
  mutating func next(in explorationState: ExplorationState) -> Choice?
  /// Receives how long the device's motor must rest, which delays movements, and how many movements are left.
  mutating func take(_ pace: DevicePace)
  /// Receives how much of the device's time the last choice took.
  mutating func spend(_ time: Interval)
  /// Ends a test; says whether it did what few others did.
  mutating func end(in explorationState: ExplorationState) -> Bool
  /// Leaves a start out from now on; says whether another is left.
  mutating func exclude(start: Int) -> Bool
  /// Whether there is nothing more to do.
  var isFinished: Bool { get }
}

extension ChoiceSource {
  /// Counts choices, and no time.
  public mutating func take(_ pace: DevicePace) {}
  public mutating func spend(_ time: Interval) {}
  /// Compares no tests.
  public mutating func end(in explorationState: ExplorationState) -> Bool { false }
  /// Needs every start.
  public mutating func exclude(start: Int) -> Bool { false }
  /// Never ends by itself.
  public var isFinished: Bool { false }
}

extension Explorer: ChoiceSource {}

extension Tour: ChoiceSource {}

/// A test that is done again. What this device does not have is left out.
public struct RepeatedTest: ChoiceSource {
  /// The treatment of a choice that no longer applies: a stimulus that some possible state does not allow, or a
  /// refusal that is no longer one.
  public enum Misfits: Sendable {
    /// It is left out.
    case omitted
    /// Time passes until nothing more is awaited; then it is left out if it still does not fit.
    case awaited
    /// Time passes in the same way; then it is made in any case.
    case made
  }

  private let test: TestCase
  private let alphabet: Alphabet
  private let misfits: Misfits
  private var place = 0
  private var hasWaited = false

  /// Prepares a test to be done again.
  public init(_ test: TestCase, _ alphabet: Alphabet, _ misfits: Misfits = .omitted) {
    (self.test, self.alphabet, self.misfits) = (test, alphabet, misfits)
  }

  public var isFinished: Bool { place == test.choices.count }

  public mutating func begin() -> Int { test.start }

  public mutating func next(in explorationState: ExplorationState) -> Choice? {
    while place < test.choices.count {
      let choice = test.choices[place]
      let isPossible = alphabet.action(of: choice) != nil
      let fits = explorationState.admits(choice, alphabet)
      if isPossible, !fits, misfits != .omitted, !hasWaited {
        hasWaited = true
        return Choice(alphabet.settle)
      }
      place += 1
      hasWaited = false
      if isPossible, fits || misfits == .made { return choice }
    }
    return nil
  }

  public mutating func exclude(start: Int) -> Bool { start != test.start }
}
