import Automata
import Conformance
import Emulator
import Models
import Basics
import Testing

/// Random walks of a device beside its model, and hand-written traces of a device alone.
struct AppWalk<App: EmulatedApp> {
  let machine: MachineDefinition
  /// The settings of the starts, each drawn on or off.
  var settings: [String] = App.settings
  /// Stimuli that are drawn half of the time where they are legal, to get far.
  var favoured: [String] = []

  /// Drives model and device with random stimuli, legal ones mostly, and lets random times pass between them.
  ///
  /// - Returns: the first divergence, with the stimuli that led to it, or `nil`.
  func run(_ defect: App.Defect?, seed: UInt64, tests: Int, steps: Int = 40) throws -> (Divergence, [String])?
  {
    var generator = SeededGenerator(seed: seed)
    let specification = Specification(try Machine(machine))
    var lockstep = Lockstep(specification, AppDevice<App>(defect: defect), recorder: NoRecorder())
    let stimuli = specification.vocabulary.stimuli.indices.filter { specification.machine.isStimulus($0) }
    for _ in 0..<tests {
      let start = settings.map { Argument($0, .flag(generator.below(2) == 0)) }
      _ = try lockstep.reset(to: StartCondition(generator.below(2) == 0 ? start : []))
      var events: [String] = []
      for _ in 0..<steps {
        let legal = stimuli.filter { lockstep.tracker.allows($0) }
        let good = legal.filter { favoured.contains(specification.vocabulary.stimuli[$0]) }
        let pool =
          generator.below(10) == 0
          ? stimuli.filter { !lockstep.tracker.allows($0) }
          : !good.isEmpty && generator.below(2) == 0 ? good : legal
        guard !pool.isEmpty else { continue }
        let stimulus = Stimulus(pool[generator.below(pool.count)])
        events.append(specification.vocabulary.stimuli[stimulus.number])
        if let divergence = try lockstep.perform(stimulus) { return (divergence, events) }
        if !App.faults.isEmpty, generator.below(8) == 0 {
          let fault = Fault(App.faults[0], .flag(generator.below(2) == 0))
          if let divergence = try lockstep.bring(about: fault) { return (divergence, events) }
        }
        let pause = Interval.milliseconds([0, 0, 1, 999, 1000, 2999, 3000, 3001][generator.below(8)])
        if let divergence = try lockstep.pass(until: lockstep.now + pause) { return (divergence, events) }
      }
    }
    return nil
  }
}

/// What a device shows, with the times of what is not shown at once.
func shown<App: EmulatedApp>(
  by device: inout AppDevice<App>, of machine: MachineDefinition, on stimuli: [String],
  waiting pause: Interval = .zero
) throws -> [String] {
  let vocabulary = Vocabulary(machine: try Machine(machine))
  device.adopt(vocabulary)
  var lines: [String] = []
  for name in stimuli {
    try device.perform(Stimulus(try #require(vocabulary.stimulus(name))))
    let limit = device.now + pause
    while let observation = device.observe(until: limit) { lines.append(vocabulary.text(of: observation)) }
  }
  return lines
}
