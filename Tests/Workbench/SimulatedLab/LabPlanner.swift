import Conformance
import Journal
import Nightly
import Basics

// What plans a night on a bench: the real planner, with a record on a disk and children that may outlive it.
extension LabWorld {
  /// Starts a process that plans, or goes on with what an earlier one planned.
  mutating func startPlanner(of index: Int) {
    let scheduler = schedulers[index]
    guard !scheduler.isDone, scheduler.planner == nil else { return }
    let ways = dongles.filter { $0.bench == scheduler.bench }.map(\.name)
    let lines = scheduler.record
    var cases = scheduler.planned
    if lab.defect == .forgottenCase, !lines.isEmpty { cases.removeLast() }
    let night = Night(
      scheduler.settings, name: "night \(night)", cases: cases,
      locks: scheduler.locks.map {
        NightLock(
          name: locks[$0].name, dongles: ways, perShift: lab.settings.perShift,
          cycleCounter: locks[$0].state[folder(of: index)].reading, isFuzzed: scheduler.isTakenUp)
      }, dongles: ways.map { NightDongle(name: $0) }, resuming: lines)
    if night.isOver {
      schedulers[index].isDone = true
      return
    }
    if !lines.isEmpty { outcome.resumptions += 1 }
    let time = clocks(of: scheduler.bench)
    let age = NightLine.time(of: lines, at: time) ?? .zero
    schedulers[index].planner = night
    schedulers[index].origin = (now, age)
    notify(index, .begin(time))
    for run in night.running { supervise(run.attempt, of: index) }
  }

  /// Another scheduler begins on a bench that has its night: a second night, or a job of a CI system with a few cases.
  mutating func startRival(on bench: Int, number: Int, for duration: Interval) {
    let own = locks.indices.filter { locks[$0].bench == bench }
    let isJob = number % 2 == 0
    let wanted = isJob ? [own[number / 2 % own.count]] : own
    var settings = NightSettings(
      duration: max(duration, .seconds(60)), actuations: min(lab.settings.actuations, 200), retries: 20,
      processes: 1)
    settings.fuzzActuations = 40
    let index = schedulers.count
    schedulers.append(
      Scheduler(
        bench: bench, settings: settings, locks: wanted,
        planned: wanted.flatMap { cases(3 + number, of: "\(night)/rival-\(index)", on: $0) },
        isTakenUp: !isJob))
    if lab.defect == .separateState {
      for lock in locks.indices {
        while locks[lock].state.count <= folder(of: index) { locks[lock].state.append(LockFolder()) }
      }
    }
    startPlanner(of: index)
  }

  /// What came of a child that an earlier planner started, if that can be known yet.
  private mutating func supervise(_ attempt: NightAttempt, of scheduler: Int) {
    let process = living.first {
      $0.value.scheduler == scheduler && $0.value.attempt.number == attempt.number
    }
    if let process, lab.defect != .forgottenChildren {
      children[process.key]?.hasPlanner = true
      return
    }
    var ending = NightEnding(.incomplete, "its process was killed", park: .unknown)
    if lab.defect != .forgottenJournals, let left = journals[journalKey(scheduler, attempt.number)] {
      ending = left
    }
    ending.cycleCounter = lock(attempt.lock).map { locks[$0].state[folder(of: scheduler)].reading }
    notify(scheduler, .ended(attempt.number, ending))
  }

  /// Tells a planner what happened, and does what it asks for.
  mutating func notify(_ index: Int, _ event: NightEvent) {
    guard var planner = schedulers[index].planner else { return }
    var events = FIFO<NightEvent>()
    events.append(event)
    while let event = events.popFirst() {
      let age = schedulers[index].origin.age + (now - schedulers[index].origin.time)
      let actions = planner.receive(event, at: age)
      var lost: [NightLine] = []
      for action in actions {
        outcome.trace.mix("\(now.nanoseconds) \(index) \(Self.word(action))")
        switch action {
        case .record(let line):
          if isDiskFull(schedulers[index].bench) || !lost.isEmpty {
            lost.append(line)
          } else {
            schedulers[index].record.append(line)
          }
        case .start(let attempt): if lost.isEmpty { start(attempt, for: index) }
        case .stop(let number): stop(number, of: index)
        case .kill(let number):
          for (process, child) in living where child.scheduler == index && child.attempt.number == number {
            if let ending = kill(process, notifiesPlanner: false) { events.append(.ended(number, ending)) }
          }
        case .finish: break
        }
      }
      if !lost.isEmpty { events.append(.unwritten(lost, why: "no space left on device")) }
    }
    schedulers[index].planner = planner
    schedulers[index].turn += 1
    if planner.isOver {
      finish(planner, of: index)
    } else if let deadline = planner.deadline {
      let time = schedulers[index].origin.time + (deadline - schedulers[index].origin.age)
      queue.schedule(.wake(index, turn: schedulers[index].turn), at: max(now, time))
    }
  }

  private static func word(_ action: NightAction) -> String {
    switch action {
    case .record(let line): line.json.line
    case .start(let attempt): "start \(attempt.number)"
    case .stop(let number): "stop \(number)"
    case .kill(let number): "kill \(number)"
    case .finish: "finish"
    }
  }

  /// The process that plans is gone; its children notice, and another is started after a time, unless nobody does that.
  mutating func killPlanner(_ index: Int, tearing bytes: Int, for pause: Interval) {
    guard schedulers[index].planner != nil else { return }
    schedulers[index].planner = nil
    schedulers[index].turn += 1
    for (process, child) in living where child.scheduler == index {
      children[process]?.hasPlanner = false
      children[process]?.isAsked = true
    }
    guard schedulers[index].isTakenUp else {
      schedulers[index].isDone = true
      return
    }
    // A line that was being written, and had no end yet: nothing that it says has begun.
    let torn = schedulers[index].record.map { $0.json.line + "\n" }.joined() + #"{"end":{"#.prefix(bytes)
    schedulers[index].record = (try? NightLine.lines(of: Array(torn.utf8))) ?? []
    queue.schedule(.plan(index), at: now + pause)
  }

  /// A night is over: what it says is held against what is so.
  private mutating func finish(_ planner: Night, of index: Int) {
    schedulers[index].isDone = true
    schedulers[index].planner = nil
    let planned = schedulers[index].planned
    if index < benches.count {
      outcome.planned += planned.count
      outcome.judged += planner.cases.count { $0.result?.isJudgement ?? false }
    }
    let told = Set(planner.cases.filter { $0.result != nil }.map(\.test.identity))
    if let lost = planned.first(where: { !told.contains($0.identity) }) {
      violate(.nothingLost, "\(lost.identity) has no result")
    }
    for place in schedulers[index].locks {
      let lock = locks[place]
      guard !lock.isParked, lock.driver == nil, lock.mover == index else { continue }
      let isReported =
        switch planner.lock(lock.name)?.park {
        case .elsewhere, .unknown: true
        case .parked, nil: false
        }
      if !isReported {
        violate(.parkedOrSaid, "\(lock.name) is not parked, and its scheduler does not say so")
      }
    }
  }

  func lock(_ name: String) -> Int? { locks.firstIndex { $0.name == name } }
}
