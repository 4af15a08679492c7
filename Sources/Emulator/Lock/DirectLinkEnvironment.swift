import Sesame
import Basics
import Conformance
import Bluetooth

// The faults of the lock and of the air.

extension DirectLink {
  /// Loses the link, as by a supervision timeout: both ends are notified at once.
  mutating func loseLink() {
    let link = max(clientLink, lockLink)
    guard link != 0 else { return }
    if clientLink != 0 { queue.schedule(.clientLearns(reason: 0x08, link: clientLink), at: now) }
    if lockLink != 0 { queue.schedule(.lockLearns(reason: 0x08, link: lockLink), at: now) }
  }

  /// Reports to the client that its link is tampered with, before that has any effect.
  mutating func tamper() { queue.schedule(.report(.tampered), at: now) }

  /// Puts the lock out of range or back into range; a link survives two seconds of it.
  mutating func setAbsent(_ isAbsent: Bool) {
    guard isAbsent != self.isAbsent else { return }
    if isAbsent {
      held = []
      rangeLosses += 1
      let link = max(clientLink, lockLink)
      if link != 0 {
        queue.schedule(.supervision(link: link, outOfRange: rangeLosses), at: now + Self.supervisionTimeout)
      }
    } else {
      // The waiting frames go out in their order, before those that are due now.
      var due: [Event] = []
      while let (_, event) = queue.next(until: now) { due.append(event) }
      for event in (held ?? []) + due { queue.schedule(event, at: now) }
      held = nil
      nextAdvertisement = nil
    }
    updateReachability()
  }

  mutating func cutPower() {
    if clientLink != 0, clientLink == lockLink {
      queue.schedule(.clientLearns(reason: 0x08, link: clientLink), at: now + Self.supervisionTimeout)
    }
    lockEnd = .alone
    carryOut(lock.cutPower(at: now))
  }

  mutating func restorePower() { carryOut(lock.restorePower(at: now)) }

  /// Delivers a frame to the client that the lock did not send.
  mutating func inject(_ frame: [UInt8]) {
    tamper()
    if clientLink != 0 { queue.schedule(.report(.frame(frame)), at: now) }
  }

  /// Delivers a frame to the lock that the client did not send.
  mutating func write(_ frame: [UInt8]) {
    tamper()
    if lockLink != 0 { carryOut(lock.receive(frame, at: now)) }
  }

  /// Delivers a third party's advertisement to a listening client.
  mutating func advertise(_ data: [UInt8]) {
    if isListening { queue.schedule(.report(.advertisement(data)), at: now) }
  }
}

// MARK: Third parties

extension DirectLink {
  /// Connects a third party to the lock, if it receives the lock and the client is not about to connect.
  mutating func intrude(_ intrusion: Intrusion) {
    guard isAudible, clientEnd == .apart else { return }
    lastLink += 1
    lockEnd = .visited(lastLink, intrusion)
    carryOut(lock.connected(at: now))
    queue.schedule(.thirdPartyListens(link: lastLink), at: now + Self.discoveryTime)
    queue.schedule(.thirdPartyLeaves(link: lastLink), at: now + Intrusion.linkDuration)
  }

  /// Handles the token: the third party sends its messages once.
  mutating func sendMessages(of intrusion: Intrusion, on link: Int) {
    lockEnd = .visited(link, .busy)
    var arrival = now
    for frame in intrusion.frames(for: lock.generation, overheard: overheard.frames) {
      arrival = arrival + Self.frameTime
      queue.schedule(.toLock(frame, link: link), at: arrival)
    }
  }
}
