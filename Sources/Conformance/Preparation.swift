public import Basics

/// What a device was asked for, and showed, in a session before a test, in which it was made ready for it.
///
/// It is no part of the test, and judged all the same: a lock that does not log in, or has not forgotten its owner, is as
/// wrong between two tests as in one. Each session is judged by itself, from what was known when it began.
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

  /// Takes in what was done or shown.
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
