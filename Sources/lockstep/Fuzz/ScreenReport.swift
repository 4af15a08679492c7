import CommandLine
import Harness
import System
import Journal
import Basics

/// Shows the progress of a campaign on a terminal, in place; findings and messages scroll above it.
///
/// The cursor is only hidden within a single write, and rests below the screen in between: however the program
/// ends, the terminal is in its normal state. A terminal that is too small for the screen shows lines instead.
final class ScreenReport: HumanFuzzReport {
  /// The minimum interval between two updates.
  private static let period = Interval.milliseconds(200)

  private var screen: StatusScreen?
  private var meter = RateMeter()
  private var last: Interval?
  /// The widths of the lines now on the terminal.
  private var shown: [Int] = []

  override func begin(_ head: CampaignHead) {
    screen = StatusScreen(head: head)
  }

  override func progress(_ progress: CampaignProgress) {
    if let last, progress.took - last < Self.period { return }
    last = progress.took
    meter.add(progress.status.events, at: progress.took)
    screen?.take(progress)
    screen?.rate = meter.rate
    draw(or: progress)
  }

  private func draw(or progress: CampaignProgress) {
    guard let screen, let size = console.size, size.columns >= StatusScreen.minimumWidth else {
      return super.progress(progress)
    }
    let lines = screen.lines(width: size.columns, rows: size.rows, isUnicode: Host.isUnicode, paint)
    guard size.rows > lines.count else { return super.progress(progress) }
    // The last column stays empty: terminals differ in what they do after it.
    console.draw(erasing(size.columns), lines.map { $0 + "\n" }.joined())
    shown = lines.map(visibleWidth)
  }

  /// Returns the sequence that erases the screen. A terminal that became narrower has wrapped its lines.
  private func erasing(_ columns: Int) -> String {
    let rows = shown.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    shown = []
    return rows == 0 ? "" : "\u{1B}[\(rows)A\r\u{1B}[J"
  }

  override func write(_ text: String) {
    console.draw(erasing(console.size?.columns ?? StatusScreen.minimumWidth))
    super.write(text)
    if let screen { draw(or: screen.progress) }
  }

  override func warn(_ text: String) {
    console.draw(erasing(console.size?.columns ?? StatusScreen.minimumWidth))
    super.warn(text)
  }

  override func end(_ end: CampaignSummary) {
    console.draw(erasing(console.size?.columns ?? StatusScreen.minimumWidth))
    if let head = screen?.head { super.begin(head) }
    screen = nil
    super.end(end)
  }
}
