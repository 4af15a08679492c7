public import Journal
public import System
import Basics

/// A line that shows how a command is used.
public struct Example: Equatable {
  /// The whole line, as it is typed into a shell.
  public var line: String
  /// What it does.
  public var meaning: String

  public init(_ line: String, _ meaning: String) {
    self.line = line
    self.meaning = meaning
  }
}

/// A heading of help, and the options that stand below it.
public struct OptionGroup: Equatable, Sendable {
  /// What the options are about: `Real lock`.
  public var heading: String
  /// The names of the options; which of them there are is the command's.
  public var names: [String]

  public init(_ heading: String, _ names: [String]) {
    self.heading = heading
    self.names = names
  }
}

/// A command of `lockstep`: its declaration, from which help, completions and the manual are made, and its work.
public struct Command {
  /// Its name.
  public let name: String
  /// What it does, in one line.
  public let summary: String
  /// What help says beside the options.
  public let discussion: String
  /// The first of them has what the command cannot do without.
  public let examples: [Example]
  public let operands: OperandForm?
  public let options: [OptionForm]
  /// The headings of its options in help; none where one list is short enough.
  public let groups: [OptionGroup]
  /// Reads the words after its name, and does nothing.
  public let check: ([String]) throws(UsageError) -> Void
  /// Does what the words after its name ask for; `nil` where that is help.
  private let perform: ([String], Console, SettingsSource) throws(UsageError) -> CommandStatus?
  /// What a file of settings may say of it; `nil` where that is nothing.
  public let section: SettingsSection?

  /// Declares a command.
  ///
  /// - Parameters:
  ///   - defaults: what holds where nothing is said.
  ///   - settings: where it is kept which file of settings holds, for a command that takes what a file says.
  ///   - groups: the headings of its options in help.
  ///   - body: does what was asked for, and gives the exit status.
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

  /// Runs it on the words after its name.
  ///
  /// - Parameter source: where options are looked for that the words leave out.
  public func run(
    _ words: [String], _ console: Console, _ source: SettingsSource = .none
  ) throws(UsageError) -> CommandStatus {
    if let status = try perform(words, console, source) { return status }
    console.print(help)
    return .agree
  }
}

extension Command {
  /// Declares a command of which what is typed knows itself what is to be done.
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
  /// Every command has it.
  public static let help = OptionForm(
    name: "help", short: "h", summary: "Shows this help.", example: "", kind: .text
  )
}
