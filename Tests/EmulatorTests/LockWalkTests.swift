import SesameDevice
import Conformance
import Basics
import Testing

/// What may happen to a lock in one test: only one kind of trouble, so that the model knows what holds.
private enum Trouble: String, CaseIterable {
  case link, range, power, jam, key, others

  var faults: [Fault] {
    switch self {
    case .link:
      ["drop", "corrupt", "duplicate"].flatMap { name in
        ["next-write", "next-notification"].map { Fault(name, .text($0)) }
      } + [Fault("delay", .duration(.seconds(2))), Fault("lose-link"), Fault("write", .text("030212345678"))]
    case .range: [Fault("out-of-range"), Fault("out-of-range", .flag(false))]
    case .power: [Fault("no-power"), Fault("no-power", .flag(false)), Fault("power-cycle")]
    case .jam: [Fault("jam"), Fault("jam", .flag(false))]
    case .key: [Fault("wrong-key"), Fault("wrong-key", .flag(false))]
    case .others:
      [Fault("battery", .number(4.9)), Fault("clock", .integer(100)), Fault("advertise", .text("020106"))]
    }
  }
}

@Suite("The emulated lock in trouble, against the model")
struct LockWalkTests {
  /// Anything at any time, with faults in between.
  @Test(
    "a healthy lock agrees with the model, whatever goes wrong around it",
    arguments: ["sesame3", "sesame5"], 1...3 as ClosedRange<UInt64>)
  func walk(name: String, seed: UInt64) throws {
    var bench = try SesameBench(name, seed: seed)
    try bench.walkInTrouble(seed: seed)
  }

  @Test("so it does over the air", arguments: ["sesame3", "sesame5"], 1...2 as ClosedRange<UInt64>)
  func walkOverAir(name: String, seed: UInt64) throws {
    var bench = try SesameBench(air: name, seed: seed)
    try bench.walkInTrouble(seed: seed)
  }
}

extension SesameBench {
  fileprivate mutating func walkInTrouble(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, for: "trouble")
    let waits: [Interval] = [
      .zero, .microseconds(7500), .milliseconds(20), .milliseconds(150), .milliseconds(600), .seconds(1),
      .seconds(4), .seconds(12), .seconds(40),
    ]
    let names = lockstep.vocabulary.stimuli
    let stimuli = names.indices.filter { number in
      lockstep.device.abilities.stimuli?.contains(names[number]) ?? false
    }
    for round in 0..<30 {
      lockstep.recorder = TraceList()
      try reset(registered: round % 5 != 0, configured: round % 5 != 1)
      let faults = Trouble.allCases[round % Trouble.allCases.count].faults
      for _ in 0..<60 {
        var divergence: Divergence?
        if random.below(8) == 0 {
          divergence = try lockstep.bring(about: faults[random.below(faults.count)])
        }
        var stimulus = stimuli[random.below(stimuli.count)]
        for _ in 0..<6 where !lockstep.tracker.allows(stimulus) {
          stimulus = stimuli[random.below(stimuli.count)]
        }
        let wait = waits[random.below(waits.count)]
        divergence =
          try divergence ?? lockstep.perform(Stimulus(stimulus))
          ?? lockstep.pass(until: lockstep.now + wait)
        guard let divergence else { continue }
        Issue.record(
          "round \(round): \(divergence.summary)\n\(trace.suffix(25).joined(separator: "\n"))")
        return
      }
    }
  }
}
