import Basics
import System

/// The place of the history: the option `--history` of several commands.
public struct HistorySettings: Equatable, Sendable {
  /// The user's choice.
  public enum Choice: Equatable, Sendable {
    /// `history.sqlite` in the folder of reports.
    case usual
    case place(HistoryPlace)
    case none
  }

  /// The user's choice.
  public var choice = Choice.usual

  /// Makes the default settings.
  public init() {}

  /// The place; `nil` if there is none.
  public func place(out: String) -> HistoryPlace? {
    switch choice {
    case .usual: .file(out + "/history.sqlite")
    case .place(let place): place
    case .none: nil
    }
  }

  /// The pauses before a history that is away is tried again.
  private static let pauses = [Interval.seconds(1), .seconds(2)]

  /// Adds runs to the history at their end, after those that could not be added earlier.
  ///
  /// Failures are reported, and do not change the runs: their journals are complete. A history that is away
  /// is retried for a while; then the runs are noted, and a later command sends them.
  func take(journals: [String], out: String, _ messages: StatusLine) {
    guard let place = place(out: out) else { return }
    let unsent = UnsentRuns(out: out, place: place)
    var rest = journals[...]
    var pauses = Self.pauses[...]
    while true {
      do throws(HistoryError) {
        let history = try History(place, for: .adding)
        try unsent.send(to: history, messages)
        while let journal = rest.first {
          do throws(HistoryError) {
            try history.take(journal: journal)
          } catch {
            guard case .run = error else { throw error }
            messages.say("lockstep: \(error)")
          }
          rest.removeFirst()
        }
        return
      } catch {
        // The wait for other writers is over.
        if case .unavailable = error, !Interruption.isRequested, let pause = pauses.popFirst() {
          System.rest(for: pause)
          continue
        }
        messages.say("lockstep: \(error)")
        return unsent.addNotes(of: rest, messages)
      }
    }
  }

  /// The source of earlier results for the reports of some runs; `nil` if there is no readable history.
  func source(journals: [String], out: String, _ messages: StatusLine) -> HistorySource? {
    guard let place = place(out: out) else { return nil }
    do {
      return try HistorySource(History(place, for: .asking), journals: journals)
    } catch {
      if case .absent = error { return nil }
      messages.say("lockstep: \(error)\n  the report says nothing of earlier runs")
      return nil
    }
  }
}

extension HistorySettings {
  /// The choice as command-line options.
  public var words: [String] {
    switch choice {
    case .usual: []
    case .place(let place): ["--history", "\(place)"]
    case .none: ["--history", "none"]
    }
  }
}
