import Journal
import Basics

/// A line that shows how a command is used.
struct Example: Equatable {
  /// The whole line, as it is typed into a shell.
  var line: String
  /// What it does.
  var meaning: String

  init(_ line: String, _ meaning: String) {
    self.line = line
    self.meaning = meaning
  }
}

/// A command of `lockstep`: its declaration, from which help, completions and the manual are made, and its work.
struct Command {
  /// Its name.
  let name: String
  /// What it does, in one line.
  let summary: String
  /// What help says beside the options.
  let discussion: String
  /// The first of them has what the command cannot do without.
  let examples: [Example]
  let operands: OperandForm?
  let options: [OptionForm]
  /// Reads the words after its name, and does nothing.
  let check: ([String]) throws(UsageError) -> Void
  /// Runs it on the words after its name.
  let run: ([String], Console) throws(UsageError) -> CommandStatus

  init<Values>(
    _ name: String, _ summary: String, discussion: String = "", examples: [Example] = [],
    options: [Option<Values>] = [], operands: ArgumentParser<Values>.Operands? = nil,
    defaults: @escaping @autoclosure () -> Values,
    body: @escaping (Values, Console) throws(UsageError) -> CommandStatus
  ) {
    let parser = ArgumentParser(options: options, operands: operands)
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.operands = operands?.form
    self.options = options.map(\.form) + [.help]
    check = { words throws(UsageError) in _ = try parser.parse(words, into: defaults()) }
    run = { words, console throws(UsageError) in
      switch try parser.parse(words, into: defaults()) {
      case .help:
        // It can be found by its name, since it is being run.
        console.print(try Commands.named(name).help)
        return .agree
      case .run(let values): return try body(values, console)
      }
    }
  }
}

extension Command {
  /// The same, where what is typed knows itself what is to be done.
  init<Values>(
    _ name: String, _ summary: String, discussion: String = "", examples: [Example] = [],
    options: [Option<Values>], operands: ArgumentParser<Values>.Operands? = nil,
    defaults: @escaping @autoclosure () -> Values,
    perform: @escaping (Values) -> (Console) throws(UsageError) -> CommandStatus
  ) {
    self.init(
      name, summary, discussion: discussion, examples: examples, options: options, operands: operands,
      defaults: defaults()
    ) { values, console throws(UsageError) in try perform(values)(console) }
  }
}

extension OptionForm {
  /// Every command has it.
  static let help = OptionForm(
    name: "help", short: "h", summary: "Shows what there is to know of the command.", example: "", kind: .text
  )
}

/// All commands, and what stands around them.
enum Commands {
  static var all: [Command] {
    [
      .run, .fuzz, .cover, .mutants, .replay, .report, .history, .clean, .list, .validate, .schema, .machines,
      .emulate, .scan, .packets, .devices, .doctor, .nightly, .schedule, .bench, .completions, .man, .version,
    ]
  }

  /// Those that other programs call, and nobody else.
  private static var hidden: [Command] {
    [
      .fuzzWorker, .labWatchdog, .lockWatcher, .nightlyCase, .leaseContestant, .complete, .execReference,
      .airSearch, .airTable, .simulatedNights, .faulty,
    ]
  }

  /// Runs what a command line says, and gives the exit status.
  static func run(_ words: [String], _ console: Console) -> CommandStatus {
    do {
      return try dispatch(words, console)
    } catch {
      console.say("lockstep: \(error.message)")
      return error.status
    }
  }

  private static func dispatch(_ words: [String], _ console: Console) throws(UsageError) -> CommandStatus {
    guard let first = words.first else {
      console.say(help)
      return .usage
    }
    switch first {
    case "--help", "-h":
      console.print(help)
      return .agree
    case "--version":
      return try Command.version.run([], console)
    case "help":
      console.print(try help(on: words.dropFirst()))
      return .agree
    default:
      do {
        return try named(first).run(Array(words.dropFirst()), console)
      } catch {
        guard error.status == .usage else { throw error }
        throw UsageError(
          "\(error.message)\nSee 'lockstep \(all.contains { $0.name == first } ? "\(first) " : "")--help'.")
      }
    }
  }

  /// What `lockstep help` says of a command, or of an option of it.
  private static func help(on words: ArraySlice<String>) throws(UsageError) -> String {
    guard let name = words.first else { return help }
    let command = try named(name)
    guard let option = words.dropFirst().first else { return command.help }
    return try command.help(on: option)
  }

  static func named(_ name: String) throws(UsageError) -> Command {
    if let command = (all + hidden).first(where: { $0.name == name }) { return command }
    let kind = name.hasPrefix("-") ? "option" : "command"
    let hint = hint(for: name, of: all.map(\.name), saying: "the commands are")
    throw UsageError("unknown \(kind) '\(name)': \(hint)")
  }
}
