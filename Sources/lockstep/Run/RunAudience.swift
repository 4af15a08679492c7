import Basics
import CommandLine
import Harness
import Journal
import Reporting
import System

/// How to show the progress of a run.
enum ProgressChoice: String, WordChoice {
  case auto, bar, counter, none
}

extension RunWatch.Settings {
  /// Creates the settings for a console.
  init(_ choice: ProgressChoice, slow: Interval, _ color: ColorChoice, isQuiet: Bool, _ console: Console) {
    let isDrawn = console.status.isTerminal && Host.variable("TERM") != "dumb"
    let display: RunWatch.Display =
      switch choice {
      case .bar: .bar
      case .counter: .counter(atTenths: true)
      case .none: .nothing
      case .auto: isQuiet ? .nothing : isDrawn ? .bar : .counter(atTenths: false)
      }
    self.init(
      display: display, slow: isQuiet ? nil : slow, paint: console.painter(color, for: .errors))
  }
}

/// The listeners of a run: its folder, its report and its progress display.
struct RunAudience {
  let human: HumanReport
  /// All listeners combined.
  let listener: any JournalListener
  let watch: RunWatch
  private let console: Console
  private let arguments: RunArguments
  private let folder: RunFolder

  /// Combines the listeners for a run with this number of cases, if known, and starts the progress display.
  init(_ arguments: RunArguments, _ folder: RunFolder, total: Int?, _ console: Console) {
    let (isQuiet, verbosity) = (arguments.isQuiet, arguments.verbosity)
    (self.arguments, self.folder, self.console) = (arguments, folder, console)
    human = HumanReport(
      console, console.painter(arguments.color), isQuiet: isQuiet, verbosity: verbosity,
      durations: arguments.durations?.value ?? 0)
    let report: any JournalListener =
      arguments.format == .human ? human : JSONReport(console, isQuiet: isQuiet, verbosity: verbosity)
    let settings = RunWatch.Settings(
      arguments.progress, slow: arguments.slow, arguments.color, isQuiet: isQuiet, console)
    watch = RunWatch(total: total, settings, console.status)
    listener = Listeners([folder, report, watch])
    watch.start()
  }

  /// Stops the progress display, and prints how the locks were left, with a command line that parks each unparked
  /// lock.
  func finish(_ park: [String], _ parkScenarios: [ParkReport.ParkScenario]) {
    watch.finish()
    for words in park { console.say("lockstep: \(words)") }
    for (number, parkScenario) in parkScenarios.enumerated() {
      let path = folder.path + (number == 0 ? "/park.yaml" : "/park-\(number + 1).yaml")
      guard (try? WholeFile.replace(path, with: parkScenario.text)) != nil else { continue }
      let device = arguments.device ?? "lock:\(parkScenario.lock)"
      let words = ["lockstep", "run", path, "--device", device] + arguments.lab.words
      console.say("  park     " + words.map(shellWord).joined(separator: " "))
    }
  }
}
