import Basics

// What plans a night on a bench: the real planner, with a record on a disk and children that may outlive it.
extension LabWorld {
  /// Starts the process that plans the night of a bench, or goes on with it.
  mutating func startPlanner(of bench: Int) {
    guard !benches[bench].isDone, benches[bench].planner == nil else { return }
    let settings = lab.settings
    let own = locks.filter { $0.bench == bench }
    let ways = dongles.filter { $0.bench == bench }.map(\.name)
    let lines = benches[bench].record
    var cases = benches[bench].planned
    if lab.defect == .forgottenCase, !lines.isEmpty { cases.removeLast() }
    var planner = NightSettings(
      duration: settings.duration, actuations: settings.actuations, retries: 2000, processes: 1)
    planner.fuzzActuations = 40
    let night = Night(
      planner, name: "night \(night)", cases: cases,
      locks: own.map {
        NightLock(
          name: $0.name, dongles: ways, perNight: settings.perNight, odometer: $0.reading,
          isFuzzed: true)
      }, dongles: ways.map { NightDongle(name: $0) }, resuming: lines)
    if night.isOver {
      benches[bench].isDone = true
      return
    }
    if !lines.isEmpty { outcome.resumptions += 1 }
    let age = NightLine.time(of: lines, at: clocks(of: bench)) ?? .zero
    benches[bench].planner = night
    benches[bench].origin = (now, age)
    tell(bench, .begin(clocks(of: bench)))
    for run in night.running { lookAfter(run.attempt, of: bench) }
  }

  /// What came of a child that an earlier planner started, if that can be known yet.
  private mutating func lookAfter(_ attempt: NightAttempt, of bench: Int) {
    let process = living.first { $0.value.bench == bench && $0.value.attempt.number == attempt.number }
    if let process, lab.defect != .forgottenChildren {
      children[process.key]?.hasPlanner = true
      return
    }
    var ending = NightEnding(.incomplete, "its process was killed", leave: .unknown)
    if lab.defect != .forgottenJournals, let left = journals[journalKey(bench, attempt.number)] {
      ending = left
    }
    ending.odometer = lock(attempt.lock).map { locks[$0].reading }
    tell(bench, .ended(attempt.number, ending))
  }

  /// Tells the planner of a bench what happened, and does what it asks for.
  mutating func tell(_ bench: Int, _ event: NightEvent) {
    guard var planner = benches[bench].planner else { return }
    var events = FIFO<NightEvent>()
    events.append(event)
    while let event = events.popFirst() {
      let age = benches[bench].origin.age + (now - benches[bench].origin.time)
      let actions = planner.receive(event, at: age)
      var lost: [NightLine] = []
      for action in actions {
        outcome.trace.mix("\(now.nanoseconds) \(bench) \(Self.word(action))")
        switch action {
        case .record(let line):
          if isDiskFull(bench) || !lost.isEmpty {
            lost.append(line)
          } else {
            benches[bench].record.append(line)
          }
        case .start(let attempt): if lost.isEmpty { start(attempt, on: bench) }
        case .stop(let number): stop(number, of: bench)
        case .kill(let number):
          for (process, child) in living where child.bench == bench && child.attempt.number == number {
            if let ending = kill(process, tellsPlanner: false) { events.append(.ended(number, ending)) }
          }
        case .finish: break
        }
      }
      if !lost.isEmpty { events.append(.unwritten(lost, why: "no space left on device")) }
    }
    benches[bench].planner = planner
    benches[bench].turn += 1
    if planner.isOver {
      finish(planner, of: bench)
    } else if let deadline = planner.deadline {
      let time = benches[bench].origin.time + (deadline - benches[bench].origin.age)
      queue.schedule(.wake(bench, turn: benches[bench].turn), at: max(now, time))
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

  /// The process that plans is gone; its children notice, and another is started after a time.
  mutating func killPlanner(of bench: Int, tearing bytes: Int, for pause: Interval) {
    guard benches[bench].planner != nil else { return }
    benches[bench].planner = nil
    benches[bench].turn += 1
    // A line that was being written, and had no end yet: nothing that it says has begun.
    let torn = benches[bench].record.map { $0.json.line + "\n" }.joined() + #"{"end":{"#.prefix(bytes)
    benches[bench].record = (try? NightLine.lines(of: Array(torn.utf8))) ?? []
    for (process, child) in living where child.bench == bench {
      children[process]?.hasPlanner = false
      children[process]?.isAsked = true
    }
    queue.schedule(.plan(bench), at: now + pause)
  }

  /// The night is over on a bench: what it says is held against what is so.
  private mutating func finish(_ planner: Night, of bench: Int) {
    benches[bench].isDone = true
    benches[bench].planner = nil
    outcome.planned += benches[bench].planned.count
    outcome.judged += planner.cases.count { $0.result?.isJudgement ?? false }
    let told = Set(planner.cases.filter { $0.result != nil }.map(\.test.identity))
    if let lost = benches[bench].planned.first(where: { !told.contains($0.identity) }) {
      violate(.nothingLost, "\(lost.identity) has no result")
    }
    for lock in locks where lock.bench == bench && !lock.isAtRest {
      let isSaid =
        switch planner.lock(lock.name)?.leave {
        case .elsewhere, .unknown: true
        case .atRest, nil: false
        }
      if !isSaid { violate(.restOrSaid, "\(lock.name) is not at rest, and nobody says so") }
    }
  }

  func lock(_ name: String) -> Int? { locks.firstIndex { $0.name == name } }
}
