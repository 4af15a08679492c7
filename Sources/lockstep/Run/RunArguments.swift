import System
import CommandLine
import Devices
import Documents
import Reporting
import Harness
import Journal
import Basics

/// How often a case is tried again.
struct Retries: ArgumentValue, Equatable {
  var value: Int
  static let form = "a whole number from 0 to 100"

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument), (0...100).contains(value) else { return nil }
    self.value = value
  }
}

/// What a case counts as that agrees only when it is tried again.
enum FlakyResult: String, WordChoice {
  case pass, fail
}

extension MinimumVerdicts {
  /// The options that say so.
  static var options: [Option<MinimumVerdicts>] {
    [
      .flag(
        "fail-on-skipped", \.failsSkipped,
        "Ends with 5 where all agrees and a case was skipped, whatever for. What is in quarantine is not meant."
      ),
      .value(
        "min-cases", \.count, "N",
        "Ends with 5 where all agrees and fewer than N cases came to a verdict. Where none did it is 4 in any case.",
        example: "200"),
    ]
  }

  private var count: Count {
    get { Count(cases) }
    set { cases = newValue.value }
  }
}

/// The options of `run`, and of the commands that select scenarios as it does.
struct RunArguments {
  var paths: [String] = []
  var device: String?
  var seed: UInt64?
  var reports = ReportPlaces()
  var filters: [String] = []
  var lastFailed = false
  var failedFirst = false
  var isWatching = false
  /// The paths of the scenarios that changed since the last run of those that are watched.
  var changed: Set<ExactText> = []
  var durations: Count?
  var jobs = Count(1)
  var shard: Shard?
  /// The job of which it is a part, as the environment names it.
  var job: String?
  var rounds = Count(1)
  var retries = Retries(0)
  var maximumFailures: Count?
  var failsFast = false
  var flakyResult = FlakyResult.pass
  var minimum = MinimumVerdicts()
  var shownIn: [String] = []
  var resume: String?
  /// The seed that was drawn when a run began that is taken up again.
  var drawnSeed: UInt64?
  var answerTimeout = Interval.seconds(5)
  var lab = LabArguments()
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false
  var verbosity = 0
  var progress = ProgressChoice.auto
  var slow = Interval.seconds(60)
  var settings = SettingsChoice()
}

extension RunArguments {
  /// The options of `run`.
  static var options: [Option<RunArguments>] {
    [
      device, seed, filter, shard.told { arguments throws(UsageError) in try arguments.toldShard() },
      .value(
        "repeat", \.rounds, "N", "Runs each scenario N times, with another seed each time.",
        example: "10"),
      .value(
        "retries", \.retries, "N",
        "Tries a case that diverges or that the lab fails again, N times at most. One that agrees then is flaky. 0 "
          + "unless given: with a real lock each try wears its motor.", example: "2"),
      .value(
        "flaky-result", \.flakyResult, "pass|fail",
        "Whether a flaky case counts as one that agrees or as one that diverges. pass unless given.",
        example: "fail"),
      .value(
        "jobs", \.jobs, "N",
        "Drives N cases at a time, each program that is a device N times over. A real lock is driven by one at a time.",
        example: "4", short: "j"),
      .value(
        "max-fail", \.maximumFailures, "N",
        "Begins no more cases once N have failed; the others are skipped. All are run unless given.",
        example: "3"
      ).replaced(by: "fail-fast"),
      .flag("fail-fast", \.failsFast, "The same as --max-fail 1.", short: "x").replaced(by: "max-fail"),
      .flag(
        "last-failed", \.lastFailed,
        "Only scenarios that failed when they were run the last time. The runs below DIR say so; all where none did."
      ).replaced(by: "failed-first"),
      .flag(
        "failed-first", \.failedFirst, "Those that failed the last time before the others."
      ).replaced(by: "last-failed"),
      .flag(
        "watch", \.isWatching,
        "Waits for changes of the scenarios and what they need, and runs again. What changed comes first, then what "
          + "failed, then the rest. Enter runs again, and q ends."
      ).typedOnly(since: "a run that waits for a person is asked for by one"),
      .value(
        "durations", \.durations, "N", "Says at the end which N cases took longest.", example: "10"),
    ] + MinimumVerdicts.options.map { $0.lifted(to: \.minimum) } + [
      .flag(
        "check-health", \.lab.checksHealth,
        "Reads the state of the lock and turns it there and back first. Nothing else connects to the lock of --device "
          + "before. What fails twice, the lock or its dongle, is out of use until 'lockstep devices restore NAME'."
      ).typedOnly(since: realLockReason),
      .flag(
        "ignore-quarantine", \.lab.ignoresQuarantine,
        "Judges what is in quarantine on the bench like everything else."
      ).heldOnly(beside: realLock),
      .list(
        "shown-in", \.shownIn, "RUN",
        "Holds devices to what they showed in this run. From the first case on, for choices that each of them makes once.",
        example: "2026-11-22T01-00-00-run", as: .folder
      ).typedOnly(since: "what was tested before is another run each time"),
      .value(
        "resume", \.resume, "RUN",
        "Goes on with a run that did not end: its name under DIR/runs, or its folder. Only the cases without a "
          + "judgement are run. Everything but the reports is taken from there.",
        example: "2026-11-22T01-00-00-run", as: .folder
      ).typedOnly(since: "all is taken from the run", standsAlone: true),
    ] + ReportPlaces.options.map { $0.lifted(to: \.reports) } + [
      answerTimeout, .format(\.format).replaced(by: "watch"), .color(\.color), .quiet(\.isQuiet), verbose,
      .value(
        "show-progress", \.progress, "auto|bar|counter|none",
        "How far the run is, on standard error. A bar at the bottom of a terminal, or a line at each tenth of the cases "
          + "and every ten seconds. With auto a bar on a terminal, elsewhere a line every ten seconds.",
        example: "counter"),
      .value(
        "slow-timeout", \.slow, "TIME",
        "Says of a case that is still going on after this time that it is slow. 60s unless given.",
        example: "5min"),
    ] + lab + SettingsChoice.options.map { $0.lifted(to: \.settings) }
  }

  static var paths: ArgumentParser<RunArguments>.Operands {
    ArgumentParser<RunArguments>.Operands(
      placeholder: "PATH",
      summary: "Scenarios, or folders of them. Without any: Scenarios/, or else scenarios/.",
      count: 0...Int.max, as: .scenario, path: \.paths)
  }

  static var device: Option<RunArguments> {
    Option<RunArguments>.value(
      "device", \.device, "SPEC",
      "Drives this device in place of the scenarios' own: emulator:NAME, exec:COMMAND, lock:FILE, or lock:NAME of a bench. "
        + "Only where machine and generation match. An emulator has settings, emulator:NAME?SETTING=VALUE&…; lock:FILE goes "
        + "with --transport.",
      example: "emulator:sesame5?defect=deaf-unlock", as: .device
    ).typedOnly(since: realLockReason, beginning: "lock:").replaced(by: "lab").checked(
      by: ValueProblem.ofDevice)
  }
  /// Why a file that comes with a checkout names no lock.
  static let realLockReason = "what moves a motor is typed by whoever stands for it"
  /// What leads to a real lock, for the options that serve one alone.
  static let realLock: [OptionForm.Typed] = [.option("device", beginning: "lock:"), "lab"]
  static var seed: Option<RunArguments> {
    Option<RunArguments>.value(
      "seed", \.seed, "N", "The seed of everything that is drawn, also in place of a scenario's own.",
      example: "42")
  }
  static var filter: Option<RunArguments> {
    .list(
      "filter", \.filters, "FILTER",
      "Only scenarios with this text in their path, title or tags. Or those for which this expression holds: "
        + "machine(NAME), tag(NAME), device(NAME), path(TEXT), title(TEXT) with & | - ! and brackets. Of several, those for which any does.",
      example: "tag(smoke) - path(jam)", short: "k"
    ).checked { text in
      do throws(ScenarioFilter.Problem) {
        _ = try ScenarioFilter(text)
        return nil
      } catch {
        return ValueProblem("\(error)")
      }
    }
  }
  static var shard: Option<RunArguments> {
    Option<RunArguments>.value(
      "shard", \.shard, "I/N",
      "Only the I-th of N parts. For run taken from the environment of Slurm, GitLab or Kubernetes unless given.",
      example: "2/4")
  }
  static var verbose: Option<RunArguments> {
    .repeated(
      "verbose", \.verbosity,
      "Prints each case as it ends; given twice, all that happens in it. With the time that it took, how much was compared "
        + "and covered, and all reports.",
      short: "v"
    ).replaced(by: "quiet")
  }
  static var answerTimeout: Option<RunArguments> {
    Option<RunArguments>.value(
      "answer-timeout", \.answerTimeout, "TIME",
      "How long a program may take to answer. 5s unless given. It is a device, or an end of a link to one.",
      example: "30s")
  }

  /// The scenarios that are asked for, read and checked. See ``Devices/World/scenarios(_:_:)``.
  func scenarios(
    _ world: World, _ console: Console, note: ([Diagnostic]) -> Void = { _ in }
  ) -> ScenarioSet? {
    world.scenarios(chosenPaths, besides: reports.folders, console.status, note: note)
  }

  /// The files and folders that are run.
  var chosenPaths: [String] { paths.isEmpty ? [ScenarioFiles.usualFolder] : paths }

  /// How many cases of a plan are driven side by side.
  func workerCount(_ plan: Plan?) -> Int {
    guard let plan, !plan.devices.contains(where: \.isInterlocked) else { return 1 }
    return max(1, min(jobs.value, plan.cases.count, 256))
  }

  /// The scenarios that failed when they were run last, where that is asked for.
  private func failures(_ messages: StatusLine) -> (ids: Set<ExactText>, use: FailedUse)? {
    guard lastFailed || failedFirst else {
      return isWatching ? (LastFailures(in: reports.out, before: resume).ids, .first) : nil
    }
    let failed = LastFailures(in: reports.out, before: resume)
    if failed.ids.isEmpty, !isQuiet { messages.say("lockstep: nothing failed the last time: all is run") }
    return (failed.ids, lastFailed ? .only : .first)
  }

  /// What devices showed in the runs that are named, of choices that each of them makes once.
  func shownChoices() throws(UsageError) -> ShownChoices {
    var choices = ShownChoices()
    for run in shownIn {
      let journal = try RunPlace.journal(of: run, out: reports.out)
      choices.take(try checked("--shown-in: \(journal): ") { try RunProgress(journal: journal) }.choices)
    }
    return choices
  }

  /// What to say of filters where nothing is selected: those that may have been meant otherwise than they were taken.
  func suggestFilters(_ console: Console) {
    for text in filters {
      guard let expression = ScenarioFilter.expression(meantBy: text) else { continue }
      console.say(
        "lockstep: --filter \(shellWord(text)) was looked for as it stands; as an expression it is "
          + shellWord(expression))
    }
  }

  /// What is to be driven, and how.
  func plan(_ set: ScenarioSet, _ world: World, _ messages: StatusLine) throws(UsageError) -> Plan {
    var selection = Plan.Selection()
    selection.filters = try filters.map { text throws(UsageError) in
      do throws(ScenarioFilter.Problem) {
        return try ScenarioFilter(text)
      } catch {
        throw UsageError("--filter '\(clipped(text, toBytes: 200))': \(error)")
      }
    }
    selection.failed = failures(messages)
    selection.leading = changed
    selection.rounds = rounds.value
    if let shard { selection.shard = (shard.part, shard.count) }
    selection.seed = seed ?? drawnSeed ?? UInt64(world.drawSeed())
    selection.seedOverrides = seed != nil
    return try checked(device == nil ? "" : "--device: ") {
      selection.device = try world.deviceSpec(device)
      let plan = try Plan(set, selection, provider: world.devices)
      if let failed = selection.failed, !isWatching, !failed.ids.isEmpty, !isQuiet,
        !plan.cases.contains(where: { failed.ids.contains(ExactText(withoutRound($0.id))) })
      {
        messages.say("lockstep: none of these failed the last time: all is run")
      }
      return plan
    }
  }
}
