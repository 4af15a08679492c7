import Controllers
import SesameDevice
import Models
import Automata
import Conformance
import Emulator
import Sesame
import Basics

extension Figure {
  /// The cost of whole sessions over the direct link: client, link, lock and all their cryptography.
  static var sessions: [Figure] {
    [
      Figure(
        name: "crypto.ecdh", unit: "per second", better: .higher,
        method: "P-256 key agreements with a point that is checked, one core, the best of 9 runs of 2000.",
        measure: agreements),
      Figure(
        name: "direct.os2.sessions", unit: "per second", better: .higher,
        method:
          "Sesame 3: connect, log in, unlock, lock, disconnect; all encrypted, two key agreements each; one core, "
          + "the best of 9 runs of 1000.",
        measure: { sessions(of: .sesame3, count: 1000) }),
      Figure(
        name: "direct.os3.sessions", unit: "per second", better: .higher,
        method:
          "Sesame 5: connect, log in, unlock, lock, disconnect; all encrypted; one core, the best of 9 runs of 4000.",
        measure: { sessions(of: .sesame5, count: 4000) }),
      Figure(
        name: "direct.idle-hour", unit: "s", better: .lower,
        method: "An hour of virtual time in a session in which nothing happens, the least of 9 runs of 100.",
        measure: idleHour),
    ]
  }

  private static func agreements() -> Double? {
    var source = SeededGenerator(seed: 1)
    let own = PrivateKey(from: &source)
    let peers = (0..<16).map { _ in PrivateKey(from: &source).publicKey }
    let count = 2000
    let time = minimumTime {
      (0..<count).allSatisfy { (try? own.sharedSecret(with: peers[$0 & 15])) != nil }
    }
    return time.map { Double(count) / $0 }
  }

  private static func sessions(of model: ProductModel, count: Int) -> Double? {
    guard var session = LockSession(DirectLink(EmulatedLockSpecification(model), seed: 1)) else { return nil }
    return minimumTime { (0..<count).allSatisfy { _ in session.run() } }.map { Double(count) / $0 }
  }

  private static func idleHour() -> Double? {
    guard var session = LockSession(DirectLink(EmulatedLockSpecification(.sesame5), seed: 1)), session.open()
    else { return nil }
    return minimumTime { (0..<100).allSatisfy { _ in session.wait(.seconds(3600)) } }.map { $0 / 100 }
  }
}

/// A client and a lock over a link, driven as by a scenario but without a model.
struct LockSession<Link: LockLink> {
  private var device: ClientDevice<Link>
  private let vocabulary: Vocabulary
  private let stimuli:
    (closeTo: Stimulus, connect: Stimulus, unlock: Stimulus, lock: Stimulus, disconnect: Stimulus)

  init?(_ link: Link) {
    device = ClientDevice(link) { SeededGenerator(seed: 1, for: "client") }
    guard let machine = try? Machine(.sesame) else { return nil }
    let vocabulary = Vocabulary(machine: machine)
    func stimulus(_ name: String) -> Stimulus { Stimulus(vocabulary.stimulus(name) ?? 0) }
    self.vocabulary = vocabulary
    stimuli = (
      stimulus("closeTo"), stimulus("connect"), stimulus("unlock"), stimulus("lock"), stimulus("disconnect")
    )
    device.adopt(vocabulary)
    guard (try? device.reset(to: StartCondition())) != nil else { return nil }
  }

  /// Runs a whole session; returns `false` if it fails.
  mutating func run() -> Bool { open() && unlockAndLock() && perform(stimuli.disconnect, until: "noSignal") }

  /// Performs two commands, each until the bolt rests.
  mutating func unlockAndLock() -> Bool {
    perform(stimuli.unlock, until: "unlocked") && perform(stimuli.lock, until: "locked")
  }

  mutating func open() -> Bool {
    perform(stimuli.closeTo, until: "receivedBle") && perform(stimuli.connect, until: "locked")
  }

  private mutating func perform(_ stimulus: Stimulus, until name: String) -> Bool {
    let goal = vocabulary.status(name) ?? -1
    let end = device.now + .seconds(20)
    do {
      try device.perform(stimulus)
      while let observation = try device.observe(until: end) {
        if case .status(let number) = observation, number == goal { return true }
      }
    } catch {
      return false
    }
    return false
  }

  /// Advances time by an interval; returns `false` if the device shows a status meanwhile.
  mutating func wait(_ interval: Interval) -> Bool {
    let end = device.now + interval
    while let observation = try? device.observe(until: end) {
      if case .status = observation { return false }
    }
    return true
  }
}
