import CommandLine
import Reporting
import System
import Bench
import Devices
import Harness
import Journal
import Basics

extension Command {
  static var replay: Command {
    Command(
      "replay", "Runs one scenario, or a saved counterexample, and prints the whole trace.",
      discussion: """
        Leaves no reports. The last line is the fingerprint of the trace, including times: equal traces have equal
        fingerprints on every computer. With --repeat, the scenario runs N times with the same seed, and the last line shows
        how many traces equal the first one.

        """,
      examples: [
        Example(
          "lockstep replay Scenarios/sesame5/jam.yaml",
          "The complete trace of a scenario, with times."),
        Example(
          "lockstep replay Scenarios/sesame5/jam.yaml --repeat 100",
          "Checks whether the trace is the same each time."),
      ],
      options: [
        RunArguments.device, RunArguments.seed,
        .value(
          "repeat", \.rounds, "N", "Runs it N times, and prints how many traces are the same.",
          example: "100"),
        RunArguments.answerTimeout, .format(\.format), .color(\.color),
      ] + RunArguments.lab,
      operands: .init(
        placeholder: "FILE", summary: "The scenario.", count: 1...1, as: .scenario, path: \.paths),
      defaults: RunArguments(), groups: OptionGroup.usual
    ) { arguments, console throws(UsageError) in
      var once = arguments
      once.rounds = Count(1)
      do throws(NoPlace) {
        try once.acquire(console)
      } catch {
        return try error.status(console)
      }
      defer { once.release(console) }
      let world = World(
        answerTimeout: arguments.answerTimeout, lab: try once.labSettings(), messages: console.status)
      guard let set = arguments.scenarios(world, console) else { return .usage }
      let plan = try once.plan(set, world, console.status)
      try once.lab.checkInterlocked(plan.devices)
      if let capture = arguments.lab.capture { try OutputCheck.check("--capture", .capture, at: capture) }
      Interruption.listen()
      defer { world.devices.shutDown() }
      // Traffic on a transport is captured while it happens.
      if arguments.lab.capture != nil, world.devices.bench.transportCount == 0 {
        world.devices.captures = CaseCaptures()
      }
      let listener: any JournalListener =
        arguments.format == .human
        ? TraceReport(console, console.painter(arguments.color))
        : JSONReport(console, isQuiet: false, verbosity: 2)
      return Replay(plan: plan, world: world, console: console, arguments: arguments).perform(listener)
    }
  }
}

/// Runs one scenario once or repeatedly.
private struct Replay {
  let plan: Plan
  let world: World
  let console: Console
  let arguments: RunArguments

  func perform(_ listener: any JournalListener) -> CommandStatus {
    let first = JournalHash()
    var status = run(Listeners([listener, first])).exitStatus
    guard saveCapture() else { return status.withTrouble }
    var same = 1
    var done = 1
    var other: (run: Int, verdict: Record.Verdict?)?
    while done < arguments.rounds.value, !Interruption.isRequested {
      let again = JournalHash()
      let summary = run(again)
      done += 1
      if again.text == first.text { same += 1 } else { other = other ?? (done, again.verdict) }
      // The most severe exit status counts for all runs.
      status = .gravest(of: [status, summary.exitStatus])
    }
    if arguments.format == .human {
      let runs = arguments.rounds.value > 1 ? ", \(same) of \(done) runs the same" : ""
      console.print("  trace \(first.text)\(runs)\n")
      if let (run, verdict) = other {
        let step = verdict?.step.map { " at step \($0)" } ?? ""
        let message = verdict?.message.map { ": \($0)" } ?? ""
        console.print(
          "  run \(run) is the first of another trace: \(verdict?.word.rawValue ?? "stopped")\(step)\(message)\n"
        )
      }
    } else {
      console.print([
        "trace": .text(first.text), "same": .integer(same), "runs": .integer(done),
      ])
    }
    return status
  }

  /// Saves the capture, if one was requested; all runs have the same traffic.
  private func saveCapture() -> Bool {
    guard let captures = world.devices.captures, let path = arguments.lab.capture else { return true }
    world.devices.captures = nil
    return console.attempt { try captures.save(to: path) } != nil
  }

  private func run(_ listener: any JournalListener) -> Run.Summary {
    let run = Run(
      plan, in: [RunWorker(world.devices)], listener: listener, isStopped: { Interruption.isRequested })
    let summary = run.perform()
    for words in summary.park { console.say("lockstep: \(words)") }
    return summary
  }
}

/// The fingerprint of actions and observations with their times, computed from the journal lines.
final class JournalHash: JournalListener {
  private var fingerprint = Fingerprint()
  /// The verdict of the case.
  private(set) var verdict: Record.Verdict?

  func take(_ record: Record) {
    switch record {
    case .event(let event):
      switch event.kind {
      case .stimulus, .fault, .status, .effect, .reading, .refused, .violation, .event, .lab:
        fingerprint.mix(record.line())
      case .wait, .expect, .note, .model, .diagnostic: break
      }
    case .verdict(var verdict):
      self.verdict = verdict
      // The number of compared observations follows from the trace, and the file's path is irrelevant.
      verdict.observations = nil
      verdict.id = ""
      fingerprint.mix(Record.verdict(verdict).line())
    case .run, .begin, .left, .finding, .campaign, .machine, .coverage, .end: break
    }
  }

  /// Sixteen hexadecimal digits.
  var text: String { fingerprint.description }
}
