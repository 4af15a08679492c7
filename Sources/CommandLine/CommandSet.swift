public import Journal
public import System

/// All commands, with the information about them as a whole.
public struct CommandSet {
  /// The purpose of the program, in a sentence.
  public let purpose: String
  /// The commands for users, in the order of the help.
  public let all: [Command]
  /// The commands for processes that `lockstep` starts itself and for shell completions, which the help does not
  /// list.
  public let hidden: [Command]
  /// Typical command lines.
  public let examples: [String]
  /// The possible exit statuses and their meanings.
  public let statuses: [(status: String, meaning: String)]

  /// Creates a set of commands.
  public init(
    purpose: String, all: [Command], hidden: [Command] = [], examples: [String],
    statuses: [(status: String, meaning: String)]
  ) {
    self.purpose = purpose
    self.all = all
    self.hidden = hidden
    self.examples = examples
    self.statuses = statuses
  }

  /// Runs a command line, and returns the exit status.
  ///
  /// - Parameter takesSettings: whether a settings file supplies missing options.
  public func run(_ words: [String], _ console: Console, takesSettings: Bool = true) -> CommandStatus {
    // If an interruption prevented a check, that is not a usage error.
    let isStopped = { (status: CommandStatus) in status == .usage && Interruption.isRequested }
    let status: CommandStatus
    do {
      status = try dispatch(words, console, takesSettings ? .files { all.compactMap(\.section) } : .none)
    } catch {
      status = error.status
      let words = isStopped(status) ? "stopped before anything was done" : error.message
      console.say("lockstep: \(words)")
    }
    return isStopped(status) ? .incomplete : status
  }

  private func dispatch(
    _ words: [String], _ console: Console, _ source: SettingsSource
  ) throws(UsageError) -> CommandStatus {
    guard let first = words.first else {
      console.say(help)
      return .usage
    }
    switch first {
    case "--help", "-h":
      console.print(help)
      return .agree
    case "--version":
      return try named("version").run([], console)
    case "help":
      console.print(try help(on: words.dropFirst()))
      return .agree
    default:
      do {
        return try named(first).run(Array(words.dropFirst()), console, source)
      } catch {
        guard error.status == .usage else { throw error }
        throw UsageError(
          "\(error.message)\nSee 'lockstep \(all.contains { $0.name == first } ? "\(first) " : "")--help'.")
      }
    }
  }

  /// Returns the help on a command, or on one of its options.
  private func help(on words: ArraySlice<String>) throws(UsageError) -> String {
    guard let name = words.first else { return help }
    let command = try named(name)
    guard let option = words.dropFirst().first else { return command.help }
    return try command.help(on: option)
  }

  /// Returns whether there is a command with this name.
  public func has(_ name: String) -> Bool { (all + hidden).contains { $0.name == name } }

  /// Returns the command with this name.
  ///
  /// - Throws: an error that suggests a similar name if there is none.
  public func named(_ name: String) throws(UsageError) -> Command {
    if let command = (all + hidden).first(where: { $0.name == name }) { return command }
    let kind = name.hasPrefix("-") ? "option" : "command"
    let hint = hint(for: name, of: all.map(\.name), saying: "the commands are")
    throw UsageError("unknown \(kind) '\(name)': \(hint)")
  }
}
