import Conformance
import Basics

/// Nights of many small labs, each with a size, budgets and troubles of its own.
///
/// What a large lab with usual troubles comes to in years is common here: several faults in one night, on the same few
/// things, with budgets that run out. Some kinds of trouble are left out of each lab, so that none hides another.
struct LabNights: Sendable {
  /// A lab in which an invariant did not hold.
  struct Broken: Sendable {
    /// The lab.
    let lab: LabSimulation
    /// What did not hold.
    let violation: LabSimulation.Violation
  }

  /// How many nights each lab has.
  static let nightsOfALab = 10

  /// How many nights were lived through to their end.
  private(set) var nights = 0
  /// How many labs there were.
  private(set) var labs = 0
  /// How many runs there were, how often a night was taken up again, and how many movements the locks made.
  private(set) var runs = 0
  private(set) var resumptions = 0
  private(set) var movements = 0
  /// How many faults struck something, by their kinds.
  private(set) var struck = LabSimulation.Outcome().struck
  /// The labs that broke something.
  private(set) var broken: [Broken] = []

  /// Lives through nights.
  ///
  /// - Parameters:
  ///   - count: how many; as many as labs of ``nightsOfALab`` take.
  ///   - seed: the seed of the first lab; each other has the next.
  ///   - defect: a bug in all of them.
  init(_ count: Int, seed: UInt64, defect: LabSimulation.Defect? = nil) {
    for number in 0..<UInt64((count + Self.nightsOfALab - 1) / Self.nightsOfALab) {
      let lab = Self.lab(seed &+ number, defect: defect)
      let outcome = lab.run()
      labs += 1
      nights += outcome.nights
      runs += outcome.runs
      resumptions += outcome.resumptions
      movements += outcome.movements
      for kind in struck.indices { struck[kind] += outcome.struck[kind] }
      if let violation = outcome.violation { broken.append(Broken(lab: lab, violation: violation)) }
    }
  }

  /// How often a kind of fault struck something.
  func count(of kind: LabSimulation.Fault.Kind) -> Int { struck[kind.rawValue] }

  /// The lab of a seed.
  static func lab(_ seed: UInt64, defect: LabSimulation.Defect? = nil) -> LabSimulation {
    var generator = SeededGenerator(seed: seed, for: "size")
    var settings = LabSimulation.Settings()
    settings.nights = nightsOfALab
    settings.locks = (0..<(1 + generator.below(2))).map { _ in 1 + generator.below(3) }
    settings.dongles = 1 + generator.below(2)
    settings.cases = 4 + generator.below(12)
    settings.duration = .seconds(Int64(1200 + generator.below(2400)))
    settings.actuations = 60 + generator.below(400)
    settings.perShift = 40 + generator.below(200)
    settings.perHour = 20 + generator.below(100)
    settings.severity = 10 + generator.below(60)
    var lab = LabSimulation(seed: seed, settings, defect: defect)
    let leftOut = LabSimulation.Fault.Kind.allCases.filter { _ in generator.below(4) == 0 }
    lab.faults.removeAll { leftOut.contains($0.kind) }
    return lab
  }
}
