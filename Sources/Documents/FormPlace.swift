extension Form {
  /// A step on the way from a value to one within it.
  public enum Place: Hashable, Sendable {
    /// To the value of a key.
    case key(String)
    /// To a member of a list.
    case item
  }

  /// The forms that a value on a way may have, with what is defined elsewhere in its place.
  public func forms(at path: [Place], definitions: [(name: String, form: Form)] = []) -> [Form] {
    var forms = resolved(definitions)
    for place in path {
      forms = forms.flatMap { $0.below(place) }.flatMap { $0.resolved(definitions) }
    }
    return forms
  }

  /// The form without choices and references at its top.
  private func resolved(_ definitions: [(name: String, form: Form)]) -> [Form] {
    switch self {
    case .either(let forms): forms.flatMap { $0.resolved(definitions) }
    case .oneOrMore(let form): form.resolved(definitions) + [.list(form)]
    case .reference(let name):
      definitions.first { $0.name == name }.map { $0.form.resolved(definitions) } ?? []
    default: [self]
    }
  }

  private func below(_ place: Place) -> [Form] {
    switch (self, place) {
    case (.list(let form, _), .item): [form]
    case (.mapping(let fields, let others), .key(let name)),
      (.single(let fields, let others), .key(let name)):
      fields.first { $0.name == name }.map { [$0.form] } ?? others.map { [$0] } ?? []
    case (.record(let fields, _), .key(let name)): fields.first { $0.name == name }.map { [$0.form] } ?? []
    default: []
    }
  }

  /// The keys that a mapping of this form may have.
  public var fields: [Field] {
    switch self {
    case .mapping(let fields, _), .record(let fields, _), .single(let fields, _): fields
    default: []
    }
  }

  /// The words that may stand for a value of this form.
  public var choices: [String] {
    switch self {
    case .word(let word): [word]
    case .words(let words): words
    case .flag: ["true", "false"]
    default: []
    }
  }

  /// Whether a mapping of this form has one key alone.
  public var isSingle: Bool { if case .single = self { true } else { false } }

  /// Whether it is a list.
  public var isList: Bool { if case .list = self { true } else { false } }
}
