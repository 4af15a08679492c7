import Basics
import Conformance

/// The last tests of a device that lives on from one to the next: what one shows may be the outcome of those before.
struct DeviceHistory {
  /// How many tests are kept.
  private static let capacity = 250
  /// How many of them the device is made to do again before a test.
  private static let counts = [1, 3]
  /// What ends a test's link before another test is joined to it.
  private static let partings = ["disconnect"]

  private let alphabet: Alphabet
  /// How the device was made ready for each test, and what was done then; the last one last.
  private var done = FIFO<(ready: [Choice], test: TestCase)>()

  init(_ alphabet: Alphabet) { self.alphabet = alphabet }

  /// Adds a test that was run.
  mutating func add(_ test: TestCase, madeReadyBy sessions: [Preparation]) {
    if done.count == Self.capacity { done.removeFirst() }
    done.append((choices(of: sessions), test))
  }

  /// The tests that are kept, the last one last.
  var tests: [TestCase] { done.map(\.test) }

  /// One test that does all of what is kept.
  var whole: TestCase { joined(Array(done)) }

  /// Tests that end as a test did which follows those here, and bring about by themselves what these had left: those that
  /// need least of what was before first.
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

  /// The tests after each other in one: the start is that of the first.
  private func joined(_ tests: [(ready: [Choice], test: TestCase)]) -> TestCase {
    let partings = Self.partings.compactMap(choice)
    var all = TestCase(start: tests[0].test.start)
    for (number, (ready, test)) in tests.enumerated() {
      // The first is made ready as any test is, unless there is nothing else.
      if number > 0 || tests.count == 1 { all.choices += ready }
      all.choices += test.choices
      guard number < tests.count - 1 else { break }
      all.choices += ends(of: test)
      for choice in partings { all.choices += [choice, Choice(alphabet.settle)] }
    }
    return all
  }

  /// What takes back the disturbances of a test that last, as the end of a test does.
  private func ends(of test: TestCase) -> [Choice] {
    let acts = Set(test.choices.map { Int($0.act) }).sorted()
    return acts.filter(alphabet.disturbances.contains).compactMap { act in
      alphabet.acts[act].variants.firstIndex {
        if case .fault(let fault) = $0 { fault.value.isNothing } else { false }
      }.map { Choice(act, variant: $0) }
    }
  }

  /// What was asked for in sessions before a test, each time until the device has nothing to do.
  private func choices(of sessions: [Preparation]) -> [Choice] {
    let parting = Self.partings.compactMap(choice)
    return sessions.flatMap { session in
      session.stimuli.flatMap { stimulus -> [Choice] in
        let exact = alphabet.choice(of: .stimulus(stimulus))
        guard let choice = exact ?? choice(alphabet.acts[stimulus.number].name) else { return [] }
        return [choice, Choice(alphabet.settle)]
      } + parting.flatMap { [$0, Choice(alphabet.settle)] }
    }
  }

  /// The simplest choice of an act, by name.
  private func choice(_ name: String) -> Choice? {
    alphabet.acts.firstIndex { $0.name == name && !$0.variants.isEmpty }.map { Choice($0) }
  }
}
