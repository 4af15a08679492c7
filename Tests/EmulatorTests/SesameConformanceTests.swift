@testable import Controllers
import Links
import SesameDevice
import Automata
import Conformance
import Emulator
import Models
import Sesame
import Bluetooth
import Basics
import TestSupport
import Testing

/// A client and an emulated lock over a link, in lockstep with the living lock's machine.
struct SesameBench<Link: LockLink> {
  var lockstep: Lockstep<ClientDevice<Link>, TraceList>

  init(_ link: Link, seed: UInt64) throws {
    let device = ClientDevice(link) { SeededGenerator(seed: seed, for: "client") }
    let specification = Specification(try Machine(.sesame), showsEffects: false)
    lockstep = Lockstep(specification, device, recorder: TraceList())
  }

  mutating func reset(registered: Bool = true, configured: Bool = true) throws {
    let settings = [
      Argument("registered", .flag(registered)), Argument("configured", .flag(registered && configured)),
    ]
    _ = try lockstep.reset(to: StartCondition(registered ? settings : [settings[0]]))
  }

  mutating func perform(_ name: String, _ arguments: [Argument] = []) throws -> Divergence? {
    let number = try #require(lockstep.vocabulary.stimulus(name))
    return try lockstep.perform(Stimulus(number, arguments))
  }

  /// Lets time pass until a status is shown.
  mutating func until(_ status: String, within limit: Interval = .seconds(60)) throws -> Divergence? {
    try lockstep.pass(toStatus: status, within: limit)
  }

  var trace: [String] {
    lockstep.recorder.entries.map { entry in
      let what: String =
        switch entry.event {
        case .stimulus(let stimulus): "\(lockstep.vocabulary.stimuli[stimulus.number])()"
        case .fault(let fault): "fault \(fault.name)"
        case .observation(let observation): lockstep.vocabulary.text(of: observation)
        }
      return "\(entry.time.secondsText) \(what)"
    }
  }
}

extension SesameBench where Link == DirectLink {
  /// Over the direct link.
  init(_ name: String, _ settings: [(name: String, value: String)] = [], seed: UInt64 = 1) throws {
    let lock = try EmulatedLockSpecification(parsing: name, settings: settings)
    try self.init(DirectLink(lock, seed: seed), seed: seed)
  }
}

extension SesameBench where Link == AirLink<RadioWorld<LockPeripheral>> {
  /// Over the air.
  init(air name: String, _ settings: [(name: String, value: String)] = [], seed: UInt64 = 1) throws {
    let lock = try EmulatedLockSpecification(parsing: name, settings: settings)
    try self.init(RadioWorld(lock, seed: seed).link(), seed: seed)
  }
}

@Suite("The emulated lock and its client against the model")
struct SesameConformanceTests {
  @Test(
    "a paired lock is found, logged in to, unlocked, locked and left",
    arguments: ["sesame3", "sesame4", "sesame5", "sesame5pro"])
  func session(name: String) throws {
    var bench = try SesameBench(name)
    try bench.reset()
    expect(try bench.perform("closeTo"), nil)
    expect(try bench.until("receivedBle"), nil)
    expect(try bench.perform("connect"), nil)
    expect(try bench.until("locked"), nil)
    expect(try bench.perform("unlock"), nil)
    expect(try bench.until("unlocked"), nil)
    expect(try bench.perform("lock"), nil)
    expect(try bench.until("locked"), nil)
    expect(try bench.perform("disconnect"), nil)
    expect(try bench.lockstep.pass(until: bench.lockstep.now + .seconds(60)), nil)
  }

  @Test(
    "whatever a lock of a model is said to be asked for goes over its link, or its client answers it",
    arguments: ["sesame3", "sesame4", "sesame5", "sesame5pro"])
  func reachesTheLock(name: String) throws {
    let specification = try EmulatedLockSpecification(parsing: name, settings: [])
    var device = ClientDevice(DirectLink(specification, seed: 1)) { SeededGenerator(seed: 1, for: "client") }
    let vocabulary = Vocabulary(machine: try Machine(.sesame))
    device.adopt(vocabulary)
    let offered = try #require(device.abilities.stimuli)
    expect(offered.contains("readStatus"), specification.model.generation == .os2)
    func observe(_ device: inout ClientDevice<DirectLink>, until status: String) throws {
      while let observation = try device.observe(until: device.now + .seconds(60)) {
        if observation == vocabulary.observation(ofStatus: status) { return }
      }
      Issue.record("\(status) was not shown")
    }
    for request in [
      "lock", "unlock", "toggle", "setAutolock", "readAutolock", "readHistory", "readVersion", "readStatus",
      "setTime", "reset",
    ] where offered.contains(request) {
      let notes = LinkNotes()
      device.record(to: notes)
      try device.reset(
        to: StartCondition([Argument("registered", .flag(true)), Argument("configured", .flag(true))]))
      try device.perform(Stimulus(try #require(vocabulary.stimulus("closeTo"))))
      try observe(&device, until: "receivedBle")
      try device.perform(Stimulus(try #require(vocabulary.stimulus("connect"))))
      try observe(&device, until: "locked")
      let count = notes.packets.records.count
      try device.perform(Stimulus(try #require(vocabulary.stimulus(request))))
      var isAnswered = false
      if case .reading = try device.observe(until: device.now) { isAnswered = true }
      #expect(notes.packets.records.count > count || isAnswered, "\(request) reaches no lock")
    }
  }

  @Test(
    "a new lock is registered, configured and reset, twice",
    arguments: ["sesame3", "sesame4", "sesame5", "sesame5pro"])
  func registration(name: String) throws {
    var bench = try SesameBench(name)
    try bench.reset(registered: false)
    for _ in 0..<2 {
      expect(try bench.perform("closeTo"), nil)
      expect(try bench.until("receivedBle"), nil)
      expect(try bench.perform("connect"), nil)
      expect(try bench.until("readytoRegister"), nil)
      expect(try bench.perform("register"), nil)
      expect(try bench.until("nosetting"), nil)
      expect(try bench.perform("configure"), nil)
      expect(try bench.lockstep.pass(until: bench.lockstep.now + .seconds(10)), nil)
      expect(try bench.perform("reset"), nil)
      expect(try bench.until("noSignal"), nil)
    }
  }

  /// Anything at any time: stimuli the model allows and stimuli it refuses, with waits between them that end
  /// in the middle of whatever is going on.
  @Test(
    "a healthy lock agrees with the model, whatever its user does and whenever",
    arguments: ["sesame3", "sesame5"], 1...6 as ClosedRange<UInt64>)
  func walk(name: String, seed: UInt64) throws {
    var bench = try SesameBench(name, seed: seed)
    try bench.walk(name, seed: seed)
  }

  @Test(
    "when a link is lost it is told what of it has not arrived",
    arguments: [
      ([], "all that was sent acknowledged"), (["readVersion"], "1 packet not acknowledged"),
      (["readVersion", "readHistory"], "2 packets not acknowledged"),
    ])
  func acknowledgements(requests: [String], told: String) throws {
    var bench = try SesameBench(air: "sesame5")
    try bench.reset()
    expect(try bench.perform("closeTo"), nil)
    expect(try bench.until("receivedBle"), nil)
    expect(try bench.perform("connect"), nil)
    expect(try bench.until("locked"), nil)
    expect(try bench.lockstep.bring(about: Fault("out-of-range")), nil)
    for request in requests { expect(try bench.perform(request), nil) }
    expect(try bench.until("noSignal"), nil)
    let lost = bench.trace.first { $0.contains("linkLost") }?.split(separator: " ", maxSplits: 1).last
    expect(lost, "linkLost (0x08 (connection timeout), \(told))")
  }

  @Test(
    "so it does over the air", arguments: ["sesame3", "sesame5"], 1...3 as ClosedRange<UInt64>)
  func walkOverAir(name: String, seed: UInt64) throws {
    var bench = try SesameBench(air: name, seed: seed)
    try bench.walk(name, seed: seed)
  }
}

extension SesameBench {
  mutating func walk(_ name: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, for: "walk")
    let waits: [Interval] = [
      .zero, .milliseconds(1), .microseconds(7500), .milliseconds(20), .milliseconds(150), .milliseconds(600),
      .seconds(1), .seconds(4), .seconds(12),
    ]
    let served = lockstep.device.abilities.stimuli ?? []
    let names = lockstep.vocabulary.stimuli
    let stimuli = names.indices.filter { number in
      served.contains(names[number])
    }
    for round in 0..<40 {
      lockstep.recorder = TraceList()
      try reset(registered: round % 3 != 0, configured: round % 3 != 1)
      for _ in 0..<60 {
        var stimulus = stimuli[random.below(stimuli.count)]
        for _ in 0..<6 where !lockstep.tracker.allows(stimulus) {
          stimulus = stimuli[random.below(stimuli.count)]
        }
        let seconds = [0, 1, 10][random.below(3)]
        let isAutolock = lockstep.vocabulary.stimuli[stimulus] == "setAutolock"
        let arguments = isAutolock ? [Argument("delay", .integer(seconds))] : []
        let wait = waits[random.below(waits.count)]
        let divergence =
          try lockstep.perform(Stimulus(stimulus, arguments))
          ?? lockstep.pass(until: lockstep.now + wait)
        if let divergence {
          let end = trace.suffix(25).joined(separator: "\n")
          Issue.record("round \(round): \(divergence.summary)\n\(end)\n\(divergence.allowed)")
          return
        }
      }
    }
  }
}
