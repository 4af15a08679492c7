public import Basics

extension Cursor {
  /// A length of time that is not negative.
  public func duration() -> Interval? {
    guard let text = text("a duration such as 3 s", code: .wrongDuration) else { return nil }
    guard let interval = Interval(text: text), interval >= .zero else {
      let isNumber = text.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
      reportExpected(
        "a duration such as 3 s", code: .wrongDuration,
        hint: isNumber ? "a unit is missing: `\(text) s`" : nil)
      return nil
    }
    return interval
  }
}
