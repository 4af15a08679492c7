import Conformance
import Basics

/// A lab in virtual time: benches with dongles and locks, the children that drive them, the machines they run on, and
/// what goes wrong with all of these at three in the morning.
///
/// Everything that decides is the real thing: ``Night`` plans and takes up again, ``ActuationBudget`` says what may move, and
/// ``RecoveryEscalation`` brings dongles back. Only what they decide about is played: locks, radios, processes, disks and clocks.
/// One seed gives one month, on any machine; its faults are a list, so that a month that breaks an invariant can be
/// made shorter fault by fault.
struct LabSimulation: Sendable {
  /// How large the lab is, and how long it is looked at.
  struct Settings: Equatable, Sendable {
    /// How many nights.
    var nights = 30
    /// How many locks each bench has.
    var locks = [3, 3, 2]
    /// How many dongles each bench has.
    var dongles = 2
    /// How many cases are planned for each lock and night.
    var cases = 150
    /// How long a night is.
    var duration = Interval.seconds(6 * 3600)
    /// How many movements a bench may see in a night.
    var actuations = 3500
    /// How many movements a lock may see in a night, and in an hour.
    var perShift = 1300
    var perHour = 500
    /// How many times as many faults there are as usual.
    var severity = 10

    /// The lab of the specification: eight locks on three benches for thirty nights.
    init() {}
  }

  /// What goes wrong.
  struct Fault: Equatable, Sendable {
    /// What.
    enum Kind: Int, CaseIterable, Sendable {
      /// The link to a lock is lost while it is driven.
      case linkLoss
      /// A dongle hangs, until some step of the escalation helps.
      case dongleHang
      /// A dongle hangs and takes along the process that drives it, which is in the kernel and does not come back.
      case processHang
      /// A dongle is dead until the morning.
      case dongleDeath
      /// A dongle is pulled out, and plugged in again after a time.
      case dongleGone
      /// An obstacle stands in the way of a bolt.
      case jam
      /// A battery is empty until the morning.
      case deadBattery
      /// A child is killed.
      case childKill
      /// The process that plans the night is killed, and started again by the service manager.
      case plannerKill
      /// The machine starts anew.
      case reboot
      /// The disk is full.
      case fullDisk
      /// The calendar of a machine is set.
      case clockJump
      /// Another scheduler wants the same locks: a job of a CI system that does a few cases and is not started again when
      /// it is killed, or a second night, which is.
      case rival
    }

    /// What.
    var kind: Kind
    /// In which night, from 0.
    var night: Int
    /// How long after its beginning.
    var time: Interval
    /// Which lock, dongle or bench; taken modulo how many there are.
    var target: Int
    /// How long it lasts, or how far the calendar is set.
    var length: Interval
    /// Which step helps, how much of the last line is torn off, which of several processes it is about, or which rival
    /// comes.
    var detail: Int

    /// Makes a fault.
    init(
      _ kind: Kind, night: Int, time: Interval, target: Int, length: Interval = .zero, detail: Int = 0
    ) {
      self.kind = kind
      self.night = night
      self.time = time
      self.target = target
      self.length = length
      self.detail = detail
    }
  }

  /// A bug that is put into the lab on purpose, so that it is known that an invariant can fail.
  enum Defect: String, CaseIterable, Sendable {
    /// Who takes a night up again takes its children for dead, and nothing is leased.
    case forgottenChildren
    /// Who takes a night up again does not look at what the children left.
    case forgottenJournals
    /// Who takes a night up again forgets a case that was planned.
    case forgottenCase
    /// Movements are counted when a run ends, and not before they begin.
    case lateCycleCounter
    /// A lock whose run was killed is said to be parked.
    case rosyLeave
    /// Each scheduler has leases, cycle counters and marks in a folder of its own.
    case separateState
    /// It is not recorded that a lock is to be parked.
    case forgottenParking
    /// What was moved at a time that is yet to come by the calendar does not count.
    case trustedCalendar
  }

  /// An invariant.
  enum Rule: String, CaseIterable, Sendable {
    /// A lock or a dongle is driven by one process at a time.
    case oneHolder
    /// No budget of a lock, and none of a night, is passed.
    case budgets
    /// Each case that was planned has a result in the morning.
    case nothingLost
    /// What came to a verdict is not driven again.
    case nothingTwice
    /// A lock that nobody drives and that is not parked is said not to be: at once by the mark on the disk that it is
    /// owed its parking, and at its end by the scheduler whose run moved it last.
    case parkedOrSaid
  }

  /// An invariant that did not hold.
  struct Violation: Equatable, Sendable {
    /// Which.
    var rule: Rule
    /// In which night, from 0.
    var night: Int
    /// How long after its beginning.
    var time: Interval
    /// What happened.
    var text: String
  }

  /// What came of it.
  struct Outcome: Sendable {
    /// How many cases were planned, and how many came to a verdict.
    var planned = 0
    var judged = 0
    /// How many runs there were.
    var runs = 0
    /// How many movements the locks made.
    var movements = 0
    /// How often a night was taken up again.
    var resumptions = 0
    /// How many nights were lived through to their end.
    var nights = 0
    /// How many faults struck something, by their kinds.
    var struck = [Int](repeating: 0, count: Fault.Kind.allCases.count)
    /// How long dongles that hung were out of work, from when somebody wanted them.
    var hangs: [Interval] = []
    /// The first invariant that did not hold; nothing was looked at after it.
    var violation: Violation?
    /// A hash of everything that happened.
    var trace = Fingerprint()

    /// The share of planned cases that came to a verdict.
    var share: Double { planned == 0 ? 1 : Double(judged) / Double(planned) }
  }

  /// How large it is.
  var settings: Settings
  /// The seed of what is not a fault.
  let seed: UInt64
  /// What goes wrong.
  var faults: [Fault]
  /// The bug in it.
  let defect: Defect?

  /// A lab whose faults are drawn.
  init(seed: UInt64, _ settings: Settings = Settings(), defect: Defect? = nil) {
    self.init(seed: seed, settings, faults: Self.draw(seed, settings), defect: defect)
  }

  /// A lab with these faults.
  init(seed: UInt64, _ settings: Settings = Settings(), faults: [Fault], defect: Defect? = nil) {
    self.seed = seed
    self.settings = settings
    self.faults = faults
    self.defect = defect
  }

  /// Lives through all nights, or up to the first invariant that does not hold.
  func run() -> Outcome {
    var world = LabWorld(self)
    return world.run()
  }
}

// MARK: - Faults

extension LabSimulation {
  /// How often each fault is usual: of ten thousand nights of a lock, a dongle or a bench in how many, and how long it
  /// lasts. They are what threads about labs tell of, where they tell numbers, and else on the high side.
  private static var usual: [(kind: Fault.Kind, rate: Int, length: ClosedRange<Int>)] {
    [
      (.linkLoss, 3000, 0...0),
      (.dongleHang, 1500, 0...0),
      (.processHang, 300, 0...0),
      (.dongleDeath, 4, 0...0),
      (.dongleGone, 30, 2...1800),
      // What stands in the way is mostly gone after a while: a draught, a latch that was not quite home.
      (.jam, 60, 10...600),
      (.deadBattery, 2, 0...0),
      (.childKill, 300, 0...0),
      (.plannerKill, 300, 1...30),
      (.reboot, 100, 40...300),
      (.fullDisk, 50, 10...900),
      (.clockJump, 100, 0...7200),
      (.rival, 200, 60...3600),
    ]
  }

  /// Draws what goes wrong in all nights.
  static func draw(_ seed: UInt64, _ settings: Settings) -> [Fault] {
    var generator = SeededGenerator(seed: seed, for: "faults")
    var faults: [Fault] = []
    for night in 0..<settings.nights {
      for (kind, rate, length) in usual {
        for target in 0..<settings.count(of: kind) {
          var chance = rate * settings.severity
          while chance > 0 {
            if generator.below(10_000) < min(chance, 10_000) {
              var fault = Fault(
                kind, night: night,
                time: .milliseconds(Int64(generator.below(Int(settings.duration.seconds * 1000)))),
                target: target)
              fault.length = .seconds(
                Int64(length.lowerBound + generator.below(length.upperBound - length.lowerBound + 1)))
              if kind == .clockJump, generator.below(2) == 0 { fault.length = .zero - fault.length }
              fault.detail = generator.below(8)
              faults.append(fault)
            }
            chance -= 10_000
          }
        }
      }
    }
    return faults
  }
}

extension LabSimulation.Settings {
  /// How many things there are that a fault can be about.
  func count(of kind: LabSimulation.Fault.Kind) -> Int {
    switch kind {
    case .linkLoss, .jam, .deadBattery: locks.reduce(0, +)
    case .dongleHang, .processHang, .dongleDeath, .dongleGone: locks.count * dongles
    case .childKill, .plannerKill, .reboot, .fullDisk, .clockJump, .rival: locks.count
    }
  }
}

extension LabSimulation.Fault: CustomStringConvertible {
  var description: String {
    "night \(night), \(Instant.zero + time): \(kind) of \(target)"
      + (length == .zero ? "" : " for \(length)") + (detail == 0 ? "" : ", \(detail)")
  }
}

extension LabSimulation.Violation: CustomStringConvertible {
  var description: String { "\(rule), night \(night), \(Instant.zero + time): \(text)" }
}
