import Basics
import System

/// Where the history is kept: `--history`, which several commands have.
public struct HistorySettings: Equatable, Sendable {
  /// What somebody chose.
  public enum Choice: Equatable, Sendable {
    /// `history.sqlite` in the folder of reports.
    case usual
    case place(HistoryPlace)
    case none
  }

  /// What somebody chose.
  public var choice = Choice.usual

  /// The usual place.
  public init() {}

  /// Where it is; `nil` where none is wanted.
  public func place(out: String) -> HistoryPlace? {
    switch choice {
    case .usual: .file(out + "/history.sqlite")
    case .place(let place): place
    case .none: nil
    }
  }

  /// How long to wait before a history that is away is tried again.
  private static let pauses = [Interval.seconds(1), .seconds(2)]

  /// Takes runs into the history when they are over, after those that it could not take earlier.
  ///
  /// What goes wrong here is said, and changes nothing about the runs: their journals have it all. A history that is away
  /// is tried again for a while; then the runs are noted, and a later command sends them.
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
        // Who waited for other writers has waited long enough.
        if case .away = error, !Interruption.isRequested, let pause = pauses.popFirst() {
          System.rest(for: pause)
          continue
        }
        messages.say("lockstep: \(error)")
        return unsent.keep(rest, messages)
      }
    }
  }

  /// What the history tells of cases for the reports of some runs; `nil` where there is none, or none that can be read.
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
  /// The choice as words of a command line.
  public var words: [String] {
    switch choice {
    case .usual: []
    case .place(let place): ["--history", "\(place)"]
    case .none: ["--history", "none"]
    }
  }
}
