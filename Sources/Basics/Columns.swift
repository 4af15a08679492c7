/// So many spaces; none where the number is below zero.
public func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

extension String {
  /// The text with spaces behind it up to so many characters; a longer one stays as it is.
  public func leftAligned(in width: Int) -> String { self + spaces(width - count) }

  /// The text with spaces before it up to so many characters; a longer one stays as it is.
  public func rightAligned(in width: Int) -> String { spaces(width - count) + self }
}
