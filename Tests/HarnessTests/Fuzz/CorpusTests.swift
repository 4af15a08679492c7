import Automata
import Basics
import Conformance
import Models
import TestSupport
import Testing

@testable import Harness

/// Tests that campaigns of several hosts share, in memory.
private final class SharedTests: SharedCorpus {
  let place = "the database"
  var texts: [(name: String, text: String)] = []

  func keep(_ test: (name: String, text: String), of machine: String, job: String?) {
    texts.append(test)
  }

  func tests(of machine: String, maximum: Int, without job: String?) -> [(name: String, text: String)] {
    texts
  }
}

/// A campaign of a host, whose machine file and whose program have a path of their own.
private struct CorpusHost {
  let target: FuzzTarget
  let alphabet: Alphabet
  let reader: ScenarioReader

  init(_ folder: String) throws {
    let path = "\(folder)/own.yaml"
    let machines = MachineLibrary([doorMachine]) { named throws(MachineLibrary.Missing) in
      var machine = doorMachine
      machine.name = "own"
      guard named == path, let file = try? MachineFile(Array(machine.yaml().utf8), name: path) else {
        throw MachineLibrary.Missing("there is no such file")
      }
      return file
    }
    let provider = HostProvider(command: "python3 \(folder)/door.py")
    let device = DeviceSpec(.exec, "python3 \(folder)/door.py")
    let machine = try machines.machine(path)
    target = try FuzzTarget(machine, device, seed: 1, provider: provider)
    let abilities = try provider.describe(device).abilities
    alphabet = target.alphabet(machine.specification(abilities), abilities, FuzzSettings())
    reader = ScenarioReader(machines: machines, provider: provider)
  }

  func corpus(_ store: SharedTests) -> Corpus { Corpus(.shared(store), target, alphabet, job: nil) }
}

/// Knows one program, and no other.
private struct HostProvider: DeviceProvider {
  let command: String
  let emulators: [String] = []

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    guard spec.name == command else { throw DeviceProblem(.name, "there is no such program") }
    return DeviceDescription(
      family: nil, machines: nil,
      abilities: Abilities(stimuli: ["open", "close"], faults: ["wind"], settings: ["ajar"]))
  }

  func usualDevice(of machine: String) -> DeviceSpec? { nil }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    ToyDoor(ToyDoor.healthy)
  }
}

@Suite("A shared corpus")
struct CorpusTests {
  @Test("a test is of the machine and the program at hand, wherever it was written")
  func elsewhere() throws {
    let store = SharedTests()
    let writer = try CorpusHost("/home/a")
    var written = writer.corpus(store)
    let actions: [TestAction] = [.stimulus(Stimulus(0)), .settle, .stimulus(Stimulus(1))]
    written.keep(TestCase(start: 0), actions.map { ($0, false) })
    expect(store.texts.count, 1)
    #expect(store.texts[0].text.contains("machine: own\n"), "\(store.texts)")
    // One that an earlier version kept says where its writer had the machine.
    let old = store.texts[0].text.replacing("machine: own\n", with: "machine: /home/a/own.yaml\n")
    store.texts.append(("old", old))
    let reader = try CorpusHost("/srv/b")
    var read = reader.corpus(store)
    let tests = read.read(reader.reader)
    expect(tests.count, 2)
    expect(tests.first, tests.last)
    expect(tests.first?.choices.count, 3)
    expect(read.words(tests.count), "the database, own: 2 tests")
  }

  @Test("a test with values that depend on the model is read with the values that they most likely were")
  func drawn() throws {
    let machine = try Machine(.keypad)
    let alphabet = Alphabet(Specification(machine), MachineDevice(machine, .seeded(1)).abilities)
    func nearest(_ arguments: [Argument], isForbidden: Bool = false) throws -> Choice {
      let action = TestAction.stimulus(Stimulus(0, arguments))
      expect(alphabet.choice(of: action), nil)
      return try #require(alphabet.nearest(to: action, isForbidden: isForbidden))
    }
    let (anna, bob) = (Argument("user", .text("anna")), Argument("user", .text("bob")))
    let duress = try nearest([bob, Argument("code", .text("9119"))])
    let codes = try [anna, bob].map { try nearest([$0, Argument("code", .text("55555"))]) }
    // The three are choices of their own: of a user, and of the code that the machine names or another one.
    expect(Set(codes + [duress]).count, 3)
    expect((codes + [duress]).map(\.act), [0, 0, 0])
    expect(try nearest([anna, Argument("code", .text("55555"))], isForbidden: true).isForbidden, true)
    expect(alphabet.nearest(to: TestAction.stimulus(Stimulus(1))), nil)
  }

  @Test("what cannot be used is said with the file and the reason, and how much of it there is")
  func unusable() throws {
    let store = SharedTests()
    let host = try CorpusHost("/srv/b")
    func test(_ steps: String) -> String {
      "scenario: A\nmachine: own\ndevice: exec:python3 x.py\nsteps: [\(steps)]\n"
    }
    store.texts = [
      ("a", test("now: slam")), ("b", test("now: open")), ("c", test("now: tire")), ("d", "steps: ["),
    ]
    var corpus = host.corpus(store)
    let tests = corpus.read(host.reader)
    expect(tests.count, 1)
    let words = corpus.words(tests.count)
    #expect(
      words.hasPrefix("the database, own: 1 test, 3 cannot be used: a.yaml: unknown stimulus `slam`"),
      "\(words)")
  }
}
