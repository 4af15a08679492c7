public import System

/// Why a history cannot be read or written.
public enum HistoryError: Error, Hashable, Sendable {
  /// It does not exist yet.
  case absent(HistoryPlace)
  /// Its server does not answer, or not any more.
  case unavailable(HistoryPlace, reason: String)
  /// The machine is at fault, with a full or broken disk; the history is unchanged.
  case failing(HistoryPlace, reason: String)
  /// It cannot be opened, or not be used as needed.
  case unusable(HistoryPlace, reason: String)
  /// Another process has locked it for longer than the timeout.
  case busy(HistoryPlace)
  /// Its contents are damaged.
  case damaged(HistoryPlace, reason: String)
  /// A newer Lockstep wrote it.
  case newer(HistoryPlace, version: Int, known: Int)
  /// The journal of a run, or its manifest, cannot be read now.
  case unreadable(String, FileFault)
  /// A run cannot be added to it.
  case run(String, reason: String)
}

extension HistoryError {
  /// Whether the error is likely to disappear without any action.
  public var isTransient: Bool {
    switch self {
    case .unavailable, .busy, .failing: true
    case .absent, .unusable, .damaged, .newer, .unreadable, .run: false
    }
  }
}

extension HistoryError: CustomStringConvertible {
  /// The problem, the place and advice.
  public var description: String {
    switch self {
    case .absent(let place): "there is no history at \(place) yet"
    case .unavailable(let place, let reason): "the history at \(place) cannot be reached: \(reason)"
    case .failing(let place, let reason): "the history at \(place) cannot be read or written now: \(reason)"
    case .unusable(let place, let reason): "the history at \(place) cannot be used: \(reason)"
    case .busy(let place): "the history at \(place) is locked: another process is writing to it"
    case .damaged(let place, let reason):
      "the history at \(place) is damaged: \(reason). "
        + "Put it aside: 'lockstep history add RUN…' fills a new one from the journals"
    case .newer(let place, let version, let known):
      "the history at \(place) was written by a newer lockstep: its schema is \(version), "
        + "and this one knows them up to \(known)"
    case .unreadable(let run, let fault): "\(run) is not taken into the history, since \(fault)"
    case .run(let run, let reason): "\(run) is not taken into the history: \(reason)"
    }
  }
}
