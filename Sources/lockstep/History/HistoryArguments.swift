import Reporting

/// Where the history is kept: `--history`, which several commands have.
struct HistoryArguments: Equatable {
  /// What somebody chose.
  enum Choice: ArgumentValue, Equatable {
    /// `history.sqlite` in the folder of reports.
    case usual
    case place(HistoryPlace)
    case none

    init?(argument: String) {
      if argument.isEmpty { return nil }
      self = argument == "none" ? .none : .place(HistoryPlace(argument))
    }

    static let form = "a path, postgres://… or none"
  }

  var choice = Choice.usual

  static var option: Option<HistoryArguments> {
    .value(
      "history", \.choice, "PLACE",
      "Where the history of runs is kept: a file of SQLite, postgres://HOST/DATABASE, or none. "
        + "DIR/history.sqlite unless given. A password belongs into PGPASSWORD or ~/.pgpass.",
      example: "postgres://bench-db/lockstep", as: .file)
  }

  /// Where it is; `nil` where none is wanted.
  func place(out: String) -> HistoryPlace? {
    switch choice {
    case .usual: .file(out + "/history.sqlite")
    case .place(let place): place
    case .none: nil
    }
  }

  /// Takes a run into the history when it is over.
  ///
  /// What goes wrong here is said, and changes nothing about the run: the journal has it all, and `lockstep history add`
  /// can take it in later.
  func take(journal: String, out: String, _ console: Console) {
    guard let place = place(out: out) else { return }
    do {
      try History(place, for: .adding).take(journal: journal)
    } catch {
      console.say(
        "lockstep: \(error)\n  the run is not in the history; 'lockstep history add' takes it in later")
    }
  }

  /// What the history tells of cases for the reports of some runs; `nil` where there is none, or none that can be read.
  func source(journals: [String], out: String, _ console: Console) -> HistorySource? {
    guard let place = place(out: out) else { return nil }
    do {
      return try HistorySource(History(place, for: .asking), journals: journals)
    } catch {
      if case .absent = error { return nil }
      console.say("lockstep: \(error)\n  the report says nothing of earlier runs")
      return nil
    }
  }
}

extension HistoryArguments {
  /// The choice as words of a command line.
  var words: [String] {
    switch choice {
    case .usual: []
    case .place(let place): ["--history", "\(place)"]
    case .none: ["--history", "none"]
    }
  }
}
