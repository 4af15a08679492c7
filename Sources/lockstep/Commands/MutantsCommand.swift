import CommandLine
import Journal

extension Command {
  static var mutants: Command {
    Command(
      "mutants", "Counts how many wrong machines a suite of tests finds.",
      discussion: """
        A mutant is the machine with one wrong transition: it leads to another state, is missing, is there where the
        machine refuses, comes at a wrong time, or has lost a condition. It is a device that shows statuses and effects
        as the machine does, and is killed by a test on which it and the right machine diverge. The named defects of the
        machine's emulated devices are tried too.

        The suite is the scenarios of the machine under Scenarios/, or under PATH, or one that --suite generates. What
        scenarios expect beside what the model allows is not asked of a mutant; a scenario that the right machine as a
        device does not pass is left out, and counted.

        For each mutant that survives stands the shortest test that would kill it, which was tried, or that it is
        equivalent: no pair of model and mutant that tests can lead to disagrees. Without timers that is exact; with
        them, time passes from one end of a window to the next. Where there are more pairs than --pairs it is undecided,
        and counts as survived.

        Exit status: 0 when the score is at least --threshold, 1 below it, 2 where the machine or a scenario is wrong,
        4 when the suite has no test, 5 stopped before the end.

        """,
      examples: [
        Example("lockstep mutants door", "How many wrong doors the scenarios under Scenarios/ find."),
        Example(
          "lockstep mutants sesame-table --suite tour --threshold 95",
          "Fails unless a tour of all requests finds 95 in a hundred."),
      ],
      options: MutantsArguments.options,
      operands: .init(
        placeholder: "MACHINE [PATH]",
        summary:
          "The machine, by name or the path of its file; then scenarios, or folders of them.",
        count: 1...Int.max, as: .machine, .scenario, path: \.operands), defaults: MutantsArguments(),
      settings: \.run.settings
    ) { arguments, console throws(UsageError) in
      try MutantsSession(arguments, console).perform()
    }
  }
}
