import CommandLine
import Harness
import Journal
import System
import Basics
import Synchronization

/// Passes on how a campaign goes, and answers who asks by SIGUSR1.
///
/// The answer comes from a thread of its own, since a real lock may say nothing for long.
final class FuzzWatch: CampaignReport {
  fileprivate struct State {
    var title = ""
    var progress = CampaignProgress()
    /// When that was told.
    var shown = MonotonicClock.now
    var isOver = false
  }

  /// What both threads see.
  private final class Board: Sendable {
    let state = Mutex(State())
  }

  private let report: any CampaignReport
  private let board = Board()

  init(_ report: any CampaignReport, _ line: StatusLine) {
    self.report = report
    inBackground { [board] in
      while !board.state.withLock({ $0.isOver }) {
        guard StatusSignal.wait(for: .milliseconds(100)) else { continue }
        board.state.withLock { state in
          if !state.isOver { line.say(state.answer(at: MonotonicClock.now)) }
        }
      }
    }
  }

  func begin(_ head: CampaignHead) {
    board.state.withLock { $0.title = head.title }
    report.begin(head)
  }

  func progress(_ progress: CampaignProgress) {
    board.state.withLock { state in
      state.progress = progress
      state.shown = MonotonicClock.now
    }
    report.progress(progress)
  }

  func found(_ finding: FindingNotice) { report.found(finding) }

  func say(_ text: String) { report.say(text) }

  func note(_ text: String) { report.note(text) }

  func warn(_ text: String) { report.warn(text) }

  func end(_ end: CampaignSummary) {
    board.state.withLock { $0.isOver = true }
    report.end(end)
  }
}

extension FuzzWatch.State {
  /// All there is to say to somebody who asks.
  fileprivate func answer(at now: Interval) -> String {
    let status = progress.status
    return "lockstep: \(title), \(status.phase), for \(clock(progress.took + (now - shown)))"
      + "; so far \(grouped(status.events)) events of \(grouped(status.tests)) tests, \(status.depths.count) found, "
      + "\(status.labFaults) lab fault\(status.labFaults == 1 ? "" : "s")"
      + (Interruption.isRequested ? "; it is stopping" : "")
  }
}
