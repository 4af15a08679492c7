import Conformance
import Emulator
import Sesame
import Simulation
import TestSupport
import Testing

@Suite("What generated tests may do to an emulated lock")
struct DisturbanceTests {
  @Test(
    "a lock that is disturbed in any way at any moment agrees with the model",
    arguments: ["sesame3", "sesame5"])
  func everything(name: String) throws {
    var bench = try SesameBench(name)
    try bench.disturb(DisturbedMoment.allCases)
  }
}

extension SesameBench {
  /// Does all that the device offers at each of some moments.
  mutating func disturb(_ moments: [DisturbedMoment]) throws {
    for disturbance in lockstep.device.abilities.disturbances {
      for value in disturbance.values {
        for moment in moments {
          let verdict = try verdict(of: Fault(disturbance.fault, value), at: moment)
          #expect(verdict == "agrees", "\(disturbance.fault) \(value), \(moment.rawValue)")
        }
      }
    }
  }
}
