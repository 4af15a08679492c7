import SesameDevice
import Conformance
import Basics
import Sesame
import TestSupport
import Testing

@testable import Emulator

@Suite("What generated tests may do to an emulated lock")
struct DisturbanceTests {
  @Test(
    "a lock that is disturbed in any way at any moment agrees with the model",
    arguments: ["sesame3", "sesame5"],
    DisturbedMoment.allCases)
  func everything(name: String, moment: DisturbedMoment) throws {
    var bench = try SesameBench(name)
    // There are no messages without a connection.
    try bench.disturb(at: moment, moment == .heard ? [.events, .link] : TestLevel.allCases)
  }

  /// What is said above the air is the same there; see above.
  @Test(
    "so does a lock on the air, below its messages", arguments: ["sesame3", "sesame5"],
    [DisturbedMoment.heard, .logining, .locked, .moving])
  func everythingOnAir(name: String, moment: DisturbedMoment) throws {
    var bench = try SesameBench(air: name)
    try bench.disturb(at: moment, [.att, .link])
    for value in ["busy", "unlock", "lock", "wrong-key", "replay"] {
      expect(try bench.verdict(of: Fault("third-party", .text(value)), at: moment), "agrees")
    }
  }

  @Test("a third party says again what fits the least MTU")
  func overheard() {
    let frames = [6, 82, 20].map { [UInt8](repeating: 3, count: $0) }
    expect(Intrusion.replay.frames(for: .os3, overheard: frames), [frames[0], frames[2]])
  }

  @Test("what is offered can be brought about, and each value is one that a scenario can write")
  func offered() throws {
    let direct = try SesameBench("sesame5").lockstep.device.abilities
    let air = try SesameBench(air: "sesame5").lockstep.device.abilities
    expect(Set(direct.disturbances.map(\.level)), [.events, .messages, .link])
    expect(Set(air.disturbances.map(\.level)), [.events, .messages, .att, .link])
    for disturbance in air.disturbances {
      #expect(air.faults.contains(disturbance.fault))
      #expect(!disturbance.values.isEmpty)
    }
  }

  @Test(
    "a value that there is not is said to be none, with those that there are",
    arguments: [
      "forge", "replay", "request", "shadow", "mutate", "spoof", "wrong-key", "replay-login", "att",
      "third-party",
      "lose-link",
    ])
  func unknownValue(name: String) throws {
    var bench = try SesameBench(air: "sesame5")
    try bench.reset()
    #expect(throws: LabFault.self) { try bench.lockstep.bring(about: Fault(name, .text("nonsense"))) }
    #expect(try bench.lockstep.bring(about: Fault(name, .flag(false))) == nil)
  }
}

extension DisturbanceTests {
  /// A proof that ends in a zero is whole again when a zero is put behind what is left of it: with seed 8 it does.
  @Test("a false proof stays one, whatever else is done to its message", arguments: ["mutate", "shadow"])
  func falseProofStays(fault: String) throws {
    for seed in 1...16 as ClosedRange<UInt64> {
      var bench = try SesameBench("sesame5", seed: seed)
      try bench.reset()
      expect(try bench.perform("closeTo"), nil)
      expect(try bench.until("receivedBle"), nil)
      expect(try bench.lockstep.bring(about: Fault("wrong-key", .text("cut"))), nil)
      expect(try bench.lockstep.bring(about: Fault(fault, .text("extended"))), nil)
      expect(try bench.perform("connect"), nil)
      expect(try bench.until("noSignal"), nil)
    }
  }
}

extension SesameBench {
  /// Does all that the device offers at some levels at a moment.
  mutating func disturb(at moment: DisturbedMoment, _ levels: [TestLevel]) throws {
    for disturbance in lockstep.device.abilities.disturbances where levels.contains(disturbance.level) {
      for value in disturbance.values {
        let verdict = try verdict(of: Fault(disturbance.fault, value), at: moment)
        #expect(verdict == "agrees", "\(disturbance.fault) \(value), \(moment.rawValue)")
      }
    }
  }
}
