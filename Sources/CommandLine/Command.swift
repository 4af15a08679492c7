public import Journal
public import System
import Basics

/// An example of a command line.
public struct Example: Equatable {
  /// The complete line, as typed into a shell.
  public var line: String
  /// What the command line does.
  public var meaning: String

  public init(_ line: String, _ meaning: String) {
    self.line = line
    self.meaning = meaning
  }
}

/// A heading in the help, with its options.
public struct OptionGroup: Equatable, Sendable {
  /// The heading: `Real lock`.
  public var heading: String
  /// The names of the options; a command may have only some of them.
  public var names: [String]

  public init(_ heading: String, _ names: [String]) {
    self.heading = heading
    self.names = names
  }
}

/// A command of `lockstep`: its declaration, which also yields help, completions and manual, and its
/// implementation.
public struct Command {
  /// The name of the command.
  public let name: String
  /// The purpose of the command, in one line.
  public let summary: String
  /// The text of the help besides the options.
  public let discussion: String
  /// The examples; the first contains everything that the command requires.
  public let examples: [Example]
  public let operands: OperandForm?
  public let options: [OptionForm]
  /// The groups of options in the help; empty if a single list is short enough.
  public let groups: [OptionGroup]
  /// Parses the words after the name, without any effect.
  public let check: ([String]) throws(UsageError) -> Void
  /// Executes the words after the name; returns `nil` if they request help.
  private let perform: ([String], Console, SettingsSource) throws(UsageError) -> CommandStatus?
  /// The settings that a file may contain for this command; `nil` if there are none.
  public let section: SettingsSection?

  /// Declares a command.
  ///
  /// - Parameters:
  ///   - defaults: the values without any option.
  ///   - settings: where to store the selection of a settings file, for a command that accepts one.
  ///   - groups: the groups of its options in the help.
  ///   - body: executes the command and returns the exit status.
  public init<Values>(
    _ name: String, _ summary: String, discussion: String = "", examples: [Example] = [],
    options: [Option<Values>] = [], operands: ArgumentParser<Values>.Operands? = nil,
    defaults: @escaping @autoclosure () -> Values, settings: WritableKeyPath<Values, SettingsChoice>? = nil,
    groups: [OptionGroup] = [],
    body: @escaping (Values, Console) throws(UsageError) -> CommandStatus
  ) {
    let parser = ArgumentParser(options: options, operands: operands)
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.operands = operands?.form
    self.options = options.map(\.form) + [.help]
    self.groups = groups
    check = { words throws(UsageError) in _ = try parser.parse(words, into: defaults()) }
    section = settings.map { _ in SettingsSection(name, options, defaults) }
    perform = { words, console, source throws(UsageError) in
      guard let reading = try parser.read(words, into: defaults()) else { return nil }
      guard let settings else { return try body(reading.values, console) }
      let configured = try ConfiguredWords(
        name, parser, words, reading, defaults(), keeping: settings, from: source)
      if let text = configured.shown {
        console.print(text)
        return .agree
      }
      return try body(configured.values, console)
    }
  }

  /// Runs the command with the words after its name.
  ///
  /// - Parameter source: where to find options that are missing on the command line.
  public func run(
    _ words: [String], _ console: Console, _ source: SettingsSource = .none
  ) throws(UsageError) -> CommandStatus {
    if let status = try perform(words, console, source) { return status }
    console.print(help)
    return .agree
  }
}

extension Command {
  /// Declares a command whose values can execute themselves.
  public init<Values>(
    _ name: String, _ summary: String, discussion: String = "", examples: [Example] = [],
    options: [Option<Values>], operands: ArgumentParser<Values>.Operands? = nil,
    defaults: @escaping @autoclosure () -> Values, settings: WritableKeyPath<Values, SettingsChoice>? = nil,
    groups: [OptionGroup] = [],
    perform: @escaping (Values) -> (Console) throws(UsageError) -> CommandStatus
  ) {
    self.init(
      name, summary, discussion: discussion, examples: examples, options: options, operands: operands,
      defaults: defaults(), settings: settings, groups: groups
    ) { values, console throws(UsageError) in try perform(values)(console) }
  }
}

extension OptionForm {
  /// The option of every command that requests help.
  public static let help = OptionForm(
    name: "help", short: "h", summary: "Shows this help.", example: "", kind: .text
  )
}
