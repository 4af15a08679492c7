import Sesame
@testable import Controllers
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Links
import Basics
import TestSupport
import Testing

/// The way to an emulated controller, on which packets are spoilt. The test keeps it when a link has it too.
private final class SpoilingTransport: HCITransport {
  /// One packet in so many is spoilt; none at 0.
  var rate = 0
  private var way: RadioWorld<LockPeripheral>
  private var random: SeededGenerator

  init(_ world: RadioWorld<LockPeripheral>, seed: UInt64) {
    way = world
    random = SeededGenerator(seed: seed, for: "spoiler")
  }

  var now: Instant { way.now }
  func send(_ packet: HCIPacket) { way.send(packet) }
  var reopenings: [Reopening] { way.reopenings }
  func reopen() { way.reopen() }
  func reopen(_ how: Reopening, until limit: Instant) { way.reopen() }
  func close() { way.close() }
  func takeDiagnostics() -> [String] { way.takeDiagnostics() }

  func receive(until limit: Instant) -> HCIPacket? {
    var packet = way.receive(until: limit)
    if rate > 0, random.below(rate) == 0 { packet?.spoil(with: &random) }
    return packet
  }
}

@Suite("A client over the air, whatever its controller says")
struct AirRobustnessTests {
  private typealias Link = AirLink<SpoilingTransport>

  @Test("nonsense is a lab fault at worst, and what was tested before does not matter to what comes after")
  func malformed() throws {
    var faults = 0
    for seed in 0..<12 as Range<UInt64> { faults += try malformed(seed) }
    #expect(faults > 12)
  }

  /// How many lab faults there were.
  private func malformed(_ seed: UInt64) throws -> Int {
    let world = RadioWorld(EmulatedLockSpecification(.sesame5), seed: seed)
    let transport = SpoilingTransport(world, seed: seed)
    var random = SeededGenerator(seed: seed, for: "moves")
    var faults = 0
    for round in 0..<6 {
      var link = Link(
        transport, host: HostSettings(address: .staticRandom(1)), fixture: world, keys: world,
        target: .address(world.address))
      _ = try link.prepare(StartCondition())
      transport.rate = [3, 10, 40][round % 3]
      for _ in 0..<60 {
        do throws(LabFault) {
          try move(&link, &random)
        } catch  where error.symptom == .notPossible {
          continue
        } catch {
          faults += 1
          do throws(LabFault) { try link.restart() } catch { break }
        }
      }
      transport.rate = 0
    }
    var probe = try LinkProbe(world.link())
    // An advertisement may fall between two windows of a scan.
    let log = try probe.connect(listening: .milliseconds(600), connecting: .seconds(2))
    #expect(log.last?.hasSuffix("token") == true, "\(log)")
    return faults
  }

  private func move(_ link: inout Link, _ random: inout SeededGenerator) throws(LabFault) {
    switch random.below(7) {
    case 0: try link.listen()
    case 1: try link.stopListening()
    case 2, 3: try link.connect()
    case 4: try link.send(random.bytes(random.below(21)))
    case 5: try link.disconnect()
    default: _ = try link.prepare(StartCondition())
    }
    let limit = link.now + .milliseconds([0, 1, 20, 700][random.below(4)])
    while try link.next(until: limit) != nil {}
  }
}
