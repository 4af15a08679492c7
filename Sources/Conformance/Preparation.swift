public import Basics

/// The record of a session that prepared a device for a test.
///
/// The session is not part of the test, but it is judged too: a lock that rejects a login, or keeps its owner, is
/// as wrong between two tests as during one. Each session is judged separately, from what was known when it began.
public struct Preparation: Sendable {
  /// What was known about the device when the session began, as settings of a start: every start of the machine
  /// that they do not contradict is possible. `nil` if too little was known: only the invariants are then checked.
  public var start: StartCondition?
  /// The conditions that were unknown when the session began, such as autolock, which a test may have set.
  public var unsure: [String]
  /// The stimuli for events that may already have been in progress; the model receives each at the given status.
  public var underWay: [(status: String, stimulus: String)]
  /// The actions and observations, with their times in the session.
  public var entries: [TraceList.Entry] = []
  /// The end of the final silence, if the device caused it; otherwise, silence counts only up to the last entry.
  public var silence: Instant?
  /// Why the device behaved as it did at the end, if known.
  public var explanation: Explanation?

  /// Begins the record of a session.
  public init(
    from start: StartCondition?, unsure: [String] = [],
    underWay: [(status: String, stimulus: String)] = []
  ) {
    self.start = start
    self.unsure = unsure
    self.underWay = underWay
  }

  /// Records an action or an observation.
  public mutating func take(_ event: TraceEvent, at time: Instant) {
    entries.append(TraceList.Entry(time: time, event: event))
  }
}

extension Preparation {
  /// The duration of the session.
  public var length: Interval { max(entries.last?.time ?? .zero, silence ?? .zero) - .zero }

  /// The stimuli given in the session.
  public var stimuli: [Stimulus] {
    entries.compactMap { entry in
      if case .stimulus(let stimulus) = entry.event { stimulus } else { nil }
    }
  }
}
