@testable import Lab
import Basics
import TestSupport
import Testing

@Suite("A lab in virtual time")
struct LabSimulationTests {
  /// A smaller lab, for tests: what is looked at is the same.
  static var small: LabSimulation.Settings {
    var settings = LabSimulation.Settings()
    settings.nights = 3
    settings.cases = 30
    return settings
  }

  @Test(
    "keeps every promise through nights in which everything goes wrong", arguments: 0..<8 as Range<UInt64>)
  func promises(_ seed: UInt64) {
    let outcome = LabSimulation(seed: seed, Self.small).run()
    #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0)" } ?? "")")
    #expect(outcome.share > 0.97, "seed \(seed): \(outcome.judged) of \(outcome.planned)")
    #expect(outcome.planned == 3 * 8 * 30)
  }

  @Test("is the same whenever it is lived through")
  func deterministic() {
    var settings = Self.small
    settings.nights = 1
    let lab = LabSimulation(seed: 7, settings)
    expect(lab.run().trace, lab.run().trace)
    #expect(lab.run().trace != LabSimulation(seed: 8, settings).run().trace)
  }

  /// One bench for twenty minutes, in which the same thing goes wrong again and again.
  private static func bench(
    _ kind: LabSimulation.Fault.Kind, every seconds: Int64, _ defect: LabSimulation.Defect?, seed: UInt64,
    actuations: Int = 3500
  ) -> LabSimulation {
    var settings = LabSimulation.Settings()
    settings.actuations = actuations
    settings.nights = 1
    settings.locks = [2]
    settings.cases = 20
    settings.duration = .seconds(1200)
    settings.perNight = 100
    let faults = (1..<(1200 / seconds)).map { number in
      LabSimulation.Fault(
        kind, night: 0, time: .seconds(number * seconds) + .milliseconds(137), target: 0,
        detail: Int(number % 8))
    }
    return LabSimulation(seed: seed, settings, faults: faults, defect: defect)
  }

  @Test(
    "uses up a night's movements and passes them in none, however often the night is taken up again",
    arguments: 0..<4 as Range<UInt64>)
  func scarce(_ seed: UInt64) {
    let outcome = Self.bench(.plannerKill, every: 40, nil, seed: seed, actuations: 100).run()
    #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0)" } ?? "")")
    #expect(outcome.resumptions > 5)
    // Of each lock four are kept back to bring it to rest.
    #expect(outcome.movements > 80, "seed \(seed): \(outcome.movements) movements")
  }

  @Test(
    "notices each promise that is broken, and shows it with the fewest faults",
    arguments: [
      (.forgottenChildren, .plannerKill, 40, .oneHolder),
      (.forgottenJournals, .plannerKill, 60, .nothingTwice),
      (.forgottenCase, .plannerKill, 40, .nothingLost), (.lateOdometer, .childKill, 60, .budgets),
      (.rosyLeave, .childKill, 7, .restOrSaid),
    ] as [(LabSimulation.Defect, LabSimulation.Fault.Kind, Int64, LabSimulation.Rule)])
  func canary(
    _ defect: LabSimulation.Defect, _ kind: LabSimulation.Fault.Kind, _ seconds: Int64,
    _ rule: LabSimulation.Rule
  ) throws {
    var broken: LabSimulation?
    for seed in 0..<40 as Range<UInt64> where broken == nil {
      let sound = Self.bench(kind, every: seconds, nil, seed: seed).run()
      #expect(sound.violation == nil, "\(sound.violation.map { "\($0)" } ?? "")")
      let lab = Self.bench(kind, every: seconds, defect, seed: seed)
      if lab.run().violation?.rule == rule { broken = lab }
    }
    let small = try #require(broken?.shrunk())
    #expect(small.run().violation?.rule == rule)
    #expect(small.faults.count <= 8, "\(small.faults)")
    // None of them can be left out.
    for index in small.faults.indices {
      var less = small
      less.faults.remove(at: index)
      #expect(less.run().violation?.rule != rule, "\(small.faults[index]) is not needed")
    }
  }
}
