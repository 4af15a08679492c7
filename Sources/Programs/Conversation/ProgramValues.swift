package import Basics

extension Value {
  /// The forms of a value in the lines of programs.
  package static let expectation = #"true, false, a number, a text, {"duration":"3 s"}, a list or an object"#

  /// Reads a value; `nil` if it is invalid.
  package init?(_ json: JSON) {
    switch json {
    case .flag(let value): self = .flag(value)
    case .text(let value): self = .text(value)
    case .number(let text):
      guard let value = Int(text).map(Value.integer) ?? Double(text).map(Value.number) else { return nil }
      self = value
    case .mapping(let members):
      if members.count == 1, members[0].name == "duration" {
        guard case .text(let text) = members[0].value, let interval = Interval(text: text) else { return nil }
        self = .duration(interval)
        return
      }
      var fields: [(name: String, value: Value)] = []
      for member in members {
        guard let value = Value(part: member.value) else { return nil }
        fields.append((member.name, value))
      }
      self = .record(fields)
    case .list(let members):
      let values = members.compactMap { Value(part: $0) }
      guard values.count == members.count else { return nil }
      self = .list(values)
    case .null: return nil
    }
  }

  /// Reads a part of a list or an object; `null` is a part without a value.
  private init?(part json: JSON) {
    if json == .null { self = .absent } else { self.init(json) }
  }
}
