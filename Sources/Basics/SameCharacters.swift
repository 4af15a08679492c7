extension String {
  /// Whether two texts have the same characters, one by one.
  ///
  /// Not what `==` says, to which an `é` of one character is the `é` of two. For names that come from outside: two files, or
  /// two statuses, whose names only look alike are two.
  public func isWritten(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// A text that is the same as another only where it is written with the same characters: a key for names that come from
/// outside.
public struct ExactText: Sendable {
  /// The text.
  public let text: String

  /// Takes a text as it is.
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
