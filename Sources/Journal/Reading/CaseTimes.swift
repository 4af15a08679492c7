import Basics
import System

/// Reads when the cases of a journal were driven, from the file beside it: both are in the order in which things happened.
///
/// What is not understood there is passed over. It is no part of what happened, and a report without it is one.
package final class CaseTimes {
  private var lines: LineReader
  private var next: CaseTime.Line?

  /// Opens the file beside a journal; `nil` where there is none.
  package init?(besides journal: String) {
    guard let lines = try? LineReader(Path.folder(of: journal) + "/" + CaseTime.file) else { return nil }
    self.lines = lines
    advance()
  }

  /// When the try was driven that starts with a line of the journal. Lines are asked for in their order.
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
