package import CommandLine
import Devices
import Documents
import Harness
package import Journal
package import System

extension CommandSet {
  /// The commands of `lockstep`.
  package static var lockstep: CommandSet {
    CommandSet(
      purpose: "Feeds the same events to a model and to a lock, and stops where they disagree.",
      all: [
        .run, .fuzz, .cover, .mutants, .replay, .report, .history, .clean, .list, .validate, .schema,
        .machines, .lsp, .bindings, .new, .tour, .emulate, .scan, .gatt, .packets, .devices, .doctor,
        .nightly,
        .schedule,
        .bench,
        .completions, .man,
        .version,
      ],
      hidden: [
        .fuzzWorker, .labWatchdog, .lockWatcher, .nightlyCase, .complete,
      ],
      examples: [
        "lockstep tour", "lockstep run", "lockstep run Scenarios/sesame5 --seed 42",
        "lockstep fuzz sesame --duration 10min",
      ],
      statuses: statuses.map { ("\($0.status.rawValue)", $0.meaning) } + [("130, 143", "interrupted twice")])
  }

  /// Runs this process's command line, and exits.
  package func perform() -> Never {
    StandardStreams.take()
    FailedWrites.ignore()
    StatusSignal.block()
    let words = Invocation.words
    for word in words { Secrecy.conceal(word) }
    Host.exit(perform(words, on: Console()).rawValue)
  }

  /// Runs a command line and flushes its output.
  ///
  /// - Parameter takesSettings: whether a settings file supplies the options missing on the command line.
  /// - Returns: the exit status. It reports a failure if some output could not be written, because a reader of the
  ///   output alone would not notice.
  package func perform(_ words: [String], on console: Console, takesSettings: Bool = true) -> CommandStatus {
    let status = run(words, console, takesSettings: takesSettings)
    return console.finish() == nil ? status : status.withTrouble
  }

  /// The exit statuses of a run.
  package static let statuses: [(status: CommandStatus, meaning: String)] = [
    (.agree, "all agree"), (.divergence, "a divergence"),
    (.usage, "the command line or a scenario is invalid; nothing was run"),
    (.labFault, "a lab fault, such as no device or no answer"),
    (.nothingSelected, "no case was selected, or no case has a verdict"),
    (.incomplete, "stopped early, with a report; or fewer verdicts than required"),
    (.safetyLimit, "stopped by a safety limit, such as the movement budget of a lock"),
    (.internalFault, "an internal error of lockstep"),
  ]
}

extension SettingsFormat {
  /// The format of the settings of `lockstep`.
  static var lockstep: SettingsFormat {
    let commands = CommandSet.lockstep
    return SettingsFormat(form: commands.settingsForm) { bytes, name throws(DocumentError) in
      try commands.checkSettings(bytes, name: name)
    }
  }
}
