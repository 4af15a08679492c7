import Harness

extension Command {
  static var replay: Command {
    Command(
      "replay", "Runs one scenario, or a saved counterexample, and prints the whole trace.",
      discussion: "It leaves no reports.\n",
      ArgumentParser(
        options: [
          RunArguments.device, RunArguments.seed, RunArguments.answerTimeout, RunArguments.format,
          RunArguments.color,
        ] + RunArguments.lab,
        operands: .init(placeholder: "FILE", summary: "The scenario.", count: 1...1, path: \.paths)),
      defaults: { RunArguments() }
    ) { arguments, console throws(UsageError) in
      let world = World(answerTimeout: arguments.answerTimeout, lab: try arguments.labSettings())
      guard let set = arguments.scenarios(world, console) else { return .usage }
      let plan = try arguments.plan(set, world)
      Interruption.listen()
      defer { world.devices.shutDown() }
      let listener: any JournalListener =
        arguments.format == .human
        ? TraceReport(console, console.painter(arguments.color)) : JSONTrace(console)
      let run = Run(
        plan, provider: world.devices, listener: listener, isStopped: { Interruption.isRequested })
      let summary = run.perform()
      for words in summary.leave { console.say("lockstep: \(words)") }
      return summary.exitStatus
    }
  }
}

/// Prints a journal as it is written.
private final class JSONTrace: JournalListener {
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  func take(_ entry: JournalEntry) { console.print(entry.json) }
}
