import CommandLine
import Journal

extension Command {
  static var cover: Command {
    Command(
      "cover",
      "Tries every allowed and every forbidden request of a machine, in each of its states, on a device.",
      discussion: """
        A short tour: in each state everything that must be refused, then what is allowed, then the shortest way to what
        was not tried yet. A row that asks for conditions, such as a jam or a lossy link, is taken under each of them that
        the device's faults bring about; where no row of a request holds, its refusal is tried. Each timer is waited for up
        to its first end, when nothing may have come, and up to its last; by the clock those of up to eleven minutes.

        For each request, row and timer that is missing it says why, and the shortest path to try: it cannot be reached with
        this device, the device leaves the state at once or did not go there, or nothing that it shows tells.

        Exit status: 0 all agree and all that can be covered was, 1 a divergence, 3 trouble in the lab, 5 all agree and
        something was not covered that could be: it was not tried, or given up since the device did not go there.

        Each test of the tour is a case of the reports, and a divergence is saved in failures/. With --save the tour is
        kept as scenarios: FILE, and FILE-2 and so on where it takes several starts.

        """,
      examples: [
        Example("lockstep cover sesame", "A tour of the lock's machine, on its usual emulated device."),
        Example(
          "lockstep cover sesame-table --save tour.yaml --seed 7",
          "The tour as scenarios that run by themselves."),
      ],
      options: CoverArguments.options,
      operands: .init(
        placeholder: "MACHINE", summary: "The machine: its name, or the path of a file.", count: 1...1,
        as: .machine, path: \.fuzz.operands), defaults: CoverArguments(),
      settings: \.fuzz.run.settings, groups: OptionGroup.usual
    ) { arguments, console throws(UsageError) in
      try CoverSession(arguments, console).perform()
    }
  }
}
