extension Form {
  /// A component of the path from a value to a value within it.
  public enum PathComponent: Hashable, Sendable {
    /// To the value of a key.
    case key(String)
    /// To a member of a list.
    case item
  }

  /// Returns the forms that a value at a path may have, with references replaced by their definitions.
  public func forms(at path: [PathComponent], definitions: [(name: String, form: Form)] = []) -> [Form] {
    var forms = resolved(definitions)
    for component in path {
      forms = forms.flatMap { $0.below(component) }.flatMap { $0.resolved(definitions) }
    }
    return forms
  }

  /// Returns the forms without choices and references at their top level.
  private func resolved(_ definitions: [(name: String, form: Form)]) -> [Form] {
    switch self {
    case .either(let forms): forms.flatMap { $0.resolved(definitions) }
    case .oneOrMore(let form): form.resolved(definitions) + [.list(form)]
    case .reference(let name):
      definitions.first { $0.name == name }.map { $0.form.resolved(definitions) } ?? []
    default: [self]
    }
  }

  private func below(_ component: PathComponent) -> [Form] {
    switch (self, component) {
    case (.list(let form, _), .item): [form]
    case (.mapping(let fields, let others), .key(let name)),
      (.single(let fields, let others), .key(let name)):
      fields.first { $0.name == name }.map { [$0.form] } ?? others.map { [$0] } ?? []
    case (.record(let fields, _), .key(let name)): fields.first { $0.name == name }.map { [$0.form] } ?? []
    default: []
    }
  }

  /// The possible keys of a mapping of this form.
  public var fields: [Field] {
    switch self {
    case .mapping(let fields, _), .record(let fields, _), .single(let fields, _): fields
    default: []
    }
  }

  /// The words that are valid for a value of this form.
  public var choices: [String] {
    switch self {
    case .word(let word): [word]
    case .words(let words): words
    case .flag: ["true", "false"]
    default: []
    }
  }

  /// Whether a mapping of this form has exactly one key.
  public var isSingle: Bool { if case .single = self { true } else { false } }

  /// Whether it is a list.
  public var isList: Bool { if case .list = self { true } else { false } }
}
