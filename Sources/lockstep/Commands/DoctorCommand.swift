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
      "doctor", "Says whether this machine is fit to drive real locks, and what to do where it is not.",
      discussion: """
        It looks at dongles, adapters, permissions, the kernel and folders, and touches none of them. Exit status 0 when a
        controller can be used and everything that a run writes can be written, else 3. With --bench the controllers are
        those of the bench, and each of its dongles and locks must be there and in use. With --power the power of each of
        its dongles that hangs on a switch is turned off and on, and it must really fall. Who stops that gets the power
        back on, and exit status 5.

        What a lock's motor has done is the lock's, whoever drives it: \(StateFolder.machine) is one place for all users of
        this machine, and --set-up prints the line that makes it.

        """,
      examples: [
        Example("lockstep doctor", "What there is, and what hinders."),
        Example("lockstep doctor --quiet", "What hinders, and nothing else."),
        Example(
          "lockstep doctor --set-up", "The line to paste that makes one place for what is known of the locks."
        ),
        Example(
          "lockstep doctor --power --bench lab/bench.yaml", "Whether the switches of a bench really switch."),
      ],
      options: [
        .bench(\.bench, "A bench whose dongles and locks are looked at too."),
        .format(\.format, "How findings are printed; json is one object a line."),
        .out(\.out, "Where reports are to go. Reports unless given."), .color(\.color),
        .quiet(\.isQuiet, "Prints what hinders only."),
        .flag(
          "set-up", \.setsUp,
          "Looks at nothing, and prints the line to paste that makes one folder for all users of this machine."
        ),
        .flag(
          "power", \.testsPower,
          "With --bench, turns the power of its dongles off and on, and says whether it fell. One in use is left alone."
        ),
      ], defaults: DoctorArguments()
    ) { arguments, console throws(UsageError) in
      guard !arguments.setsUp else {
        console.print(StateFolder.setUpLine(isRoot: Host.isRoot))
        console.say("lockstep: who is in the group may use it once he has logged in again")
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
          "--power turns the power of a bench's dongles off and on: say with --bench FILE of which")
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
