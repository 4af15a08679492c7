import Conformance
import Harness

extension Command {
  static var fuzz: Command {
    Command(
      "fuzz", "Draws tests, and shrinks and saves what makes model and device disagree.",
      discussion: """
        Without --steps and --duration it goes on until a divergence, or until Ctrl-C: once finishes the step, writes
        everything and says how to go on; twice ends at once.

        Tests interfere at these levels: events (stimuli, waits, what happens around the lock), messages (of the lock's
        protocol), att (the packets below it) and link (the radio). A device offers what it can; exec: only events.

        What is found is tried again from a reset, shrunk to the shortest test that shows it, and saved in failures/ as
        a scenario: 'lockstep replay' shows it, and moved to Scenarios/regressions/ it is checked from then on. It is
        confirmed, flaky or not reproduced, with k of n and how much likelier a defect is than chance.

        Exit status: 0 nothing found, 1 a divergence, 3 trouble in the lab or nothing but what did not show again,
        5 stopped before the budget was used up, 6 stopped by --actuations.

        """,
      ArgumentParser(
        options: FuzzArguments.options,
        operands: .init(
          placeholder: "MACHINE", summary: "The machine: its name, or the path of a file.", count: 1...1,
          path: \.operands)),
      defaults: { FuzzArguments() }
    ) { arguments, console throws(UsageError) in
      try FuzzSession(arguments, console).perform()
    }
  }
}
