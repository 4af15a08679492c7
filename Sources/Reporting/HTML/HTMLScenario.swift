import Basics
import Journal

/// The text of a scenario with a marked line: a few lines around it are shown, the others are folded.
struct HTMLScenario {
  let file: String
  let lines: [String]
  /// The marked line, from 1.
  let line: Int?
  /// The message beside it.
  let message: String
  let sign: Markup

  /// The number of visible lines before and after the marked one.
  private static let context = 4
  private static let longest = 400

  var markup: Markup {
    guard let line, lines.indices.contains(line - 1) else {
      return "<details class=\"source\"><summary>The scenario</summary>\n\(text(lines.indices))</details>\n"
    }
    let seen = max(0, line - 1 - Self.context)..<min(lines.count, line + Self.context)
    return """
      <div class="source"><h4>The scenario, line \(line)</h4>
      \(folded(0..<seen.lowerBound))\(text(seen))\(folded(seen.upperBound..<lines.count))</div>

      """
  }

  private func folded(_ range: Range<Int>) -> Markup {
    guard let first = range.first, let last = range.last else { return "" }
    let which = first == last ? "Line \(first + 1)" : "Lines \(first + 1) to \(last + 1)"
    return "<details><summary>\(which)</summary>\n\(text(range))</details>\n"
  }

  private func text(_ range: Range<Int>) -> Markup {
    let digits = String(lines.count).count
    let rows = range.markup { index in
      let number = String(index + 1).rightAligned(in: digits)
      let words = clipped(lines[index], toBytes: Self.longest)
      guard index + 1 == line else {
        return "<span class=\"row\"><span class=\"no\">\(number)</span>   \(words)</span>\n"
      }
      return """
        <span class="row hit"><span class="no">\(number)</span> \(sign) \(words)</span>
        <span class="row why">\("".leftAligned(in: digits))   ↑ \(clipped(message, toBytes: Self.longest))</span>

        """
    }
    return scrolling("Lines of \(clipped(file, toBytes: 200))", "<pre>\n\(rows)</pre>")
  }
}
