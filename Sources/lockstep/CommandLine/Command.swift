import Documents
import Harness

/// A command of `lockstep`.
struct Command {
  /// Its name.
  let name: String
  /// What it does, in one line.
  let summary: String
  /// What help says beside the options.
  let discussion: String
  /// How it is called, and its options.
  let synopsis: String
  let options: String
  /// Runs it on the words after its name.
  let run: ([String], Console) throws(UsageError) -> CommandStatus

  init<Values>(
    _ name: String, _ summary: String, discussion: String = "", _ parser: ArgumentParser<Values>,
    defaults: @escaping () -> Values,
    body: @escaping (Values, Console) throws(UsageError) -> CommandStatus
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    synopsis = "lockstep \(name) \(parser.synopsis)"
    options = parser.help
    let help = Command.help(name: name, summary, discussion, synopsis: synopsis, options: options)
    run = { words, console throws(UsageError) in
      switch try parser.parse(words, into: defaults()) {
      case .help:
        console.print(help)
        return .agree
      case .run(let values): return try body(values, console)
      }
    }
  }

  /// The whole help of the command.
  var help: String { Command.help(name: name, summary, discussion, synopsis: synopsis, options: options) }

  private static func help(
    name: String, _ summary: String, _ discussion: String, synopsis: String, options: String
  ) -> String {
    "\(synopsis)\n\n\(summary)\n\n" + options + (discussion.isEmpty ? "" : "\n" + discussion)
  }
}

/// All commands, and what stands around them.
enum Commands {
  static var all: [Command] {
    [
      .run, .fuzz, .cover, .mutants, .replay, .report, .list, .validate, .schema, .machines, .emulate, .scan,
      .packets, .doctor, .bench, .version,
    ]
  }

  static var help: String {
    let rows = all.map { ($0.name, $0.summary) }
    return """
      lockstep COMMAND [OPTION…]

      Feeds the same events to a model and to a lock, and stops where they disagree.

      \(columns(rows))
      'lockstep COMMAND --help' says more of each.

      Exit status: 0 all agree, 1 divergence, 2 the command or a scenario is wrong, 3 trouble in the lab,
      4 nothing selected, 5 stopped before the end, 6 stopped by a safety limit, 70 a fault of lockstep itself.

      """
  }

  /// Runs what a command line says, and gives the exit status.
  static func run(_ words: [String], _ console: Console) -> CommandStatus {
    do {
      return try dispatch(words, console)
    } catch {
      console.say("lockstep: \(error.message)")
      return .usage
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
      console.print(
        try words.dropFirst().first.map { name throws(UsageError) in try command(name).help } ?? help)
      return .agree
    default:
      do {
        return try command(first).run(Array(words.dropFirst()), console)
      } catch {
        throw UsageError(
          "\(error.message)\nSee 'lockstep \(all.contains { $0.name == first } ? "\(first) " : "")--help'.")
      }
    }
  }

  private static func command(_ name: String) throws(UsageError) -> Command {
    if let command = (all + [.fuzzWorker]).first(where: { $0.name == name }) { return command }
    let names = all.map(\.name)
    let nearest = nearestName(to: name, in: names).map { "did you mean '\($0)'?" }
    let kind = name.hasPrefix("-") ? "option" : "command"
    throw UsageError(
      "unknown \(kind) '\(name)': \(nearest ?? "the commands are \(names.joined(separator: ", "))")")
  }
}
