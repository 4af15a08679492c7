import Automata
import Conformance
import Emulator
import Models
import Basics

extension Figure {
  /// The speed of a model and a device in lockstep.
  static var reference: [Figure] {
    let walk =
      "Uniform legal walk on sesame-table with the healthy reference lock, tests of 50 events, one core"
    return [
      Figure(
        name: "reference.events", unit: "events/s", better: .higher,
        method: "\(walk), nothing kept; the best of 9 runs of 3 million events.",
        measure: { eventsPerSecond(count: 3_000_000) { NoRecorder() } }),
      Figure(
        name: "reference.events-traced", unit: "events/s", better: .higher,
        method: "\(walk), the trace of each test kept; the best of 9 runs of 1 million events.",
        measure: { eventsPerSecond(count: 1_000_000) { TraceList() } }),
    ]
  }

  /// The length of a test.
  private static let length = 50

  private static func eventsPerSecond<Recorder: TraceRecorder>(
    count: Int, recorder: () -> Recorder
  ) -> Double? {
    guard let machine = try? Machine(.sesameTable) else { return nil }
    var lockstep = Lockstep(
      Specification(machine, showsEffects: false), ReferenceLock(), recorder: recorder())
    var generator = SeededGenerator(seed: 1)
    var rates: [Double] = []
    for _ in 0..<9 {
      var agrees = true
      let time = seconds {
        for _ in 0..<count / length where agrees {
          lockstep.recorder = recorder()
          agrees = walk(&lockstep, &generator)
        }
      }
      guard agrees else { return nil }
      rates.append(Double(count / length * length) / time)
    }
    return rates.max()
  }

  /// Runs one test; returns `false` if the model and the device disagree, which a healthy lock never does.
  ///
  /// It is not inlined, so that it is measured as a caller uses it, through a reference.
  @inline(never)
  private static func walk<Recorder: TraceRecorder>(
    _ lockstep: inout Lockstep<ReferenceLock, Recorder>, _ generator: inout SeededGenerator
  ) -> Bool {
    do {
      guard try lockstep.reset() == nil else { return false }
      for _ in 0..<length {
        var legal = lockstep.legalStimuli
        for _ in 0..<generator.below(legal.nonzeroBitCount) { legal &= legal - 1 }
        if try lockstep.perform(Stimulus(legal.trailingZeroBitCount)) != nil { return false }
      }
      return true
    } catch {
      return false
    }
  }
}
