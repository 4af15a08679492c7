import Automata
import Conformance
import Documents
import Harness
import Transports

/// Rare tests on disk, one scenario a file: folders of two runs are merged by copying one into the other.
struct CorpusFolder {
  /// The most tests that are read: more would only dilute what is rare.
  private static let most = 2000

  /// Where tests of this machine stand.
  let path: String
  private let target: FuzzTarget
  private let alphabet: Alphabet
  /// Why nothing more is kept, if it is not.
  private(set) var fault: FileFault?
  private var known: Set<String> = []

  init(_ folder: String, _ target: FuzzTarget, _ alphabet: Alphabet) {
    path = folder + "/" + target.machine.machine.name
    self.target = target
    self.alphabet = alphabet
  }

  /// The tests that this machine and this device can do.
  mutating func read(_ reader: ScenarioReader) -> [TestCase] {
    let found = ScenarioFiles.find([path])
    return found.files.filter { known.insert($0).inserted }.suffix(Self.most).compactMap { file in
      guard let bytes = try? ScenarioFiles.read(file), let scenario = try? reader.read(bytes, path: file)
      else { return nil }
      return TestCase(scenario, target, alphabet)
    }
  }

  /// Keeps a test.
  mutating func keep(_ test: TestCase, _ actions: [(action: TestAction, isForbidden: Bool)]) {
    guard fault == nil else { return }
    let scenario = Scenario(
      title: "A rare test of \(target.machine.label)", machine: target.machine.label, device: target.device,
      start: target.starts[test.start], seed: target.seed, tags: ["corpus"], actions: actions,
      vocabulary: Vocabulary(machine: target.machine.machine))
    let text = scenario.yaml()
    let file = "\(path)/\(fingerprint(text)).yaml"
    guard known.insert(file).inserted else { return }
    do {
      try makeFolder(path)
      try OutputFile.replace(file, with: text)
    } catch {
      fault = error
    }
  }
}

extension TestCase {
  /// The test that a scenario stands for; `nil` when it does what tests of this device do not.
  init?(_ scenario: Scenario, _ target: FuzzTarget, _ alphabet: Alphabet) {
    let vocabulary = Vocabulary(machine: target.machine.machine)
    guard let start = target.starts.lastIndex(where: { $0.agrees(with: scenario.start) }) else { return nil }
    self.init(start: start)
    for step in scenario.steps {
      guard let (action, isForbidden) = step.testAction(vocabulary),
        let choice = alphabet.choice(of: action, isForbidden: isForbidden)
      else { return nil }
      choices.append(choice)
    }
  }
}

extension StartCondition {
  /// Whether no setting of another condition contradicts it.
  fileprivate func agrees(with other: StartCondition) -> Bool {
    settings.allSatisfy { item in other.flag(item.name).map { $0 == !item.value.isNothing } ?? true }
  }
}

extension Step {
  /// What a test does in place of the step; `nil` when it does no such thing.
  fileprivate func testAction(_ vocabulary: Vocabulary) -> (TestAction, Bool)? {
    func stimulus(_ call: Call) -> TestAction? {
      vocabulary.stimulus(call.name).map { .stimulus(Stimulus($0, call.arguments)) }
    }
    switch action {
    case .performNow(let call): return stimulus(call).map { ($0, false) }
    case .refuse(let call): return stimulus(call).map { ($0, true) }
    case .fault(let fault): return (.fault(fault), false)
    case .wait(let interval): return (.wait(interval), false)
    case .settle: return (.settle, false)
    case .next: return (.next, false)
    case .perform, .expect, .until, .fuzz, .repeated, .note: return nil
    }
  }
}
