public import Automata
public import Conformance

/// Measures how many mutants of a machine a test suite detects, and finds tests that would detect the others.
public struct MutationAnalysis {
  /// The result for one mutant.
  public enum Fate: Sendable {
    /// A test failed on it.
    case killed(by: String)
    /// No test failed on it, but this one would.
    case survived(DistinguishingTest)
    /// No test can detect it.
    case equivalent(pairs: Int)
    /// No test failed on it, and none was found that would.
    case undecided(pairs: Int)
  }

  /// One mutant with its result.
  public struct Result: Sendable {
    /// Its number among all mutants of the machine.
    public var number: Int
    /// The kind of mutation.
    public var kind: Mutant.Kind
    /// The mutation in one line.
    public var summary: String
    /// The result.
    public var fate: Fate
  }

  /// The number of all mutants.
  public let count: Int
  /// The number of mutants in the sample.
  public var sampleCount: Int { numbers.count }
  /// The names of the tests.
  public var testNames: [String] { tests.map(\.name) }
  /// The tests that the machine itself fails, and that are therefore not used.
  public let omittedTests: [String]

  private let mutants: Mutants
  private let numbers: [Int]
  private let tests: [MutationTest]
  private let search: DistinguishingSearch

  /// Prepares an analysis.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - suite: the tests.
  ///   - showsEffects: whether the mutants show effects in addition to statuses.
  ///   - sample: the number of mutants to try, the same number of each kind; all by default.
  ///   - seed: the seed of the sample and of the mutants' choices.
  ///   - limit: how far to search for a test that kills a survivor, in pairs of model and device.
  public init(
    _ machine: MachineLibrary.Entry, _ suite: MutationSuite, showsEffects: Bool = true, sample: Int? = nil,
    seed: UInt64 = 0, limit: Int = 20_000
  ) {
    let specification = Specification(machine.machine, showsEffects: showsEffects)
    mutants = Mutants(of: machine.machine)
    count = mutants.count
    numbers = sample.map { [mutants] in mutants.sample($0, seed: seed) } ?? Array(mutants.indices)
    (tests, omittedTests) = suite.tests(of: specification, seed: seed)
    search = DistinguishingSearch(specification, limit: limit)
  }

  /// Tests every mutant of the sample.
  ///
  /// - Parameter take: receives each result at once; returns false to end the analysis.
  public func perform(_ take: (Result) -> Bool) {
    for number in numbers {
      let result = Result(
        number: number, kind: mutants.kind(of: number), summary: mutants.summary(of: number),
        fate: fate(of: number))
      guard take(result) else { return }
    }
  }

  private func fate(of number: Int) -> Fate {
    let (state, stimulus) = mutants.place(of: number)
    let mutant = mutants[number]
    let device = MachineDevice(search.specification, mutant.machine)
    for test in tests where test.reaches(state, stimulus) && test.fails(on: device) {
      return .killed(by: test.name)
    }
    switch search.distinguish(mutant) {
    case .test(let test): return .survived(test)
    case .equivalent(let pairs): return .equivalent(pairs: pairs)
    case .undecided(let pairs): return .undecided(pairs: pairs)
    }
  }
}

/// The number of mutants by result.
public struct MutationScore: Equatable, Sendable {
  /// The mutants on which a test failed.
  public var killed = 0
  /// The mutants that are detectable and were not detected.
  public var survived = 0
  /// The mutants that behave like the machine.
  public var equivalent = 0
  /// The mutants without a result.
  public var undecided = 0

  /// Makes a score of zero mutants.
  public init() {}

  /// The number of all mutants.
  public var count: Int { killed + survived + equivalent + undecided }

  /// The percentage of detectable mutants that were detected; undecided ones count as not detected.
  public var percent: Double {
    let wrong = count - equivalent
    return wrong == 0 ? 100 : 100 * Double(killed) / Double(wrong)
  }

  /// Counts a mutant.
  public mutating func count(_ fate: MutationAnalysis.Fate) {
    switch fate {
    case .killed: killed += 1
    case .survived: survived += 1
    case .equivalent: equivalent += 1
    case .undecided: undecided += 1
    }
  }

  /// The sum of two scores.
  public static func + (left: MutationScore, right: MutationScore) -> MutationScore {
    var sum = left
    sum.killed += right.killed
    sum.survived += right.survived
    sum.equivalent += right.equivalent
    sum.undecided += right.undecided
    return sum
  }
}
