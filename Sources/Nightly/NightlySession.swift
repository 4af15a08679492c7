import Reporting
import Bench
import Conformance
public import Journal
import Harness
public import System
import Basics

/// Runs a night: starts and supervises its child processes, measures its time, and notifies the service manager.
///
/// ``Night`` makes the decisions; this type passes events to it and performs the actions that it returns.
public final class NightlySession {
  /// The interval between two polls of the child processes: the shortest after one has ended, then longer.
  private static let pollIntervals = (shortest: Interval.milliseconds(1), longest: Interval.milliseconds(25))

  /// The interval between two checks whether devices that are out of use were restored.
  private static let restoreCheckInterval = Interval.seconds(10)

  private let folder: NightlyFolder
  private let runs: NightlyRuns
  private let messages: StatusLine
  private let notifier: ServiceNotifier
  private let isQuiet: Bool
  private let writer = NightlyJournalWriter()
  private(set) var night: Night
  private var jobs: [(number: Int, job: Job)] = []
  private var events = FIFO<NightEvent>()
  private var hasStopped = false
  /// The devices that are out of use according to the health store, and the time of the last check.
  private var outOfUseDevices: [NightDevice] = []
  private var lastRestoreCheck = MonotonicClock.now
  /// Whether the journal lacks some results.
  private var isJournalBehind: Bool
  /// Whether a message has reported that the journal cannot be written.
  private var hasReportedJournalFault = false
  /// The beginning of the night, by the monotonic clock.
  private let startTime: Interval

  /// A process that executes a run of the night.
  private enum Job {
    /// A child of this process.
    case child(JobProcess)
    /// A child of an earlier process of the same night, which was killed; the child may still be running.
    case orphan
  }

  public init(
    _ folder: NightlyFolder, _ lab: NightlyLab, processes: Int, isQuiet: Bool, _ messages: StatusLine
  ) {
    self.folder = folder
    self.messages = messages
    self.isQuiet = isQuiet
    notifier = ServiceNotifier()
    runs = NightlyRuns(lab, folder: folder.folder.path, seed: folder.seed)
    var settings = NightSettings(lab.plan, processes: processes)
    settings.wait = NightlyRuns.wait
    if let places = lab.places {
      settings.transport = .place
      settings.wait = settings.wait + places.request.longestWait
    }
    let elapsed = NightLine.time(of: folder.record, at: BenchClock.now) ?? .zero
    startTime = MonotonicClock.now - (elapsed - .zero)
    night = Night(
      settings, name: lab.plan.name, cases: lab.cases, locks: lab.locks, dongles: lab.dongles,
      resuming: folder.record)
    isJournalBehind = night.cases.contains { $0.result != nil }
  }

  /// The time since the night began.
  private var now: Instant { .zero + (MonotonicClock.now - startTime) }

  /// Runs the night.
  ///
  /// - Parameter minimum: the minimum number of verdicts.
  /// - Returns: the report.
  public func perform(_ minimum: MinimumVerdicts) -> NightlyReport {
    Interruption.listen()
    notifier.ready()
    for run in night.running { jobs.append((run.attempt.number, .orphan)) }
    receive(.begin(BenchClock.now))
    var pause = Self.pollIntervals.shortest
    while !night.isOver {
      let isBusy = pollJobs()
      if Interruption.isRequested, !hasStopped {
        hasStopped = true
        say("stopping: waiting for the running cases to end")
        receive(.stop("interrupted"))
      }
      if let deadline = night.deadline, deadline <= now { receive(.time) }
      checkRestoredDevices()
      updateJournal()
      notifier.alive()
      showStatus()
      pause = isBusy ? Self.pollIntervals.shortest : min(pause * 2, Self.pollIntervals.longest)
      if !night.isOver { rest(for: pause) }
    }
    // The caller writes the final journal: a background write that is still in progress must not replace it.
    while writer.isWriting {
      notifier.alive()
      rest(for: Self.pollIntervals.longest)
    }
    messages.show("")
    notifier.stopping()
    return NightlyReport(night, runs, folder, took: now - .zero, minimum)
  }

  /// Polls all jobs, and reports their events to the night.
  ///
  /// - Returns: whether a job has ended.
  private func pollJobs() -> Bool {
    var newEvents: [NightEvent] = []
    for (number, job) in jobs {
      switch job {
      case .child(let process):
        switch process.poll() {
        case .running(let hasOutput): if hasOutput { newEvents.append(.sign(number)) }
        case .ended(let end, let output): newEvents.append(ended(number, end, output))
        }
      case .orphan:
        // The orphan ends by itself, since its standard input is closed. It cannot report progress, so holding
        // its file counts as a sign of life.
        do {
          let holder = try HeldFile.holder(of: runs.heldFile(of: number))
          newEvents.append(holder == nil ? ended(number, nil, "") : .sign(number))
        } catch {
          // The orphan may be running or not. No event is reported: its lock stays reserved, and its timeouts
          // continue.
        }
      }
    }
    for event in newEvents { receive(event) }
    return newEvents.contains { if case .ended = $0 { true } else { false } }
  }

  private func ended(_ number: Int, _ end: Ending?, _ output: String) -> NightEvent {
    guard let run = night.running.first(where: { $0.attempt.number == number }) else { return .sign(number) }
    return .ended(number, runs.ending(of: run.attempt, end, words: output))
  }

  /// Passes an event to the night, and carries out the resulting actions, including those of further events.
  private func receive(_ event: NightEvent) {
    events.append(event)
    while let event = events.popFirst() {
      if case .ended(let number, _) = event { jobs.removeAll { $0.number == number } }
      carryOut(night.receive(event, at: now))
    }
  }

  private func carryOut(_ actions: [NightAction]) {
    var lines: [NightLine] = []
    var lost: [NightLine] = []
    var fault: FileFault?
    func flush() {
      guard !lines.isEmpty else { return }
      if fault == nil {
        do throws(FileFault) { try folder.write(lines) } catch { fault = error }
      }
      if fault == nil { lines.forEach(handleRecorded) } else { lost += lines }
      lines = []
    }
    for action in actions {
      switch action {
      case .record(let line): lines.append(line)
      case .start(let attempt):
        if fault == nil { fault = runs.shortage }
        flush()
        if fault == nil { start(attempt) }
      case .stop(let number): stop(number)
      case .kill(let number): kill(number)
      case .finish: flush()
      }
    }
    flush()
    if let fault {
      say("cannot write the record of the night; nothing is started until that works: \(fault)")
      events.append(.unwritten(lost, why: "\(fault)"))
    }
  }

  /// Checks at intervals whether the devices that the health store lists as out of use were restored.
  private func checkRestoredDevices() {
    let now = MonotonicClock.now
    guard now - lastRestoreCheck >= Self.restoreCheckInterval else { return }
    lastRestoreCheck = now
    for device in outOfUseDevices where runs.lab.reasonOutOfUse(of: device) == nil {
      outOfUseDevices.removeAll { $0 == device }
      receive(.restored(device))
    }
    let devices =
      night.locks.filter { $0.outOfUse != nil }.map { NightDevice.lock($0.lock.name) }
      + night.dongles.filter { $0.outOfUse != nil }.map { NightDevice.dongle($0.dongle.name) }
    outOfUseDevices += devices.filter {
      !outOfUseDevices.contains($0) && runs.lab.reasonOutOfUse(of: $0) != nil
    }
  }

  /// Updates the journal, from which reports are made. A night is resumed from its record (``NightLine``)
  /// alone, so it continues even if the journal cannot be written.
  private func updateJournal() {
    if isJournalBehind {
      let path = folder.folder.journalPath
      let hasStarted = writer.write { [runs, night] () throws(FileFault) in
        try NightlyJournal(runs: runs, night: night).write(to: path, tally: nil)
      }
      if hasStarted { isJournalBehind = false }
    }
    guard let fault = writer.takeFault(), !hasReportedJournalFault else { return }
    hasReportedJournalFault = true
    say("cannot write the journal; reports are available only after the night: \(fault)")
  }

  private func start(_ attempt: NightAttempt) {
    do {
      try makeFolder(runs.folder(of: attempt.number))
      if let park = runs.ownPark(of: attempt) { try WholeFile.replace(park.path, with: park.text) }
      let process = try JobProcess(
        ["nightly-case", "--"] + runs.words(for: attempt, of: night), first: runs.heldFile(of: attempt.number)
      )
      jobs.append((attempt.number, .child(process)))
    } catch {
      events.append(
        .ended(attempt.number, NightEnding(.labFault, "it cannot be started: \(error)")))
    }
  }

  private func stop(_ number: Int) {
    for (_, job) in jobs.filter({ $0.number == number }) {
      // The input of an orphan is already closed.
      if case .child(let process) = job { process.askToEnd() }
    }
  }

  private func kill(_ number: Int) {
    for (_, job) in jobs.filter({ $0.number == number }) {
      switch job {
      case .child(let process): process.kill()
      case .orphan: HeldFile.kill(holderOf: runs.heldFile(of: number))
      }
    }
  }
}

// MARK: - Messages

extension NightlySession {
  private func say(_ text: String) {
    messages.say("lockstep: \(text)".inOneLine)
  }

  /// Handles a line that is in the record: requests a journal update for a result, puts a device out of use in
  /// the health store, and prints a message for the lab manager.
  private func handleRecorded(_ line: NightLine) {
    if case .done = line { isJournalBehind = true }
    if case .out(let device, let why, _) = line { recordOutOfUse(device, why) }
    switch line {
    case .out(.lock(let name), let why, _): say("the lock \(name) is out of use: \(why)")
    case .out(.dongle(let name), let why, _):
      say("the \(night.settings.transport) \(name) is out of use: \(why)")
    case .resumed(let time):
      say("resuming the night, started \(clock(time - .zero)) ago: \(folder.folder.path)")
    case .end(let number, let ending, _):
      guard !isQuiet, let run = night.ended.last(where: { $0.attempt.number == number }) else { return }
      if ending.verdict.isRed {
        say("\(run.attempt.lock): \(label(run.attempt)): \(ending.verdict.name): \(ending.message)")
      }
    case .begin, .start, .back, .done, .finish: break
    }
  }

  /// Records in the health store that a device is out of use, for `lockstep devices` and later runs.
  private func recordOutOfUse(_ device: NightDevice, _ why: String) {
    do throws(LabFault) {
      // The first line is the reason; the others are the last output of a program, which its case contains.
      let reason = why.split(separator: "\n").first.map(String.init) ?? why
      try runs.lab.putOut(device, reason)
    } catch {
      say(
        "\(device.name) is out of use for this night only, since the health store cannot be written: \(error.detail)"
      )
    }
  }

  private func label(_ attempt: NightAttempt) -> String {
    switch attempt.work {
    case .test: runs.test(of: attempt)?.file ?? "a case"
    case .fuzz: "fuzzing"
    case .park: "parking"
    }
  }

  private func showStatus() {
    let done = night.cases.count { $0.result != nil }
    let diverged = night.cases.count { $0.result?.ending == .diverged }
    let unmet = night.cases.count { $0.result?.ending == .unmet }
    let outOfUse = night.locks.count { $0.outOfUse != nil } + night.dongles.count { $0.outOfUse != nil }
    let text =
      "\(done) of \(night.cases.count) cases, \(diverged) diverge, \(unmet > 0 ? "\(unmet) not as expected, " : "")\(night.running.count) under way"
      + (outOfUse > 0 ? ", \(outOfUse) out of use" : "")
    notifier.status(text)
    if messages.isTerminal, !isQuiet { messages.show(text) }
  }
}
