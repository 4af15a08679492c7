import Basics
import Conformance
import Journal
import System

/// A campaign in several processes of this program, which explore independently and share the corpus.
///
/// Each process has a part of the budget and draws its own tests. If one dies without being killed, that is an
/// internal error; the others continue.
public final class WorkerPool {
  /// The minimum time between two writes of the state, and between two counts of the visited cells.
  private static let periods = (state: Interval.seconds(5), count: Interval.milliseconds(200))
  /// How long a worker may continue after a stop request, or after its time is over: longer than devices take
  /// to answer.
  private static let grace = Interval.seconds(30)
  /// How long to wait for messages.
  private static let pause = Interval.milliseconds(20)

  /// A worker process.
  private struct Member {
    var number: Int
    var process: WorkerProcess
    var status = CampaignStatus()
    /// The journal records for its next finding.
    var evidence: [Record] = []
    var end: CampaignEnd?
    var hasEnded = false
  }

  private let plan: CampaignPlan
  private let commands: [[String]]
  private let folder: String
  private let output: any CampaignOutput
  private let report: any CampaignReport
  private let journal: CampaignJournal
  /// The cells visited by all workers in all sessions, and whether they are counted.
  private var cells: CellCoverage
  private var isCounted = false
  private var lastCount: Interval
  private let begin: Interval
  private var members: [Member] = []
  private var state: CampaignState
  private var findings: [FindingNotice] = []
  /// The number of findings that were repeats of another worker's.
  private var repeats = 0
  private var faults: [String] = []
  /// Whether a worker's fault is an internal error, and not a problem of the host.
  private var isOwnFault = false
  private var lastState: Interval
  /// When a stop was requested, if it was.
  private var stopTime: Interval?

  /// Makes a pool.
  ///
  /// - Parameters:
  ///   - commands: the command line of each worker.
  ///   - folder: the folder of the run, where workers store the packets of their findings.
  public init(_ plan: CampaignPlan, _ commands: [[String]], in folder: String, _ output: any CampaignOutput) {
    self.plan = plan
    self.commands = commands
    self.folder = folder
    self.output = output
    report = output.report
    begin = output.now
    state = plan.state
    lastState = begin
    lastCount = begin
    let explored = plan.twin ?? plan.target
    let abilities = (try? plan.provider.describe(explored.device))?.abilities
    cells = CellCoverage(explored.machine.variant(under: abilities?.conditions ?? []).machine)
    _ = cells.add(digits: plan.state.cells)
    journal = CampaignJournal(
      plan.target, plan.settings, provider: plan.provider, listener: output.listener,
      earlier: output.earlier)
  }

  public func perform() -> CampaignSummary {
    journal.begin()
    var head = CampaignHead(plan.target, twin: plan.twin, plan.settings, duration: plan.duration)
    head.workers = commands.count
    report.begin(head)
    let orders = WorkerOrders(
      round: state.round, known: state.findings.map(\.signature), folder: folder, job: plan.job)
    do {
      for (index, words) in commands.enumerated() {
        let process = try WorkerProcess(words, first: orders.json.line)
        members.append(Member(number: index + 1, process: process))
      }
    } catch {
      fail("a worker cannot be started: \(error)", isOwn: false)
      stop()
    }
    while members.contains(where: { !$0.hasEnded }) { listen() }
    return finish()
  }

  /// Reads all available messages, and waits a moment if there are none.
  private func listen() {
    var isQuiet = true
    for index in members.indices {
      while !members[index].hasEnded, hear(index, within: .zero) { isQuiet = false }
    }
    let now = output.now
    if output.isStopped || plan.duration.map({ now - begin > $0 + Self.grace }) ?? false { stop() }
    if let stopTime, now - stopTime > Self.grace {
      for member in members where !member.hasEnded { member.process.kill() }
    }
    if now - lastCount >= Self.periods.count {
      lastCount = now
      count()
    }
    let status = total
    report.progress(
      CampaignProgress(status: status, took: state.elapsed + (now - begin), coverage: state.coverage))
    if now - lastState >= Self.periods.state {
      lastState = now
      keep(status)
    }
    if isQuiet, let first = members.firstIndex(where: { !$0.hasEnded }) {
      _ = hear(first, within: Self.pause)
    }
  }

  /// Receives a message of a worker; returns false if there is none.
  private func hear(_ index: Int, within limit: Interval) -> Bool {
    switch members[index].process.next(within: limit) {
    case .nothing: return false
    case .line(let text):
      guard let line = WorkerLine(text) else {
        fail("worker \(members[index].number) wrote an unknown line: \(text.prefix(100))")
        return true
      }
      take(line, from: index)
    case .ended(let fault):
      members[index].hasEnded = true
      if fault != nil || members[index].end == nil {
        fail(
          "worker \(members[index].number): \(fault?.text ?? "it ended too early")",
          isOwn: fault?.wasKilled != true)
      }
    }
    return true
  }

  private func take(_ line: WorkerLine, from index: Int) {
    switch line {
    case .progress(let status): members[index].status = status
    case .visited(let marks):
      isCounted = false
      if !cells.add(marks: marks) { fail("worker \(members[index].number) explores another machine") }
    case .evidence(let line): members[index].evidence.append(line)
    case .found(let notice):
      take(notice, members[index].evidence)
      members[index].evidence = []
    case .journal(let record): output.listener.take(record)
    case .say(let text): report.say(text)
    case .once(let text): output.reportOnce(text)
    case .warn(let text): report.warn("worker \(members[index].number): \(text)")
    case .end(let cause, let status):
      members[index].end = cause
      members[index].status = status
    }
  }

  /// Counts the cells visited by all workers.
  private func count() {
    guard !isCounted else { return }
    isCounted = true
    state.coverage = Coverage((plan.twin ?? plan.target).machine.label, cells)
  }

  private func take(_ notice: FindingNotice, _ lines: [Record]) {
    // A finding that could not be retried because of a stop adds nothing to the one that caused the stop.
    if stopTime != nil, !notice.isSure, !findings.isEmpty {
      return report.say("not investigated, since the campaign is stopping: \(notice.replay)")
    }
    if let index = findings.firstIndex(where: { $0.signature == notice.signature }) {
      repeats += 1
      guard notice.evidence.supersedes(findings[index].evidence) else {
        if notice.path != findings[index].path {
          report.say("finding \(findings[index].number) again: \(notice.replay)")
        }
        return
      }
      findings[index] = notice.numbered(findings[index].number)
      write(findings[index], lines)
      report.say(
        "finding \(findings[index].number) in \(notice.length) events, \(notice.confirmation): \(notice.replay)"
      )
      if !plan.settings.keepsGoing, notice.endsCampaign { stop() }
      return
    }
    let finding = notice.numbered(plan.state.findings.count + findings.count + 1)
    findings.append(finding)
    write(finding, lines)
    report.found(finding)
    if !plan.settings.keepsGoing, finding.endsCampaign { stop() }
  }

  private func write(_ finding: FindingNotice, _ lines: [Record]) {
    journal.record(finding.record, Array(lines.dropFirst()))
    keep(total)
  }

  /// Asks all workers to stop after their current step.
  private func stop() {
    guard stopTime == nil else { return }
    stopTime = output.now
    for member in members where !member.hasEnded { member.process.stop() }
  }

  private func fail(_ text: String, isOwn: Bool = true) {
    faults.append(text)
    isOwnFault = isOwnFault || isOwn
    report.warn(text)
  }

  /// The sum of all workers' work in all sessions.
  private var total: CampaignStatus {
    var total = plan.state.status
    total.repeats += repeats
    for member in members { total.add(member.status) }
    total.depths = (plan.state.findings.map(\.length) + findings.map(\.length)).sorted()
    let busy = members.first { !$0.hasEnded && $0.status.phase != CampaignStatus().phase }
    total.phase = busy.map { "\($0.status.phase) (worker \($0.number))" } ?? CampaignStatus().phase
    return total
  }

  private func keep(_ status: CampaignStatus) {
    var state = state
    state.status = status
    state.elapsed = state.elapsed + (output.now - begin)
    state.cells = cells.digits
    state.findings += findings.filter(\.isSure).map {
      CampaignState.Known(signature: $0.signature, path: $0.path, length: $0.length, count: 1)
    }
    output.keep(state)
  }

  private func finish() -> CampaignSummary {
    let status = total
    count()
    keep(status)
    var cause = members.compactMap(\.end).max { $0.weight < $1.weight } ?? .done
    // Workers that another's finding stopped ended correctly.
    if cause == .stopped, !output.isStopped { cause = .found }
    var end = CampaignSummary(
      cause: cause, status: status, seed: plan.settings.seed,
      took: state.elapsed + (output.now - begin))
    end.coverage = state.coverage
    end.exit = journal.end(cause, status, state.coverage, faults: faults, areOwn: isOwnFault)
    end.found = journal.found
    return end
  }
}
