import CommandLine
import Bench
import Devices
import Nightly
import Journal
import System
import Reporting
import Basics

/// The options of `nightly`.
struct NightlyArguments {
  var plans: [String] = []
  var bench: String?
  var reservation = ReservationArguments()
  var resumesOnly = false
  var processes: Count?
  var seed: UInt64?
  var minimum = MinimumVerdicts()
  var reports = ReportPlaces()
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false
}

extension Command {
  static var nightly: Command {
    Command(
      "nightly", "Runs suites on the locks of a bench for a whole night, unattended.",
      discussion: """
        PLAN defines which suites run on locks with which tags, and the budgets of time, movements and retries; the bench
        defines the locks and dongles. 'lockstep schema nightly' and 'lockstep schema bench' describe both. Each case runs in
        its own process, in parallel over all dongles; the remaining time is used for fuzzing.

        A night that was interrupted, by a reboot or otherwise, is resumed by the same command; cases with a verdict do not run
        again. The report is one page: what ran, what is new, what is flaky, what is worn, what did not run and why, and how
        each lock was left. Under systemd it reports its progress and notifies the watchdog.

        With --lab, the locks are those of the bench at places of a lab, each place with a tag lock=NAME. Each case acquires the
        place of its lock, waits while another user has it, and releases it.

        Exit status: as for run. A lock or a dongle that is out of use, and a lock that is not parked, are lab faults (3). Cases
        in quarantine run and are reported, but do not fail the night until their entry expires. If a night is resumed, the
        --min-cases and --fail-on-skipped of the last command apply.

        """,
      examples: [
        Example("lockstep nightly nights/third-floor.yaml", "Runs the night of this plan, or resumes it."),
        Example(
          "lockstep nightly nights/third-floor.yaml --bench bench.yaml --out Reports/nightly",
          "Uses a bench other than that of the plan, and another folder for reports."),
        Example(
          "lockstep nightly nights/third-floor.yaml --lab labgrid://lab:20408 --tags floor=3 --lab-wait 1h",
          "Uses the places of a lab that is shared with others."),
      ],
      options: [
        .value(
          "bench", \.bench, "FILE",
          "The bench file, instead of the one that the plan names. Default: bench.yaml.",
          example: "bench.yaml", as: .file),
        .flag(
          "resume", \.resumesOnly,
          "Only resumes an unfinished night of this plan, and otherwise does nothing. For the boot of "
            + "the computer."
        ),
        .value(
          "jobs", \.processes, "N", "The number of emulated locks in use at the same time. Default: 2.",
          example: "4", short: "j"),
        .value("seed", \.seed, "N", "The seed of all random choices.", example: "42"),
      ] + MinimumVerdicts.options.map { $0.lifted(to: \.minimum) }
        + ReservationArguments.options.map { $0.lifted(to: \.reservation) }
        + ReportPlaces.options.map { $0.lifted(to: \.reports) } + [
          .format(\.format, "The format of the summary; json prints one object."), .color(\.color),
          .quiet(\.isQuiet, "Prints only the summary."),
        ],
      operands: .init(
        placeholder: "PLAN", summary: "The plan of the night.", count: 1...1, as: .file, path: \.plans),
      defaults: NightlyArguments(), groups: OptionGroup.usual, perform: NightlyArguments.perform)
  }
}

extension NightlyArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let path = plans[0]
    try reservation.check()
    var lab = try NightlyLab(path, bench: bench)
    let plan = Path.join(Host.folder, path)
    guard let guardian = try night(of: plan) else {
      throw UsageError("a night of \(path) is already in progress, with reports in \(reports.out)")
    }
    return try withExtendedLifetime(guardian) { () throws(UsageError) in
      let open = try NightlyFolder.unfinished(plan, out: reports.out)
      if resumesOnly, open == nil {
        console.say("lockstep: there is no unfinished night of \(path) to resume")
        return .agree
      }
      do throws(NoPlace) {
        try lab.findPlaces(reservation.request, console.status)
      } catch {
        return try error.status(console)
      }
      if let open, let status = try resume(open, lab, console) { return status }
      return try begin(plan, lab, console)
    }
  }

  /// Locks the plan against other nightly runs while this one is in progress.
  private func night(of plan: String) throws(UsageError) -> HeldFile? {
    try reports.check()
    try checkedReports { () throws(FileFault) in try makeFolder(reports.out + "/runs") }
    return try checked("cannot determine whether a night of this plan is in progress: ") {
      try HeldFile("\(reports.out)/runs/.nightly-\(Fingerprint(plan))")
    }
  }

  /// Resumes a nightly run that did not finish.
  ///
  /// - Returns: the exit status; `nil` if its time was over, so that only its report was written.
  private func resume(
    _ open: NightlyFolder.Unfinished, _ lab: NightlyLab, _ console: Console
  ) throws(UsageError) -> CommandStatus? {
    let passed = NightLine.time(of: open.record, at: BenchClock.now) ?? .zero
    let isOver = passed >= .zero + lab.plan.duration
    if isOver {
      console.say("lockstep: the previous night did not end; its report is written, and a new night starts")
    }
    let run = try EarlierRun(open.path)
    if let diagnostic = run.diagnostic { console.say("lockstep: \(diagnostic)") }
    let folder = try checkedReports { () throws(FileFault) in
      try NightlyFolder(open, run, reports: reports, cases: lab.cases.count)
    }
    let status = try drive(folder, lab, console)
    return isOver && !resumesOnly ? nil : status
  }

  private func begin(
    _ plan: String, _ lab: NightlyLab, _ console: Console
  ) throws(UsageError) -> CommandStatus {
    let seed = seed ?? UInt64(World().drawSeed())
    // Report errors in scenarios and locks before any file is written.
    var trial = lab
    try trial.prepare(seed: seed, today: Calendar.noted(console.status), console.status)
    guard !trial.cases.isEmpty || lab.plan.fuzz != nil else {
      console.say("lockstep: nothing to run: the plan has no scenario")
      return .nothingSelected
    }
    let folder = try checkedReports { () throws(FileFault) in
      try NightlyFolder(
        new: plan, reports: reports, cases: trial.cases.count, command: Invocation.words, seed: seed)
    }
    return try drive(folder, trial, console)
  }

  private func drive(
    _ folder: NightlyFolder, _ lab: NightlyLab, _ console: Console
  ) throws(UsageError) -> CommandStatus {
    var lab = lab
    if lab.cases.isEmpty, lab.locks.isEmpty {
      try lab.prepare(seed: folder.seed, today: Calendar.noted(console.status), console.status)
    }
    let session = NightlySession(
      folder, lab, processes: processes?.value ?? 2, isQuiet: isQuiet, console.status)
    var report = session.perform(minimum)
    let written: Void? = console.attempt("the reports are not written: ") { try write(&report, console) }
    guard written != nil else { return report.status.withTrouble }
    console.print(
      in: format, report.text(console.painter(color), reports: isQuiet ? [] : report.reports), report.json)
    if let words = report.shortfall { console.say("lockstep: \(words)") }
    return report.status
  }

  /// Writes the journal of the nightly run, then all reports, and adds the runs to the history.
  private func write(_ report: inout NightlyReport, _ console: Console) throws {
    let folder = report.folder.folder
    try NightlyJournal(runs: report.runs, night: report.night)
      .write(to: folder.journalPath, tally: report.tally)
    try folder.finish(seed: report.folder.seed)
    if let place = reports.history.place(out: reports.out), let history = try? History(place, for: .asking) {
      try? report.compare(with: history)
    }
    report.reports = try reports.publish(journal: folder.journalPath, console.status)
    let page = reports.out + "/nightly.html"
    try report.writeRunReports()
    try WholeFile.replace(page, with: report.page(began: folder.start, in: reports.out))
    report.reports.insert(page, at: 0)
    try WholeFile.replace(folder.path + "/\(NightlyFolder.summary)", with: report.json.indented)
  }
}
