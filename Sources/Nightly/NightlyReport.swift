import Bench
import Conformance
public import System
public import Journal
public import Reporting
import Basics

/// The report for a lab manager in the morning: which cases ran, which failures are new, which cases are flaky, how
/// worn the locks are, what was not run and why, and how each lock was left.
public struct NightlyReport {
  /// A case that failed, or passed only on a retry.
  struct Item: Equatable {
    /// How the case ended, whether or not that is known already; a finding of fuzzing is a divergence.
    var ending: Record.Ending
    /// The lock, or a text in its place if none matches.
    var lock: String
    var file: String
    var message: String
    /// The replay command.
    var replay: String?
    var signature: String?
    /// The lab fault, or the fault with which the device stopped answering.
    var problem: Record.Trouble?
    /// Whether no earlier night had the same failure; `nil` without a history.
    var isNew: Bool?
    /// Why it is quarantined.
    var quarantine: String?
    /// The number of its run.
    var run: Int?
    /// The captures of that run, relative to its folder.
    var captures: [String] = []
  }

  /// Cases that were not run for the same reason.
  struct Group {
    var reason: String
    var locks: [String]
    var count: Int
  }

  /// A lock in the morning.
  struct LockLine {
    var name: String
    var left: String
    /// Whether it needs a person.
    var isBad: Bool
    var trouble: [String] = []
    /// Why it is out of use, if it is.
    var outOfUse: String?
    /// Whether its motor is blocked, after a jam or because of its battery.
    var isBlocked = false
    /// Its present state, in the words of `lockstep devices`.
    var use = ""
    var judged: Int
    var planned: Int
    var movements: Int?
    var budget: Int?
    var life: Int?
    var battery: NightlyBattery?
    /// Whether its line must be highlighted.
    var isMarked: Bool { isBad || battery?.low != nil }
    /// The texts for a lock that is not parked, and for one whose position is unknown.
    static let (notParked, notKnown) = ("NOT PARKED", "NOT KNOWN")
    /// Whether it is not parked, or may not be.
    var isLeftElsewhere: Bool { [Self.notParked, Self.notKnown].contains(left) }
  }

  /// A dongle, or a place of a lab, in the morning.
  struct DongleLine {
    var kind: NightTransport
    var name: String
    var runs: Int
    var failures: Int
    /// Why it is out of use, if it is.
    var trouble: String?
    /// Its present state, as for a lock.
    var use = ""
    var isBad: Bool { trouble != nil }
  }

  public let night: Night
  public let runs: NightlyRuns
  public let folder: NightlyFolder
  let took: Interval
  /// The minimum number of verdicts.
  let minimum: MinimumVerdicts
  /// The files with more details.
  public var reports: [String] = []
  /// The cases that did not simply agree, in the order of the plan; then the lab faults of campaigns.
  private var items: [Item] = []
  private(set) var findings: [Item] = []
  private(set) var notRun: [Group] = []
  private(set) var skipped: [Group] = []
  private(set) var agree = 0
  private(set) var locks: [LockLine] = []
  private(set) var dongles: [DongleLine] = []
  /// The duration of fuzzing.
  private(set) var fuzzed = Interval.zero
  /// The permanent choices that the locks have shown.
  let chosen: [ShownChoices.Known]
  private(set) var resumptions = 0
  private(set) var causes = Set<NightResult.Cause>()
  /// The result of the night; ``Tally/exitStatus`` is its exit status.
  public private(set) var tally = Tally()

  init(
    _ night: Night, _ runs: NightlyRuns, _ folder: NightlyFolder, took: Interval, _ minimum: MinimumVerdicts
  ) {
    (self.night, self.runs, self.folder, self.took, self.minimum) = (night, runs, folder, took, minimum)
    chosen = runs.shownChoices(in: night).choices.all
    resumptions =
      folder.record.count { if case .resumed = $0 { true } else { false } } + (folder.record.isEmpty ? 0 : 1)
    for state in night.cases { take(state) }
    var kept: [KeptCampaign] = []
    for run in night.ended {
      guard case .fuzz = run.attempt.work else { continue }
      fuzzed = fuzzed + (run.end - run.begin)
      if let campaign = KeptCampaign(of: run, runs) {
        take(campaign, of: run)
        kept.append(campaign)
      }
    }
    locks = night.locks.map(line)
    dongles = night.dongles.map(line)
    tally = sum(kept)
  }

  /// The result of the night: its cases as in its journal, and further faults.
  private func sum(_ campaigns: [KeptCampaign]) -> Tally {
    var count = EndingCount()
    for state in night.cases { count.count(night.ending(of: state)) }
    for test in campaigns.flatMap(\.cases) {
      if let finding = test.finding {
        count.count(test.verdict.ending(), showing: finding)
      } else {
        count.count(test.verdict.ending())
      }
    }
    for cause in causes { count.note(cause.status) }
    count.note(
      isInTrouble: locks.contains(where: \.isBad) || dongles.contains(where: \.isBad)
        || !runs.lab.unmet.isEmpty)
    var tally = count.tally
    tally.minimum = minimum
    return tally
  }

  private mutating func take(_ state: Night.CaseState) {
    let result = night.reason(for: state)
    if let cause = result.cause { causes.insert(cause) }
    let lock = state.test.lock ?? Self.noLock
    switch result.ending {
    case _ where result.cause != nil: Self.add(result.reason, lock, to: &notRun)
    case .agreed: agree += 1
    case .skipped: Self.add(result.reason, lock, to: &skipped)
    default: items.append(item(state, result))
    }
  }

  /// The text in place of a lock if none matches.
  private static let noLock = "no lock"

  private static func add(_ reason: String, _ lock: String, to groups: inout [Group]) {
    if let index = groups.firstIndex(where: { $0.reason == reason }) {
      groups[index].count += 1
      if !groups[index].locks.contains(lock) { groups[index].locks.append(lock) }
    } else {
      groups.append(Group(reason: reason, locks: [lock], count: 1))
    }
  }

  private func item(_ state: Night.CaseState, _ result: NightResult) -> Item {
    // A flaky case has an earlier divergence or lab fault.
    let isTrouble = result.ending == .labFault || result.ending == .flaky && state.divergences == 0
    let wanted: [Record.Ending] =
      isTrouble ? [.labFault] : result.ending == .unmet ? [.unmet] : [.diverged, .unmet]
    let run = night.ended.last {
      state.runs.contains($0.attempt.number) && wanted.contains($0.ending.verdict)
    }
    let verdict = run.flatMap { runs.journal(of: $0.attempt.number) }.flatMap(RunHeaderScan.init)?.verdict
    let round = state.test.round > 1 ? " (round \(state.test.round))" : ""
    return Item(
      ending: result.ending, lock: state.test.lock ?? Self.noLock, file: state.test.file + round,
      message: result.reason.isEmpty ? run?.ending.message ?? "" : result.reason, replay: verdict?.replay,
      signature: verdict?.signature, problem: verdict?.trouble, quarantine: state.test.quarantine,
      run: run?.attempt.number,
      captures: Self.captures(verdict))
  }

  private static func captures(_ verdict: Record.Verdict?) -> [String] {
    (verdict?.attachments ?? []).filter { $0.kind == "capture" }.map(\.path)
  }

  /// Adds the findings of a campaign, each once, and its cases without a verdict.
  private mutating func take(_ campaign: KeptCampaign, of run: Night.Ended) {
    var known: [String: Int] = [:]
    var items: [(item: Item, evidence: Record.Finding.Evidence?)] = []
    for test in campaign.cases {
      let item = Item(
        ending: test.verdict.ending() == .diverged ? .diverged : .labFault, lock: run.attempt.lock,
        file: "fuzzing",
        message: test.finding?.summary ?? test.verdict.summary ?? run.ending.message,
        replay: test.verdict.replay, signature: test.finding?.signature,
        problem: test.verdict.trouble, run: run.attempt.number,
        captures: Self.captures(test.verdict))
      let evidence = test.finding.map {
        Record.Finding.Evidence(test.verdict.ending(), shortest: $0.shortest)
      }
      guard let signature = item.signature, let index = known[signature] else {
        if let signature = item.signature { known[signature] = items.count }
        items.append((item, evidence))
        continue
      }
      if let evidence, let other = items[index].evidence, evidence.supersedes(other) {
        items[index] = (item, evidence)
      }
    }
    for (item, _) in items {
      if item.ending == .diverged { findings.append(item) } else { self.items.append(item) }
    }
  }

  private func line(_ lock: Night.LockState) -> LockLine {
    let own = night.cases.filter { $0.test.lock == lock.lock.name }
    let judged = own.count { night.reason(for: $0).isJudgement }
    var line = LockLine(
      name: lock.lock.name, left: "", isBad: lock.outOfUse != nil, judged: judged,
      planned: own.count { $0.test.skipReason == nil })
    line.use = runs.lab.use(of: .lock(lock.lock.name)).words
    if let why = lock.outOfUse {
      line.outOfUse = why
      line.trouble.append("out of use: \(why.prefix { $0 != "\n" })")
    } else if let why = lock.spent {
      line.use += ", not used any more tonight: \(why)"
    }
    guard lock.lock.isReal else {
      line.left = "emulated"
      return line
    }
    (line.movements, line.budget, line.life) = (lock.used, lock.lock.perShift, lock.cycleCounter)
    line.battery = battery(of: lock.lock.name)
    if let low = line.battery?.low { line.trouble.append("\(low)") }
    line.isBlocked = runs.lab.isBlocked(lock.lock.name)
    switch lock.park {
    case .parked: line.left = runs.lab.inventory.lock(lock.lock.name).map { "\($0.park)" } ?? "parked"
    case .elsewhere(let why):
      line.left = LockLine.notParked
      if line.trouble.allSatisfy({ !$0.contains(why) }) { line.trouble.append(why) }
      line.isBad = true
    case .unknown:
      line.left = LockLine.notKnown
      line.trouble.append("it is unknown how it was left: the process that drove it was killed")
      line.isBad = true
    case nil: line.left = "not used"
    }
    return line
  }

  private func battery(of name: String) -> NightlyBattery? {
    guard let lock = runs.lab.inventory.lock(name), case .file(let path) = lock.source else { return nil }
    return LockCycleCounter.known(of: path).flatMap { NightlyBattery($0.ledger, under: lock.limits) }
  }

  private func line(_ dongle: Night.DongleState) -> DongleLine {
    let own = night.ended.filter { $0.attempt.dongle == dongle.dongle.name }
    var line = DongleLine(
      kind: night.settings.transport, name: dongle.dongle.name, runs: own.count,
      failures: own.count { $0.ending.verdict == .labFault },
      trouble: dongle.outOfUse)
    line.use = runs.lab.use(of: .dongle(dongle.dongle.name)).words
    return line
  }
}

extension NightResult.Cause {
  /// The exit status of a night with a case that was not run for this reason.
  fileprivate var status: CommandStatus {
    switch self {
    case .budget: .safetyLimit
    case .time, .stopped, .losses, .record: .incomplete
    case .device: .labFault
    }
  }
}

// MARK: - Result

extension NightlyReport {
  /// The items with this ending, quarantined or not.
  private func items(_ ending: Record.Ending) -> [Item] { items.filter { $0.ending == ending } }

  /// The items with this ending that are not quarantined.
  private func news(_ ending: Record.Ending) -> [Item] { items(ending).filter { $0.quarantine == nil } }

  /// The cases that passed only on a retry.
  var flaky: [Item] { items(.flaky) }

  /// The divergences that are not quarantined.
  var red: [Item] { news(.diverged) }

  /// The unmet expectations that are not quarantined.
  var unmetNews: [Item] { news(.unmet) }

  /// The divergences and lab faults that are quarantined.
  var excused: [Item] {
    (items(.diverged) + items(.unmet) + items(.labFault)).filter { $0.quarantine != nil }
  }

  /// The lab faults that are not quarantined.
  var trouble: [Item] { news(.labFault) }

  /// Why there are fewer verdicts than required, if everything agrees.
  public var shortfall: String? { tally.tooLittle }

  /// The exit status of the command.
  public var status: CommandStatus { tally.exitStatus }

  /// Marks each failure as new or known from an earlier run.
  public mutating func compare(with history: History) throws(HistoryError) {
    var selection = HistorySelection()
    selection.last = 1000
    let known = Set(try history.failures(selection).compactMap(\.signature))
    func isNew(_ item: Item) -> Bool? { item.signature.map { !known.contains($0) } }
    for index in items.indices where items[index].ending.element == .failed {
      items[index].isNew = isNew(items[index])
    }
    for index in findings.indices { findings[index].isNew = isNew(findings[index]) }
  }
}

// MARK: - Contents of a page

extension NightlyReport {
  /// The kinds of items that did not simply agree, with their shown ending.
  ///
  /// Each item belongs to one kind.
  var kinds: [(title: String, items: [Item], ending: Record.Ending)] {
    [
      ("News", red.filter { $0.isNew != false }, .diverged),
      ("Seen before", red.filter { $0.isNew == false }, .diverged),
      ("Found by fuzzing", findings, .diverged),
      ("Not as expected: the model agrees, but an expectation of the scenario failed", unmetNews, .unmet),
      ("Flaky: agreed only when tried again", flaky, .flaky),
      ("Trouble of the lab", trouble, .labFault),
      ("In quarantine, and no news", excused, .excused),
    ]
  }

  /// The column titles of locks.
  static let lockTitles = ["lock", "left", "verdicts", "movements", "in its life", "battery", "state"]

  /// The column titles of dongles or places.
  var dongleTitles: [String] { [night.settings.transport.rawValue, "runs", "failed", "state"] }
}

extension NightlyReport.LockLine {
  /// The cells of the row.
  var cells: [String] {
    let allowed = budget.map { " of \($0)" } ?? ""
    return [
      name, left, "\(judged) of \(planned)", movements.map { "\($0)" + allowed } ?? "–",
      life.map { String($0) } ?? "–", battery?.text ?? "–", use,
    ]
  }
}

extension NightlyReport.DongleLine {
  /// The cells of the row.
  var cells: [String] { [name, "\(runs)", "\(failures)", use] }
}

// MARK: - As text

extension NightlyReport {
  /// The report as text for a terminal and for a mail.
  public func text(_ paint: Painter, reports: [String]) -> String {
    var lines = [paint(.strong, night.name) + "   " + summary(paint)]
    lines.append("  \(counts)")
    if let shortfall { lines.append(paint(.warning, "  \(shortfall)")) }
    if !notDone.isEmpty {
      lines.append(paint(.warning, "  not done: " + notDone.map { short("\($0)") }.joined(separator: "; ")))
    }
    let needs = needs
    if !needs.isEmpty { lines += ["", paint(.strong, "Needs you")] }
    for need in needs {
      lines += need.reasons.map { paint(.bad, "  ! \(need.name)") + "   \(short($0))" }
      lines += need.commands.map { "      \($0.line)" }
    }
    for kind in kinds { add(kind.title, kind.items, kind.ending.presentation, paint, &lines) }
    for entry in runs.lab.lapsed {
      if lines.last != "" { lines.append("") }
      let about = [entry.scenario, entry.lock.map { "on \($0)" }].compactMap(\.self).joined(separator: " ")
      lines.append(paint(.warning, "  quarantine has expired: \(about), \(entry)"))
    }
    add("Not run", notRun, paint, .warning, &lines)
    add("Skipped: cannot run on this lock", skipped, paint, .faint, &lines)
    lines += [""] + table([Self.lockTitles] + locks.map(\.cells), paint, bad: locks.map(\.isMarked))
    if !dongles.isEmpty {
      lines += [""] + table([dongleTitles] + dongles.map(\.cells), paint, bad: dongles.map(\.isBad))
    }
    if !chosen.isEmpty { lines.append("") }
    lines += chosen.map { "  chosen   \($0)" }
    if !reports.isEmpty { lines.append("") }
    lines += reports.map { "  report   \($0)" }
    // A line break in the name of a scenario, a lock or a file must not begin a line of the report.
    return lines.map(\.inOneLine).joined(separator: "\n")
  }

  private func summary(_ paint: Painter) -> String {
    if let needsLine {
      let style: Painter.Style = status == .divergence ? .bad : .warning
      return paint(style, needsLine) + "   \(clock(took))" + again
    }
    let words: (String, Painter.Style) =
      switch status {
      case .agree: (excused.isEmpty ? "all agree" : "no news", .good)
      case .divergence: ("model and lock disagree", .bad)
      case .safetyLimit: ("cut short by a safety limit", .warning)
      case .incomplete where shortfall != nil: ("fewer verdicts than required", .warning)
      case .incomplete: (causes.contains(.stopped) ? "stopped" : "not finished", .warning)
      case .labFault: ("the lab needs attention", .warning)
      case .nothingSelected:
        (excused.isEmpty ? "nothing was shown" : "nothing was shown: all that ran is in quarantine", .warning)
      case .usage, .internalFault: ("it failed", .bad)
      }
    return paint(words.1, words.0) + "   \(clock(took))" + again
  }

  /// The number of resumptions, after the duration.
  var again: String {
    resumptions == 0 ? "" : ", resumed \(resumptions == 1 ? "once" : "\(resumptions) times")"
  }

  private var counts: String {
    let all: [(count: Int, word: String)] = [
      (agree, "agree"), (flaky.count, "flaky"), (red.count, "diverge"),
      (unmetNews.count, "not as expected"), (trouble.count, "in trouble"),
      (excused.count, "in quarantine"), (notRun.map(\.count).reduce(0, +), "not run"),
      (skipped.map(\.count).reduce(0, +), "skipped"),
    ]
    let parts = all.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }
    let fuzzing = fuzzed > .zero ? "; fuzzed for \(clock(fuzzed))" : ""
    return "\(night.cases.count) planned: " + (parts.isEmpty ? "none" : parts.joined(separator: ", "))
      + fuzzing
  }

  private func add(
    _ title: String, _ items: [Item], _ presentation: Record.Ending.Presentation, _ paint: Painter,
    _ lines: inout [String]
  ) {
    guard !items.isEmpty else { return }
    lines += ["", paint(.strong, title)]
    for item in items.prefix(Self.maximum) {
      lines.append(paint(presentation.style, "  \(presentation.sign) \(item.lock)   \(item.file)"))
      lines.append("      \(short(item.message))" + (item.quarantine.map { " (in quarantine \($0))" } ?? ""))
      if let replay = item.replay { lines.append("      \(replay)") }
    }
    if items.count > Self.maximum { lines.append("    and \(items.count - Self.maximum) more") }
  }

  private func add(
    _ title: String, _ groups: [Group], _ paint: Painter, _ style: Painter.Style, _ lines: inout [String]
  ) {
    guard !groups.isEmpty else { return }
    lines += ["", paint(.strong, title)]
    for group in groups.sorted(by: { $0.count > $1.count }).prefix(Self.maximum) {
      let places = group.locks.count == 1 ? "" : " (\(group.locks.joined(separator: ", ")))"
      lines.append(
        paint(style, "  \("\(group.count)".rightAligned(in: 5))  \(short(group.reason))\(places)"))
    }
    if groups.count > Self.maximum {
      lines.append("    and for \(counted(groups.count - Self.maximum, "more reason"))")
    }
  }

  /// The maximum number of items of one kind.
  private static let maximum = 12

  private func table(_ rows: [[String]], _ paint: Painter, bad: [Bool]) -> [String] {
    let rows = rows.map { $0.map(\.inOneLine) }
    // The last column is not padded.
    let widths = rows[0].indices.dropLast().map { column in rows.map { $0[column].count }.max() ?? 0 } + [0]
    return rows.enumerated().map { number, row in
      let text = zip(row, widths).map { $0.leftAligned(in: $1) }.joined(separator: "  ")
      if number == 0 { return "  " + paint(.strong, text) }
      return "  " + (bad[number - 1] ? paint(.bad, text) : text)
    }
  }
}

/// A text truncated to a line of a terminal or a mail; the reports have all of it.
private func short(_ text: String) -> String { text.count > 160 ? text.prefix(159) + "…" : text }

// MARK: - As data

extension NightlyReport: Written {
  public static let fields: [Field<Self>] = [
    .derived("name", \.night.name, .text), .derived("bench", \.runs.lab.inventory.name, .text),
    .derived("folder", \.folder.folder.path, .text), .known("headline", \.needsLine, .text),
    .derived("needs", \.needs, .list(.object())), .derived("notDone", \.notDone, .list(.object())),
    .derived("seconds", { seconds($0.took) }, .json(Shape.number)),
    .derived("resumptions", \.resumptions, .count), .derived("planned", \.night.cases.count, .count),
    .derived("agree", \.agree, .count), .derived("flaky", \.flaky, .list(.object())),
    .derived("divergences", { $0.items(.diverged) }, .list(.object())),
    .derived("unmet", { $0.items(.unmet) }, .list(.object())),
    .derived("findings", \.findings, .list(.object())),
    .derived("labFaults", { $0.items(.labFault) }, .list(.object())),
    .derived("notRun", \.notRun, .list(.object())), .derived("skipped", \.skipped, .list(.object())),
    .derived("fuzzed", { seconds($0.fuzzed) }, .json(Shape.number)),
    .derived("lapsed", { $0.runs.lab.lapsed.map(\.description) }, .list(.text)),
    .derived("chosen", { $0.chosen.map(\.description) }, .list(.text)),
    .derived("locks", \.locks, .list(.object())), transports(.dongle), transports(.place),
    .derived("reports", \.reports, .list(.text)), .derived("status", { Int($0.status.rawValue) }, .count),
  ]

  /// With at least three decimals.
  private static func seconds(_ time: Interval) -> JSON { .number((Instant.zero + time).secondsText) }

  /// The dongles or places; the field of the other kind is empty.
  private static func transports(_ kind: NightTransport) -> Field<Self> {
    .derived(
      "\(kind.rawValue)s", { report in report.dongles.filter { $0.kind == kind } },
      .list(.object(DongleLine.fields(kind))))
  }
}

extension NightlyReport.Item: Written {
  static let fields: [Field<Self>] = [
    .derived("lock", \.lock, .text), .derived("file", \.file, .text), .derived("message", \.message, .text),
    .known("replay", \.replay, .text), .known("signature", \.signature, .text), .known("new", \.isNew, .flag),
    .known("quarantine", \.quarantine, .text),
  ]
}

extension NightlyReport.Group: Written {
  static let fields: [Field<Self>] = [
    .derived("reason", \.reason, .text), .derived("locks", \.locks, .list(.text)),
    .derived("count", \.count, .count),
  ]
}

extension NightlyReport.LockLine: Written {
  static let fields: [Field<Self>] = [
    .derived("lock", \.name, .text), .derived("left", \.left, .text), .derived("bad", \.isBad, .flag),
    .derived("trouble", \.trouble, .list(.text)), .derived("state", \.use, .text),
    .derived("judged", \.judged, .count), .derived("planned", \.planned, .count),
    .known("movements", \.movements, .count), .known("budget", \.budget, .count),
    .known("life", \.life, .count), .known("battery", \.battery?.percent, .count),
    .known("batterySlope", { $0.battery?.slope }, .number),
    .known("low", { $0.battery?.low?.description }, .text),
  ]
}

extension NightlyReport.DongleLine {
  fileprivate static func fields(_ kind: NightTransport) -> [Field<Self>] {
    [
      .derived(kind.rawValue, \.name, .text), .derived("runs", \.runs, .count),
      .derived("failed", \.failures, .count), .derived("bad", \.isBad, .flag),
      .derived("trouble", { [$0.trouble].compactMap(\.self) }, .list(.text)),
      .derived("state", \.use, .text),
    ]
  }
}
