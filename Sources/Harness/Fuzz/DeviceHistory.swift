import Basics
import Conformance

/// The last tests of a device that keeps its state: a test's result may depend on them.
struct DeviceHistory {
  /// The maximum number of tests.
  private static let capacity = 250
  /// The numbers of earlier tests that are repeated before a test.
  private static let counts = [1, 3]
  /// The stimuli that end a test's link before another test is joined to it.
  private static let disconnections = ["disconnect"]

  private let alphabet: Alphabet
  /// The preparation of the device for each test, and the test; the latest last.
  private var done = FIFO<(ready: [Choice], test: TestCase)>()

  init(_ alphabet: Alphabet) { self.alphabet = alphabet }

  /// Adds a test.
  mutating func add(_ test: TestCase, madeReadyBy sessions: [Preparation]) {
    if done.count == Self.capacity { done.removeFirst() }
    done.append((choices(of: sessions), test))
  }

  /// The tests, the latest last.
  var tests: [TestCase] { done.map(\.test) }

  /// All tests joined into one.
  var whole: TestCase { joined(Array(done)) }

  /// Tests that end like a given one and first reproduce what the tests here may have left, those with the
  /// fewest earlier tests first.
  func leading(to test: TestCase, madeReadyBy sessions: [Preparation]) -> [TestCase] {
    let ready = choices(of: sessions)
    var candidates: [TestCase] = []
    if !test.choices.isEmpty { candidates = [test, joined([([], test), ([], test)])] }
    if done.isEmpty, !ready.isEmpty { candidates.append(joined([(ready, test)])) }
    for count in Self.counts where count <= done.count {
      candidates.append(joined(Array(done.suffix(count)) + [(ready, test)]))
    }
    return candidates
  }

  /// The tests joined into one, which starts like the first.
  private func joined(_ tests: [(ready: [Choice], test: TestCase)]) -> TestCase {
    let disconnections = Self.disconnections.compactMap(choice)
    var all = TestCase(start: tests[0].test.start)
    for (number, (ready, test)) in tests.enumerated() {
      // The first test is prepared like any other, unless it is the only content.
      if number > 0 || tests.count == 1 { all.choices += ready }
      all.choices += test.choices
      guard number < tests.count - 1 else { break }
      all.choices += ends(of: test)
      for choice in disconnections { all.choices += [choice, Choice(alphabet.settle)] }
    }
    return all
  }

  /// The choices that end a test's lasting disturbances, as the end of the test does.
  private func ends(of test: TestCase) -> [Choice] {
    let acts = Set(test.choices.map { Int($0.act) }).sorted()
    return acts.filter(alphabet.disturbances.contains).compactMap { act in
      alphabet.acts[act].variants.firstIndex {
        if case .fault(let fault) = $0 { fault.value.isNothing } else { false }
      }.map { Choice(act, variant: $0) }
    }
  }

  /// The requests of preparation sessions, each followed by settling.
  private func choices(of sessions: [Preparation]) -> [Choice] {
    let disconnections = Self.disconnections.compactMap(choice)
    return sessions.flatMap { session in
      session.stimuli.flatMap { stimulus -> [Choice] in
        let exact = alphabet.choice(of: .stimulus(stimulus))
        guard let choice = exact ?? choice(alphabet.acts[stimulus.number].name) else { return [] }
        return [choice, Choice(alphabet.settle)]
      } + disconnections.flatMap { [$0, Choice(alphabet.settle)] }
    }
  }

  /// The simplest choice of an act, by name.
  private func choice(_ name: String) -> Choice? {
    alphabet.acts.firstIndex { $0.name == name && !$0.variants.isEmpty }.map { Choice($0) }
  }
}
