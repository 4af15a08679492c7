extension OptionForm {
  /// Something that a command line may have, which decides whether what a file says of an option holds.
  public enum Typed: Equatable, Sendable, ExpressibleByStringLiteral {
    /// An option, with a value that begins so.
    case option(String, beginning: String = "")
    /// So many operands, of which the last is called this.
    case operands(Int, String)

    public init(stringLiteral name: String) { self = .option(name) }
  }

  /// Why what a file says of the option does not hold beside what is typed, as the rest of a sentence about the place;
  /// `nil` where it holds.
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

  /// As it is typed: `--device lock:…`.
  fileprivate var shown: String {
    switch self {
    case .option(let name, let beginning): "--" + name + (beginning.isEmpty ? "" : " \(beginning)…")
    case .operands(_, let name): name
    }
  }
}

/// What was said with more weight than what it is compared with.
struct TypedWords {
  /// The options with their values, in their order.
  var options: [(name: String, value: String)]
  var operands = 0

  func contains(_ typed: OptionForm.Typed) -> Bool {
    switch typed {
    case .option(let name, let beginning):
      // The last one holds.
      options.last { $0.name == name }?.value.hasPrefix(beginning) == true
    case .operands(let count, _): operands >= count
    }
  }
}
