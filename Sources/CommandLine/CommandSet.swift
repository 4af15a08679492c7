public import Journal
public import System

/// All commands, and what is said of them together.
public struct CommandSet {
  /// What the program is for, in a sentence.
  public let purpose: String
  /// What people call, in the order in which help shows it.
  public let all: [Command]
  /// Processes that `lockstep` itself starts, and what the shells ask: help names none of them.
  public let hidden: [Command]
  /// Command lines that show what can be done.
  public let examples: [String]
  /// What a command may end with, and what that means.
  public let statuses: [(status: String, meaning: String)]

  /// Gathers commands.
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

  /// Runs what a command line says, and gives the exit status.
  ///
  /// - Parameter takesSettings: whether a file of settings says what the words leave out.
  public func run(_ words: [String], _ console: Console, takesSettings: Bool = true) -> CommandStatus {
    // What could not be found out because the end was asked for is no mistake of who asked.
    let isStopped = { (status: CommandStatus) in status == .usage && Interruption.isRequested }
    let status: CommandStatus
    do {
      status = try dispatch(words, console, takesSettings ? .files { all.compactMap(\.section) } : .none)
    } catch {
      status = error.status
      let words = isStopped(status) ? "the end was asked for before anything was done" : error.message
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

  /// What `lockstep help` says of a command, or of an option of it.
  private func help(on words: ArraySlice<String>) throws(UsageError) -> String {
    guard let name = words.first else { return help }
    let command = try named(name)
    guard let option = words.dropFirst().first else { return command.help }
    return try command.help(on: option)
  }

  /// Whether there is a command of a name.
  public func has(_ name: String) -> Bool { (all + hidden).contains { $0.name == name } }

  /// The command of a name.
  ///
  /// - Throws: that there is none, and which one may be meant.
  public func named(_ name: String) throws(UsageError) -> Command {
    if let command = (all + hidden).first(where: { $0.name == name }) { return command }
    let kind = name.hasPrefix("-") ? "option" : "command"
    let hint = hint(for: name, of: all.map(\.name), saying: "the commands are")
    throw UsageError("unknown \(kind) '\(name)': \(hint)")
  }
}
