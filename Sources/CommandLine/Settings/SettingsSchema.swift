public import Basics
import Documents

extension CommandSet {
  /// The JSON Schema of a file of settings: the options of all commands that one says something of.
  public func settingsSchema(title: String, summary: String) -> JSON {
    let commands = all.compactMap { command in
      command.section.map {
        Form.Field.optional(
          $0.command, .mapping($0.fields, others: nil), "What holds for 'lockstep \($0.command)'.")
      }
    }
    let parent = Form.Field.optional("inherits", .text, "The profile that says what this one does not.")
    let profile = Form.mapping([parent] + commands, others: nil)
    let profiles = Form.Field.required(
      "profiles", .mapping([], others: profile),
      "The profiles, by their names; the one called '\(SettingsFile.usualProfile)' holds where none is named."
    )
    return Form.mapping([profiles], others: nil).schema(title: title, summary: summary)
  }
}

extension SettingsSection {
  fileprivate var fields: [Form.Field] {
    options.filter(\.isSettable).map { .optional($0.form.name, $0.schema, $0.form.summary) }
  }
}

extension SettableOption {
  /// What may stand behind its name.
  fileprivate var schema: Form {
    guard form.placeholder != nil else {
      return form.repetition == .counts ? .either([.flag, .wholeNumber(0...9)]) : .flag
    }
    return form.repetition == .adds ? .either([value, .list(value)]) : value
  }

  private var value: Form {
    if let beginning = form.reservation?.beginning, !beginning.isEmpty {
      return .pattern("^(?!\(beginning))")
    }
    guard case .choice(let words) = form.kind, let first = words.first,
      words.allSatisfy({ expected($0) == nil }), expected(first + "=") != nil
    else { return .either([.text, .number]) }
    return .words(words)
  }
}
