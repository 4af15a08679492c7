import CommandLine
import Journal
import System
import Basics

extension Command {
  /// One run of a nightly run; hidden from users.
  ///
  /// The first line of its input names a file that it locks while it runs. It stops, as after Ctrl-C, at the end of
  /// its input, and therefore with the nightly process that started it. While its radio makes progress, it prints a
  /// heartbeat twice a second.
  static var nightlyCase: Command {
    Command(
      "nightly-case", "Drives a case for 'lockstep nightly'.",
      operands: .init(
        placeholder: "WORD", summary: "A command of lockstep and its words.", count: 1...Int.max,
        path: \.self), defaults: [String]()
    ) { words, console throws(UsageError) in
      guard let path = EndOfInput.firstLine() else {
        throw UsageError("this command is for 'lockstep nightly' alone")
      }
      // Lock the file before checking the input: a process that finds the file unlocked then knows that this one
      // will notice the end.
      let held = try checked { try HeldFile(path) }
      guard let file = held else {
        throw UsageError("\(path) is held by another process")
      }
      guard !EndOfInput.isAlreadyReached else { return .incomplete }
      return withExtendedLifetime(file) {
        ParentLink.begin()
        // The nightly run handles the quarantine itself, and shows the results of quarantined cases.
        let isRun = words.first == Command.run.name
        return CommandSet.lockstep.run(
          words + (isRun ? ["--ignore-quarantine"] : []), console, takesSettings: false)
      }
    }
  }
}

/// Ties a child process to its nightly run.
private enum ParentLink {
  /// The interval of heartbeats.
  private static let period = Interval.milliseconds(500)

  static func begin() {
    EndOfInput.watch()
    inBackground {
      var last = MonotonicClock.now - period
      while !EndOfInput.isReached {
        let now = MonotonicClock.now
        if now - last >= period, !Heartbeat.isStuck {
          last = now
          try? OutputFile.standardOutput().write(".\n")
        }
        rest(for: .milliseconds(10))
      }
      Interruption.request()
      // No parent is left to kill a stuck process: it must kill itself to release its dongle.
      while !Heartbeat.isStuck { rest(for: period) }
      Host.killProcess()
    }
  }
}
