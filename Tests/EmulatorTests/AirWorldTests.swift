import Bluetooth
import Conformance
import Emulator
import Sesame
import Simulation
import TestSupport
import Testing

/// A client at the level of the link, over the air, which says when it heard what.
private struct AirProbe {
  var link: AirLink<RadioCarrier, RadioSurroundings>
  var key: LockKey?
  private var reassembler = Reassembler()

  init(_ model: ProductModel = .sesame5, seed: UInt64 = 1, start: [Argument] = []) throws {
    link = RadioWorld(EmulatedLockSpecification(model), seed: seed).link()
    key = try link.prepare(StartCondition(start))
  }

  /// What is heard in some time.
  mutating func pass(_ interval: Interval) throws -> [String] {
    var log: [String] = []
    let limit = link.now + interval
    while let event = try link.next(until: limit) { log.append("\(link.now.secondsText) " + note(event)) }
    return log
  }

  private mutating func note(_ event: LinkEvent) -> String {
    switch event {
    case .advertisement(let data):
      guard let structures = try? AdvertisingData(decoding: data), let known = try? Advertisement(structures)
      else { return "advertisement \(data.hex)" }
      return "advertisement of \(known.model)" + (known.isRegistered ? "" : ", not registered")
    case .connected: return "connected"
    case .ready: return "ready"
    case .disconnected(let reason): return "disconnected 0x\([reason].hex)"
    case .frame(let frame):
      guard case .message(let message) = reassembler.receive(frame) else { return "frame" }
      return "message of \(message.bytes.count)"
    }
  }
}

@Suite("A link over the air")
struct AirWorldTests {
  @Test("heard, connected")
  func first() throws {
    var probe = try AirProbe()
    try probe.link.listen()
    var log = try probe.pass(.seconds(1))
    try probe.link.connect()
    try probe.link.stopListening()
    log += try probe.pass(.seconds(1))
    expect(log, [])
    expect(probe.link.takeRemarks(), [])
  }
}
