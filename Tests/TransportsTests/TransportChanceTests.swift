import System
import Bluetooth
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

/// How long each transport is given random bytes; longer by hand.
private let duration = Interval.seconds(Int64(Host.variable("LOCKSTEP_TRANSPORT_SECONDS") ?? "") ?? 1)

/// What a peer says that is no controller, or one that is broken.
private func chatter(_ random: inout SeededGenerator) -> [UInt8] {
  let count = random.below(300)
  let bytes = random.bytes(count)
  switch random.below(8) {
  case 0: return bytes
  case 1: return [0x02, 0x40, 0x00, UInt8(count & 0xFF), UInt8(count >> 8)] + bytes
  default: return [0x04, UInt8(random.below(256)), UInt8(min(count, 255))] + bytes.prefix(255)
  }
}

/// What this process holds in memory, in bytes.
private func residentBytes() -> Int {
  let pages = smallFile("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(getpagesize())
}

@Suite("Transports whose peer says anything")
struct TransportChanceTests {
  @Test(
    "random bytes end in a fault each time, with bounded memory, and the transport opens again",
    arguments: TransportWay.allCases)
  func randomBytes(way: TransportWay) throws {
    let rig = try TransportRig(way) { $0.packetTimeout = .seconds(1) }
    var random = SeededGenerator(seed: 1, for: way.rawValue)
    let end = Waiting.now + duration
    let before = residentBytes()
    var symptoms: [TransportFault.Symptom: Int] = [:]
    while Waiting.now < end || symptoms[.malformed, default: 0] <= 10 {
      let fault = try #require(feed(rig, &random))
      symptoms[fault.symptom, default: 0] += 1
      try rig.openAgain()
    }
    expect(symptoms.keys.filter { $0 != .malformed && $0 != .silent }, [])
    let after = residentBytes()
    #expect(after - before < 32 << 20, "from \(before) to \(after) bytes")
    if duration > .seconds(1) { print(way, symptoms, "from \(before >> 10) to \(after >> 10) KiB") }
  }

  /// Says anything until the transport has had enough, which takes a packet of the longest kind at most.
  private func feed(_ rig: TransportRig, _ random: inout SeededGenerator) -> TransportFault? {
    let limit = Waiting.now + timeLimit
    do throws(TransportFault) {
      while Waiting.now < limit {
        rig.say(chatter(&random))
        while try rig.transport.receive(until: Waiting.now) != nil {}
        #expect(rig.transport.pollTimeout.map { $0 <= .seconds(1) } ?? true)
      }
      return nil
    } catch {
      return error
    }
  }
}
