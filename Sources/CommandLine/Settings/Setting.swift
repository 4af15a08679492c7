import Basics
import Documents

/// What a file says of one option.
public struct Setting: Equatable {
  /// The option, by its name.
  public var name: String
  /// Its values, one for each time that it is given; of a flag they are empty. None where it is switched off.
  public var values: [String]
  /// Where that stands: `.lockstep.yaml:5:20`.
  public var place: String

  /// The option as words of a command line.
  public var words: [String] { values.map { optionWord(name, $0) } }
}

/// An option as one word.
func optionWord(_ name: String, _ value: String) -> String {
  "--" + name + (value.isEmpty ? "" : "=" + value)
}

/// What a file of settings may say of a command: its options.
public struct SettingsSection {
  /// The command, by its name.
  public let command: String
  let options: [SettableOption]

  init<Values>(_ command: String, _ options: [Option<Values>], _ defaults: @escaping () -> Values) {
    self.command = command
    self.options = options.map { option in
      SettableOption(
        form: option.form, moved: option.moved, problem: option.problem,
        expected: { text in
          var values = defaults()
          return option.store(&values, text)
        })
    }
  }
}

/// An option as a file gives it.
struct SettableOption {
  let form: OptionForm
  let moved: (String, (String) -> String) -> String
  /// What is wrong with a value that has the form of one.
  let problem: (String) -> ValueProblem?
  /// What was expected in place of a value; `nil` where it is one.
  let expected: (String) -> String?

  /// Whether a file may give it, with some value at least.
  var isSettable: Bool { form.reservation?.beginning.isEmpty != true }
}

extension SettableOption {
  /// Reads what stands behind its name; `nil` after it said what is wrong with that.
  func values(_ cursor: Cursor, by move: (String) -> String) -> [String]? {
    guard form.placeholder != nil else { return times(cursor).map { Array(repeating: "", count: $0) } }
    let items = form.repetition == .adds ? cursor.listOrOne() : [cursor]
    return items.all { item in value(item).map { moved($0, move) } }
  }

  /// How often a flag is given.
  private func times(_ cursor: Cursor) -> Int? {
    if form.repetition == .counts, Int(cursor.node.text ?? "") != nil { return cursor.integer(in: 0...9) }
    return cursor.flag().map { $0 ? 1 : 0 }
  }

  private func value(_ cursor: Cursor) -> String? {
    if cursor.isNull {
      cursor.reportExpected(
        expected("") ?? "text",
        hint: cursor.isNothing ? nil : "leave the option out, or quote what is meant as it stands")
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
