public import Basics
import Conformance
public import Journal
public import System

/// The output of a worker: it sends everything to the process that started it.
public final class WorkerOutput: CampaignOutput, CampaignReport, JournalListener {
  /// The time between two progress messages.
  private static let period = Interval.milliseconds(200)

  private let console: Console
  private let recording: (Case, any JournalListener, () -> Outcome, (String) -> Void) -> Outcome
  private var last: Interval?
  /// The visited cells as last sent.
  private var reported: CellCoverage?
  /// Whether the records of a finding are being written.
  private var isShowing = false

  /// - Parameter recording: runs the test of a finding and stores its artifacts, or reports why they cannot
  ///   be stored.
  public init(
    _ console: Console,
    recording: @escaping (Case, any JournalListener, () -> Outcome, (String) -> Void) -> Outcome
  ) {
    (self.console, self.recording) = (console, recording)
  }

  public var report: any CampaignReport { self }
  public var listener: any JournalListener { self }
  public var earlier: EndingCount { EndingCount() }
  public var keepsJournal: Bool { false }
  public var isStopped: Bool { EndOfInput.isReached || Interruption.isRequested }
  public var now: Interval { MonotonicClock.now }

  public func send(_ line: WorkerLine) { console.print(line.json) }

  public func keep(_ state: CampaignState) { report(state.coverage) }

  /// Sends the cells visited since the last message.
  private func report(_ coverage: Coverage?) {
    guard let cells = coverage?.cells else { return }
    let marks = cells.marks(beyond: reported ?? CellCoverage(cells.machine))
    guard !marks.isEmpty else { return }
    WorkerLine.visited(in: marks).forEach(send)
    reported = cells
  }

  public func record(_ test: Case, _ body: () -> Outcome) -> Outcome {
    recording(test, self, body, warn)
  }

  public func take(_ record: Record) {
    if case .finding = record { isShowing = true }
    send(isShowing ? .evidence(record) : .journal(record))
  }

  public func begin(_ head: CampaignHead) {}

  public func progress(_ progress: CampaignProgress) {
    if let last, progress.took - last < Self.period { return }
    last = progress.took
    report(progress.coverage)
    send(.progress(progress.status))
  }

  public func found(_ finding: FindingNotice) {
    send(.found(finding))
    isShowing = false
  }

  public func reportOnce(_ text: String) { send(.once(text)) }

  public func say(_ text: String) { send(.say(text)) }

  public func warn(_ text: String) { send(.warn(text)) }

  public func end(_ end: CampaignSummary) {}
}
