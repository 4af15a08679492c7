public import Automata
public import Basics

extension ValueForm.Kind {
  /// Returns whether a value is of this kind.
  public func admits(_ value: Value) -> Bool {
    switch (self, value) {
    case (.text, .text): true
    // Digits alone are read as a number.
    case (.hexadecimal, .text(let text)): Self.isHexadecimal(text)
    case (.hexadecimal, .integer(let number)): Self.isHexadecimal(String(number))
    case (.flag, _): value.isYesOrNo
    case (.wholeNumber(let range), .integer(let number)): range.contains(number)
    case (.number(let range), .integer(let number)): range.contains(Double(number))
    case (.number(let range), .number(let number)): range.contains(number)
    case (.duration(let range), .duration(let interval)): range.contains(interval)
    case (.choice(let words), _): words.contains(value.description)
    case (.hexadecimal, .bytes): true
    case (.instant, _), (.list, _), (.map, _), (.record, _): value.read(as: self) != nil
    default: false
    }
  }

  private static func isHexadecimal(_ text: String) -> Bool {
    text.utf8.count % 2 == 0 && text.utf8.allSatisfy { hexValue($0) != nil }
  }
}

extension Value {
  /// The value as a flag if it can only mean yes or no; otherwise the value itself.
  public var asFlag: Value { isYesOrNo ? .flag(!isNothing) : self }

  /// The value for display; a text that looks like a value of another kind is marked: `the text '5'`.
  public var told: String {
    guard case .text(let text) = self, Double(text) != nil || isYesOrNo || Interval(text: text) != nil else {
      return description
    }
    return "the text '\(text)'"
  }
}
