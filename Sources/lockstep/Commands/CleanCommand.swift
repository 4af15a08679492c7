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

/// An age in whole units.
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
      "clean", "Removes the folders of old runs and nights.",
      discussion: """
        Removes the folders under DIR/runs that contain the manifest and the journal of a run, if the run ended before the time
        of --older and is not among the latest N of --keep. Reports, the history, failures/, corpus/ and all other files stay.
        Symbolic links are not followed.

        Runs that are in progress, and runs that are not yet in their history, stay. With --keep-failures, runs with a divergence,
        a lab fault or a finding, and runs that cannot be read, stay too.

        Each folder is first renamed to a hidden name, so that every run is either complete or gone even if this command is
        interrupted. The next command that works in DIR removes what is left.

        Exit status: 0, even if no run is old enough; 3 if something could not be removed or read; 4 if there are no runs; 5 if
        it was interrupted.

        """,
      examples: [
        Example(
          "lockstep clean --older 30d --keep-failures",
          "Removes runs without failures that are older than thirty days."),
        Example(
          "lockstep clean --keep 100 --dry-run",
          "Shows what would be removed if the latest hundred runs were kept."),
      ],
      options: [
        .value(
          "older", \.older, "AGE",
          "Removes only runs that ended at least this long ago: hours, days or weeks.",
          example: "30d"),
        .value("keep", \.newest, "N", "Keeps the latest N runs.", example: "100"),
        .flag("keep-failures", \.keepsFailures, "Keeps runs with a divergence, a lab fault or a finding."),
        .flag("dry-run", \.isTrial, "Prints what would be removed, and removes nothing.", short: "n"),
        .out(\.out, "The folder of the reports. Default: Reports."),
        .format(\.format, "The output format; json prints one object."), .color(\.color),
        .quiet(\.isQuiet, "Prints only what could not be removed."),
      ],
      defaults: CleanArguments(), perform: CleanArguments.perform)
  }
}

extension CleanArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    guard older != nil || newest != nil else {
      throw UsageError("name the runs to remove: --older AGE, --keep N, or both")
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
    // A trial changes nothing, not even the remains of other processes.
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
    if report.isStopped { console.say("lockstep: stopped; the remaining runs are complete") }
    switch format {
    case .json: console.print(report.json)
    case .human: if !isQuiet { console.print(report.text(console.painter(color))) }
    }
  }
}
