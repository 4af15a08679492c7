import Automata
import Basics
public import Conformance
import Documents
import System

/// Rare tests that are kept from campaign to campaign, one scenario each: in a folder, one a file, or in PostgreSQL, where
/// campaigns of several hosts share them.
///
/// Either way a test is known by what is in it: folders of two runs are merged by copying one into the other, and
/// whichever campaign adds to a database first, what it holds in the end is the same.
///
/// The parts of a job read what was there before it, and not what they find themselves: a part that is killed and started
/// again, or started twice, then draws the same tests.
public struct Corpus {
  /// The maximum of tests that are read: more would only dilute what is rare.
  private static let maximum = 2000

  /// Where tests are kept.
  public enum Place {
    /// In a folder, below the machine's name.
    case folder(String)
    /// Where campaigns of several hosts share them.
    case shared(any SharedCorpus)
  }

  /// Where tests of this machine stand, for people.
  public let place: String
  private let storage: Place
  /// The job of which this is a part, if it is one.
  private let job: String?
  private let target: FuzzTarget
  private let alphabet: Alphabet
  /// Why nothing more is kept, if it is not.
  public private(set) var fault: String?
  private var known: Set<String> = []
  /// What of the place cannot be used, and why: the first of it, and how much there is.
  public private(set) var unusable: (first: String, count: Int)?

  /// Opens a place.
  ///
  /// - Parameter job: the job of which this is a part.
  public init(_ place: Place, _ target: FuzzTarget, _ alphabet: Alphabet, job: String?) {
    self.job = job
    let machine = target.machine.machine.name
    switch place {
    case .shared(let store): (storage, self.place) = (place, "\(store.place), \(machine)")
    case .folder(let path):
      let own = "\(path)/\(machine)"
      (storage, self.place) = (.folder(own), own)
    }
    self.target = target
    self.alphabet = alphabet
  }

  /// The tests that this machine and this device can do, but for those that were read before.
  public mutating func read(_ reader: ScenarioReader) -> [TestCase] {
    switch storage {
    case .folder(let path):
      let own = job.map { jobFolder($0, in: path) + "/" }
      let files = ScenarioFiles.find([path]).files.filter { file in !(own.map(file.hasPrefix) ?? false) }
      let new = files.filter { known.insert(fileName($0)).inserted }
      var tests: [TestCase] = []
      for file in new.suffix(Self.maximum) {
        do throws(DocumentError) {
          let bytes = try ScenarioFiles.read(file)
          if let test = test(bytes, file, reader) { tests.append(test) }
        } catch {
          note(error, file)
        }
      }
      return tests
    case .shared(let store):
      do {
        let tests = try store.tests(
          of: target.machine.machine.name, maximum: Self.maximum, without: job)
        var usable: [TestCase] = []
        for item in tests where known.insert(item.name).inserted {
          if let test = test(Array(item.text.utf8), "\(item.name).yaml", reader) { usable.append(test) }
        }
        return usable
      } catch {
        fault = "\(error)"
        return []
      }
    }
  }

  /// Where a job keeps what it finds.
  private func jobFolder(_ job: String, in path: String) -> String {
    let plain = job.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) ? $0 : "-" }
    return path + "/job-" + String(plain)
  }

  /// What a file is known by, whichever folder it is in.
  private func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private mutating func test(_ bytes: [UInt8], _ path: String, _ reader: ScenarioReader) -> TestCase? {
    do throws(DocumentError) {
      let test = TestCase(
        // Where it was written the machine and the program had other paths.
        try reader.read(bytes, path: path, of: target.machine, on: target.device), target, alphabet)
      if test == nil { note("\(path) asks for what \(target.device) does not offer") }
      return test
    } catch {
      note(error, path)
      return nil
    }
  }

  private mutating func note(_ error: DocumentError, _ path: String) {
    note("\(path): \(error.problems.first?.message ?? "it cannot be read")")
  }

  /// Notes that something of the place cannot be used.
  private mutating func note(_ words: String) {
    unusable = (unusable?.first ?? words, (unusable?.count ?? 0) + 1)
  }

  /// A sentence on what was read: the number of tests, and what cannot be used.
  public func words(_ count: Int) -> String {
    let tests = "\(place): \(count == 1 ? "1 test" : "\(count) tests")"
    guard let unusable else { return tests }
    return tests + ", \(unusable.count) cannot be used: \(unusable.first)"
  }

  /// Keeps a test.
  public mutating func keep(_ test: TestCase, _ actions: [(action: TestAction, isForbidden: Bool)]) {
    guard fault == nil else { return }
    let name = target.machine.machine.name
    var scenario = Scenario(
      title: "A rare test of \(name)", machine: name, device: target.device,
      start: target.starts[test.start], seed: target.seed, tags: ["corpus"], actions: actions,
      vocabulary: target.vocabulary)
    let text = scenario.yaml()
    switch storage {
    case .folder(let path):
      let folder = job.map { jobFolder($0, in: path) } ?? path
      let file = "\(fingerprint(text)).yaml"
      guard known.insert(file).inserted else { return }
      // It is known by what it does, wherever it stands.
      scenario.machine = target.machine.reference(from: folder)
      do {
        try makeFolder(folder)
        let schema = (job == nil ? "" : "../") + SchemaFile.above
        try WholeFile.replace(folder + "/" + file, with: scenario.yaml(schema: schema))
        SchemaFile.layOut(schema, from: folder)
      } catch {
        fault = error.description
      }
    case .shared(let store):
      let name = Fingerprint(text).description
      guard known.insert(name).inserted else { return }
      do {
        try store.keep(
          (name: name, text: text), of: target.machine.machine.name, job: job)
      } catch {
        fault = "\(error)"
      }
    }
  }
}

extension TestCase {
  /// The test that a scenario stands for; `nil` when it does what tests of this device do not.
  public init?(_ scenario: Scenario, _ target: FuzzTarget, _ alphabet: Alphabet) {
    guard let start = target.starts.lastIndex(where: { $0.agrees(with: scenario.start) }) else { return nil }
    self.init(start: start)
    for (_, step) in scenario.steps.unfolded() {
      guard let (action, isForbidden) = step.testAction(target.vocabulary),
        let choice = alphabet.choice(of: action, isForbidden: isForbidden) ?? alphabet.nearest(to: action)
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

/// A place where campaigns of several hosts share their rare tests.
public protocol SharedCorpus {
  /// Where it is, for people.
  var place: String { get }
  /// Keeps a test of a machine under its name; one that is there already stays.
  func keep(_ test: (name: String, text: String), of machine: String, job: String?) throws
  /// The latest tests of a machine, but for those of a job.
  func tests(of machine: String, maximum: Int, without job: String?) throws -> [(name: String, text: String)]
}
