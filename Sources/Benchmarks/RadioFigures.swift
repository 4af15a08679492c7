import Sesame
import System
import Bluetooth
import Emulator
import Basics

extension Figure {
  /// The cost of the emulated radio, with a host on a controller at each end.
  static var radio: [Figure] {
    [
      Figure(
        name: "radio.commands", unit: "per second", better: .higher,
        method:
          "Encrypted lock and unlock commands to a Sesame 5 whose motor takes 1 ms, each with its answer and three "
          + "statuses, through client, host, controller, radio, controller, host and lock; one core, the best of 9 "
          + "runs of 5000.",
        measure: commands),
      Figure(
        name: "radio.round-trips", unit: "per second", better: .higher,
        method:
          "Write commands of 9 bytes, each answered by a notification of the same, through two hosts and two "
          + "controllers, without cryptography; one core, the best of 9 runs of 20000.",
        measure: roundTrips),
      Figure(
        name: "radio.idle-hour", unit: "s", better: .lower,
        method:
          "An hour of virtual time on a link with a connection event every 30 ms in which nobody has anything to "
          + "say, the least of 9 runs.",
        measure: idleHour),
      Figure(
        name: "radio.scan-hundred", unit: "virtual over real", better: .higher,
        method:
          "Ten minutes in which a host scans actively, without a pause, among 100 locks that advertise every 500 ms; "
          + "each advertisement and scan response is reported; the best of 3 runs.",
        measure: scanHundred),
      Figure(
        name: "radio.air-time", unit: "ratio to the least possible", better: .lower,
        method:
          "Connection events from the link's first to the one in which a Sesame 5 shows that it is locked, over the "
          + "least possible, \(minimumEvents), measured on one emulated radio without loss, at 7.5 ms and the default MTU, "
          + "nothing cached: one exchange to find the service by its UUID, one for each of its two characteristics, one "
          + "write to turn notifications on, in whose event the token comes, and one login, in whose event the answer, "
          + "the setting and the status come.",
        measure: airTime),
      Figure(
        name: "air.events", unit: "events/s", better: .higher,
        method:
          "Events of `lockstep fuzz sesame` on a healthy Sesame 5 over the radio with 1 % of the packets lost, over the "
          + "wall time of the whole command, journal and corpus included; seed 1, 50,000 events, the best of 3 runs.",
        measure: airEvents),
    ]
  }

  private static func airEvents() -> Double? {
    let folder = scratch("-air-\(Host.processNumber)")
    let count = 50_000
    let words = [
      "fuzz", "sesame", "--device", "emulator:sesame5?link=radio&loss=0.01", "--seed", "1", "--steps",
      "\(count)", "--quiet", "--out", folder,
    ]
    var times: [Double] = []
    for _ in 0..<3 {
      // A run would repeat the tests that an earlier run kept.
      defer { clear(folder) }
      guard let runs = runs(1, words) else { return nil }
      times += runs.map(\.time.seconds)
    }
    return Double(count) / minimum(times)
  }

  private static func commands() -> Double? {
    var options = LockOptions()
    options.motor = .milliseconds(1)
    let world = RadioWorld(EmulatedLockSpecification(.sesame5, options: options), seed: 1)
    guard var session = LockSession(world.link()), session.open() else { return nil }
    let count = 5000
    return minimumTime { (0..<count / 2).allSatisfy { _ in session.unlockAndLock() } }.map {
      Double(count) / $0
    }
  }

  private static func roundTrips() -> Double? {
    guard var pair = AirPair(ConnectionParameters()) else { return nil }
    let count = 20_000
    return minimumTime { (0..<count).allSatisfy { _ in pair.roundTrip() } }.map { Double(count) / $0 }
  }

  private static func idleHour() -> Double? {
    guard var pair = AirPair(ConnectionParameters(minimumInterval: 24, maximumInterval: 24)) else {
      return nil
    }
    let times = (0..<9).map { _ in seconds { pair.pass(.seconds(3600)) } }
    // The link must still exist.
    return pair.roundTrip() ? minimum(times) : nil
  }

  private static func scanHundred() -> Double? {
    var locks = AdvertisingLocks(100)
    let span = Interval.seconds(600)
    // An advertisement and a scan response of each lock, at slightly less than twice a second.
    return minimumTime(of: 3) { locks.listen(span) >= 100 * 2 * 1150 }.map { span.seconds / $0 }
  }

  /// A central cannot send its next request in the event of a response, because its host must receive the response
  /// first.
  private static let minimumEvents = 5

  private static func airTime() -> Double? {
    let world = RadioWorld(EmulatedLockSpecification(.sesame5), seed: 1)
    guard var session = LockSession(world.link()), session.open() else { return nil }
    return Double(world.connectionEvents) / Double(minimumEvents)
  }
}
