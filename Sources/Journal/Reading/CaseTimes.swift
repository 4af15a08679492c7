import Basics
import System

/// Reads the times of a journal's cases from the file next to it; both are in chronological order.
///
/// Invalid lines are skipped: the times are not part of the results, and a report is complete without them.
package final class CaseTimes {
  private var lines: LineReader
  private var next: CaseTime.Line?

  /// Opens the file next to a journal; `nil` if there is none.
  package init?(besides journal: String) {
    guard let lines = try? LineReader(Path.folder(of: journal) + "/" + CaseTime.file) else { return nil }
    self.lines = lines
    advance()
  }

  /// Returns the time of the attempt that starts with a line of the journal. Callers must request the lines in order.
  package func time(ofLine line: Int) -> CaseTime? {
    while let item = next, item.line < line { advance() }
    return next?.line == line ? next?.time : nil
  }

  private func advance() {
    next = nil
    while next == nil, (try? lines.advance()) == true {
      next = (try? JSON(parsing: lines.line)).flatMap { try? CaseTime.Line($0) }
    }
  }
}
