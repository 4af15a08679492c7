import Basics

/// What a ``LabSimulation`` plays: the world around the real planner, the real ledger and the real ladder.
struct LabWorld {
  let lab: LabSimulation
  var now = Instant.zero
  var queue = EventQueue<Happening>()
  var benches: [Bench] = []
  var locks: [LockState] = []
  var dongles: [DongleState] = []
  var children: [Int: Child] = [:]
  /// What the children left on the disk.
  var journals: [Int: NightEnding] = [:]
  var nextProcess = 1
  var night = 0
  var outcome = LabSimulation.Outcome()
  var generator: SeededGenerator

  /// What is going to happen.
  enum Happening {
    /// A child does its next step.
    case step(Int)
    /// A child shows a sign of life.
    case beat(Int)
    /// The planner of a bench has something to do, unless it was told otherwise since.
    case wake(Int, turn: Int)
    /// The planner of a bench is started.
    case plan(Int)
    case fault(Int)
  }

  /// A machine with its dongles, locks, disk and clocks.
  struct Bench {
    var number: Int
    /// Which start of the machine it is, and when it was.
    var boot = 0
    var bootTime = Instant.zero
    /// How far the calendar is off.
    var offset = Interval.zero
    /// Until when the disk is full.
    var fullUntil = Instant.zero
    /// The process that plans the night; `nil` while there is none.
    var planner: Night?
    /// What the disk has of it.
    var record: [NightLine] = []
    /// When the planner was started, and how old the night was then.
    var origin: (time: Instant, age: Instant) = (.zero, .zero)
    /// Whether the night is over.
    var isDone = true
    /// Raised whenever the planner was told something.
    var turn = 0
    /// The last moment until which nobody can know how long ago things were: the calendar was set forward, and then the
    /// machine started.
    var blindUntil = Instant.zero
    var wasSetForward = false
    /// What the locks made in this night.
    var movements = 0
    /// The cases of this night that came to agree, and of which runs.
    var agreed: [String: Int] = [:]
    var planned: [NightCase] = []
  }

  struct LockState {
    var bench: Int
    var name: String
    var isAtRest = true
    var jammedUntil = Instant.zero
    var isEmpty = false
    /// What the disk has of its movements and of what it went through.
    var odometer: [WearLine] = []
    /// How many lines it has before those, which are too old to count.
    var oldLines = 0
    var notes: [WearLine] = []
    /// What its motor did.
    var moved: [Instant] = []
    var usedTonight = 0
    /// The child that leased it, and the one that drives it.
    var holder: Int?
    var driver: Int?

    /// What its odometer says.
    var reading: Int { oldLines + odometer.count }

    /// Forgets lines that are too old to count.
    mutating func forget(at time: BenchTime) {
      let old = odometer.prefix { $0.isOver(at: time) }.count
      oldLines += old
      odometer.removeFirst(old)
    }
  }

  struct DongleState {
    var bench: Int
    var name: String
    /// The rung that brings it back; `nil` while it works.
    var cure: RecoveryRung?
    var isDead = false
    /// Whether it takes the next process along.
    var isGrave = false
    var ladder = RecoveryLadder(hasUSBReset: true, powerSettles: .seconds(3))
    /// For how long a process hung in it.
    var lost = Interval.zero
    var holder: Int?
    var driver: Int?
  }

  init(_ lab: LabSimulation) {
    self.lab = lab
    generator = SeededGenerator(seed: lab.seed, for: "world")
    for (number, count) in lab.settings.locks.enumerated() {
      benches.append(Bench(number: number))
      for place in 0..<count { locks.append(LockState(bench: number, name: "lock-\(number)-\(place)")) }
      for place in 0..<lab.settings.dongles {
        dongles.append(DongleState(bench: number, name: "dongle-\(number)-\(place)"))
      }
    }
  }

  static let day = Interval.seconds(86_400)
  /// The limits of every lock.
  var limits: LockLimits {
    LockLimits(perHour: lab.settings.perHour, perNight: lab.settings.perNight)
  }

  mutating func run() -> LabSimulation.Outcome {
    for number in 0..<lab.settings.nights where outcome.violation == nil { live(through: number) }
    return outcome
  }

  /// One day, from the beginning of its night to that of the next.
  private mutating func live(through number: Int) {
    night = number
    let begin = Instant.zero + Self.day * Int64(number)
    now = begin
    for index in locks.indices {
      // In the morning somebody saw to everything.
      (locks[index].usedTonight, locks[index].isEmpty, locks[index].isAtRest) = (0, false, true)
      locks[index].jammedUntil = .zero
      locks[index].moved = []
    }
    for index in dongles.indices {
      dongles[index].isDead = false
      dongles[index].cure = nil
      dongles[index].isGrave = false
      dongles[index].ladder = RecoveryLadder(hasUSBReset: true, powerSettles: .seconds(3))
    }
    for index in benches.indices {
      benches[index].record = []
      benches[index].isDone = false
      (benches[index].movements, benches[index].agreed) = (0, [:])
      benches[index].planned = plan(for: index)
      queue.schedule(.plan(index), at: begin)
    }
    for (index, fault) in lab.faults.enumerated() where fault.night == number {
      queue.schedule(.fault(index), at: begin + fault.time)
    }
    let end = begin + Self.day
    while outcome.violation == nil, let (time, happening) = queue.next(until: end) {
      now = time
      handle(happening)
      if benches.allSatisfy(\.isDone), children.isEmpty { break }
    }
    queue = EventQueue()
    for bench in benches where !bench.isDone && outcome.violation == nil {
      violate(.nothingLost, "bench \(bench.number) was not done with its night after a day")
    }
  }

  private func plan(for bench: Int) -> [NightCase] {
    var cases: [NightCase] = []
    for lock in locks where lock.bench == bench {
      for number in 0..<lab.settings.cases {
        cases.append(
          NightCase(
            identity: "\(night)/\(lock.name)/\(number)", suite: "all", file: "case-\(number).yaml",
            lock: lock.name,
            timeout: .seconds(600), retries: 1, actuations: 20))
      }
    }
    return cases
  }

  private mutating func handle(_ happening: Happening) {
    switch happening {
    case .step(let process): step(process)
    case .beat(let process): beat(process)
    case .wake(let bench, let turn): if benches[bench].turn == turn { tell(bench, .time) }
    case .plan(let bench): startPlanner(of: bench)
    case .fault(let number): bring(about: lab.faults[number])
    }
  }

  mutating func violate(_ rule: LabSimulation.Rule, _ text: String) {
    guard outcome.violation == nil else { return }
    outcome.violation = LabSimulation.Violation(
      rule: rule, night: night, time: now - (.zero + Self.day * Int64(night)), text: text)
  }

  /// What the clocks of a machine say.
  func clocks(of bench: Int) -> BenchTime {
    let machine = benches[bench]
    let wall = WallTime(nanoseconds: 1_800_000_000_000_000_000) + (now - .zero) + machine.offset
    return BenchTime(wall: wall, boot: "\(bench)-\(machine.boot)", uptime: .zero + (now - machine.bootTime))
  }

  func isDiskFull(_ bench: Int) -> Bool { now < benches[bench].fullUntil }
}

// MARK: - What goes wrong

extension LabWorld {
  private mutating func bring(about fault: LabSimulation.Fault) {
    let target = fault.target % lab.settings.count(of: fault.kind)
    switch fault.kind {
    case .linkLoss:
      for (process, child) in living where child.lock == target && child.phase.isOnAir {
        children[process]?.isCut = true
      }
    case .dongleHang, .processHang:
      dongles[target].cure = RecoveryRung.allCases[fault.detail % RecoveryRung.allCases.count]
      dongles[target].isGrave = fault.kind == .processHang
    case .dongleDeath: dongles[target].isDead = true
    case .jam: locks[target].jammedUntil = now + fault.length
    case .deadBattery: locks[target].isEmpty = true
    case .childKill:
      let own = living.filter { $0.value.bench == target }.map(\.key)
      if !own.isEmpty { kill(own[fault.detail % own.count]) }
    case .plannerKill: killPlanner(of: target, tearing: fault.detail, for: fault.length + .seconds(1))
    case .reboot:
      for (process, child) in living where child.bench == target { kill(process) }
      killPlanner(of: target, tearing: fault.detail, for: fault.length + .seconds(30))
      benches[target].boot += 1
      benches[target].bootTime = now
      if benches[target].wasSetForward { benches[target].blindUntil = now + WearLedger.night }
    case .fullDisk: benches[target].fullUntil = now + fault.length
    case .clockJump:
      benches[target].offset = benches[target].offset + fault.length
      if fault.length > .zero { benches[target].wasSetForward = true }
    }
  }

  /// The children, in the order in which they were started.
  var living: [(key: Int, value: Child)] {
    children.keys.sorted().compactMap { key in children[key].map { (key, $0) } }
  }
}
