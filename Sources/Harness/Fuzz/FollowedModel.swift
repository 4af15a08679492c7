import Basics
import Conformance
import Journal

/// A model that follows a stored trace: recomputes the possible states without the device.
struct FollowedModel {
  private var tracker: Tracker
  /// Whether the model allows the trace so far.
  private var isFollowing = true
  private var time = Instant.zero

  /// Puts the model into a start; `nil` if it has no such start.
  init?(_ specification: Specification, _ abilities: Abilities, from start: StartCondition) {
    tracker = Tracker(specification, slack: abilities.slack)
    guard let number = tracker.start(for: start) else { return nil }
    tracker.start(in: number)
    for condition in abilities.conditions { tracker.apply(Fault(condition), at: .zero) }
    for setting in start.settings { tracker.apply(Fault(setting.name, setting.value), at: .zero) }
    tracker.completeConditionChanges()
  }

  /// Whether every possible state allows a stimulus.
  mutating func allows(_ stimulus: Int) -> Bool { tracker.allows(stimulus) }

  /// Records the possible states if they changed.
  func write(to writer: inout TraceWriter, at time: Instant) {
    if isFollowing { writer.follow(tracker, at: time) }
  }

  /// Lets time pass until the next event.
  mutating func pass(until limit: Instant, writingTo writer: inout TraceWriter) {
    while isFollowing, tracker.horizon < limit {
      time = max(tracker.horizon, time)
      isFollowing = tracker.settle(at: time)
      write(to: &writer, at: time)
      if tracker.horizon <= time { break }
    }
  }

  /// Records a trace entry; from the first one that the model does not allow it records nothing.
  mutating func take(_ entry: TraceList.Entry) {
    guard isFollowing else { return }
    time = entry.time
    switch entry.event {
    case .stimulus(let stimulus): tracker.perform(stimulus, at: time)
    case .fault(let fault): tracker.apply(fault, at: time)
    case .observation(let observation): isFollowing = tracker.observe(observation, at: time)
    }
  }
}

/// Keeps the records of a case until it is clear whether they are needed.
final class JournalList: JournalListener {
  private(set) var records: [Record] = []

  func take(_ record: Record) { records.append(record) }
}
