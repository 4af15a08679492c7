import CommandLine
import Devices
import Conformance
import Bench
import Journal
import System
import Basics
import Transports

extension Command {
  static var doctor: Command {
    Command(
      "doctor", "Checks whether this computer can drive real locks, and how to fix what prevents it.",
      discussion: """
        Checks dongles, adapters, permissions, the kernel and folders, and changes none of them. The exit status is 0 if a
        controller can be used and all files of a run can be written, else 3. With --bench, the controllers are those of the
        bench, and each of its dongles and locks must be present and not out of use. With --power, each dongle with a power
        switch is turned off and on, and its power must really fall. If you interrupt that, the power is turned on again, and
        the exit status is 5.

        The movements of a lock are counted for all users of this computer together, in \(StateFolder.machine). --set-up prints
        the command that creates this folder.

        """,
      examples: [
        Example("lockstep doctor", "All checks, with the problems found."),
        Example("lockstep doctor --quiet", "Only the problems."),
        Example(
          "lockstep doctor --set-up", "The command that creates the shared folder for the state of the locks."
        ),
        Example(
          "lockstep doctor --power --bench lab/bench.yaml", "Tests the power switches of a bench."),
      ],
      options: [
        .bench(\.bench, "A bench file, whose dongles and locks are checked too."),
        .format(\.format, "The output format; json prints one object per line."),
        .out(\.out, "The folder for reports. Default: Reports."), .color(\.color),
        .quiet(\.isQuiet, "Prints only problems."),
        .flag(
          "set-up", \.setsUp,
          "Checks nothing, and prints the command that creates the state folder for all users of this "
            + "computer."
        ),
        .flag(
          "power", \.testsPower,
          "With --bench, turns the power of its dongles off and on, and checks that it was really off. "
            + "Dongles in use are skipped."
        ),
      ], defaults: DoctorArguments()
    ) { arguments, console throws(UsageError) in
      guard !arguments.setsUp else {
        console.print(StateFolder.setUpLine(isRoot: Host.isRoot))
        console.say("lockstep: members of the group may use it once they have logged in again")
        return .agree
      }
      var diagnosis = Diagnosis(BenchProbe(), reports: arguments.out)
      if let path = arguments.bench {
        let file = try BenchFile(reading: path)
        try diagnosis.add(file)
        if arguments.testsPower {
          Interruption.listen()
          try diagnosis.testPower(of: file)
        }
      } else if arguments.testsPower {
        throw UsageError(
          "--power switches the dongles of a bench: name the bench with --bench FILE")
      }
      let findings = diagnosis.findings.filter { !arguments.isQuiet || $0.state == .bad }
      switch arguments.format {
      case .human:
        let paint = console.painter(arguments.color)
        for finding in findings { console.print(finding.text(paint)) }
        let verdict =
          diagnosis.isCut
          ? "stopped: it is not known whether this bench is fit"
          : diagnosis.isFit ? "this bench is fit" : "this bench is not fit to drive real locks"
        if !arguments.isQuiet || !diagnosis.isFit { console.print(verdict) }
      case .json:
        for finding in findings { console.print(finding.json) }
        if !diagnosis.isCut { console.print(["fit": .flag(diagnosis.isFit)]) }
      }
      if diagnosis.isCut { return .incomplete }
      return diagnosis.isFit ? .agree : .labFault
    }
  }
}

private struct DoctorArguments {
  var bench: String?
  var format = OutputFormat.human
  var out = "Reports"
  var color = ColorChoice.auto
  var isQuiet = false
  var testsPower = false
  var setsUp = false
}
