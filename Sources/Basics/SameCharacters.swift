extension String {
  /// Returns whether two texts have the same bytes in UTF-8.
  ///
  /// In contrast, `==` considers an `é` of one scalar equal to an `é` of two. This is for external names: two files,
  /// or two statuses, whose names only look alike are different.
  public func isWritten(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// A text that equals only a text with the same bytes in UTF-8: a key for external names.
public struct ExactText: Sendable {
  /// The text.
  public let text: String

  /// Makes an exact text.
  public init(_ text: String) { self.text = text }
}

extension ExactText: Hashable, ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }

  public static func == (left: ExactText, right: ExactText) -> Bool { left.text.isWritten(as: right.text) }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8.max)
  }
}
