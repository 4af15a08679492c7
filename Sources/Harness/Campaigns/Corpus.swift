import Automata
import Basics
public import Conformance
import Documents
import System

/// Rare tests that are kept from campaign to campaign, one scenario each: as files in a folder, or in
/// PostgreSQL, where campaigns of several hosts share them.
///
/// A test is identified by its contents: the folders of two runs can be merged by copying one into the other,
/// and a database has the same contents in whatever order campaigns add to it.
///
/// The parts of a job read only the tests from before the job: a part that is killed and restarted, or
/// started twice, then draws the same tests.
public struct Corpus {
  /// The maximum number of tests that are read: more would dilute the rare ones.
  private static let maximum = 2000

  /// Where tests are stored.
  public enum Place {
    /// A folder, with a subfolder for each machine.
    case folder(String)
    /// A database that campaigns of several hosts share.
    case shared(any SharedCorpus)
  }

  /// The place of this machine's tests, as text for messages.
  public let place: String
  private let storage: Place
  /// The job that this campaign is a part of, if any.
  private let job: String?
  private let target: FuzzTarget
  private let alphabet: Alphabet
  /// Why no more tests are stored; `nil` if they are.
  public private(set) var fault: String?
  private var known: Set<String> = []
  /// The first unusable item with the reason, and the number of unusable items.
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

  /// The tests that suit this machine and this device and were not read before.
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

  /// The folder for the tests of a job.
  private func jobFolder(_ job: String, in path: String) -> String {
    let plain = job.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) ? $0 : "-" }
    return path + "/job-" + String(plain)
  }

  /// The name of a file, without its folder.
  private func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private mutating func test(_ bytes: [UInt8], _ path: String, _ reader: ScenarioReader) -> TestCase? {
    do throws(DocumentError) {
      let test = TestCase(
        // The machine and the program may have had other paths where the test was written.
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

  /// Records an unusable item.
  private mutating func note(_ words: String) {
    unusable = (unusable?.first ?? words, (unusable?.count ?? 0) + 1)
  }

  /// A sentence with the number of tests that were read and the unusable items.
  public func words(_ count: Int) -> String {
    let tests = "\(place): \(count == 1 ? "1 test" : "\(count) tests")"
    guard let unusable else { return tests }
    return tests + ", \(unusable.count) cannot be used: \(unusable.first)"
  }

  /// Stores a test.
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
      // A test is identified by its actions, not by its place.
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
  /// The test of a scenario; `nil` if the scenario has steps that no test of this device has.
  public init?(_ scenario: Scenario, _ target: FuzzTarget, _ alphabet: Alphabet) {
    guard let start = target.starts.lastIndex(where: { $0.agrees(with: scenario.start) }) else { return nil }
    self.init(start: start)
    for (_, step) in scenario.steps.unfolded() {
      guard let (action, isForbidden) = step.testAction(target.vocabulary),
        let choice = alphabet.choice(of: action, isForbidden: isForbidden)
          ?? alphabet.nearest(to: action, isForbidden: isForbidden)
      else { return nil }
      choices.append(choice)
    }
  }
}

extension StartCondition {
  /// Whether no setting of another start condition contradicts this one.
  fileprivate func agrees(with other: StartCondition) -> Bool {
    settings.allSatisfy { item in other.flag(item.name).map { $0 == !item.value.isNothing } ?? true }
  }
}

extension Step {
  /// The action of the step in a test; `nil` if it has none.
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
  /// The place, as text for messages.
  var place: String { get }
  /// Stores a test of a machine under its name; an existing one stays.
  func keep(_ test: (name: String, text: String), of machine: String, job: String?) throws
  /// The latest tests of a machine, without those of a job.
  func tests(of machine: String, maximum: Int, without job: String?) throws -> [(name: String, text: String)]
}
