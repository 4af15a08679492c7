@testable import Workbench
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

  @Test("keeps them in small labs too, where faults meet, budgets run out and others want the same locks")
  func smallLabs() {
    let lived = LabNights(100, seed: 20_261_124)
    for broken in lived.broken {
      let small = broken.lab.shrunk()
      let faults = small?.faults.map { "\n  \($0)" }.joined() ?? ""
      Issue.record("seed \(broken.lab.seed): \(broken.violation)\(faults)")
    }
    expect([lived.labs, lived.nights], [10, 100])
    for kind in [.rival, .childKill, .plannerKill, .reboot, .clockJump, .fullDisk, .dongleGone]
      as [LabSimulation.Fault.Kind]
    {
      #expect(lived.count(of: kind) > 0, "\(kind) never struck")
    }
  }

  @Test("a lock that is to be parked is parked first by its next user", arguments: [0, 1])
  func owedRest(_ rival: Int) {
    // The machine starts anew in the middle of a night, and nobody but a rival comes.
    var settings = LabSimulation.Settings()
    (settings.nights, settings.locks, settings.cases) = (1, [1], 20)
    settings.duration = .seconds(600)
    var killed = 0
    for second in 20..<60 as Range<Int64> {
      let faults = [
        LabSimulation.Fault(.reboot, night: 0, time: .seconds(second), target: 0, length: .seconds(300)),
        LabSimulation.Fault(
          .rival, night: 0, time: .seconds(second + 5), target: 0, length: .seconds(60), detail: rival),
      ]
      let outcome = LabSimulation(seed: 5, settings, faults: faults).run()
      #expect(outcome.violation == nil, "\(second): \(outcome.violation.map { "\($0)" } ?? "")")
      let careless = LabSimulation(seed: 5, settings, faults: faults, defect: .forgottenParking)
      if careless.run().violation?.rule == .parkedOrSaid { killed += 1 }
    }
    #expect(killed > 10, "\(killed)")
  }

  /// One bench for twenty minutes, in which the same thing goes wrong again and again.
  private static func bench(
    _ kind: LabSimulation.Fault.Kind, every seconds: Int64, _ defect: LabSimulation.Defect?, seed: UInt64,
    actuations: Int = 3500, length: Interval = .zero, perHour: Int = 500
  ) -> LabSimulation {
    var settings = LabSimulation.Settings()
    settings.actuations = actuations
    settings.nights = 1
    settings.locks = [2]
    settings.cases = 20
    settings.duration = .seconds(1200)
    settings.perShift = 100
    settings.perHour = perHour
    let faults = (1..<(1200 / seconds)).map { number in
      LabSimulation.Fault(
        kind, night: 0, time: .seconds(number * seconds) + .milliseconds(137), target: 0,
        length: length, detail: Int(number % 8))
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
    // Of each lock four are kept back to park it.
    #expect(outcome.movements > 80, "seed \(seed): \(outcome.movements) movements")
  }

  @Test(
    "notices each promise that is broken, and shows it with the fewest faults",
    arguments: [
      (.forgottenChildren, .plannerKill, 40, .oneHolder),
      (.forgottenJournals, .plannerKill, 60, .nothingTwice),
      (.forgottenCase, .plannerKill, 40, .nothingLost), (.lateCycleCounter, .childKill, 60, .budgets),
      (.rosyLeave, .childKill, 7, .parkedOrSaid), (.separateState, .rival, 200, .oneHolder),
      (.forgottenParking, .childKill, 60, .parkedOrSaid), (.trustedCalendar, .clockJump, 60, .budgets),
    ] as [(LabSimulation.Defect, LabSimulation.Fault.Kind, Int64, LabSimulation.Rule)])
  func canary(
    _ defect: LabSimulation.Defect, _ kind: LabSimulation.Fault.Kind, _ seconds: Int64,
    _ rule: LabSimulation.Rule
  ) throws {
    // Only a calendar is moved by what a fault here has for a length, and an hour's budget is what it could give back.
    let (length, perHour) = kind == .clockJump ? (Interval.zero - .seconds(3600), 40) : (.zero, 500)
    func bench(_ defect: LabSimulation.Defect?, _ seed: UInt64) -> LabSimulation {
      Self.bench(kind, every: seconds, defect, seed: seed, length: length, perHour: perHour)
    }
    var broken: LabSimulation?
    for seed in 0..<40 as Range<UInt64> where broken == nil {
      let sound = bench(nil, seed).run()
      #expect(sound.violation == nil, "\(sound.violation.map { "\($0)" } ?? "")")
      let lab = bench(defect, seed)
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
