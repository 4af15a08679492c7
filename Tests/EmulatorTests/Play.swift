import Automata
import Conformance
import Basics
import Testing

/// What became of a play: the whole trace in words, and where model and device parted.
struct Playback {
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
) throws -> Playback {
  let specification = Specification(try Machine(definition))
  var lockstep = Lockstep(specification, device, recorder: TraceList())
  _ = try lockstep.reset(to: StartCondition(settings))
  var playback = Playback()
  for (number, step) in steps.split(separator: ",").enumerated() {
    let words = step.split(whereSeparator: \.isWhitespace).map(String.init)
    playback.divergence = try lockstep.take(words, in: specification.vocabulary)
    playback.divergence?.step = number + 1
    if playback.divergence != nil { break }
  }
  playback.trace = lockstep.recorder.entries.map { entry in
    switch entry.event {
    case .stimulus(let stimulus): "\(entry.time) > \(specification.vocabulary.stimuli[stimulus.number])"
    case .fault(let fault): "\(entry.time) > \(fault.name) \(fault.value)"
    case .observation(let shown): "\(entry.time)   \(specification.vocabulary.text(of: shown))"
    }
  }
  return playback
}

extension Lockstep {
  fileprivate mutating func take(_ words: [String], in vocabulary: Vocabulary) throws -> Divergence? {
    switch words[0] {
    case "wait": try pass(until: now + #require(Interval(text: words[1] + " " + words[2])))
    case "fault": try bring(about: Fault(words[1], .flag(words.count < 3)))
    default: try perform(Stimulus(#require(vocabulary.stimulus(words[0]))))
    }
  }

  /// Lets time pass until a status is shown.
  mutating func pass(toStatus status: String, within limit: Interval = .seconds(60)) throws -> Divergence? {
    let end = now + limit
    while self.status.map({ vocabulary.statuses[$0] }) != status {
      guard now < end else { return Divergence(.invariant("no \(status) came"), at: now) }
      if let divergence = try next(until: end) { return divergence }
    }
    return nil
  }
}

extension Lockstep where Recorder == TraceList {
  /// Takes steps, one after the other, up to the end or to a divergence.
  ///
  /// | step | what it is |
  /// |---|---|
  /// | `unlock`, `setAutolock=10`, `lock=a tag`, `lock again` | a stimulus, with a delay, a tag, or what is a matter of yes or no |
  /// | `!fault`, `!fault=value` | a fault |
  /// | `+2 s` | time passes |
  /// | `~locked` | time passes until a status is shown |
  /// | `?battery 50` | a reading of which the end is this was shown |
  mutating func take(_ steps: String) throws -> Divergence? {
    for step in steps.split(whereSeparator: { $0 == ";" || $0 == "\n" }) {
      let step = step.drop { $0 == " " }
      if !step.isEmpty, let divergence = try take(step) { return divergence }
    }
    return nil
  }

  private mutating func take(_ step: Substring) throws -> Divergence? {
    let rest = String(step.dropFirst())
    switch step.first {
    case "+": return try pass(until: now + #require(Interval(text: rest)))
    case "~": return try pass(toStatus: rest)
    case "?":
      let isThere = recorder.entries.contains { entry in
        guard case .observation(.reading(let reading)) = entry.event else { return false }
        return "\(reading.name) \(reading.value)".hasSuffix(rest)
      }
      return isThere ? nil : Divergence(.invariant("no \(rest) came"), at: now)
    case "!":
      let parts = rest.split(separator: "=").map(String.init)
      return try bring(about: Fault(parts[0], parts.count > 1 ? .text(parts[1]) : .flag(true)))
    default:
      let parts = step.split(separator: "=", maxSplits: 1).map(String.init)
      let words = parts[0].split(separator: " ").map(String.init)
      let values = parts.dropFirst().map { text in
        Int(text).map { Argument("delay", .integer($0)) } ?? Argument("tag", .text(text))
      }
      let flags = words.dropFirst().map { Argument($0, .flag(true)) }
      return try perform(Stimulus(#require(vocabulary.stimulus(words[0])), values + flags))
    }
  }
}
