import CommandLine
import Journal

extension Command {
  static var cover: Command {
    Command(
      "cover",
      "Tests every allowed and every forbidden request of a machine on a device, in each state.",
      discussion: """
        Runs a short tour. In each state, it first sends all requests that must be refused, then the allowed ones, and then
        takes the shortest path to what is not yet covered. A row with conditions, such as a jam or a lossy link, is taken under
        each of them that a fault of the device can create; where no row of a request applies, its refusal is tested. The tour
        waits for each timer up to its earliest time, before which nothing may happen, and up to its latest time; on a device in
        real time only timers of up to eleven minutes.

        For each request, row and timer that is not covered, it prints the reason and the shortest path: this device cannot
        reach it, the device leaves the state at once or did not go there, or no output of the device distinguishes it.

        Exit status: 0 all cases agree and everything that can be covered is covered; 1 a divergence; 3 a lab fault; 5 all cases
        agree, but something that could be covered is not: it was not tried, or given up because the device did not go there.

        Each test of the tour is a case of the reports, and divergences are saved in failures/. With --save, the tour is saved
        as scenarios: FILE, and FILE-2 and so on if it needs several starts.

        """,
      examples: [
        Example("lockstep cover sesame", "A tour of the lock's machine, on its usual emulated device."),
        Example(
          "lockstep cover sesame-table --save tour.yaml --seed 7",
          "The tour as scenarios that run by themselves."),
      ],
      options: CoverArguments.options,
      operands: .init(
        placeholder: "MACHINE", summary: "The machine: its name, or the path of a machine file.",
        count: 1...1,
        as: .machine, path: \.fuzz.operands), defaults: CoverArguments(),
      settings: \.fuzz.run.settings, groups: OptionGroup.usual
    ) { arguments, console throws(UsageError) in
      try CoverSession(arguments, console).perform()
    }
  }
}
