/// Colours words, or leaves them as they are.
public struct Painter: Sendable {
  /// What the words on a line are; as it is called by a terminal (ECMA-48 §8.3.117, SGR).
  public enum Style: String, CaseIterable, Sendable {
    case good = "32"
    case bad = "31"
    case warning = "33"
    case faint = "2"
    case strong = "1"
  }

  public let isOn: Bool

  /// Paints with colours, or with none.
  public init(isOn: Bool) { self.isOn = isOn }

  /// The words in a style.
  public func callAsFunction(_ style: Style, _ text: String) -> String {
    isOn ? style.mark + text + Style.endMark : text
  }
}

/// The columns that a text takes, without what colours it.
public func visibleWidth(_ text: String) -> Int {
  var width = 0
  var isEscape = false
  for character in text {
    if character == "\u{1B}" {
      isEscape = true
    } else if isEscape {
      isEscape = character != "m"
    } else {
      width += 1
    }
  }
  return width
}
