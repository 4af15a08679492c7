import Automata
import Basics
import Conformance
import Emulator
import TestSupport
import Testing

@testable import Harness

@Suite("The history of a device")
struct DeviceHistoryTests {
  private let alphabet: Alphabet

  init() throws {
    let lock = RiggedLock(.deafUnlock)
    alphabet = TestEngine(try lock.target(), lock, FuzzSettings(), recorder: NoRecorder()).alphabet
  }

  /// A test of some acts, each in its simplest form.
  private func test(_ names: String...) -> TestCase {
    TestCase(start: 1, names.map { name in Choice(alphabet.acts.firstIndex { $0.name == name } ?? 999) })
  }

  private func words(_ test: TestCase) -> String {
    test.choices.map { alphabet.acts[Int($0.act)].name }.joined(separator: " ")
  }

  private static let between = " disconnect settle "

  @Test("a test is repeated behind the fewest earlier tests first, each with its link ended")
  func leading() {
    var history = DeviceHistory(alphabet)
    func leading(_ test: TestCase) -> [String] { history.leading(to: test, madeReadyBy: []).map(words) }
    let last = test("lock")
    expect(leading(last), ["lock", "lock\(Self.between)lock"])
    for name in ["connect", "unlock", "toggle"] { history.add(test(name), madeReadyBy: []) }
    let all = "connect\(Self.between)unlock\(Self.between)toggle"
    expect(
      leading(last),
      [
        "lock", "lock\(Self.between)lock", "toggle\(Self.between)lock", "\(all)\(Self.between)lock",
      ])
    // A test that failed while the device was made ready has no choice of its own.
    expect(leading(TestCase(start: 1)), ["toggle disconnect settle", "\(all) disconnect settle"])
    expect(words(history.whole), all)
    expect(history.whole.start, 1)
  }

  @Test("what made the device ready for a test is part of it, unless the test is the first of several")
  func ready() {
    var history = DeviceHistory(alphabet)
    let lock = alphabet.acts.firstIndex { $0.name == "lock" } ?? 999
    var session = Preparation(from: nil)
    session.take(.stimulus(Stimulus(lock)), at: .zero)
    session.take(.observation(.status(0)), at: .zero)
    let ready = "lock settle disconnect settle "
    expect(
      history.leading(to: test("toggle"), madeReadyBy: [session]).map(words),
      ["toggle", "toggle\(Self.between)toggle", ready + "toggle"])
    history.add(test("connect"), madeReadyBy: [session])
    expect(
      history.leading(to: test("toggle"), madeReadyBy: [session, session]).last.map(words),
      "connect\(Self.between)\(ready)\(ready)toggle")
  }

  @Test("a disturbance that lasts is ended before the next test, as at the end of its own")
  func disturbances() throws {
    let abilities = Abilities(
      stimuli: ["open", "close"],
      disturbances: [
        Disturbance(.link, "jam", [.flag(true), .flag(false)]), Disturbance(.link, "drop"),
      ])
    let alphabet = Alphabet(try toyMachines().machine("door").specification(abilities), abilities)
    let (jam, drop) = (alphabet.disturbances.lowerBound, alphabet.disturbances.lowerBound + 1)
    var history = DeviceHistory(alphabet)
    history.add(TestCase(start: 0, [Choice(jam), Choice(drop), Choice(0)]), madeReadyBy: [])
    expect(
      history.leading(to: TestCase(start: 0, [Choice(1)]), madeReadyBy: []).last?.choices,
      [Choice(jam), Choice(drop), Choice(0), Choice(jam, variant: 1), Choice(1)])
  }

  @Test("the oldest of too many tests is forgotten")
  func capacity() {
    var history = DeviceHistory(alphabet)
    for number in 0..<260 { history.add(TestCase(start: number), madeReadyBy: []) }
    expect(history.tests.map(\.start), Array(10..<260))
  }
}
