public import Basics

extension Cursor {
  /// A length of time that is not negative.
  public func duration() -> Interval? { duration(orLess: false) }

  /// A length of time that may be less than nothing, such as what is added to another one.
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
