import Basics

/// Advice on how to correct a problem.
public enum Advice: Hashable, Sendable {
  /// Words for a person.
  case words(String)
  /// The most likely intended name, instead of the name in the document.
  case name(String, insteadOf: String)

  /// The text for a person.
  public var text: String {
    switch self {
    case .words(let words): words
    case .name(let name, _): "did you mean `\(name)`?"
    }
  }
}

extension Advice: ExpressibleByStringInterpolation {
  /// Makes advice from words for a person.
  public init(stringLiteral value: String) { self = .words(value) }
}

extension Advice {
  /// Returns the name nearest to a text, or otherwise the possible choices; `nil` if there are none.
  ///
  /// - Parameter choice: Returns a description of the possible choices.
  public static func nearest(
    to text: String, of names: [String], or choice: ([String]) -> String = shortChoice
  ) -> Advice? {
    if let nearest = nearestName(to: text, in: names) { return .name(nearest, insteadOf: text) }
    return names.isEmpty ? nil : .words(choice(names))
  }

  /// Returns the first of the possible choices.
  public static func shortChoice(_ names: [String]) -> String {
    let limit = 12
    return "expected \(names.prefix(limit).joined(separator: ", "))\(names.count > limit ? ", …" : "")"
  }

  /// Returns the text of a scalar with the corrected name, or `nil` if it is ambiguous which part to correct.
  func correcting(_ scalar: String) -> String? {
    guard case .name(let name, let wrong) = self, !wrong.isEmpty else { return nil }
    let pieces = scalar.split(separator: wrong, omittingEmptySubsequences: false)
    return pieces.count == 2 ? pieces.joined(separator: name) : nil
  }
}
