import CommandLine
import Harness
public import Journal
import Basics
import Reporting
import System

/// The options of `report`.
struct ReportArguments {
  var runs: [String] = []
  var reports = ReportPlaces()
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var isQuiet = false
  var isReproducible = false
  var minimum = MinimumVerdicts()
  var settings = SettingsChoice()
}

extension Command {
  static var report: Command {
    Command(
      "report", "Creates reports again from the journals of runs, and merges several runs.",
      discussion: """
        Reads only the folders of runs, and the history for the part of the HTML report about earlier runs. Several runs, such
        as the shards of one run, give one report: all cases, each finding of campaigns once with the shortest test that shows
        it, and the coverage of all runs together. The order of the runs does not matter. If there are several runs of one
        shard, for example because it was killed and restarted, one of them counts; the same applies to copies of a folder. If
        shards are missing, a report of several runs is incomplete; a report of a single shard only mentions the others.

        Exit status: the most serious one of the runs, in this order: 70, 1, 2, 6, 5, 3, 0, 4. A run that did not end counts
        as 5.

        """,
      examples: [
        Example(
          "lockstep report 2026-11-22T01-00-00-run", "Creates the reports of a run again, by its name."),
        Example(
          "lockstep report shard-1 shard-2 --out Reports",
          "One report of all runs in two folders, such as the shards of a night."),
      ],
      options: ReportPlaces.options.map { $0.lifted(to: \.reports) } + [
        .format(\.format, "The format of the summary; json prints one object."),
        .color(\.color), .quiet(\.isQuiet),
        .flag(
          "reproducible", \.isReproducible,
          "Omits what differs between two runs with one seed: times, hosts, commands, folders, and data "
            + "of the history. Equal runs then give equal files."),
      ] + MinimumVerdicts.options.map { $0.lifted(to: \.minimum) }
        + SettingsChoice.options.map { $0.lifted(to: \.settings) },
      operands: .init(
        placeholder: "RUN",
        summary:
          "A run: its name under DIR/runs, its folder, or its journal; or a folder of reports, for all runs in it.",
        count: 1...Int.max, as: .folder, path: \.runs), defaults: ReportArguments(), settings: \.settings,
      perform: ReportArguments.perform)
  }
}

extension ReportArguments {
  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    try reports.check()
    let journals = try RunPlace.journals(of: runs, out: reports.out)
    try reports.makeFolder()
    RunPlace.reportRunning(journals, "the report covers what it did so far", console.status)
    let use = FolderUse(of: reports.out) {}
    defer { withExtendedLifetime(use) {} }
    let recorded = RecordedRuns(journals: journals, isReproducible: isReproducible, minimum: minimum)
    var reports = reports
    if isReproducible { reports.history.choice = .none }
    let summary = recorded.summary
    let paths = console.attempt("the reports are not written: ") {
      try reports.write(recorded, journals: journals, console.status)
    }
    let status = summary.tally.exitStatus
    for words in summary.copies { console.say("lockstep: \(words.inOneLine)") }
    for words in summary.partsElsewhere { console.say("lockstep: this is one part of a run: \(words)") }
    guard let paths else { return status.withTrouble }
    switch format {
    case .json: console.print(summary.json)
    case .human:
      let text = SummaryText(summary: summary, paint: console.painter(color), isQuiet: isQuiet)
      let places = isQuiet ? [] : paths.map { "  report   \($0)" }
      console.print((text.lines + places).joined(separator: "\n"))
    }
    if let words = summary.tally.tooLittle { console.say("lockstep: \(words)") }
    return status
  }
}

/// The text summary of several runs.
struct SummaryText {
  let summary: RunSummary
  let paint: Painter
  let isQuiet: Bool

  /// The lines: failures first, then findings, counts and coverage.
  var lines: [String] {
    var lines = summary.failures.flatMap(text)
    for words in summary.omissions { lines.append(paint(.warning, "  journal  \(words.inOneLine)")) }
    for problem in summary.problems { lines.append(paint(.warning, "  journal  \("\(problem)".inOneLine)")) }
    if isQuiet { return lines }
    let tally = summary.tally
    let count = tally.ended
    let counts = tally.counts(paint)
    lines.append(
      paint(.strong, counted(count, "case")) + " of " + counted(summary.statuses.count, "run")
        + (counts.isEmpty ? "" : ": ") + counts)
    if tally.observations > 0 {
      lines.append("  compared \(counted(tally.observations, "observation"))")
    }
    if let words = tally.flakiness { lines.append("  flaky    \(words)") }
    let cut = summary.statuses.count { $0 == nil }
    if cut > 0 {
      let words = counted(cut, "run") + " did not end"
      let missing =
        summary.planned > 0 ? ", \(summary.notBegun) of \(summary.planned) cases were not begun" : ""
      lines.append(paint(.warning, "  incomplete: " + words + missing))
    }
    for finding in summary.findings {
      lines.append(
        "  finding  \(finding.summary.inOneLine), in \(finding.shortest) events: \((finding.file ?? "–").inOneLine)"
      )
    }
    for item in summary.coverage {
      lines.append("  coverage \(item.machine.inOneLine): \(item.total.words)")
    }
    return lines
  }

  private func text(_ failure: RunSummary.Failure) -> [String] {
    let presentation = Record.Ending(failure.word).presentation
    return [paint(presentation.style, "\(presentation.sign) \(failure.id.inOneLine)")]
      + failure.message.split(separator: "\n").map { "    " + unobeyed(String($0)) }
      + (failure.isFlaky
        ? ["    it agreed when tried again, and counts as failed (--flaky-result fail)"] : [])
      + (failure.replay.map { ["  \($0.inOneLine)"] } ?? [])
  }
}

extension RunSummary: Written {
  public static let fields: [Field<Self>] = [
    .derived("runs", \.statuses.count, .count), .derived("cases", \.tally.cases, .count),
    .derived("agree", \.tally.agree, .count), .derived("divergences", \.tally.divergences, .divergences),
    .derived("unmet", \.tally.unmet, .unmet),
    .derived("labFaults", \.tally.labFaults, .count), .derived("skipped", \.tally.skipped, .count),
    .derived("incomplete", \.tally.incomplete, .count), .derived("flaky", \.tally.flaky, .count),
    .derived("observations", \.tally.observations, .count),
    .derived("notBegun", \.notBegun, .count), .derived("findings", \.findings, .list(.object(findingFields))),
    .derived("coverage", \.coverage, .list(.object(coverageFields))),
    .derived("leftOut", \.omissions, .list(.text)),
    .derived("problems", { $0.problems.map { "\($0)" } }, .list(.text)),
    .derived("status", \.status, .count),
  ]

  private static let findingFields: [Field<Record.Finding>] = [
    .derived("signature", \.signature, .text), .derived("message", \.summary, .text),
    .derived("shortest", \.shortest, .count), .derived("file", \.file, .textOrNull),
  ]

  private static let coverageFields: [Field<Record.Coverage>] = [
    .derived("machine", \.machine, .text), .derived("legal", { counts($0.total.legal) }, .list(.count)),
    .derived("empty", { counts($0.total.empty) }, .list(.count)),
  ]

  /// Returns `[visited, count]`, or an empty list if the share is unknown.
  private static func counts(_ share: Record.Coverage.Share?) -> [Int] {
    share.map { [$0.visited, $0.count] } ?? []
  }
}
