import Automata
import Conformance
import Basics
import Testing

/// What became of a play: the whole trace in words, and where model and device parted.
struct Played {
  /// A line each: the time, `>` before what the tester did, and what was done or shown.
  var trace: [String] = []
  /// The first disagreement, with the number of its step.
  var divergence: Divergence?
}

/// Drives a device in lockstep with its model through steps such as
///
///     open, serviceAdded, wait 2.999 s, fault queue-full, fault queue-full off
///
/// up to the end or to a divergence.
func play<Device: DeviceUnderTest>(
  _ steps: String, on device: Device, against definition: MachineDefinition, settings: [Argument] = []
) throws -> Played {
  let specification = Specification(try Machine(definition))
  var lockstep = Lockstep(specification, device, recorder: TraceList())
  _ = try lockstep.reset(to: StartCondition(settings))
  var played = Played()
  for (number, step) in steps.split(separator: ",").enumerated() {
    let words = step.split(whereSeparator: \.isWhitespace).map(String.init)
    played.divergence = try lockstep.take(words, in: specification.vocabulary)
    played.divergence?.step = number + 1
    if played.divergence != nil { break }
  }
  played.trace = lockstep.recorder.entries.map { entry in
    switch entry.event {
    case .stimulus(let stimulus): "\(entry.time) > \(specification.vocabulary.stimuli[stimulus.number])"
    case .fault(let fault): "\(entry.time) > \(fault.name) \(fault.value)"
    case .observation(let shown): "\(entry.time)   \(specification.vocabulary.text(of: shown))"
    }
  }
  return played
}

extension Lockstep {
  fileprivate mutating func take(_ words: [String], in vocabulary: Vocabulary) throws -> Divergence? {
    switch words[0] {
    case "wait": try pass(until: now + #require(Interval(text: words[1] + " " + words[2])))
    case "fault": try bring(about: Fault(words[1], .flag(words.count < 3)))
    default: try perform(Stimulus(#require(vocabulary.stimulus(words[0]))))
    }
  }
}
