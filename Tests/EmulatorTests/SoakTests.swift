import SesameDevice
import Automata
import Conformance
import Emulator
import Harness
import Foundation
import Models
import Basics
import Testing

/// How many choices each soak makes: few here, millions with `SOAK_EVENTS` in the environment.
private let events = ProcessInfo.processInfo.environment["SOAK_EVENTS"].flatMap(Int.init) ?? 2500

@Suite("Healthy devices in random tests without end")
struct SoakTests {
  static let locks = [
    "sesame3", "sesame4", "sesame5", "sesame5pro", "sesame3?loss=0.01", "sesame5?loss=0.05",
    "sesame5?loss=0.05&link-loss=0.01", "sesame3?link-loss=0.01",
  ]

  @Test("a lock never parts from its model, whatever is done and whatever goes wrong", arguments: locks)
  func lock(text: String) throws {
    let lock = try EmulatedLockSpecification(text: text)
    try soak(.sesame, starts: Self.lockStarts) {
      let link = DirectLink(lock, seed: 1)
      return ClientDevice(link, conditions: link.conditions) { SeededGenerator(seed: 1, for: "client") }
    }
  }

  @Test("nor does it over the air", arguments: ["sesame3", "sesame5?loss=0.05"])
  func lockOverAir(text: String) throws {
    let lock = try EmulatedLockSpecification(text: text)
    try soak(.sesame, starts: Self.lockStarts, share: 4) {
      let conditions = lock.channel.isFair ? [] : ["loss"]
      return ClientDevice(RadioWorld(lock, seed: 1).link(), conditions: conditions) {
        SeededGenerator(seed: 1, for: "client")
      }
    }
  }

  @Test("a lock with a defect is found out")
  func canary() throws {
    let lock = try EmulatedLockSpecification(text: "sesame5?defect=moved-reported-as-unlocked")
    let found = try finding(.sesame, of: { _ in }, starts: Self.lockStarts) {
      ClientDevice(DirectLink(lock, seed: 1)) { SeededGenerator(seed: 1, for: "client") }
    }
    #expect(found != nil)
  }

  @Test("the applications never part from their models")
  func applications() throws {
    let queue = { @Sendable (abilities: inout Abilities) in
      abilities.disturbances = [Disturbance(.events, "queue-full", [.flag(true), .flag(false)])]
    }
    try soak(.socket, of: queue, starts: starts(of: ["reported", "powered"])) { SocketDevice() }
    try soak(.launcher, starts: starts(of: LauncherApp.settings)) { AppDevice<LauncherApp>() }
    try soak(.flow, starts: starts(of: FlowApp.settings)) { AppDevice<FlowApp>() }
    try soak(.door, starts: starts(of: DoorApp.settings)) { AppDevice<DoorApp>() }
    try soak(.sesameTable, starts: starts(of: ["registered"])) { ReferenceLock() }
  }
}

extension SoakTests {
  private static let lockStarts = [
    StartCondition(),
    StartCondition([Argument("registered", .flag(true)), Argument("configured", .flag(false))]),
    StartCondition([Argument("registered", .flag(false))]),
  ]

  /// The usual start, and one for each combination of settings.
  private func starts(of settings: [String]) -> [StartCondition] {
    [StartCondition()]
      + (0..<1 << settings.count).map { bits in
        StartCondition(settings.enumerated().map { Argument($1, .flag(bits >> $0 & 1 == 1)) })
      }
  }

  private func soak<Device: DeviceUnderTest>(
    _ machine: MachineDefinition, of edit: (inout Abilities) -> Void = { _ in }, starts: [StartCondition],
    share: Int = 1, device make: () -> Device
  ) throws {
    guard let (divergence, trace) = try finding(machine, of: edit, starts: starts, share: share, device: make)
    else {
      return
    }
    Issue.record("\(divergence.summary)\n\(trace.suffix(40).joined(separator: "\n"))")
  }

  /// What random tests of a device find, with its trace.
  private func finding<Device: DeviceUnderTest>(
    _ machine: MachineDefinition, of edit: (inout Abilities) -> Void, starts: [StartCondition],
    share: Int = 1,
    device make: () -> Device
  ) throws -> (divergence: Divergence, trace: [String])? {
    var abilities = make().abilities
    edit(&abilities)
    let specification = Specification(try Machine(machine), showsEffects: abilities.showsEffects)
    let alphabet = Alphabet(specification, abilities)
    let rules = try machine.rules.monitors()
    let invariants: [any Invariant] = rules.isEmpty ? [] : [NoViolation(unless: ["tampering"])] + rules
    var engine = TestEngine(
      specification, alphabet, starts: starts, make(), invariants: invariants, recorder: NoRecorder())
    var soak = Soak(alphabet, starts: starts.count, seed: 1)
    guard let failure = try engine.perform(all: &soak, maximum: events / share),
      let divergence = failure.divergence
    else { return nil }
    let again = TestEngine(
      specification, alphabet, starts: starts, make(), invariants: invariants, recorder: TraceList())
    return (divergence, try TraceList.lines(of: failure.test, on: again))
  }
}
