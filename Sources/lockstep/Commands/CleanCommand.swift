import CommandLine
import Reporting
import Harness
import Controllers
import Basics
import Journal
import System

/// The options of `clean`.
struct CleanArguments {
  var out = "Reports"
  var older: Age?
  var newest: Count?
  var keepsFailures = false
  var isTrial = false
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false
}

/// How long ago something was, in whole units.
struct Age: ArgumentValue, Equatable {
  let seconds: Int64
  static let form = "an age such as 30d, 12h or 8w"

  init?(argument: String) {
    let units: [Character: Int64] = ["h": 3600, "d": 86_400, "w": 604_800]
    guard let unit = argument.last.flatMap({ units[$0] }), argument.count <= 6,
      argument.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int64(argument.dropLast())
    else { return nil }
    seconds = count * unit
  }
}

extension Command {
  static var clean: Command {
    Command(
      "clean", "Removes old runs and nights with all that is in their folders.",
      discussion: """
        What goes are folders under DIR/runs that have the manifest and the journal of a run: those that are over for
        longer than --older says, and are not among the --keep latest. Reports, the history, failures/ and corpus/ stay,
        and whatever is no folder of a run. Symbolic links are not followed.

        A run that is under way stays, and so does one that is not in its history yet. With --keep-failures those stay that
        had a divergence, trouble in the lab or a finding, and those that cannot be read.

        A folder gets a hidden name before anything in it goes: whatever ends this command, each run is whole or not
        there. What it had begun to remove is removed by whoever works under DIR next.

        Exit status: 0, also where nothing is old enough; 3 where something could not be removed, or not even looked at, 4
        where there are no runs, 5 when it was stopped.

        """,
      examples: [
        Example(
          "lockstep clean --older 30d --keep-failures",
          "Runs of more than thirty days ago that came to nothing of note."),
        Example("lockstep clean --keep 100 --dry-run", "Says what would go if the latest hundred were kept."),
      ],
      options: [
        .value(
          "older", \.older, "AGE", "Only runs that have been over for so long: hours, days or weeks.",
          example: "30d"),
        .value("keep", \.newest, "N", "Keeps the latest N runs.", example: "100"),
        .flag("keep-failures", \.keepsFailures, "Keeps runs that had a divergence, trouble or a finding."),
        .flag("dry-run", \.isTrial, "Says what would be done, and does nothing.", short: "n"),
        .out(\.out, "Where the reports are. Reports unless given."),
        .format(\.format, "How it is told what was done; json is one object."), .color(\.color),
        .quiet(\.isQuiet, "Says only what could not be done."),
      ],
      defaults: CleanArguments(), perform: CleanArguments.perform)
  }
}

extension CleanArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    guard older != nil || newest != nil else {
      throw UsageError("what may go? Say --older AGE, --keep N or both")
    }
    let runs = out + "/runs"
    switch FolderNames.kind(runs) {
    case .folder: break
    case .missing:
      console.say("lockstep: there are no runs: \(runs) is not there")
      return .nothingSelected
    case .unknown(let code):
      console.say("lockstep: \(runs): \(errorText(code))")
      return .labFault
    case .file, .other:
      throw UsageError("\(runs) is no folder itself; name the one that has the runs by --out")
    }
    Interruption.listen()
    // A trial leaves everything as it is, also what others left.
    let use: FolderUse?
    do throws(FileFault) {
      use = isTrial ? nil : try Remains.begin(in: out)
    } catch {
      console.say("lockstep: nothing is removed: \(error)")
      return .labFault
    }
    return withExtendedLifetime(use) {
      var cleaning = Cleaning(
        CleanSettings(
          out: out, age: older?.seconds, newest: newest?.value ?? 0, keepsFailures: keepsFailures,
          isTrial: isTrial))
      cleaning.perform()
      show(cleaning.report, console)
      return cleaning.status
    }
  }

  private func show(_ report: CleanReport, _ console: Console) {
    for fault in report.faults { console.say("lockstep: \(fault.name) is not removed: \(fault.why)") }
    if report.isStopped { console.say("lockstep: stopped; what was not removed is whole") }
    switch format {
    case .json: console.print(report.json)
    case .human: if !isQuiet { console.print(report.text(console.painter(color))) }
    }
  }
}
