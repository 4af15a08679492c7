import CommandLine
import Journal
import System
import Basics

extension Command {
  /// One run of a night; nothing for people.
  ///
  /// The first line of its input names the file that it holds while it lives. It ends, as after Ctrl-C, with its input,
  /// and so with the night that started it, however that ends. While its radio gets on it says so, twice a second.
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
      // Held before the input is looked at: who finds the file free can be sure that we shall see the end.
      let held = try checked { try HeldFile(path) }
      guard let file = held else {
        throw UsageError("\(path) is held by another process")
      }
      guard !EndOfInput.isAlreadyReached else { return .incomplete }
      return withExtendedLifetime(file) {
        ParentLink.begin()
        // What is in quarantine is excused by the night, which shows what it did.
        let isRun = words.first == Command.run.name
        return CommandSet.lockstep.run(
          words + (isRun ? ["--ignore-quarantine"] : []), console, takesSettings: false)
      }
    }
  }
}

/// What ties a child of a night to it.
private enum ParentLink {
  /// How often a sign of life is shown.
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
      // With nobody left to kill it, one that is stuck kills itself: its dongle is wanted.
      while !Heartbeat.isStuck { rest(for: period) }
      Host.killProcess()
    }
  }
}
