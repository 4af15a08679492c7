import Conformance
import Bench
import Nightly
import Basics

/// What a ``LabSimulation`` plays: the world around the real planner, the real ledger and the real escalation.
struct LabWorld {
  let lab: LabSimulation
  var now = Instant.zero
  var queue = EventQueue<Happening>()
  var benches: [Bench] = []
  /// The nights of the benches, in their order, and then their rivals of this night.
  var schedulers: [Scheduler] = []
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
    /// A planner has something to do, unless it was told otherwise since.
    case wake(Int, turn: Int)
    /// A planner is started.
    case plan(Int)
    /// The process beside a run that was killed sees to its lock.
    case watch(Watch)
    /// A person puts a dongle back to use.
    case restore(Int)
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
    /// When the calendar was set forward last.
    var setForward: Instant?
  }

  /// Who has locks of a bench driven: its night, or a rival of that. All of them have one state folder.
  struct Scheduler {
    var bench: Int
    var settings: NightSettings
    /// The locks that it drives.
    var locks: [Int]
    var planned: [NightCase]
    /// Whether it is started again when it was killed.
    var isTakenUp = true
    /// The process that plans; `nil` while there is none.
    var planner: Night?
    /// What the disk has of it.
    var record: [NightLine] = []
    /// When the planner was started, and how old the night was then.
    var origin: (time: Instant, age: Instant) = (.zero, .zero)
    /// Whether it is over.
    var isDone = false
    /// Raised whenever the planner was told something.
    var turn = 0
    /// What its runs had the locks make.
    var movements = 0
    /// The cases that came to agree, and of which runs.
    var agreed: [String: Int] = [:]
  }

  struct LockState {
    var bench: Int
    var name: String
    var isParked = true
    var jammedUntil = Instant.zero
    var isEmpty = false
    /// What the disk has of it; one for each rival too where they have folders of their own.
    var state = [LockFolder()]
    /// What its motor did.
    var moved: [Instant] = []
    var usedThisShift = 0
    /// The last moment until which nobody can know how long ago things were: the calendar was set forward, and the machine
    /// started after that, or had started before and nothing was written down since.
    var blindUntil = Instant.zero
    /// The process that drives it.
    var driver: Int?
    /// The scheduler whose run moved it last.
    var mover = 0
  }

  /// What a state folder has of a lock.
  struct LockFolder {
    /// Its movements, and what it went through.
    var events: [LockEvent] = []
    /// How many movements there were before those, too long ago to count.
    var oldMovements = 0
    /// The process that leased it.
    var holder: Int?
    /// Whether it is marked as owed its parking.
    var isOwed = false

    /// What its cycle counter says.
    var reading: Int { oldMovements + events.count(where: \.isMovement) }

    /// Forgets what is too long ago to count.
    mutating func forget(at time: BenchTime) {
      let held = events.reduce(time) { $0.held(to: $1.time) }
      let old = events.prefix { $0.time.isOver(at: held) }
      oldMovements += old.count(where: \.isMovement)
      events.removeFirst(old.count)
    }
  }

  struct DongleState {
    var bench: Int
    var name: String
    /// The step that brings it back; `nil` while it works.
    var cure: RecoveryStep?
    var isDead = false
    /// Until when it is not plugged in.
    var goneUntil = Instant.zero
    /// Whether it takes the next process along.
    var isGrave = false
    var escalation = LabWorld.escalation
    /// For how long a process hung in it.
    var lost = Interval.zero
    /// The process that leased it, by the state folder.
    var holders: [Int: Int] = [:]
    var driver: Int?
  }

  static var escalation: RecoveryEscalation {
    RecoveryEscalation(hasUSBReset: true, powerSettles: .seconds(3))
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
    LockLimits(perHour: lab.settings.perHour, perShift: lab.settings.perShift)
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
    seeToEverything()
    schedulers = benches.indices.map { nightly(on: $0) }
    for index in schedulers.indices { queue.schedule(.plan(index), at: begin) }
    for (index, fault) in lab.faults.enumerated() where fault.night == number {
      queue.schedule(.fault(index), at: begin + fault.time)
    }
    let end = begin + Self.day
    while outcome.violation == nil, let (time, happening) = queue.next(until: end) {
      now = time
      handle(happening)
      if schedulers.allSatisfy(\.isDone), children.isEmpty { break }
    }
    queue = EventQueue()
    for (index, scheduler) in schedulers.enumerated() where !scheduler.isDone && outcome.violation == nil {
      violate(.nothingLost, "scheduler \(index) on bench \(scheduler.bench) was not done after a day")
    }
    if outcome.violation == nil { outcome.nights += 1 }
  }

  /// In the morning somebody saw to everything.
  private mutating func seeToEverything() {
    for index in locks.indices {
      (locks[index].usedThisShift, locks[index].isEmpty, locks[index].isParked) = (0, false, true)
      locks[index].jammedUntil = .zero
      locks[index].moved = []
      for place in locks[index].state.indices { locks[index].state[place].isOwed = false }
    }
    for index in dongles.indices {
      dongles[index].isDead = false
      dongles[index].goneUntil = .zero
      dongles[index].cure = nil
      dongles[index].isGrave = false
      dongles[index].escalation = Self.escalation
    }
    journals = [:]
  }

  /// The night of a bench.
  private func nightly(on bench: Int) -> Scheduler {
    let own = locks.indices.filter { locks[$0].bench == bench }
    var settings = NightSettings(
      duration: lab.settings.duration, actuations: lab.settings.actuations, retries: 2000, processes: 1)
    settings.fuzzActuations = 40
    return Scheduler(
      bench: bench, settings: settings, locks: own,
      planned: own.flatMap { cases(lab.settings.cases, of: "\(night)", on: $0) })
  }

  /// Cases of a lock.
  func cases(_ count: Int, of plan: String, on lock: Int) -> [NightCase] {
    (0..<count).map { number in
      NightCase(
        identity: "\(plan)/\(locks[lock].name)/\(number)", suite: "all", file: "case-\(number).yaml",
        lock: locks[lock].name, timeout: .seconds(600), retries: 1, actuations: 20)
    }
  }

  private mutating func handle(_ happening: Happening) {
    switch happening {
    case .step(let process): step(process)
    case .beat(let process): beat(process)
    case .wake(let scheduler, let turn):
      if schedulers[scheduler].turn == turn { notify(scheduler, .time) }
    case .plan(let scheduler): startPlanner(of: scheduler)
    case .watch(let order): watch(order)
    case .restore(let dongle): restore(dongle)
    case .fault(let number):
      let fault = lab.faults[number]
      if bring(about: fault) { outcome.struck[fault.kind.rawValue] += 1 }
    }
  }

  mutating func violate(_ rule: LabSimulation.Rule, _ text: String) {
    guard outcome.violation == nil else { return }
    outcome.violation = LabSimulation.Violation(
      rule: rule, night: night, time: now - (.zero + Self.day * Int64(night)), text: text)
  }

  /// Which state folder a scheduler has.
  func folder(of scheduler: Int) -> Int {
    lab.defect == .separateState ? max(0, scheduler + 1 - benches.count) : 0
  }

  func bench(of child: Child) -> Int { schedulers[child.scheduler].bench }

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
  /// Lets something go wrong.
  ///
  /// - Returns: whether there was anything that it could strike.
  private mutating func bring(about fault: LabSimulation.Fault) -> Bool {
    let target = fault.target % lab.settings.count(of: fault.kind)
    switch fault.kind {
    case .linkLoss:
      let own = living.filter { $0.value.lock == target && $0.value.phase.isOnAir }
      for (process, _) in own { children[process]?.isCut = true }
      return !own.isEmpty
    case .dongleHang, .processHang:
      dongles[target].cure = RecoveryStep.allCases[fault.detail % RecoveryStep.allCases.count]
      dongles[target].isGrave = fault.kind == .processHang
    case .dongleDeath: dongles[target].isDead = true
    case .dongleGone:
      dongles[target].goneUntil = max(dongles[target].goneUntil, now + fault.length)
      dongles[target].cure = max(dongles[target].cure ?? .reopen, .reopen)
      // Who plugs it in says so, or it is just there again.
      if fault.detail % 2 == 1 { queue.schedule(.restore(target), at: dongles[target].goneUntil) }
    case .jam: locks[target].jammedUntil = now + fault.length
    case .deadBattery: locks[target].isEmpty = true
    case .childKill:
      let own = living.filter { bench(of: $0.value) == target }.map(\.key)
      guard !own.isEmpty else { return false }
      kill(own[fault.detail % own.count])
    case .plannerKill:
      let own = schedulers.indices.filter {
        schedulers[$0].bench == target && schedulers[$0].planner != nil
      }
      guard !own.isEmpty else { return false }
      killPlanner(
        own[fault.detail % own.count], tearing: fault.detail, for: fault.length + .seconds(1))
    case .reboot:
      for (process, child) in living where bench(of: child) == target { kill(process, sparesWatcher: false) }
      for index in schedulers.indices where schedulers[index].bench == target {
        killPlanner(index, tearing: fault.detail, for: fault.length + .seconds(30))
      }
      benches[target].boot += 1
      benches[target].bootTime = now
      if let time = benches[target].setForward, now < time + ActuationBudget.shift {
        for lock in locks.indices where locks[lock].bench == target {
          locks[lock].blindUntil = time + ActuationBudget.shift
        }
      }
    case .fullDisk: benches[target].fullUntil = now + fault.length
    case .clockJump:
      benches[target].offset = benches[target].offset + fault.length
      if fault.length > .zero { noteSetForward(target) }
    case .rival: startRival(on: target, number: fault.detail, for: fault.length)
    }
    return true
  }

  private mutating func noteSetForward(_ bench: Int) {
    benches[bench].setForward = now
    let boot = clocks(of: bench).boot
    for lock in locks.indices where locks[lock].bench == bench {
      let isKnown = locks[lock].state.contains { state in
        state.events.contains { $0.time.boot == boot }
      }
      if !isKnown { locks[lock].blindUntil = now + ActuationBudget.shift }
    }
  }

  /// A dongle is in its place again, and whoever put it there says so.
  private mutating func restore(_ dongle: Int) {
    dongles[dongle].escalation.forget()
    for index in schedulers.indices where schedulers[index].bench == dongles[dongle].bench {
      notify(index, .restored(.dongle(dongles[dongle].name)))
    }
  }

  /// The children, in the order in which they were started.
  var living: [(key: Int, value: Child)] {
    children.keys.sorted().compactMap { key in children[key].map { (key, $0) } }
  }
}
