/// So many spaces; none where the number is below zero.
public func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

extension String {
  /// The text with spaces behind it up to so many characters; a longer one stays as it is.
  public func leftAligned(in width: Int) -> String { self + spaces(width - count) }

  /// The text with spaces before it up to so many characters; a longer one stays as it is.
  public func rightAligned(in width: Int) -> String { spaces(width - count) + self }
}

/// A text in lines that are no longer than so many columns, as far as its words allow.
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
