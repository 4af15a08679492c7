import Automata
import Basics
import Conformance
import TestSupport
import Testing

@testable import Harness

@Suite("A device and its reference device in one test")
struct TwinCheckTests {
  private typealias Script = [String: [[(Interval, Show)]]]

  private static let opens: [(Interval, Show)] = [(.zero, .status("opened")), (.zero, .effect("ring"))]
  private static let tires: [(Interval, Show)] = [(.zero, .status("tired"))]
  private static let gone: [(Interval, Show)] = [(.zero, .trouble(LabFault(.noDevice, "unplugged")))]

  private static func script(_ openings: [(Interval, Show)]...) -> Script {
    ToyDoor.healthy.merging(["open": openings]) { $1 }
  }

  /// What the reference device and the device do when they are opened, and what comes of it.
  private static func check(
    _ twin: Script, _ device: Script, isContradiction: Bool = false,
    stimuli: [String] = ["open", "close", "tire"]
  ) throws -> TwinVerdict {
    let target = try FuzzTarget(
      toyMachines().machine("door"), DeviceSpec(.emulator, "oak"), seed: 1, provider: ToyProvider())
    var (first, second) = (ToyDoor(twin), ToyDoor(device))
    if isContradiction { first.abilities.stimuli = stimuli } else { second.abilities.stimuli = stimuli }
    var check = TwinCheck(target, first, target, second, FuzzSettings())
    // The door starts closed; a wait, and it is opened.
    let start = target.starts.count - 1
    let settle = target.machine.machine.eventCount
    var finding = Finding(
      number: 1, signature: "", divergence: Divergence(.unexpected("tired"), at: .zero), foundAt: 1,
      foundLength: 1,
      test: TestCase(start: start, [Choice(settle), Choice(0)]),
      actions: [(.settle, false), (.stimulus(Stimulus(0)), false)])
    finding.isOnTwin = !isContradiction
    return isContradiction ? check.contradict(finding) : check.confirm(finding)
  }

  private static let sure: Conformance.Confirmation = {
    var confirmation = Conformance.Confirmation()
    for _ in 0..<3 { confirmation.count(isShown: true) }
    return confirmation
  }()

  private static let unplugged = TwinVerdict.notAsked("no device: unplugged")

  // swift-format-ignore
  static let findings: [(verdict: @Sendable () throws -> TwinVerdict, expected: TwinVerdict)] = [
    // A finding on the reference device is the device's once it is shown three times.
    ({ try check(script(tires), script(tires)) }, .confirmed(sure)),
    ({ try check(script(tires), script(opens)) }, .differs(step: 2, twin: "tired", device: "opened, ring")),
    ({ try check(script(tires), script([])) }, .differs(step: 2, twin: "tired", device: "nothing")),
    ({ try check(script(tires), script(tires, tires, opens)) }, .differs(step: 2, twin: "tired", device: "opened, ring")),
    // A fault says nothing of the device.
    ({ try check(script(tires), script(gone)) }, unplugged), ({ try check(script(tires), script(tires, gone)) }, unplugged),
    ({ try check(script(gone), script(tires)) }, unplugged),
    ({ try check(script(tires), script(tires), stimuli: ["close"]) }, .notAsked("it cannot be given every event of the test")),
    // A finding on the device, and where its reference device does otherwise.
    ({ try check(script(opens), script(tires), isContradiction: true) }, .differs(step: 2, twin: "opened, ring", device: "tired")),
    ({ try check(script(tires), script(tires), isContradiction: true) }, .differs(step: 3, twin: "no divergence", device: "the same, and too late")),
    ({ try check(script(opens), script(gone), isContradiction: true) }, unplugged),
    ({ try check(script(opens), script(tires), isContradiction: true, stimuli: ["tire"]) }, .notAsked("its twin cannot be given every event of the test")),
  ]

  @Test("a finding on one device is tried on the other", arguments: findings.indices)
  func verdict(index: Int) throws {
    let (verdict, expected) = Self.findings[index]
    expect(try verdict(), expected)
  }

  @Test("a test is another device's if that has the same start and every event; time is the same for both")
  func translation() throws {
    let provider = ToyProvider()
    let machine = try toyMachines().machine("door")
    let own = try FuzzTarget(machine, DeviceSpec(.emulator, "oak"), seed: 1, provider: provider)
    let ajar = try FuzzTarget(machine, DeviceSpec(text: "oak?ajar=true"), seed: 1, provider: provider)
    var alphabet = own.alphabet(
      machine.specification(ToyDoor([:]).abilities), ToyDoor([:]).abilities, FuzzSettings())
    let actions: [(action: TestAction, isForbidden: Bool)] = [
      (.stimulus(Stimulus(0)), false), (.stimulus(Stimulus(1)), true), (.wait(.seconds(1)), false),
    ]
    let test = TestCase(
      start: 0, [Choice(0), Choice(1, isForbidden: true), Choice(alphabet.wait, variant: 4)])
    expect(test.translated(actions, from: own, to: own, alphabet), test)
    // The same start may have another number, or none.
    expect(test.translated(actions, from: own, to: ajar, alphabet)?.start, 0)
    expect(TestCase(start: 1).translated([], from: own, to: ajar, alphabet), nil)
    expect(TestCase(start: 0).translated([], from: ajar, to: own, alphabet)?.start, 0)
    expect(test.wait(in: alphabet), .seconds(1))
    alphabet = Alphabet(
      machine.specification(ToyDoor([:]).abilities), ToyDoor([:]).abilities, weights: [("close", 0)])
    expect(test.translated(actions, from: own, to: own, alphabet), nil)
    expect(
      TestCase(start: 0, [Choice(0)]).translated([actions[0]], from: own, to: own, alphabet)?.choices,
      [Choice(0)])
  }

  @Test(
    "while a device shows nothing others work, but not in its last moment",
    arguments: [(0, 0), (200, 0), (201, 1), (300, 1), (1000, 8), (2500, 19)])
  func company(milliseconds: Int64, work: Int) throws {
    var (door, count) = (ToyDoor(ToyDoor.healthy), 0)
    door.adopt(Vocabulary(machine: try toyMachines().machine("door").machine))
    try door.reset(to: StartCondition())
    let device = AccompaniedDevice(door) { count += 1 }
    try device.bring(about: Fault("wind"))
    let limit = Instant.zero + .milliseconds(milliseconds)
    // The wind shuts the door after two seconds, and that is neither late nor lost.
    let shown = try device.observe(until: limit)
    expect(shown, milliseconds > 2000 ? .status(0) : nil)
    expect(device.now, min(limit, seconds(2)))
    expect(count, work)
  }
}
