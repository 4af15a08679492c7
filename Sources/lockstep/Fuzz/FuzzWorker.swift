import Reporting
import Harness
import System
import Conformance
import Journal
import Basics

extension Command {
  /// One of the processes of `fuzz --jobs`; nothing for people.
  static var fuzzWorker: Command {
    Command(
      "fuzz-worker", "Explores for 'lockstep fuzz --jobs'.",
      options: FuzzArguments.options,
      operands: .init(
        placeholder: "MACHINE", summary: "The machine.", count: 1...1, path: \.operands),
      defaults: FuzzArguments()
    ) { arguments, console throws(UsageError) in
      EndingSignals.ignore()
      guard let orders = EndOfInput.firstLine().flatMap({ try? WorkerOrders(JSON(parsing: $0)) })
      else {
        throw UsageError("this command is for 'lockstep fuzz --jobs' alone")
      }
      var earlier = CampaignState(
        machine: arguments.operands[0], device: "", seed: arguments.run.seed ?? 0)
      earlier.round = orders.round - 1
      earlier.findings = orders.known.map { .init(signature: $0, path: "", length: 0, count: 0) }
      let plan = try FuzzPlan(arguments, earlier: earlier)
      EndOfInput.watch()
      let desk = WorkerDesk(console)
      let use = FolderUse(of: arguments.run.reports.out) {}
      defer { withExtendedLifetime(use) {} }
      let end = FuzzSession(arguments, plan, desk).perform()
      desk.send(.end(end.cause, end.status))
      return .agree
    }
  }
}

/// The desk of a worker: everything goes to the process that started it.
final class WorkerDesk: FuzzDesk, FuzzReport, JournalListener {
  /// How often it tells how far it is.
  private static let period = Interval.milliseconds(200)

  private let console: Console
  private var last: Interval?
  /// What the other process was told of what was visited.
  private var told: CellCoverage?
  /// Whether a finding is being written down.
  private var isShowing = false

  init(_ console: Console) {
    self.console = console
  }

  var report: any FuzzReport { self }
  var listener: any JournalListener { self }
  var tally: Tally { Tally() }
  var keepsJournal: Bool { false }
  var isStopped: Bool { EndOfInput.isReached }

  func send(_ line: WorkerLine) { console.print(line.json) }

  func keep(_ state: CampaignState) { tell(state.coverage) }

  /// Tells what was visited since it was last told.
  private func tell(_ coverage: Coverage?) {
    guard let cells = coverage?.cells else { return }
    let marks = cells.marks(beyond: told ?? CellCoverage(cells.machine))
    guard !marks.isEmpty else { return }
    WorkerLine.visited(in: marks).forEach(send)
    told = cells
  }

  func take(_ record: Record) {
    if case .finding = record { isShowing = true }
    send(isShowing ? .evidence(record) : .journal(record))
  }

  func begin(_ head: FuzzHead) {}

  func progress(_ progress: FuzzProgress) {
    if let last, progress.took - last < Self.period { return }
    last = progress.took
    tell(progress.coverage)
    send(.progress(progress.status))
  }

  func found(_ finding: FindingNotice) {
    send(.found(finding))
    isShowing = false
  }

  func sayOnce(_ text: String) { send(.once(text)) }

  func say(_ text: String) { send(.say(text)) }

  func warn(_ text: String) { send(.warn(text)) }

  func end(_ end: FuzzEnd) {}
}
