import Bluetooth
import Conformance
import Sesame
import Simulation

// What the surroundings do to the lock and to the air.

extension DirectLink {
  /// Loses the link, as by a supervision time-out: both ends learn at once.
  mutating func loseLink() {
    let link = max(clientLink, lockLink)
    guard link != 0 else { return }
    if clientLink != 0 { queue.schedule(.clientLearns(reason: 0x08, link: clientLink), at: now) }
    if lockLink != 0 { queue.schedule(.lockLearns(reason: 0x08, link: lockLink), at: now) }
  }

  /// Takes the lock out of reach or brings it back; a link survives two seconds of it.
  mutating func setAbsent(_ isAbsent: Bool) {
    guard isAbsent != self.isAbsent else { return }
    self.isAbsent = isAbsent
    if isAbsent {
      absences += 1
      let link = max(clientLink, lockLink)
      if link != 0 {
        queue.schedule(.supervision(link: link, absence: absences), at: now + Self.supervisionTimeout)
      }
    } else {
      // Whatever waited goes out again, in its order.
      for event in held { queue.schedule(event, at: now) }
      held = []
      nextAdvertisement = nil
    }
    lookAround()
  }

  mutating func cutPower() {
    if clientLink != 0, clientLink == lockLink {
      queue.schedule(.clientLearns(reason: 0x08, link: clientLink), at: now + Self.supervisionTimeout)
    }
    lockLink = 0
    carryOut(lock.cutPower(at: now))
  }

  mutating func restorePower() { carryOut(lock.restorePower(at: now)) }

  mutating func cyclePower() {
    cutPower()
    restorePower()
  }

  mutating func jam(_ isJammed: Bool) { carryOut(lock.jam(isJammed, at: now)) }

  mutating func turnByHand(to place: BoltState) { carryOut(lock.turnByHand(to: place, at: now)) }

  mutating func replaceBattery(volts: Double) { lock.replaceBattery(volts: volts) }

  mutating func shiftClock(by interval: Interval) { lock.shiftClock(by: interval, at: now) }

  /// Lets the client receive a frame that the lock did not send.
  mutating func inject(_ frame: [UInt8]) {
    if clientLink != 0 { queue.schedule(.report(.frame(frame)), at: now) }
  }

  /// Lets the lock receive a frame that the client did not send.
  mutating func write(_ frame: [UInt8]) {
    if lockLink != 0 { carryOut(lock.receive(frame, at: now)) }
  }

  /// Lets a listening client hear somebody else.
  mutating func advertise(_ data: [UInt8]) {
    if isListening { queue.schedule(.report(.advertisement(data)), at: now) }
  }
}
