import Basics
import Bluetooth
import Controllers
import Links

/// A peripheral on one controller of an emulated radio, and what may happen to the other one.
final class AirScene {
  static let settings = HostSettings(address: .staticRandom(1))

  fileprivate(set) var now = Instant.zero
  var radio = Radio(seed: 1)
  var peripheral = PeripheralSession(HostSettings(address: .staticRandom(2)), services: LinkPair.services)
  /// What the next call of the transport ends with, until it is opened again.
  var fault: TransportFault?
  /// How the transport was opened again.
  fileprivate(set) var reopened = 0

  /// Makes one whose peripheral advertises.
  init() {
    _ = (radio.addController(), radio.addController())
    peripheral.start(at: now)
    while peripheral.isReady == false, pass(until: now + .milliseconds(100)) == nil {}
    peripheral.advertise(LinkPair.advertisement, at: now)
  }

  /// Lets time pass up to the next packet for the central, or a limit.
  fileprivate func pass(until limit: Instant) -> HCIPacket? {
    while true {
      while peripheral.takeEvent() != nil {}
      while let packet = peripheral.takePacket() { radio.send(packet, to: LinkPair.there, at: now) }
      if let (controller, packet) = radio.nextPacket() {
        if controller == LinkPair.here { return packet }
        peripheral.receive(packet, at: now)
        continue
      }
      let next = min(radio.deadline ?? .never, peripheral.deadline ?? .never)
      now = max(now, min(next, limit))
      radio.advance(to: now)
      guard next <= limit else { return nil }
      peripheral.advance(to: now)
    }
  }
}

/// The way to the central's controller of a scene.
struct RadioTransport: StandaloneTransport {
  let scene: AirScene

  init(_ scene: AirScene) { self.scene = scene }

  var now: Instant { scene.now }

  mutating func send(_ packet: HCIPacket) throws(TransportFault) {
    if let fault = scene.fault { throw fault }
    scene.radio.send(packet, to: LinkPair.here, at: scene.now)
  }

  mutating func receive(until limit: Instant) throws(TransportFault) -> HCIPacket? {
    if let fault = scene.fault { throw fault }
    return scene.pass(until: limit)
  }

  mutating func reopen() {
    scene.fault = nil
    scene.reopened += 1
  }

  mutating func close() {}
}
