import Basics
import Documents

/// The setting of one option in a file.
public struct Setting: Equatable {
  /// The name of the option.
  public var name: String
  /// The values, one for each repetition; empty strings for a flag. There are none if it is switched off.
  public var values: [String]
  /// The location of the setting: `.lockstep.yaml:5:20`.
  public var place: String

  /// The option in the form of command-line words.
  public var words: [String] { values.map { optionWord(name, $0) } }
}

/// Returns an option as one word.
func optionWord(_ name: String, _ value: String) -> String {
  "--" + name + (value.isEmpty ? "" : "=" + value)
}

/// The options that a settings file may contain for a command.
public struct SettingsSection {
  /// The name of the command.
  public let command: String
  let options: [SettableOption]

  init<Values>(_ command: String, _ options: [Option<Values>], _ defaults: @escaping () -> Values) {
    self.command = command
    self.options = options.map { option in
      SettableOption(
        form: option.form, relocated: option.relocated, problem: option.problem,
        expected: { text in
          var values = defaults()
          return option.store(&values, text)
        })
    }
  }
}

/// An option that a file may set.
struct SettableOption {
  let form: OptionForm
  let relocated: (String, (String) -> String) -> String
  /// Returns the problem of a well-formed value.
  let problem: (String) -> ValueProblem?
  /// Returns the expected form if the value is invalid; `nil` otherwise.
  let expected: (String) -> String?

  /// Whether a file may set the option, at least to some values.
  var isSettable: Bool { form.reservation?.beginning.isEmpty != true }
}

extension SettableOption {
  /// Reads the values of the option; returns `nil` after reporting a problem.
  func values(_ cursor: Cursor, by move: (String) -> String) -> [String]? {
    guard form.placeholder != nil else { return times(cursor).map { Array(repeating: "", count: $0) } }
    let items = form.repetition == .adds ? cursor.listOrOne() : [cursor]
    return items.all { item in value(item).map { relocated($0, move) } }
  }

  /// Reads the number of repetitions of a flag.
  private func times(_ cursor: Cursor) -> Int? {
    if form.repetition == .counts, Int(cursor.node.text ?? "") != nil { return cursor.integer(in: 0...9) }
    return cursor.flag().map { $0 ? 1 : 0 }
  }

  private func value(_ cursor: Cursor) -> String? {
    if cursor.isNull {
      cursor.reportExpected(
        expected("") ?? "text",
        hint: cursor.isMissing ? nil : "leave the option out, or quote what is meant as it stands")
      return nil
    }
    guard let text = cursor.text(expected("") ?? "text") else { return nil }
    if let reservation = form.reservation, text.hasPrefix(reservation.beginning) {
      cursor.report(.conflict, "`\(text)` is for the command line alone: \(reservation.reason)")
      return nil
    }
    if let expected = expected(text) {
      cursor.reportExpected(expected, hint: nearest(to: text))
      return nil
    }
    if let problem = problem(text) {
      cursor.report(problem.code, problem.message, hint: problem.hint)
      return nil
    }
    return text
  }

  private func nearest(to text: String) -> Advice? {
    guard case .choice(let words) = form.kind, let word = nearestName(to: text, in: words) else { return nil }
    return .name(word, insteadOf: text)
  }
}
