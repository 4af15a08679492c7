public import Automata
public import Basics

/// The device breaks no rule of its protocol while nothing tampers with the link. A known quirk of its kind is a
/// diagnostic and no violation.
public struct NoViolation: Invariant {
  /// The conditions under which a violation proves nothing.
  public let excuses: [String]

  /// Makes the invariant.
  public init(unless excuses: [String] = []) {
    self.excuses = excuses
  }

  public mutating func reset(isNew: Bool) {}

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    guard case .observation(.violation(let violation)) = event, violation.quirk == nil,
      !excuses.contains(where: view.mayHold)
    else {
      return nil
    }
    return "the device broke a rule: \(violation)"
  }
}

/// Each reading has the form that the machine declares for it. Undeclared readings may have any.
public struct ReadingsAsDeclared: Invariant {
  private let forms: [ValueForm]

  /// Checks readings against their forms.
  public init(_ forms: [ValueForm]) { self.forms = forms }

  public mutating func reset(isNew: Bool) {}

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    guard case .observation(.reading(let reading)) = event,
      let form = forms.first(where: { $0.name == reading.name }), !isFit(reading.value, form.kind)
    else { return nil }
    let value = if case .text(let text) = reading.value { "the text '\(text)'" } else { "\(reading.value)" }
    return "\(reading.name) is \(value), and not \(form.kind.expectation)"
  }

  /// Whether a value fits. A program writes a duration as text or as a number of seconds.
  private func isFit(_ value: Value, _ kind: ValueForm.Kind) -> Bool {
    if case .duration = kind { return value.read(as: kind) != nil }
    return kind.admits(value)
  }
}
