import Automata
import Basics
import Conformance
import Harness
import Journal
import TestSupport
import Testing

/// A lock that relocks by itself so long after it was unlocked.
private func lock(relockingAfter time: Interval) -> MachineDefinition {
  var machine = MachineDefinition(name: "relocking")
  machine.states = [State("locked"), State("unlocked")]
  machine.transitions = [
    Transition(.event("unlock"), from: .states(["locked"]), to: .states(["unlocked"])),
    Transition(
      .event("relock"), from: .states(["unlocked"]), to: .states(["locked"]),
      window: Window(earliest: time, latest: time)),
    Transition(.event("check"), from: .states(["locked"]), to: .stay),
    Transition(.event("query"), from: .states(["locked", "unlocked"]), to: .stay),
  ]
  machine.events = [Event("unlock"), Event("check"), Event("query"), Event("relock", .spontaneous)]
  machine.starts = [Start("locked")]
  return machine
}

/// A provider of a lock that relocks too early.
private final class EarlyLock: DeviceProvider {
  let device: MachineDevice
  let emulators = ["early"]

  init() throws { device = MachineDevice(try Machine(lock(relockingAfter: .seconds(6))), .first) }

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    DeviceDescription(family: nil, machines: ["relocking"], abilities: device.abilities)
  }

  func usualDevice(of machine: String) -> DeviceSpec? { DeviceSpec(.emulator, "early") }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest { device }
}

@Suite("What was to be refused, in the shortest test of a finding")
struct RefusedStepTests {
  /// The finding that a campaign makes of a test.
  private func finding(
    _ names: String, signature: String, earlier: [(signature: String, count: Int)] = []
  ) throws -> (finding: Finding?, repeats: Int, names: [String]) {
    let provider = try EarlyLock()
    let machines = MachineLibrary([lock(relockingAfter: .seconds(7))]) { _ throws(MachineLibrary.Missing) in
      throw MachineLibrary.Missing("there is no such file")
    }
    let target = try FuzzTarget(
      try machines.machine("relocking"), DeviceSpec(.emulator, "early"), seed: 1, provider: provider)
    var before = Campaign<MachineDevice>.Earlier()
    before.findings = earlier
    var campaign = Campaign(
      target, provider.device, FuzzSettings(), earlier: before, edge: Campaign<MachineDevice>.Edge())
    let alphabet = campaign.runner.alphabet
    let test = TestCase(
      start: 0,
      names.split(separator: " ").map { name in
        let isForbidden = name.hasPrefix("!")
        let event = target.vocabulary.stimulus(String(isForbidden ? name.dropFirst() : name))
        return Choice(event ?? alphabet.settle, isForbidden: isForbidden)
      })
    let shown = try campaign.runner.run(test)
    expect(shown.divergence?.signature, signature)
    _ = campaign.perform([test])
    let finding = campaign.findings.first
    let left = finding?.test.choices.map {
      ($0.isForbidden ? "!" : "") + alphabet.acts[Int($0.act)].name
    }
    return (finding, campaign.status.repeats, left ?? [])
  }

  private static let (early, late) = (
    "the device showed locked, which the model does not allow after unlock",
    "the device showed locked, which the model does not allow after check"
  )

  @Test("it is left out where the model allowed the same without it, and the device showed the same")
  func leftOut() throws {
    let (found, _, names) = try finding("unlock !check settle", signature: Self.late)
    expect(names, ["unlock"])
    expect(found?.signature, Self.early)
    expect(found?.shrinking.end, "minimal for this model")
    // A campaign that comes to it again, with the refusal, has found nothing new.
    expect(found?.isKnown(as: Self.late), true)
  }

  @Test("what is found without it already is counted, and not found again")
  func known() throws {
    let (found, repeats, _) = try finding(
      "unlock !check settle", signature: Self.late, earlier: [(Self.early, 1)])
    #expect(found == nil)
    expect(repeats, 1)
  }

  @Test("what was asked for in vain stays, since it may be what brings the same about")
  func stays() throws {
    let (found, _, names) = try finding(
      "unlock query settle",
      signature: "the device showed locked, which the model does not allow after query")
    expect(names, ["unlock", "query"])
    expect(found?.aliases, [])
  }
}
