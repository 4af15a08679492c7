public import Documents

extension CommandSet {
  /// Validates a settings file, without any effect.
  public func checkSettings(_ bytes: [UInt8], name: String) throws(DocumentError) {
    try SettingsFile.check(bytes, name, all.compactMap(\.section))
  }

  /// The form of a settings file: the options of all commands that accept one.
  public var settingsForm: Form {
    let commands = all.compactMap { command in
      command.section.map {
        Form.Field.optional(
          $0.command, .mapping($0.fields, others: nil), "The options of 'lockstep \($0.command)'.")
      }
    }
    let parent = Form.Field.optional(
      "inherits", .text, "The profile from which this one inherits its other options.")
    let profile = Form.mapping([parent] + commands, others: nil)
    let profiles = Form.Field.required(
      "profiles", .mapping([], others: profile),
      "The profiles, by name. The profile '\(SettingsFile.usualProfile)' applies if no other one is "
        + "selected."
    )
    return .mapping([profiles], others: nil)
  }
}

extension SettingsSection {
  fileprivate var fields: [Form.Field] {
    options.filter(\.isSettable).map { .optional($0.form.name, $0.schema, $0.form.summary) }
  }
}

extension SettableOption {
  /// The form of the option's value.
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
