import Basics
import Conformance
import Harness
import Journal
import TestSupport
import Testing

@testable import Devices

/// Receives a journal and keeps nothing.
private final class Unread: JournalListener {
  func take(_ record: Record) {}
}

@Suite("The packets of cases and findings")
struct CaptureWatchTests {
  private let folder = TestFolder()
  private let devices = Devices(lab: LabSettings(of: nil, isNamed: false))

  /// A case of a lock, for the names of its files.
  private func test(attempt: Int = 1) throws -> Case {
    let scenario = Scenario(
      title: "A", machine: "sesame", device: DeviceSpec(.emulator, "sesame5"), start: StartCondition(),
      seed: 1, actions: [], vocabulary: Vocabulary(stimuli: [], statuses: []))
    let item = ScenarioSet.Item(
      path: "Scenarios/door/a.yaml", scenario: scenario, machine: try World().machines.machine("sesame"))
    var test = try Plan(ScenarioSet([item]), Plan.Selection(), provider: devices).cases[0]
    test.attempt = attempt
    return test
  }

  /// A test in which the client connects to the lock.
  private func connect(to device: any DeviceUnderTest) throws {
    func connect(_ device: some DeviceUnderTest) throws {
      var device = device
      let vocabulary = Vocabulary(machine: try World().machines.machine("sesame").machine)
      device.adopt(vocabulary)
      try device.reset(to: StartCondition([Argument("registered", .flag(true))]))
      for name in ["closeTo", "connect"] {
        try device.perform(Stimulus(try #require(vocabulary.stimulus(name))))
        _ = try observed(&device, until: device.now + .seconds(5), vocabulary)
      }
    }
    try connect(device)
  }

  @Test("only the packets of an attempt that is watched are kept")
  func attempts() throws {
    let spec = try DeviceSpec(text: "sesame5?as=real")
    let watch = try #require(devices.watchLink(of: spec, in: folder.path))
    let device = try devices.device(spec, seed: 1)
    try connect(to: device)
    expect(watch.taken == nil, true)
    watch.begin()
    expect(watch.taken == nil, true)
    try connect(to: device)
    let packets = try #require(watch.taken)
    watch.end()
    expect(watch.taken == nil, true)
    try connect(to: device)
    expect(watch.taken == nil, true)
    // What was taken stays as it was, under a name of its own for each attempt.
    let attachments = try packets.save(try test()) + packets.save(try test(attempt: 2))
    expect(attachments.map(\.kind), ["capture", "packets", "capture", "packets"])
    expect(attachments.map { folder.read($0.path).isEmpty }, [false, false, false, false])
    expect(Set(attachments.map(\.path)).count, 4)
    #expect(attachments.allSatisfy { $0.path.hasPrefix("packets/door-a-") }, "\(attachments)")
  }

  /// What is kept of a case that exchanged packets and ended with a verdict, and what is said.
  private func kept(
    _ verdict: Outcome.Verdict, in folder: TestFolder
  ) throws -> (outcome: Outcome, said: [String]) {
    var said: [String] = []
    let test = try test()
    var failure: (any Error)?
    let outcome = devices.recording(
      test, in: folder.path, Unread(),
      {
        do { try connect(to: try devices.device(DeviceSpec(.emulator, "sesame5"), seed: 1)) } catch {
          failure = error
        }
        return Outcome(verdict)
      }, orSay: { said.append($0) })
    if let failure { throw failure }
    return (outcome, said)
  }

  private static let divergence = Outcome.Verdict.divergence(Divergence(.unexpected("tired"), at: .zero))

  @Test("the link of a case is kept if model and device disagree, and only then")
  func cases() throws {
    let unmet = UnmetExpectation([.init("status", expected: "locked", seen: "unlocked")], at: .zero)
    let verdicts: [(verdict: Outcome.Verdict, isKept: Bool)] = [
      (.agree, false), (Self.divergence, true), (.unmet(unmet), true),
      (.labFault(LabFault(.noAnswer, "x")), false), (.skipped("x"), false), (.incomplete("x"), false),
      (.limited("x"), false),
    ]
    for (verdict, isKept) in verdicts {
      let folder = TestFolder()
      let (outcome, said) = try kept(verdict, in: folder)
      expect(outcome.verdict, verdict)
      expect(outcome.attachments.map(\.kind), isKept ? ["capture", "packets"] : [])
      expect(folder.names, isKept ? ["packets"] : [])
      expect(said, [])
    }
  }

  @Test("packets that cannot be written are reported, and change nothing of the case")
  func unwritable() throws {
    folder.write("packets", "a file")
    let (outcome, said) = try kept(Self.divergence, in: folder)
    expect(outcome.verdict, Self.divergence)
    expect(outcome.attachments, [])
    #expect(
      said.count == 1 && said[0].hasPrefix("the packets of Scenarios/door/a are not saved: "), "\(said)")
  }
}
