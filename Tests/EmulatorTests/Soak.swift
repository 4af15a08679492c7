import Automata
import Conformance
import Emulator
import Basics
import TestSupport

/// Random tests without end, of one device beside its model: what they find on a healthy device is a false alarm.
///
/// Choices are drawn by fixed odds: mostly what the model allows and mostly until the device rests, but also what it
/// forbids, waits that end in the middle of whatever goes on, the edges of timers, and disturbances.
struct Soak<Device: DeviceUnderTest> {
  /// A test that failed, and how.
  struct Finding {
    var test: TestCase
    var divergence: Divergence
  }

  private(set) var lockstep: Lockstep<Device, NoRecorder>
  let alphabet: Alphabet
  let starts: [StartCondition]
  private var random: SeededGenerator
  /// How many choices were carried out.
  private(set) var events = 0
  /// The choices of the test under way.
  private var test = TestCase(start: 0)

  init(
    _ specification: Specification, _ device: Device, _ abilities: Abilities,
    invariants: [any Invariant] = [],
    starts: [StartCondition], seed: UInt64
  ) {
    lockstep = Lockstep(specification, device, invariants: invariants, recorder: NoRecorder())
    alphabet = Alphabet(specification, abilities)
    self.starts = starts
    random = SeededGenerator(seed: seed, for: "soak")
  }

  /// Runs tests until so many choices were carried out, or one of them fails.
  mutating func run(events limit: Int, length: Int = 60) throws(LabFault) -> Finding? {
    let end = events + limit
    while events < end {
      if let finding = try runTest(of: length) { return finding }
    }
    return nil
  }

  private mutating func runTest(of length: Int) throws(LabFault) -> Finding? {
    test = TestCase(start: random.below(starts.count))
    let troubles = drawTroubles()
    _ = try lockstep.reset(to: starts[test.start])
    if let divergence = try lockstep.pass(until: lockstep.now) {
      return Finding(test: test, divergence: divergence)
    }
    for _ in 0..<length {
      let situation = lockstep.situation
      guard let choice = draw(in: situation, troubles), let action = alphabet.action(of: choice),
        situation.admits(choice, alphabet)
      else { continue }
      test.choices.append(choice)
      events += 1
      if let divergence = try lockstep.carryOut(action).divergence {
        return Finding(test: test, divergence: divergence)
      }
      if random.below(3) != 0 {
        test.choices.append(Choice(alphabet.settle))
        if let divergence = try lockstep.settle() { return Finding(test: test, divergence: divergence) }
      }
    }
    return try lockstep.settle().map { Finding(test: test, divergence: $0) }
  }

  /// The disturbances of a test: none, one or two kinds, or all. The fewer, the sharper the model.
  private mutating func drawTroubles() -> [Int] {
    let all = Array(alphabet.disturbances)
    guard !all.isEmpty else { return [] }
    switch random.below(4) {
    case 0: return []
    case 1: return all
    case 2: return [all[random.below(all.count)]]
    default: return [all[random.below(all.count)], all[random.below(all.count)]]
    }
  }

  private mutating func draw(in situation: Situation, _ troubles: [Int]) -> Choice? {
    switch random.below(100) {
    case 0..<72:
      return stimulus(of: situation.legal)
    case 72..<77:
      guard var choice = stimulus(of: situation.forbidden) else { return nil }
      choice.isForbidden = true
      return choice
    case 77..<84:
      return variant(of: alphabet.wait)
    case 84..<90:
      return situation.hasDeadline ? variant(of: alphabet.edge) : nil
    case 90..<92:
      return Choice(alphabet.settle)
    default:
      return troubles.isEmpty ? nil : variant(of: troubles[random.below(troubles.count)])
    }
  }

  /// One of the stimuli of a mask that this device serves.
  private mutating func stimulus(of mask: UInt64) -> Choice? {
    guard mask != 0 else { return nil }
    var bits = mask
    for _ in 0..<random.below(mask.nonzeroBitCount) { bits &= bits &- 1 }
    return variant(of: bits.trailingZeroBitCount)
  }

  private mutating func variant(of act: Int) -> Choice? {
    let count = alphabet.acts[act].variants.count
    return count == 0 ? nil : Choice(act, variant: random.below(count))
  }

  /// The trace of a test, line by line, from its start on.
  static func trace(
    of test: TestCase, _ specification: Specification, _ device: Device, _ alphabet: Alphabet,
    starts: [StartCondition], invariants: [any Invariant] = []
  ) throws(LabFault) -> [String] {
    var lockstep = Lockstep(specification, device, invariants: invariants, recorder: TraceList())
    let execution = try lockstep.run(test, alphabet, starts: starts)
    let lines = lockstep.recorder.entries.map { entry in
      let what: String =
        switch entry.event {
        case .stimulus(let stimulus):
          "\(specification.vocabulary.stimuli[stimulus.number])(\(stimulus.arguments.map { "\($0.value)" }.joined()))"
        case .fault(let fault): "fault \(fault.name) \(fault.value)"
        case .observation(let observation): specification.vocabulary.text(of: observation)
        }
      return "\(entry.time.secondsText) \(what)"
    }
    return lines + [
      execution.divergence.map { "\($0.time.secondsText) \($0.summary) \($0.allowed)" } ?? "agree"
    ]
  }
}

extension EmulatedLockSpecification {
  /// A lock as users write it, such as `sesame5?loss=0.01&link=radio`.
  init(text: String) throws(LockOptionError) {
    let parts = text.split(separator: "?", maxSplits: 1)
    let settings = parts.count < 2 ? [] : parts[1].split(separator: "&")
    try self.init(
      parsing: String(parts[0]),
      settings: settings.map { setting in
        let pair = setting.split(separator: "=", maxSplits: 1)
        return (String(pair[0]), pair.count < 2 ? "yes" : String(pair[1]))
      })
  }
}
