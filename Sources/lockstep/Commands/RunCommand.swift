import CommandLine
import Devices
import Programs
import Reporting
import Bench
import System
import Harness
import Journal
import Basics

extension Command {
  static var run: Command {
    Command(
      "run", "Runs scenarios on a model and a device in lockstep.",
      discussion: """
        Emulated devices: \(EmulatedDevice.all.map(\.name).joined(separator: ", ")). Settings follow a '?', such as
        'emulator:sesame5?defect=deaf-unlock&loss=0.01'; an invalid setting is answered with the valid ones.

        A run writes junit.xml, runs/NAME/ with its journal, and each divergence as a scenario in failures/. Ctrl-C, or another
        signal that ends a process, stops it in the current step without waiting for the device, and writes a report. A second
        signal ends it at once.

        A real lock is described by a lock file, lock:FILE, and reached over a transport. Safety limits apply: at least two
        seconds between movements, and a budget of movements that is stored in a file. The lock is parked however the run ends.
        With --lab, lock and transport come from a lab that labgrid coordinates.

        """,
      examples: [
        Example("lockstep run", "Every scenario under Scenarios/, on the devices that they name."),
        Example("lockstep run Scenarios/sesame5 --seed 42", "Those of one lock, with a seed of your own."),
        Example(
          "lockstep run Scenarios/sesame5 --device 'emulator:sesame5?defect=deaf-unlock'",
          "The same on a lock with a bug, to see what a failure looks like."),
        Example(
          "lockstep run Scenarios/sesame5 --transport usb:0 --device lock:front-door.yaml",
          "On a real lock, through a Bluetooth dongle."),
        Example(
          "lockstep run Scenarios/sesame5 --lab labgrid://lab:20408 --tags model=sesame5",
          "On a lock of a lab: whichever of that model is available first."),
      ],
      options: RunArguments.options, operands: RunArguments.paths, defaults: RunArguments(),
      settings: \.settings, groups: OptionGroup.usual
    ) { arguments, console throws(UsageError) in
      guard arguments.isWatching else { return try RunSession(arguments, console).perform() }
      return try RunWatching(arguments, console).perform { arguments throws(UsageError) in
        try RunSession(arguments, console).perform()
      }
    }
  }
}

/// A run, from the command line to its reports.
private struct RunSession {
  let arguments: RunArguments
  let console: Console
  /// One world for each worker; the first also serves the plan and real locks.
  let worlds: [World]
  var world: World { worlds[0] }
  let plan: Plan?
  /// The errors in the scenarios, one line each; if there are any, nothing is run.
  private let mistakes: [String]
  /// Why nothing is run although the scenarios are valid, and the exit status for it.
  private var refusal: (words: String, status: CommandStatus)?
  let earlier: Run.Earlier
  let folder: RunFolder

  init(_ given: RunArguments, _ console: Console) throws(UsageError) {
    let resumed = try given.resume.map { run throws(UsageError) in try ResumedRun(given, run) }
    var arguments = resumed?.arguments ?? given
    var command = Invocation.words
    if resumed == nil {
      // A resumed run uses the values from the environment of the original run.
      command.insert(contentsOf: try arguments.resolveShard(console), at: min(1, command.count))
    }
    self.console = console
    if let diagnostic = resumed?.run.diagnostic { console.say("lockstep: \(diagnostic)") }
    do throws(NoPlace) {
      try arguments.acquire(console)
      refusal = nil
    } catch {
      switch error {
      case .usage(let error): throw error
      case .lab(let words, let status): refusal = (words, status)
      }
    }
    self.arguments = arguments
    let lab = refusal == nil ? try arguments.labSettings() : LabSettings()
    if refusal == nil { try arguments.lab.checkCapture(lab) }
    guard !arguments.lab.checksHealth || arguments.device?.hasPrefix("lock:") == true || refusal != nil else {
      throw UsageError("--check-health checks a lock: name it with --device lock:NAME")
    }
    let world = World(answerTimeout: arguments.answerTimeout, lab: lab, messages: console.status)
    var mistakes: [String] = []
    let set =
      refusal == nil
      ? arguments.scenarios(world, console) { mistakes = $0.map { String("\($0)".prefix { $0 != "\n" }) } }
      : nil
    if refusal == nil, set == nil, Interruption.isRequested {
      refusal = ("stopped before anything was run", .incomplete)
      mistakes = []
    }
    self.mistakes = mistakes
    if let set {
      let selected = try arguments.plan(set, world, console.status)
      if arguments.isWatching, selected.devices.contains(where: { $0.kind == .lock }) {
        throw RunWatching.refusal
      }
      try arguments.lab.checkInterlocked(selected.devices)
      plan = selected
    } else {
      plan = nil
    }
    var earlier = Run.Earlier()
    if let resumed, refusal == nil {
      guard let plan else {
        throw UsageError("--resume: \(resumed.folder) cannot be resumed: its scenarios cannot be read")
      }
      earlier = try resumed.earlier(of: plan)
    }
    if !arguments.shownIn.isEmpty {
      var choices = try arguments.shownChoices()
      choices.take(earlier.choices)
      earlier.choices = choices
    }
    earlier.tally.minimum = arguments.minimum
    self.earlier = earlier
    folder = try RunFolder.open(
      resuming: resumed?.run, kind: "run", cases: plan?.cases.count ?? 0, command: command,
      seed: plan?.seed ?? arguments.seed, arguments)
    var worlds = [world]
    for _ in 1..<arguments.workerCount(plan) {
      worlds.append(World(answerTimeout: arguments.answerTimeout, lab: lab))
    }
    self.worlds = worlds
    world.devices.bench.capture(in: folder.path)
    for world in worlds {
      world.devices.captures = CaseCaptures(in: folder.path)
      world.devices.output = ProgramOutput(
        in: folder.path, echo: arguments.verbosity > 0 ? { console.say("program: \($0)") } : nil)
    }
    if arguments.jobs.value > 1, worlds.count == 1, plan?.devices.contains(where: \.isInterlocked) == true {
      console.say("lockstep: a real lock is driven by one case at a time: --jobs changes nothing")
    }
  }

  func perform() -> CommandStatus {
    defer {
      for world in worlds { world.devices.shutDown() }
      arguments.release(console)
    }
    guard let plan else { return refuse() }
    Interruption.listen()
    let locks = plan.devices
    folder.reserve(locks, on: world.devices.bench)
    let begin = MonotonicClock.now
    let audience = RunAudience(
      arguments, folder, total: plan.cases.count - earlier.judged.count, console)
    let run = Run(
      plan,
      in: worlds.map { world in
        RunWorker(world.devices) { test, outcome, listener in conclude(test, &outcome, in: world, listener) }
      }, listener: audience.listener, seenBy: audience.watch, retries: arguments.retries.value,
      failsFlaky: arguments.flakyResult == .fail,
      maximumFailures: arguments.failsFast ? 1 : arguments.maximumFailures?.value, earlier: earlier,
      prepare: { checkHealth(locks.first) },
      isStopped: { Interruption.isRequested || folder.fault != nil })
    let summary = run.perform()
    audience.finish(summary.park, summary.parkScenarios)
    if let fault = worlds.lazy.compactMap(\.devices.output?.fault).first {
      console.say("lockstep: not all output of programs is kept: \(fault)")
    }
    let reports = folder.conclude(
      seed: plan.seed, arguments.reports, replacing: !plan.cases.isEmpty, console.status)
    let status = reports == nil ? summary.exitStatus.withTrouble : summary.exitStatus
    if arguments.format == .human {
      let all = (reports ?? []) + [folder.journalPath]
      audience.human.summarize(
        summary, seed: plan.seed, took: MonotonicClock.now - begin, page: arguments.reports.first(of: all),
        reports: all)
    }
    let isLeftUndone = summary.exitStatus == .incomplete || Interruption.isRequested
    if summary.tally.incomplete > 0, isLeftUndone, arguments.format == .human {
      console.say("  resume   \(resumeLine)")
    }
    if summary.exitStatus == .nothingSelected {
      console.say(
        summary.tally.whyNoVerdict.map { "lockstep: no case has a verdict: \($0)" }
          ?? "lockstep: nothing to run: no scenario is selected")
      if plan.cases.isEmpty { arguments.suggestFilters(console) }
    } else if let words = summary.tally.tooLittle {
      console.say("lockstep: \(words)")
    }
    return status
  }

  /// Ends a run with invalid scenarios or without a lab place. Replaces the reports, because those of an earlier run
  /// would look like the reports of this one.
  private func refuse() -> CommandStatus {
    let status = refusal?.status ?? .usage
    folder.take(.run(Record.Run(seed: arguments.seed ?? 0)))
    if let refusal {
      console.say("lockstep: \(refusal.words)")
      folder.diagnostic(refusal.words)
    }
    for mistake in mistakes.prefix(Self.maximumErrors) { folder.diagnostic(mistake) }
    let reasons = [refusal?.words].compactMap(\.self) + mistakes.prefix(Self.maximumErrors)
    folder.take(.end(Record.End(Tally(), status, reasons: reasons)))
    var places = arguments.reports
    places.history.choice = .none
    _ = folder.conclude(seed: arguments.seed ?? 0, places, console.status)
    console.say("lockstep: nothing was run")
    return status
  }

  /// The maximum number of scenario errors in reports; the terminal shows all.
  private static let maximumErrors = 100

  /// The command line that resumes the run.
  private var resumeLine: String {
    let words = ["lockstep", "run", "--resume", folder.path] + arguments.reports.words
    return words.map(shellWord).joined(separator: " ")
  }

  /// Checks the health of the lock if requested.
  private func checkHealth(_ device: DeviceSpec?) -> [String] {
    guard arguments.lab.checksHealth, let device else { return [] }
    let diagnostics = world.devices.checkHealth(of: device)
    if !arguments.isQuiet { for words in diagnostics { console.say("lockstep: \(words)") } }
    return diagnostics
  }

  /// Completes the outcome of a failed case with its replay command, its attachments and its quarantine.
  private func conclude(
    _ test: Case, _ outcome: inout Outcome, in world: World, _ listener: any JournalListener
  ) {
    switch outcome.verdict {
    case .divergence, .unmet, .labFault: outcome.replay = replay(test, &outcome)
    case .agree, .skipped, .incomplete, .limited: break
    }
    // A case that contradicts an earlier one passed by itself, so its packets show no failure.
    if outcome.isContradiction { return applyQuarantine(to: test, &outcome) }
    attachPackets(test, &outcome, world.devices)
    attachOutput(&outcome, world.devices, listener)
    applyQuarantine(to: test, &outcome)
  }

  /// Marks a failure as known if an active quarantine covers it; warns if the quarantine has expired.
  private func applyQuarantine(to test: Case, _ outcome: inout Outcome) {
    guard outcome.verdict.word.isFailed, !arguments.lab.ignoresQuarantine,
      let lock = world.devices.bench.lock,
      let entry = lock.bench.inventory.quarantine(of: test.file, on: lock.lock.name)
    else { return }
    switch entry.status(on: today) {
    case .active: outcome.quarantine = "\(entry)"
    case .lapsed:
      let words = "the quarantine of \(test.file) on \(lock.lock.name) has expired: \(entry)"
      folder.diagnostic(words, at: outcome.time)
      console.say("lockstep: \(words)")
    }
  }

  /// The date that decides whether a quarantine is active.
  private var today: Day { Calendar.noted(console.status) }

  /// Attaches the captured packets of a case that did not agree.
  private func attachPackets(_ test: Case, _ outcome: inout Outcome, _ devices: Devices) {
    guard let captures = devices.captures else { return }
    defer { captures.end() }
    switch outcome.verdict {
    case .agree, .skipped: return
    case .divergence, .unmet, .labFault, .incomplete, .limited: break
    }
    let saved = console.attempt("the packets of \(test.id) are not saved: ") { try captures.save(test) }
    outcome.attachments += saved ?? []
  }

  /// Attaches the last output of a program in a case that did not agree, and the path of the rest.
  private func attachOutput(_ outcome: inout Outcome, _ devices: Devices, _ listener: any JournalListener) {
    switch outcome.verdict {
    case .agree, .skipped: return
    case .divergence, .unmet, .labFault, .incomplete, .limited:
      devices.attachOutput(to: &outcome, listener)
    }
  }

  /// Returns the command line that replays a failed case; saves a failed case as a scenario first.
  private func replay(_ test: Case, _ outcome: inout Outcome) -> String {
    var words = ["lockstep"]
    if outcome.verdict.word.isFailed,
      let path = folder.keep(test, outcome, console.status)
    {
      words += ["replay", path]
      outcome.attachments.append(.init("scenario", folder.relative(path)))
    }
    // A saved counterexample names its device, unless that is a real lock.
    let isSaved = words.count > 1
    if !isSaved { words += ["run", test.file, "--seed", String(test.seed)] }
    if !isSaved || test.device.kind == .lock, let device = arguments.device {
      let way = arguments.lab.words
      words +=
        ["--device", device] + (way.isEmpty && test.device.isInterlocked ? arguments.lab.interlockWords : way)
    } else if test.device.isInterlocked {
      words += arguments.lab.interlockWords
    }
    if !isSaved { words += arguments.settings.words }
    if arguments.answerTimeout != RunArguments().answerTimeout {
      words.append("--answer-timeout=\(arguments.answerTimeout)")
    }
    return words.map(shellWord).joined(separator: " ")
  }
}
