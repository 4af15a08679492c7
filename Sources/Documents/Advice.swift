import Basics

/// What would put a problem right.
public enum Advice: Hashable, Sendable {
  /// Words for a person.
  case words(String)
  /// The name that was most likely meant in place of the one that is written.
  case name(String, insteadOf: String)

  /// What a person reads.
  public var text: String {
    switch self {
    case .words(let words): words
    case .name(let name, _): "did you mean `\(name)`?"
    }
  }
}

extension Advice: ExpressibleByStringInterpolation {
  /// Words for a person.
  public init(stringLiteral value: String) { self = .words(value) }
}

extension Advice {
  /// The name that is near, else what there is to choose from; `nil` where there is nothing.
  ///
  /// - Parameter choice: says what there is to choose from.
  public static func nearest(
    to text: String, of names: [String], or choice: ([String]) -> String = shortChoice
  ) -> Advice? {
    if let nearest = nearestName(to: text, in: names) { return .name(nearest, insteadOf: text) }
    return names.isEmpty ? nil : .words(choice(names))
  }

  /// The first of what there is to choose from.
  public static func shortChoice(_ names: [String]) -> String {
    let limit = 12
    return "expected \(names.prefix(limit).joined(separator: ", "))\(names.count > limit ? ", …" : "")"
  }

  /// The text of a scalar with the name that was meant in it; `nil` where it cannot be told which part is meant.
  func correcting(_ scalar: String) -> String? {
    guard case .name(let name, let wrong) = self, !wrong.isEmpty else { return nil }
    let pieces = scalar.split(separator: wrong, omittingEmptySubsequences: false)
    return pieces.count == 2 ? pieces.joined(separator: name) : nil
  }
}
