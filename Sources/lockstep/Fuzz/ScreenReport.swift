import CommandLine
import Harness
import System
import Journal
import Basics

/// Shows how a campaign goes on a terminal, in place; findings and all else that is worth a line scroll above.
///
/// The cursor is hidden only within one write, and stays below the screen between them: however the program ends,
/// the terminal is as it was. A terminal that is too small for the screen gets lines instead.
final class ScreenReport: HumanFuzzReport {
  /// How long a screen stands.
  private static let period = Interval.milliseconds(200)

  private var screen: StatusScreen?
  private var meter = RateMeter()
  private var last: Interval?
  /// The widths of the lines that are on the terminal now.
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
    // The last column stays free: what a terminal does after it differs.
    console.draw(erasing(size.columns), lines.map { $0 + "\n" }.joined())
    shown = lines.map(visibleWidth)
  }

  /// What takes the screen away. A terminal that was made narrower has broken its lines.
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
