import Conformance
import Basics

/// A device that shows what a script says: at a stimulus, or at a moment.
struct ScriptedDevice: StandaloneDevice {
  enum Show: Equatable {
    case status(String)
    case effect(String)
    case refused(String)
    case reading(String, Value)
  }

  /// What each stimulus leads to, after a delay.
  var answers: [String: [(Interval, Show)]] = [:]
  var abilities = Abilities(stimuli: nil, settings: nil, showsEffects: true)
  private(set) var now = Instant.zero
  private var queue = EventQueue<Show>()
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])

  init(_ answers: [String: [(Interval, Show)]] = [:]) {
    self.answers = answers
  }

  mutating func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  mutating func reset(to start: StartCondition) {
    now = .zero
    queue = EventQueue()
  }

  mutating func perform(_ stimulus: Stimulus) {
    for (delay, show) in answers[vocabulary.stimuli[stimulus.number]] ?? [] {
      queue.schedule(show, at: now + delay)
    }
  }

  mutating func bring(about fault: Fault) {}

  mutating func restart() {}

  mutating func observe(until limit: Instant) -> Observation? {
    guard let (time, show) = queue.next(until: limit) else {
      now = max(now, limit)
      return nil
    }
    now = max(now, time)
    switch show {
    case .status(let name): return vocabulary.observation(ofStatus: name)
    case .effect(let name): return vocabulary.observation(ofEffect: name)
    case .refused(let reason): return .refused(reason)
    case .reading(let name, let value): return .reading(Reading(name, value))
    }
  }
}
