public import Basics

extension Cursor {
  /// Returns a duration that is not negative.
  public func duration() -> Interval? { duration(orLess: false) }

  /// Returns a duration that may be negative, such as one that is added to another.
  public func signedDuration() -> Interval? { duration(orLess: true) }

  private func duration(orLess isSigned: Bool) -> Interval? {
    guard let text = text("a duration such as 3 s", code: .wrongDuration) else { return nil }
    guard let interval = Interval(text: text), isSigned || interval >= .zero else {
      let isNumber = text.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
      reportExpected(
        "a duration such as 3 s", code: .wrongDuration,
        hint: isNumber ? "a unit is missing: `\(text) s`" : nil)
      return nil
    }
    return interval
  }
}
