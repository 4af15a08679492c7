import Automata
public import Basics

/// A reading whose value is not the one that is due: the first part that differs.
public struct WrongReading: Equatable, Sendable {
  /// The name of the reading.
  public var reading: String
  /// The part that differs, such as `[0].user`; empty for the whole value.
  public var part: String
  /// The value that is due.
  public var due: Value
  /// The value that the device showed.
  public var shown: Value
  /// What gave the due value: a stimulus and its time; `nil` if it is that of the beginning.
  public var origin: String?

  /// The reading and its part.
  public var name: String { reading + part }

  /// The part without the numbers of elements.
  var kind: String { name.filter { !$0.isNumber } }
}

extension ValueForm.Kind {
  /// The first part of a value that differs from the one that is due, beyond what the form and the slack permit.
  ///
  /// A part that is unknown differs from nothing.
  func difference(
    due: Value, shown: Value, slack: Interval
  ) -> (part: String, due: Value, shown: Value)? {
    if due == .unknown || shown == .unknown || due == shown { return nil }
    switch (self, due, shown) {
    case (.number, .number(let left), .integer(let right)):
      return left == Double(right) ? nil : ("", due, shown)
    case (.instant(let precision), .instant(let left), .instant(let right)):
      let distance = left > right ? left - right : right - left
      return distance <= precision + slack ? nil : ("", due, shown)
    case (.list(let element, _), .list(let left), .list(let right)):
      for (index, pair) in zip(left, right).enumerated() {
        if let found = element.difference(due: pair.0, shown: pair.1, slack: slack) {
          return ("[\(index)]" + found.part, found.due, found.shown)
        }
      }
      return left.count == right.count ? nil : (".size()", .integer(left.count), .integer(right.count))
    case (.record(let forms), .record(let left), .record(let right)):
      for (form, pair) in zip(forms, zip(left, right)) {
        if let found = form.kind.difference(due: pair.0.value, shown: pair.1.value, slack: slack) {
          return (".\(form.name)" + found.part, found.due, found.shown)
        }
      }
      return nil
    case (.map(_, let kind, _), .map(let left), .map(let right)):
      for entry in left {
        guard let other = right.first(where: { $0.key == entry.key }) else {
          return ("[\(entry.key)]", entry.value, .absent)
        }
        if let found = kind.difference(due: entry.value, shown: other.value, slack: slack) {
          return ("[\(entry.key)]" + found.part, found.due, found.shown)
        }
      }
      return right.first { entry in !left.contains { $0.key == entry.key } }
        .map { ("[\($0.key)]", .absent, $0.value) }
    default: return ("", due, shown)
    }
  }
}
