package import Basics
package import Conformance

extension Value {
  /// The forms of a value in the lines of programs.
  package static let expectation = #"true, false, a number, a text or {"duration":"3 s"}"#

  /// Reads a value; `nil` if it is invalid.
  package init?(_ json: JSON) {
    switch json {
    case .flag(let value): self = .flag(value)
    case .text(let value): self = .text(value)
    case .number(let text):
      guard let value = Int(text).map(Value.integer) ?? Double(text).map(Value.number) else { return nil }
      self = value
    case .mapping(let members):
      guard members.count == 1, members[0].name == "duration", case .text(let text) = members[0].value,
        let interval = Interval(text: text)
      else { return nil }
      self = .duration(interval)
    case .null, .list: return nil
    }
  }
}

extension JSON {
  /// Creates the JSON form of a value; the closure encodes a duration.
  package init(_ value: Conformance.Value, duration: (Interval) -> JSON) {
    self =
      switch value {
      case .flag(let value): .flag(value)
      case .integer(let value): .integer(value)
      case .number(let value): .decimal(value)
      case .duration(let value): duration(value)
      case .text(let value): .text(value)
      }
  }
}
