import System
import CommandLine
import Devices
import Documents
import Reporting
import Harness
import Journal
import Basics

/// The number of retries of a case.
struct Retries: ArgumentValue, Equatable {
  var value: Int
  static let form = "a whole number from 0 to 100"

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument), (0...100).contains(value) else { return nil }
    self.value = value
  }
}

/// The result of a case that only agrees in a retry.
enum FlakyResult: String, WordChoice {
  case pass, fail
}

extension MinimumVerdicts {
  /// The options of this type.
  static var options: [Option<MinimumVerdicts>] {
    [
      .flag(
        "fail-on-skipped", \.failsSkipped,
        "Exits with 5 if all cases agree but any was skipped. Cases in quarantine do not count."
      ),
      .value(
        "min-cases", \.count, "N",
        "Exits with 5 if all cases agree but fewer than N have a verdict. If none has a verdict, the "
          + "status is always 4.",
        example: "200"),
    ]
  }

  private var count: Count {
    get { Count(cases) }
    set { cases = newValue.value }
  }
}

/// The options of `run`, and of other commands that select scenarios.
struct RunArguments {
  var paths: [String] = []
  var device: String?
  var seed: UInt64?
  var reports = ReportPlaces()
  var filters: [String] = []
  var lastFailed = false
  var failedFirst = false
  var isWatching = false
  /// The scenarios that changed since the last run in watch mode.
  var changed: Set<ExactText> = []
  var durations: Count?
  var jobs = Count(1)
  var shard: Shard?
  /// The job that this shard belongs to, as named by the environment.
  var job: String?
  var rounds = Count(1)
  var retries = Retries(0)
  var maximumFailures: Count?
  var failsFast = false
  var flakyResult = FlakyResult.pass
  var minimum = MinimumVerdicts()
  var shownIn: [String] = []
  var resume: String?
  /// The drawn seed of the run to resume.
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
      device, seed, filter,
      shard.fromEnvironment { arguments throws(UsageError) in try arguments.environmentShard() },
      .value(
        "repeat", \.rounds, "N", "Runs each scenario N times, each time with a different seed.",
        example: "10"),
      .value(
        "retries", \.retries, "N",
        "Retries a case up to N times after a divergence or a lab fault. A case that then agrees is "
          + "flaky. Default: 0, because each attempt wears the motor of a real lock.", example: "2"),
      .value(
        "flaky-result", \.flakyResult, "pass|fail",
        "Whether a flaky case counts as passed or as failed. Default: pass.",
        example: "fail"),
      .value(
        "jobs", \.jobs, "N",
        "Runs N cases in parallel, with N processes of a device program. A real lock runs one case at a "
          + "time.",
        example: "4", short: "j"),
      .value(
        "max-fail", \.maximumFailures, "N",
        "Starts no more cases after N failures; the others are skipped. By default all cases run.",
        example: "3"
      ).replaced(by: "fail-fast"),
      .flag("fail-fast", \.failsFast, "The same as --max-fail 1.", short: "x").replaced(by: "max-fail"),
      .flag(
        "last-failed", \.lastFailed,
        "Runs only scenarios that failed in their last run. The results are taken from the runs in DIR; "
          + "if none failed, all scenarios run."
      ).replaced(by: "failed-first"),
      .flag(
        "failed-first", \.failedFirst, "Runs scenarios that failed in their last run first."
      ).replaced(by: "last-failed"),
      .flag(
        "watch", \.isWatching,
        "Waits for changes of scenarios and the files that they use, and runs again. Changed scenarios "
          + "run first, then failed ones, then the others. Enter runs again; q quits."
      ).typedOnly(since: "such a run waits for a person"),
      .value(
        "durations", \.durations, "N", "Prints the N slowest cases at the end.", example: "10"),
    ] + MinimumVerdicts.options.map { $0.lifted(to: \.minimum) } + [
      .flag(
        "check-health", \.lab.checksHealth,
        "First reads the state of the lock, turns it and turns it back. No other connection to the lock "
          + "of --device is made before. A lock or a dongle that fails twice is out of use until 'lockstep "
          + "devices restore NAME'."
      ).typedOnly(since: realLockReason),
      .flag(
        "ignore-quarantine", \.lab.ignoresQuarantine,
        "Treats cases in quarantine on the bench like all others."
      ).heldOnly(beside: realLock),
      .list(
        "shown-in", \.shownIn, "RUN",
        "Requires devices to make the same choices as in this run. From the first case on, for choices "
          + "that a device makes once.",
        example: "2026-11-22T01-00-00-run", as: .folder
      ).typedOnly(since: "what was tested before is another run each time"),
      .value(
        "resume", \.resume, "RUN",
        "Resumes an unfinished run: its name under DIR/runs, or its folder. Only cases without a "
          + "verdict run. All options except those for reports are taken from that run.",
        example: "2026-11-22T01-00-00-run", as: .folder
      ).typedOnly(since: "all is taken from the run", standsAlone: true),
    ] + ReportPlaces.options.map { $0.lifted(to: \.reports) } + [
      answerTimeout, .format(\.format).replaced(by: "watch"), .color(\.color), .quiet(\.isQuiet), verbose,
      .value(
        "show-progress", \.progress, "auto|bar|counter|none",
        "Shows progress on standard error. A bar at the bottom of a terminal, or a line at each tenth "
          + "of the cases and every ten seconds. With auto a bar on a terminal, elsewhere a line every ten "
          + "seconds.",
        example: "counter"),
      .value(
        "slow-timeout", \.slow, "TIME",
        "Reports a case as slow after this time. Default: 60s.",
        example: "5min"),
    ] + lab + SettingsChoice.options.map { $0.lifted(to: \.settings) }
  }

  static var paths: ArgumentParser<RunArguments>.Operands {
    ArgumentParser<RunArguments>.Operands(
      placeholder: "PATH",
      summary: "Scenarios, or folders of them. Default: Scenarios/, or else scenarios/.",
      count: 0...Int.max, as: .scenario, path: \.paths)
  }

  static var device: Option<RunArguments> {
    Option<RunArguments>.value(
      "device", \.device, "SPEC",
      "Uses this device instead of those of the scenarios: emulator:NAME, exec:COMMAND, lock:FILE, or "
        + "lock:NAME of a bench. Scenarios for another machine or generation are skipped. An emulator can "
        + "have settings, emulator:NAME?SETTING=VALUE&…; lock:FILE needs --transport.",
      example: "emulator:sesame5?defect=deaf-unlock", as: .device
    ).typedOnly(since: realLockReason, beginning: "lock:").replaced(by: "lab").checked(
      by: ValueProblem.ofDevice)
  }
  /// Why a file in a checkout may not select a lock.
  static let realLockReason = "a command that moves a motor must be typed in full"
  /// The options that select a real lock.
  static let realLock: [OptionForm.Typed] = [.option("device", beginning: "lock:"), "lab"]
  static var seed: Option<RunArguments> {
    Option<RunArguments>.value(
      "seed", \.seed, "N", "The seed of all random choices. It replaces the seeds of scenarios.",
      example: "42")
  }
  static var filter: Option<RunArguments> {
    .list(
      "filter", \.filters, "FILTER",
      "Only scenarios with this text in their path, title or tags. Or those that match an expression: "
        + "machine(NAME), tag(NAME), device(NAME), path(TEXT), title(TEXT) with & | - ! and parentheses. "
        + "With several filters, those that match any of them.",
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
      "Only the I-th of N shards. For run, by default from the environment of Slurm, GitLab or Kubernetes.",
      example: "2/4")
  }
  static var verbose: Option<RunArguments> {
    .repeated(
      "verbose", \.verbosity,
      "Prints each case as it ends; given twice, also its trace. With its duration, what was compared "
        + "and covered, and all reports.",
      short: "v"
    ).replaced(by: "quiet")
  }
  static var answerTimeout: Option<RunArguments> {
    Option<RunArguments>.value(
      "answer-timeout", \.answerTimeout, "TIME",
      "The time limit for an answer of a program. Default: 5s. The program is a device, or one end of a "
        + "link to a device.",
      example: "30s")
  }

  /// Returns the selected scenarios, read and checked; see ``Devices/World/scenarios(_:_:)``.
  func scenarios(
    _ world: World, _ console: Console, note: ([Diagnostic]) -> Void = { _ in }
  ) -> ScenarioSet? {
    world.scenarios(chosenPaths, besides: reports.folders, console.status, note: note)
  }

  /// The files and folders to run.
  var chosenPaths: [String] { paths.isEmpty ? [ScenarioFiles.usualFolder] : paths }

  /// Returns the number of cases of a plan to run in parallel.
  func workerCount(_ plan: Plan?) -> Int {
    guard let plan, !plan.devices.contains(where: \.isInterlocked) else { return 1 }
    return max(1, min(jobs.value, plan.cases.count, 256))
  }

  /// Returns the scenarios that failed in the last run, if they are requested.
  private func failures(_ messages: StatusLine) -> (ids: Set<ExactText>, use: FailedUse)? {
    guard lastFailed || failedFirst else {
      return isWatching ? (LastFailures(in: reports.out, before: resume).ids, .first) : nil
    }
    let failed = LastFailures(in: reports.out, before: resume)
    if failed.ids.isEmpty, !isQuiet {
      messages.say("lockstep: no scenario failed in its last run: all are run")
    }
    return (failed.ids, lastFailed ? .only : .first)
  }

  /// Returns the devices' constant choices, as observed in the runs of `--shown-in`.
  func shownChoices() throws(UsageError) -> ShownChoices {
    var choices = ShownChoices()
    for run in shownIn {
      let journal = try RunPlace.journal(of: run, out: reports.out)
      choices.take(try checked("--shown-in: \(journal): ") { try RunProgress(journal: journal) }.choices)
    }
    return choices
  }

  /// If nothing is selected, suggests an expression for each filter that may have been meant as one.
  func suggestFilters(_ console: Console) {
    for text in filters {
      guard let expression = ScenarioFilter.expression(meantBy: text) else { continue }
      console.say(
        "lockstep: --filter \(shellWord(text)) was searched for literally; as an expression it is "
          + shellWord(expression))
    }
  }

  /// Returns the plan of the run.
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
        messages.say("lockstep: none of these failed in its last run: all are run")
      }
      return plan
    }
  }
}
