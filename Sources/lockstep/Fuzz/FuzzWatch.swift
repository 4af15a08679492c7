import CommandLine
import Harness
import Journal
import System
import Basics
import Synchronization

/// Forwards the progress of a campaign, and reports it on SIGUSR1.
///
/// A separate thread answers the signal, because a real lock may block the main thread for a long time.
final class FuzzWatch: CampaignReport {
  fileprivate struct State {
    var title = ""
    var progress = CampaignProgress()
    /// The time of the last progress.
    var shown = MonotonicClock.now
    var isOver = false
  }

  /// The state that both threads share.
  private final class SharedState: Sendable {
    let state = Mutex(State())
  }

  private let report: any CampaignReport
  private let shared = SharedState()

  init(_ report: any CampaignReport, _ line: StatusLine) {
    self.report = report
    inBackground { [shared] in
      while !shared.state.withLock({ $0.isOver }) {
        guard StatusSignal.wait(for: .milliseconds(100)) else { continue }
        shared.state.withLock { state in
          if !state.isOver { line.say(state.answer(at: MonotonicClock.now)) }
        }
      }
    }
  }

  func begin(_ head: CampaignHead) {
    shared.state.withLock { $0.title = head.title }
    report.begin(head)
  }

  func progress(_ progress: CampaignProgress) {
    shared.state.withLock { state in
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
    shared.state.withLock { $0.isOver = true }
    report.end(end)
  }
}

extension FuzzWatch.State {
  /// The complete answer to SIGUSR1.
  fileprivate func answer(at now: Interval) -> String {
    let status = progress.status
    return "lockstep: \(title), \(status.phase), for \(clock(progress.took + (now - shown)))"
      + "; so far \(grouped(status.events)) events of \(grouped(status.tests)) tests, \(status.depths.count) found, "
      + "\(status.labFaults) lab fault\(status.labFaults == 1 ? "" : "s")"
      + (Interruption.isRequested ? "; it is stopping" : "")
  }
}
