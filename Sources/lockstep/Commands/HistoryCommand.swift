import CommandLine
import System
import Basics
import Journal
import Reporting

/// The options of `history`.
struct HistoryCommandArguments {
  var words: [String] = []
  var out = "Reports"
  var history = HistorySettings()
  var last: Count?
  var since: Since?
  var host: String?
  var filter: String?
  var format = OutputFormat.human
  var color = ColorChoice.auto
  var settings = SettingsChoice()
}

/// A date, or a date with a time, in UTC.
struct Since: ArgumentValue, Equatable {
  let text: String
  static let form = "a date such as 2026-11-20, or 2026-11-20T22:38:51Z"

  init?(argument: String) {
    let pattern = Array("0000-00-00T00:00:00Z".utf8)
    let bytes = Array(argument.utf8)
    let fits = zip(bytes, pattern).allSatisfy { byte, model in
      model == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == model
    }
    guard fits, [10, 16, 19, 20].contains(bytes.count), Day(text: argument.prefix(10)) != nil else {
      return nil
    }
    let parts = zip(argument.dropFirst(11).split { ":Z".contains($0) }.compactMap { Int($0) }, [23, 59, 60])
    guard parts.allSatisfy({ $0 <= $1 }) else { return nil }
    text = argument
  }
}

extension Command {
  static var history: Command {
    Command(
      "history", "Shows the results of earlier runs.",
      discussion: """
        Every run adds itself to the history when it ends. A case is identified by its class and name, as in JUnit, so it keeps
        its history when a lock is replaced.

          flaky       cases whose verdict changed between runs on the same device, or that needed another attempt; the worst
                      first. Changes between runs with different scenarios, machines or programs do not count
          slow        cases that took much longer than usual when they last agreed
          failures    kinds of failures, the latest first: how often, since when, in which cases
          cases       all cases: how often they agreed, when they first ran, how long they take
          case NAME   the results of one case in each of its latest runs; a part of its name is enough
          runs        the runs
          add RUN…    adds runs from their journals, such as those of other hosts; adding a run twice changes nothing

        Durations are measured by the clock of the device, which for an emulated lock is virtual. The elapsed time is 'time' in
        JUnit; a busy host does not make a case slower here.

        A case is slower than usual if it exceeds the median of the latest \(UsualTime.maximum) runs that agreed by more than four
        standard deviations (estimated from the median deviation), by more than a fifth, and by more than 0.1 s. This needs
        at least \(UsualTime.minimum) runs.

        Runs that could not be sent to the history are stored in DIR/unsent. Each of these questions sends them first, and so
        does the next run.

        Exit status: 0; 4 if there is no history, no run, or no case of that name; 2 if the database cannot be used as a
        history; 3 if it does not answer or another process has locked it.

        """,
      examples: [
        Example("lockstep history", "The latest runs, and flaky or slow cases."),
        Example("lockstep history flaky --last 30", "Flaky cases of the latest thirty runs."),
        Example("lockstep history case drop-during-login", "The results of a case in each run."),
        Example("lockstep history add shard-1/runs/*", "Adds runs of other computers."),
        Example(
          "lockstep history failures --since 2026-11-01 --format json",
          "The failures of this month, as JSON."),
      ],
      options: [
        .value(
          "last", \.last, "N", "Only the latest N runs. Default: all; 10 for the overview.",
          example: "30"),
        .value(
          "since", \.since, "DATE", "Only runs that started on this day or later, in UTC.",
          example: "2026-11-01"),
        .value("host", \.host, "NAME", "Only runs of this host.", example: "bench-01"),
        .value(
          "filter", \.filter, "TEXT", "Only cases with this text in their class or name.", example: "login",
          short: "k"),
        HistorySettings.option.lifted(to: \.history),
        .out(
          \.out, "The folder of the history and of runs that are given by name. Default: Reports."),
        .format(
          \.format, "The output format; json prints one object, which 'lockstep schema history' describes."),
        .color(\.color),
      ] + SettingsChoice.options.map { $0.lifted(to: \.settings) },
      operands: .init(
        placeholder: "QUESTION", summary: "One of the questions below. Default: an overview.",
        count: 0...Int.max, as: .text, path: \.words), defaults: HistoryCommandArguments(),
      settings: \.settings, perform: HistoryCommandArguments.perform)
  }
}

extension HistoryCommandArguments {
  /// The queries of the command.
  private enum Question: String, CaseIterable {
    case flaky, slow, failures, cases, `case`, runs, add
  }

  fileprivate func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    let question = try question()
    guard let place = history.place(out: out) else {
      throw UsageError("with '--history none' there is no history to show")
    }
    if question == .add { return try add(to: place, console) }
    do {
      let history = try openSending(place, console)
      let answer = try answer(question, history, place)
      if case .runs(let runs, _, _) = answer, runs.isEmpty {
        return nothing("no such run is in \(place)", console)
      }
      if case .details(let cases, _) = answer, cases.isEmpty {
        return nothing("no case of \(place) is called \(words[1...].joined(separator: " "))", console)
      }
      show(answer, console)
      return .agree
    } catch {
      console.say("lockstep: \(error)")
      return error.status
    }
  }

  /// Opens the history, after sending the runs that were recorded for it.
  private func openSending(_ place: HistoryPlace, _ console: Console) throws(HistoryError) -> History {
    let unsent = UnsentRuns(out: out, place: place)
    if !unsent.isEmpty {
      do throws(HistoryError) {
        let history = try History(place, for: .adding)
        try unsent.send(to: history, console.status)
        return history
      } catch {
        // A read-only history still answers queries.
        console.say("lockstep: \(error)\n  what is noted in \(out)/\(UnsentRuns.folder) is not sent")
      }
    }
    return try History(place, for: .asking)
  }

  private func nothing(_ why: String, _ console: Console) -> CommandStatus {
    console.say("lockstep: \(why)")
    return .nothingSelected
  }

  /// Returns the query; `nil` for the overview.
  private func question() throws(UsageError) -> Question? {
    guard let word = words.first else { return nil }
    guard let question = Question(rawValue: word) else {
      let hint = hint(for: word, of: Question.allCases.map(\.rawValue))
      throw UsageError("no question is called '\(word)': \(hint)")
    }
    switch question {
    case .flaky, .slow, .failures, .cases, .runs:
      if words.count > 1 { throw UsageError("unexpected argument '\(words[1])'") }
    case .case:
      if words.count == 1 { throw UsageError("missing NAME: lockstep history case NAME") }
    case .add:
      if words.count == 1 { throw UsageError("missing RUN: lockstep history add RUN…") }
    }
    return question
  }

  private func answer(
    _ question: Question?, _ history: History, _ place: HistoryPlace
  ) throws(HistoryError) -> HistoryAnswer {
    var selection = HistorySelection()
    selection.last = last?.value
    selection.since = since?.text
    selection.host = host
    selection.filter = filter
    switch question {
    case .flaky: return .flaky(try history.flaky(selection, points: HistoryText.strip))
    case .slow: return .slow(try history.slow(selection, points: HistoryText.strip))
    case .cases: return .cases(try history.cases(selection, points: HistoryText.strip))
    case .failures: return .failures(try history.failures(selection))
    case .case:
      let (cases, more) = try history.details(
        of: words[1...].joined(separator: " "), selection, results: last?.value ?? 20, limit: 10)
      return .details(cases, more: more)
    case .runs: return .runs(try history.runs(selection), nil, place)
    case nil, .add:
      var latest = selection
      latest.last = last?.value ?? 10
      let cases = try history.cases(selection)
      return .runs(
        try history.runs(latest),
        HistoryAnswer.Totals(
          runs: cases.runs, cases: cases.cases.count, flaky: cases.cases.filter(\.isFlaky).count,
          slow: cases.cases.filter(\.isSlower).count), place)
    }
  }

  /// Adds runs, the earliest first; an unreadable one does not prevent the others.
  private func add(to place: HistoryPlace, _ console: Console) throws(UsageError) -> CommandStatus {
    let journals = try RunPlace.journals(of: Array(words.dropFirst()), out: out)
    RunPlace.reportRunning(journals, "it is added again when it has ended", console.status)
    var taken: [RunRecord.Identity] = []
    var status = CommandStatus.agree
    do throws(HistoryError) {
      let history = try History(place, for: .adding)
      try UnsentRuns(out: out, place: place).send(to: history, console.status)
      for journal in journals {
        do throws(HistoryError) {
          let record = try RunRecord(journal: journal)
          try history.take([record])
          taken.append(record.identity)
        } catch {
          guard case .run = error else { throw error }
          console.say("lockstep: \(error)")
          status = .usage
        }
      }
    } catch {
      console.say("lockstep: \(error)")
      status = error.status
    }
    show(.taken(taken, place), console)
    return status
  }

  private func show(_ answer: HistoryAnswer, _ console: Console) {
    console.print(
      in: format, HistoryText(answer: answer, paint: console.painter(color)).text, answer.json)
  }
}

extension HistoryError {
  /// The exit status of a command on which this error occurred.
  fileprivate var status: CommandStatus {
    switch self {
    case .absent: .nothingSelected
    case .unavailable, .busy, .failing: .labFault
    case .unreadable(_, let fault): fault.isMachines ? .labFault : .usage
    case .unusable, .damaged, .newer, .run: .usage
    }
  }
}
