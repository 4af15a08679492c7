extension OptionForm {
  /// An element of a command line that determines whether a file's value of an option applies.
  public enum Typed: Equatable, Sendable, ExpressibleByStringLiteral {
    /// An option whose value has this prefix.
    case option(String, beginning: String = "")
    /// At least this number of operands, with the name of the last one.
    case operands(Int, String)

    public init(stringLiteral name: String) { self = .option(name) }
  }

  /// Returns why a file's value of the option does not apply to a command line, to complete a sentence about its
  /// location; `nil` if it applies.
  ///
  /// - Parameter known: the options of the command.
  func override(by typed: TypedWords, of known: [OptionForm]) -> String? {
    if let rival = rivals.first(where: typed.contains) { return "overridden by \(rival.shown)" }
    guard !needs.isEmpty, !needs.contains(where: typed.contains) else { return nil }
    let usable = needs.filter { need in known.contains { need.isOption($0.name) } }
    return "ignored without \(usable.map(\.shown).joined(separator: " or "))"
  }
}

extension OptionForm.Typed {
  fileprivate func isOption(_ name: String) -> Bool {
    if case .option(name, _) = self { true } else { false }
  }

  /// The element as typed: `--device lock:…`.
  fileprivate var shown: String {
    switch self {
    case .option(let name, let beginning): "--" + name + (beginning.isEmpty ? "" : " \(beginning)…")
    case .operands(_, let name): name
    }
  }
}

/// The words with a higher precedence than the settings under consideration.
struct TypedWords {
  /// The options with their values, in order.
  var options: [(name: String, value: String)]
  var operands = 0

  func contains(_ typed: OptionForm.Typed) -> Bool {
    switch typed {
    case .option(let name, let beginning):
      // The last value counts.
      options.last { $0.name == name }?.value.hasPrefix(beginning) == true
    case .operands(let count, _): operands >= count
    }
  }
}
