import Conformance
import Simulation

/// Once a link was lost, the next one leads to a session or is ended by the client: a lock that nothing disturbs any
/// more does not stay silent.
///
/// The model cannot say so: it does not know whether what was lost with the link has come to an end. This watches the
/// plain case, a test in which nothing but lost links has happened, and nobody had begun to register or to reset the
/// lock.
struct RecoversFromLostLinks: Invariant {
  /// The fault after which a lock must recover.
  let fault: String
  /// The stimuli that a lost link may leave half done.
  let excuses: [String]
  /// Those that begin a link, and those with which the client ends it.
  let beginning: String
  let endings: [String]
  /// The status without a link.
  let away: String
  private var wasLost = false
  private var isExcused = false
  private var isWatching = false

  init(
    _ fault: String, unless excuses: [String], beginning: String, endings: [String], away: String
  ) {
    self.fault = fault
    self.excuses = excuses
    self.beginning = beginning
    self.endings = endings
    self.away = away
  }

  mutating func reset() {
    wasLost = false
    isExcused = false
    isWatching = false
  }

  mutating func check(_ event: TraceEvent, at time: Instant, in vocabulary: Vocabulary) -> String? {
    switch event {
    case .fault(let fault):
      isWatching = false
      // One that is to come later, such as after three frames, may still be to come.
      if fault.name == self.fault, fault.value == .flag(true) { wasLost = true } else { isExcused = true }
    case .stimulus(let stimulus):
      let name = vocabulary.stimuli[stimulus.number]
      if excuses.contains(name) { isExcused = true }
      if name == beginning { isWatching = wasLost && !isExcused }
      if endings.contains(name) { isWatching = false }
    case .observation(.status(let number)):
      guard isWatching, vocabulary.statuses[number] == away else { break }
      isWatching = false
      return "the link after a lost one came to nothing, and nothing disturbed it"
    case .observation: break
    }
    return nil
  }
}
