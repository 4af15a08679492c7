public import Basics

/// The actions and observations of a session that prepared a device for a test.
///
/// The session is no part of the test, but it is judged too: a lock that rejects a login, or keeps its owner, is as
/// wrong between two tests as within one. Each session is judged separately, from what was known when it began.
public struct Preparation: Sendable {
  /// What was known of the device when the session began, as settings of a start: every start of the machine that they
  /// do not contradict is possible. `nil` where too little was known to say more than whether the protocol was kept.
  public var start: StartCondition?
  /// The conditions of which it was not known whether they held, such as an autolock that a test may have set.
  public var unsure: [String]
  /// The stimuli that tell the model of what may have been under way already, with the status in which each is told.
  public var underWay: [(status: String, stimulus: String)]
  /// What was done and shown, with the session's time.
  public var entries: [TraceList.Entry] = []
  /// Until when the device was silent at last, where that is its own doing; else silence counts up to the last entry alone.
  public var silence: Instant?
  /// Why the device was silent at last, where that is known.
  public var explanation: Explanation?

  /// A session that begins.
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
  /// How long the session lasted.
  public var length: Interval { max(entries.last?.time ?? .zero, silence ?? .zero) - .zero }

  /// The stimuli that were given.
  public var stimuli: [Stimulus] {
    entries.compactMap { entry in
      if case .stimulus(let stimulus) = entry.event { stimulus } else { nil }
    }
  }
}
