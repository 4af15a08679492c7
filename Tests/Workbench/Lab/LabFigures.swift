import Benchmarks
import Sesame
import Bench
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Basics

extension Figure {
  /// How soon a lab is in work again.
  static var lab: Figure {
    Figure(
      name: "lab.escalation", unit: "s", better: .lower,
      method:
        "Virtual time from the moment in which a dongle hangs until a lock is tested over it again, where only its power "
        + "helps: the real link finds out and climbs the whole escalation. Assumed is that closing it takes 1 s, opening 100 "
        + "ms, a reset on its bus 1 s, each command of the switch 500 ms, and power 3 s to fall and 3 s to come back.",
      measure: escalation)
  }

  private static func escalation() -> Double? {
    let world = RadioWorld(EmulatedLockSpecification(.sesame5), seed: 1)
    let dongle = HangingDongle(world)
    var host = HostSettings(address: .staticRandom(0x0C11_E470_0001))
    host.commandTimeout = .milliseconds(1200)
    var link = AirLink(
      dongle, host: host, fixture: world, keys: world, target: .address(world.address),
      silenceLimit: .seconds(1))
    var escalation = RecoveryEscalation(hasUSBReset: true, powerSettles: .seconds(3))
    do {
      _ = try link.prepare(StartCondition())
      dongle.isHung = true
      let begin = dongle.now
      guard finds(&link) else { return nil }
      let works = link.recover { central in
        var way = RecoveringCentral(central)
        defer { central = way.central }
        return escalation.climb(&way)
      }
      guard works else { return nil }
      _ = try link.prepare(StartCondition())
      return (dongle.now - begin).seconds
    } catch {
      return nil
    }
  }

  /// Whether a link finds out by itself that its controller hangs.
  private static func finds(_ link: inout AirLink<HangingDongle>) -> Bool {
    do {
      _ = try link.next(until: link.now + .seconds(60))
      return false
    } catch {
      return true
    }
  }
}

/// The way to a controller that can hang, and then takes everything and says nothing until its power was off.
private final class HangingDongle: HCITransport {
  var isHung = false
  private var way: RadioWorld<LockPeripheral>

  init(_ world: RadioWorld<LockPeripheral>) { way = world }

  var now: Instant { way.now }
  var reopenings: [Reopening] { Reopening.allCases }

  func send(_ packet: HCIPacket) { if !isHung { way.send(packet) } }

  func receive(until limit: Instant) -> HCIPacket? {
    while let packet = way.receive(until: limit) { if !isHung { return packet } }
    return nil
  }

  func reopen() { pass(.milliseconds(1100)) }

  func reopen(_ how: Reopening, until limit: Instant) {
    reopen()
    switch how {
    case .untouched: break
    case .afterReset: pass(.seconds(1))
    case .afterPowerCycle:
      pass(.milliseconds(500 + 3000 + 500 + 500 + 3000))
      isHung = false
    }
  }

  func close() { way.close() }
  func takeDiagnostics() -> [String] { way.takeDiagnostics() }

  private func pass(_ time: Interval) {
    let limit = now + time
    while way.receive(until: limit) != nil {}
  }
}
