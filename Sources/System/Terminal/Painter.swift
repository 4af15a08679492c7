/// Colours text, or leaves it unchanged.
public struct Painter: Sendable {
  /// The styles of text, by their terminal codes (ECMA-48 §8.3.117, SGR).
  public enum Style: String, CaseIterable, Sendable {
    case good = "32"
    case bad = "31"
    case warning = "33"
    case faint = "2"
    case strong = "1"
  }

  public let isOn: Bool

  /// Makes a painter with or without colours.
  public init(isOn: Bool) { self.isOn = isOn }

  /// The text in a style.
  public func callAsFunction(_ style: Style, _ text: String) -> String {
    isOn ? style.mark + text + Style.endMark : text
  }
}

/// The number of columns of a text, without its styles.
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
