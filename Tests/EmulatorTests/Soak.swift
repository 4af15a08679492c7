import Automata
import Conformance
import Emulator
import Harness
import Basics

/// Random tests without end: what they find on a healthy device is a false alarm.
///
/// Choices are drawn by fixed odds: mostly what the model allows and mostly until the device rests, but also what it
/// forbids, waits that end in the middle of whatever goes on, the edges of timers, and disturbances.
struct Soak: ChoiceSource {
  private let alphabet: Alphabet
  private let starts: Int
  private let length: Int
  private var random: SeededGenerator
  /// How many more choices the test under way has.
  private var left = 0
  /// The disturbances of the test under way.
  private var troubles: [Int] = []
  private var settles = false

  /// Prepares tests of so many choices, besides those that wait until the device rests.
  init(_ alphabet: Alphabet, starts: Int, length: Int = 60, seed: UInt64) {
    (self.alphabet, self.starts, self.length) = (alphabet, starts, length)
    random = SeededGenerator(seed: seed, for: "soak")
  }

  mutating func begin() -> Int {
    let start = random.below(starts)
    troubles = drawTroubles()
    (left, settles) = (length, false)
    return start
  }

  mutating func next(in explorationState: ExplorationState) -> Choice? {
    if settles {
      settles = false
      return Choice(alphabet.settle)
    }
    while left > 0 {
      left -= 1
      guard let choice = draw(in: explorationState), alphabet.action(of: choice) != nil,
        explorationState.admits(choice, alphabet)
      else { continue }
      settles = random.below(3) != 0
      return choice
    }
    return nil
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

  private mutating func draw(in explorationState: ExplorationState) -> Choice? {
    switch random.below(100) {
    case 0..<72:
      return stimulus(of: explorationState.legal)
    case 72..<77:
      guard var choice = stimulus(of: explorationState.forbidden) else { return nil }
      choice.isForbidden = true
      return choice
    case 77..<84:
      return variant(of: alphabet.wait)
    case 84..<90:
      return explorationState.hasDeadline ? variant(of: alphabet.edge) : nil
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
}

extension TraceList {
  /// The trace of a test, line by line, from its start on.
  static func lines<Device: DeviceUnderTest>(
    of test: TestCase, on engine: TestEngine<Device, TraceList>
  ) throws(LabFault) -> [String] {
    var engine = engine
    let execution = try engine.run(test)
    let vocabulary = engine.specification.vocabulary
    let lines = engine.lockstep.recorder.entries.map { entry in
      let what: String =
        switch entry.event {
        case .stimulus(let stimulus):
          "\(vocabulary.stimuli[stimulus.number])(\(stimulus.arguments.map { "\($0.value)" }.joined()))"
        case .fault(let fault): "fault \(fault.name) \(fault.value)"
        case .observation(let observation): vocabulary.text(of: observation)
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
