/// Returns a number of spaces; none if the number is negative.
public func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

extension String {
  /// Returns the text, filled with spaces at the end up to a width; a longer text is unchanged.
  public func leftAligned(in width: Int) -> String { self + spaces(width - count) }

  /// Returns the text, filled with spaces at the start up to a width; a longer text is unchanged.
  public func rightAligned(in width: Int) -> String { spaces(width - count) + self }
}

/// Returns a text in lines of at most `width` columns, as far as its words allow.
public func wrapped(_ text: String, to width: Int) -> [String] {
  var lines = [""]
  for word in text.split(separator: " ") {
    if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + word.count + 1 > width {
      lines.append("")
    }
    lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
  }
  return lines
}
