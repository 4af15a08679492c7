import Controllers
import Bluetooth
import Links
import Basics

// The frames between the lock and its client, and the faults that may happen to them.

extension LockPeripheral {
  /// Receives a frame from the client.
  mutating func receive(_ frame: [UInt8], at now: Instant) {
    overheard.record(frame)
    guard isDisturbed || link?.toLock.isEmpty == false else {
      carryOut(lock.receive(frame, at: lockTime(now)), at: now)
      return
    }
    guard let tampered = disturb(frame, .write, at: now) else { return }
    for _ in 0..<tampered.copies {
      link?.toLock.append(.frame(tampered.frame), at: now, delay: tampered.delay)
    }
    moveFrames(at: now)
    if tampered.losesLink { requestLinkLoss(at: now) }
  }

  /// Sends a frame to the client.
  mutating func send(_ frame: [UInt8], at now: Instant) {
    guard let open = link, open.isOpen else { return }
    guard isDisturbed || !open.toClient.isEmpty else {
      if !notify(frame, on: open.id, at: now) { link?.toClient.append(.frame(frame), at: now) }
      return
    }
    guard let tampered = disturb(frame, .notification, at: now) else { return }
    for _ in 0..<tampered.copies {
      link?.toClient.append(.frame(tampered.frame), at: now, delay: tampered.delay)
    }
    moveFrames(at: now)
    if tampered.losesLink { requestLinkLoss(at: now) }
  }

  /// Ends the link after the frames that are on their way to the client.
  mutating func endLink(_ reason: HCIErrorCode, at now: Instant) {
    guard link?.isOpen == true else { return }
    link?.toClient.append(.end(reason), at: now)
    moveFrames(at: now)
  }

  /// Whether a frame may be disturbed. It changes nothing, and is mutating so that the lock is not copied for it.
  private var isDisturbed: Bool {
    mutating get { !disturbances.isEmpty || outOfRange != nil || !specification.channel.isFair }
  }

  /// The frame after its disturbance; `nil` if it is lost with the link.
  private mutating func disturb(
    _ frame: [UInt8], _ direction: Tampering.Direction, at now: Instant
  ) -> Tampered? {
    var tampered = disturbances.tamper(with: frame, direction)
    let delay = specification.channel.delay(
      each: DirectLink.frameTime, upTo: Self.supervisionTimeout, drawnFrom: &chance)
    guard let delay else {
      requestLinkLoss(at: now)
      return nil
    }
    tampered.delay = tampered.delay + delay
    return tampered
  }

  /// Ends the link, or leaves that to the caller, who can do it more realistically.
  private mutating func requestLinkLoss(at now: Instant) {
    if losesLinksItself { loseLink(at: now) } else { isLinkLossDue = true }
  }

  /// Removes and returns whether bad channel conditions require the caller to cut the link.
  public mutating func takeLinkLoss() -> Bool {
    defer { isLinkLossDue = false }
    return isLinkLossDue
  }

  /// Notifies the client; the frame waits if there is no room.
  private mutating func notify(_ frame: [UInt8], on id: LinkID, at now: Instant) -> Bool {
    let isSent = session.notify(notifyHandle, frame, on: id, at: now)
    if !isSent { link?.setBlocked(true) }
    return isSent
  }

  /// Delivers the frames that are due and not deferred.
  mutating func moveFrames(at now: Instant) {
    guard outOfRange == nil else { return }
    while let item = link?.toLock.first(at: now) {
      link?.toLock.removeFirst()
      switch item {
      case .frame(let frame): carryOut(lock.receive(frame, at: lockTime(now)), at: now)
      case .subscription: carryOut(lock.subscribed(at: lockTime(now)), at: now)
      }
    }
    while let open = link, let item = open.nextOutgoing(at: now) {
      switch item {
      case .frame(let frame):
        guard notify(frame, on: open.id, at: now) else { return }
        link?.toClient.removeFirst()
      case .end(let reason):
        guard session.hasSentEverything(on: open.id) else {
          link?.drain()
          return
        }
        return end(open.id, reason, at: now)
      }
    }
  }

  /// Asks the controller to end the link; waiting frames are lost.
  mutating func end(_ id: LinkID, _ reason: HCIErrorCode, at now: Instant) {
    link?.end()
    session.disconnect(id, reason: reason, at: now)
  }
}
