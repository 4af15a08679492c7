import Conformance
import Simulation

/// Once a link was lost, the lock is heard again in good time: one that nothing disturbs any more does not stay silent.
///
/// The model cannot say so: it does not know whether what was lost with the link has come to an end. This watches the
/// plain case, a test in which nothing but lost links has happened.
struct IsHeardAfterLostLinks: Invariant {
  /// The fault after which a lock must be heard.
  let fault: String
  /// The stimulus with which the client begins to listen, and the status in which it has heard the lock.
  let listening: String
  let heard: String
  /// How long a lock may take.
  let limit: Interval
  private var wasLost = false
  private var isExcused = false
  /// By when it must be heard, while that is awaited.
  private var deadline: Instant?

  init(_ fault: String, listening: String, heard: String, within limit: Interval) {
    self.fault = fault
    self.listening = listening
    self.heard = heard
    self.limit = limit
  }

  mutating func reset() {
    wasLost = false
    isExcused = false
    deadline = nil
  }

  mutating func check(_ event: TraceEvent, at time: Instant, in vocabulary: Vocabulary) -> String? {
    if let deadline, time > deadline, !isExcused {
      self.deadline = nil
      return "nothing heard within \(limit) of \(listening), and only a link had been lost before"
    }
    switch event {
    case .fault(let fault):
      // One that is to come later, such as after three frames, may still be to come.
      if fault.name == self.fault, fault.value == .flag(true) { wasLost = true } else { isExcused = true }
    case .stimulus(let stimulus):
      let isListening = vocabulary.stimuli[stimulus.number] == listening
      if isListening, wasLost, !isExcused, deadline == nil { deadline = time + limit }
    case .observation(.status(let number)):
      if vocabulary.statuses[number] == heard { deadline = nil }
    case .observation: break
    }
    return nil
  }
}
