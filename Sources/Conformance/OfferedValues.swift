public import Automata
import Basics

extension Value {
  /// Converts a value that a device offers to the form that the machine declares: a number becomes a duration in
  /// seconds if the machine expects a duration.
  ///
  /// - Returns: `nil` if the form does not admit the value.
  public func read(as kind: ValueForm.Kind) -> Value? {
    switch (kind, self) {
    case (.duration(let range), .duration(let length)): range.contains(length) ? self : nil
    case (.duration(let range), .integer(let seconds)):
      Self.duration(of: Double(seconds), in: range)
    case (.duration(let range), .number(let seconds)): Self.duration(of: seconds, in: range)
    case (.wholeNumber(let range), .integer(let number)): range.contains(Int(number)) ? self : nil
    case (.number(let range), .integer(let number)): range.contains(Double(number)) ? self : nil
    case (.number(let range), .number(let number)): range.contains(number) ? self : nil
    case (.flag, .flag), (.text, .text), (.hexadecimal, .text): self
    case (.choice(let words), .text(let word)): words.contains(word) ? self : nil
    default: nil
    }
  }

  private static func duration(of seconds: Double, in range: ClosedRange<Interval>) -> Value? {
    let nanoseconds = (seconds * 1e9).rounded()
    guard abs(nanoseconds) < 9e18 else { return nil }
    let length = Interval(nanoseconds: Int64(nanoseconds))
    return range.contains(length) ? .duration(length) : nil
  }
}

extension [Argument] {
  /// Converts offered arguments to the forms that the machine declares; an argument that does not fit stays
  /// unchanged.
  func read(as forms: ArgumentForms?) -> [Argument] {
    guard let forms else { return self }
    return map { argument in
      guard let form = forms.forms.first(where: { $0.name == argument.name }) else { return argument }
      return Argument(argument.name, argument.value.read(as: form.kind) ?? argument.value)
    }
  }
}
