import Basics
import Journal

extension Record.Ending {
  /// The ending as a badge.
  var badge: Markup {
    "<span class=\"badge \(presentation.key)\">\(presentation.badge) \(presentation.label)</span>"
  }
}

/// A duration for people: `7 ms`, `3.210 s`, `2 min 05 s`, `3 h 20 min`.
func spoken(_ milliseconds: Int64) -> String {
  let seconds = milliseconds / 1000
  if milliseconds < 1000 { return "\(milliseconds) ms" }
  if seconds < 120 { return "\(seconds).\((milliseconds % 1000).padded(to: 3)) s" }
  if seconds < 7200 { return "\(seconds / 60) min \((seconds % 60).padded(to: 2)) s" }
  return "\(grouped(Int(seconds / 3600))) h \((seconds / 60 % 60).padded(to: 2)) min"
}

/// `2026-11-20T22:38:51Z` as `2026-11-20 22:38:51 UTC`; other text unchanged.
package func spoken(moment: String) -> String {
  guard moment.count >= 20, moment.last == "Z" else { return moment }
  let parts = moment.dropLast().split(separator: "T")
  return parts.count == 2 ? "\(parts[0]) \(parts[1]) UTC" : moment
}

/// A share in whole percent; 100 only if nothing is missing, and 0 only if there is nothing.
func percent(_ part: Int, of whole: Int) -> String {
  guard whole > 0 else { return "0 %" }
  if part <= 0 { return "0 %" }
  if part >= whole { return "100 %" }
  return "\(min(99, max(1, Int((Double(part) / Double(whole) * 100).rounded())))) %"
}

/// A scrollable box for contents wider than the page, which can be operated by keyboard.
///
/// - Parameter fromEnd: whether the end is visible first.
package func scrolling(_ label: String, _ content: Markup, fromEnd: Bool = false) -> Markup {
  """
  <div class="scroll\(fromEnd ? " fromend" : "")" role="region" tabindex="0" aria-label="\(label)">\(content)</div>

  """
}

/// A text with a maximum number of characters.
func shortened(_ text: String, to longest: Int) -> String {
  text.count > longest ? text.prefix(longest - 1) + "…" : text
}

/// A maximum number of lines, the last of which counts the omitted ones.
func first(_ lines: [String], to limit: Int) -> [String] {
  lines.count > limit ? lines.prefix(limit - 1) + ["and \(lines.count - limit + 1) more"] : lines
}
