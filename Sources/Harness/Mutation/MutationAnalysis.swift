public import Automata
public import Conformance

/// How many wrong machines a suite of tests finds, and what would find the others.
public struct MutationAnalysis {
  /// What became of one wrong machine.
  public enum Fate: Sendable {
    /// A test failed on it.
    case killed(by: String)
    /// No test did, and this would.
    case survived(DistinguishingTest)
    /// No test did, and none can.
    case equivalent(pairs: Int)
    /// No test did, and none that can was found.
    case undecided(pairs: Int)
  }

  /// One wrong machine, and what became of it.
  public struct Result: Sendable {
    /// Its number among all mutants of the machine.
    public var number: Int
    /// What is wrong.
    public var kind: Mutant.Kind
    /// What is wrong, in one line.
    public var summary: String
    /// What became of it.
    public var fate: Fate
  }

  /// How many wrong machines there are in all.
  public let count: Int
  /// How many are tried.
  public var sampleCount: Int { numbers.count }
  /// The names of the tests.
  public var testNames: [String] { tests.map(\.name) }
  /// The tests that the machine itself does not pass, and that say nothing therefore.
  public let leftOut: [String]

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
    (tests, leftOut) = suite.tests(of: specification, seed: seed)
    search = DistinguishingSearch(specification, limit: limit)
  }

  /// Tries every wrong machine of the sample, and gives what became of each as soon as it is known.
  ///
  /// - Parameter take: returns false to end the analysis.
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

/// What became of how many.
public struct MutationScore: Equatable, Sendable {
  /// Those on which a test failed.
  public var killed = 0
  /// Those that are wrong, and no test found it.
  public var survived = 0
  /// Those that cannot be told from the machine.
  public var equivalent = 0
  /// Those of which it is not known.
  public var undecided = 0

  /// Counts nothing.
  public init() {}

  /// All of them.
  public var count: Int { killed + survived + equivalent + undecided }

  /// The share of those that can be found which were, in percent; what is undecided counts as not found.
  public var percent: Double {
    let wrong = count - equivalent
    return wrong == 0 ? 100 : 100 * Double(killed) / Double(wrong)
  }

  /// Counts one.
  public mutating func count(_ fate: MutationAnalysis.Fate) {
    switch fate {
    case .killed: killed += 1
    case .survived: survived += 1
    case .equivalent: equivalent += 1
    case .undecided: undecided += 1
    }
  }

  /// Both together.
  public static func + (left: MutationScore, right: MutationScore) -> MutationScore {
    var sum = left
    sum.killed += right.killed
    sum.survived += right.survived
    sum.equivalent += right.equivalent
    sum.undecided += right.undecided
    return sum
  }
}
