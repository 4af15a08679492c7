import CommandLine
import Devices
import Reporting
import System
import Harness
import Journal
import Basics

/// The output of a campaign whose reports this process writes: the folder of its run, and its listeners.
final class CampaignFolder: CampaignOutput {
  let folder: RunFolder
  let report: any CampaignReport
  let earlier: EndingCount
  private let arguments: FuzzArguments
  private let console: Console
  private let devices: Devices
  let link: (any LinkWatch)?
  /// Whether the device has a motor that wears.
  private let isReal: Bool
  private var fault: FileFault?
  private var reported: [String] = []

  /// - Parameter earlier: the folder of the campaign to resume.
  init(
    _ arguments: FuzzArguments, _ plan: CampaignPlan, _ devices: Devices, _ console: Console,
    earlier: EarlierRun?
  ) throws(UsageError) {
    self.arguments = arguments
    (self.devices, self.console) = (devices, console)
    let target = plan.target
    isReal = target.device.isInterlocked
    let id = CampaignJournal.id(of: target)
    self.earlier =
      earlier.map { RunSummary(journals: [$0.folder + "/journal.jsonl"], without: id).count } ?? EndingCount()
    // Whenever the process is killed, the campaign can be resumed.
    folder = try RunFolder.open(
      resuming: earlier, kind: "fuzz", seed: target.seed, arguments.run,
      files: [(CampaignState.file, plan.state.json.indented)])
    link = devices.watchLink(of: target.device, in: folder.path)
    let (paint, isQuiet) = (console.painter(arguments.run.color), arguments.run.isQuiet)
    let isVerbose = arguments.run.verbosity > 0
    let shown: any CampaignReport =
      switch arguments.run.format {
      case .json: JSONFuzzReport(console, isQuiet: isQuiet)
      case .human where console.drawsOver && !isQuiet:
        ScreenReport(console, paint, isQuiet: isQuiet, isVerbose: isVerbose)
      case .human: HumanFuzzReport(console, paint, isQuiet: isQuiet, isVerbose: isVerbose)
      }
    report = FuzzWatch(shown, console.status)
    if earlier != nil { keep(plan.state) }
  }

  var listener: any JournalListener { folder }
  var keepsJournal: Bool { true }
  var isStopped: Bool { folder.fault != nil || Interruption.isRequested }
  var now: Interval { MonotonicClock.now }

  func keep(_ state: CampaignState) {
    do {
      try WholeFile.replace(folder.path + "/" + CampaignState.file, with: state.json.indented)
    } catch {
      if fault == nil { report.warn("the state of the campaign is not kept: \(error)") }
      fault = error
    }
  }

  func record(_ test: Case, _ body: () -> Outcome) -> Outcome {
    devices.recording(test, in: folder.path, listener, body, orSay: report.warn)
  }

  func reportOnce(_ text: String) {
    guard !reported.contains(text) else { return }
    reported.append(text)
    folder.diagnostic(text)
    report.say(text)
  }

  /// Writes the reports and prints how the campaign ended.
  func close(_ end: CampaignSummary) -> CommandStatus {
    var end = end
    let reports = folder.conclude(seed: end.seed, arguments.run.reports, console.status)
    if reports == nil { end.exit = end.exit.withTrouble }
    end.reports = (reports ?? []) + [folder.journalPath]
    end.page = arguments.run.reports.first(of: end.reports)
    end.isReal = isReal
    if end.cause == .stopped { end.resume = arguments.resumeLine(folder.path) }
    report.end(end)
    return end.exit
  }
}
