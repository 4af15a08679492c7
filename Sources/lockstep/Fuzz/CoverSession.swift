import CommandLine
import Devices
import Reporting
import Basics
import Journal
import System
import Conformance
import Harness

/// The options of `cover`.
struct CoverArguments {
  /// Where to save the tour.
  var save: String?
  /// The maximum number of events in the tour.
  var steps: EventCount?
  /// The options shared with `fuzz`: machine, device, seed, lab, reports.
  var fuzz = FuzzArguments()

  /// The options, in the order in which the help shows them.
  static var options: [Option<CoverArguments>] {
    let shared = ["device", "seed"]
    let reports = ReportPlaces.options.map(\.name) + ["answer-timeout", "format", "color"]
    return FuzzArguments.options.filter { shared.contains($0.name) }.map { $0.lifted(to: \.fuzz) }
      + [
        .value("steps", \.steps, "N", "Stops after N events. Default: 20k.", example: "5k"),
        .value(
          "save", \.save, "FILE", "Saves the tour as a scenario that 'lockstep run' runs.",
          example: "tour.yaml", as: .file),
      ]
      + FuzzArguments.options.filter { reports.contains($0.name) }.map { $0.lifted(to: \.fuzz) }
      + [.quiet(\.fuzz.run.isQuiet), RunArguments.verbose.lifted(to: \.fuzz.run)]
      + RunArguments.lab.map { $0.lifted(to: \.fuzz.run) }
      + SettingsChoice.options.map { $0.lifted(to: \.fuzz.run.settings) }
  }
}

/// A tour, from the command line to its reports.
struct CoverSession {
  private let arguments: CoverArguments
  private let console: Console
  private let world: World
  private let target: FuzzTarget
  private let folder: RunFolder

  private var run: RunArguments { arguments.fuzz.run }

  init(_ arguments: CoverArguments, _ console: Console) throws(UsageError) {
    self.arguments = arguments
    self.console = console
    let lab = try arguments.fuzz.run.labSettings()
    try arguments.fuzz.run.lab.checkCapture(lab)
    world = World(answerTimeout: arguments.fuzz.run.answerTimeout, lab: lab, messages: console.status)
    let seed = arguments.fuzz.run.seed ?? UInt64(world.drawSeed())
    target = try arguments.fuzz.target(try world.machine(arguments.fuzz.operands[0]), in: world, seed: seed)
    try arguments.fuzz.run.lab.checkInterlocked([target.device])
    folder = try RunFolder.open(kind: "cover", seed: seed, arguments.fuzz.run, tour: arguments.save)
    world.devices.bench.capture(in: folder.path)
  }

  func perform() -> CommandStatus {
    Interruption.listen()
    defer { world.devices.shutDown() }
    folder.reserve([target.device], on: world.devices.bench)
    let paint = console.painter(run.color)
    let audience = RunAudience(run, folder, total: nil, console)
    var settings = Tour.Settings()
    if let steps = arguments.steps { settings.budget = steps.value }
    let tour = TourRun(
      target, settings: settings, provider: world.devices, listener: audience.listener,
      isStopped: { Interruption.isRequested || folder.fault != nil }, replay: replay)
    let summary = tour.perform()
    audience.finish(summary.park, summary.parkScenarios)
    let isSaved = save(summary.scenarios)
    let reports = folder.conclude(seed: target.seed, run.reports, console.status)
    guard isSaved, let reports else { return summary.exitStatus.withTrouble }
    if !run.isQuiet || summary.exitStatus != .agree {
      if run.format == .human {
        show(summary, paint, reports)
      } else {
        summary.gaps.forEach { console.print(["missing": $0.json]) }
      }
    }
    return summary.exitStatus
  }

  private func show(_ summary: TourRun.Summary, _ paint: Painter, _ reports: [String]) {
    // Nothing is known of a device that does not start.
    guard summary.events.all > 0 || summary.tally.labFaults == 0 else {
      return (reports + [folder.journalPath]).forEach { console.print("  report   \($0)") }
    }
    let tests = summary.tally.cases == 1 ? "1 test" : "\(summary.tally.cases) tests"
    let divergences = summary.tally.divergences
    console.print(
      paint(.strong, "cover \(target.machine.label)")
        + " on \(target.device): \(summary.events.all) events, \(summary.events.stimuli) of them stimuli, in \(tests)"
        + (divergences > 0 ? ", " + paint(.bad, "\(divergences) diverge") : "") + "   seed \(target.seed)")
    for line in summary.coverage.table { console.print("  " + line) }
    if !summary.gaps.isEmpty { console.print(paint(.strong, "missing")) }
    for line in CoverageGaps.lines(of: summary.gaps) { console.print("  " + line) }
    let all = reports + [folder.journalPath]
    for report in run.verbosity > 0 ? all : [run.reports.first(of: all)] {
      console.print("  report   \(report)")
    }
  }

  /// Saves the tests of the tour, each with its own start condition.
  private func save(_ scenarios: [Scenario]) -> Bool {
    guard let path = arguments.save else { return true }
    let (stem, ending) =
      ["yaml", "yml"].compactMap { ending in
        path.hasSuffix("." + ending) ? (String(path.dropLast(ending.count + 1)), "." + ending) : nil
      }.first ?? (path, ".yaml")
    let saved: Void? = console.attempt("the tour is not saved: ") {
      for (number, scenario) in scenarios.enumerated() {
        var scenario = scenario
        scenario.machine = target.machine.reference(from: Path.folder(of: path))
        let name = stem + (number == 0 ? "" : "-\(number + 1)") + ending
        // The number of files is only known now.
        if number > 0 { try OutputCheck.check("--save", .tour, at: name) }
        let schema = SchemaFile.found(from: Path.folder(of: name))
        try WholeFile.replace(name, with: scenario.yaml(schema: schema))
        if run.format == .human, !run.isQuiet { console.print("  saved    \(name)") }
      }
    }
    return saved != nil
  }

  /// Saves a diverging test, and returns the command line that replays it.
  private func replay(_ test: Case, _ outcome: Outcome) -> String? {
    guard case .divergence = outcome.verdict else { return nil }
    return folder.keep(test, outcome, console.status).map { run.replayLine($0, on: test.device) }
  }
}
