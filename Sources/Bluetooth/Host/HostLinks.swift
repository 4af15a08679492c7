public import Basics

/// One link: its properties, its queue of outgoing data, and the frame being assembled.
///
///     open ──▶ ending ──▶ (gone)
///      └────────────────────▲
///
/// A link ends only with Disconnection Complete, whichever end requested it.
struct HostLink: Sendable {
  enum Stage: Sendable {
    case open
    /// Disconnect was sent, or waits in the queue. Disconnection Complete is due at the deadline, which is
    /// never before the controller has accepted the command.
    case ending(deadline: Instant)
  }

  let id: LinkID
  let handle: ConnectionHandle
  let role: LinkRole
  /// Whether it was reported: not if it was established after the attempt was cancelled.
  let isReported: Bool
  var stage = Stage.open
  var timing: ConnectionTiming
  var gatt: GATTLink
  var signalling: Signalling
  var assembly = FrameAssembly()
  var outgoing = FragmentQueue()
  /// The number of fragments in the controller.
  var unsent = 0
  /// The number of waiting frames that were dropped at the request to disconnect.
  var dropped = 0
  /// The reserved inputs of the other end that were ignored: each kind is reported once.
  var ignored = Reserved()
  /// Whether a frame was refused since the queue last had room.
  var isRoomAwaited = false

  /// When the next action for this link is due, or never.
  var deadline: Instant {
    switch stage {
    case .open: min(gatt.deadline ?? .never, signalling.deadline)
    case .ending(let deadline): deadline
    }
  }

  /// The identifier of a link that was reported; else `nil`.
  var reportedID: LinkID? { isReported ? id : nil }

  var isOpen: Bool {
    switch stage {
    case .open: true
    case .ending: false
    }
  }
}

extension BluetoothHost {
  /// The index of the link with a handle.
  func index(of handle: ConnectionHandle) -> Int? {
    // By index: a closure would receive a copy of each link.
    links.indices.first { links[$0].handle == handle }
  }

  /// The index of an open link; `nil` if it is gone or ending, which the caller may not know yet.
  func openIndex(of id: LinkID) -> Int? {
    guard mayAct() else { return nil }
    return links.indices.first { links[$0].id == id && links[$0].isReported && links[$0].isOpen }
  }

  /// Adds an established link. An unwanted one is disconnected at once.
  mutating func addLink(_ connection: ConnectionComplete, isWanted: Bool, at now: Instant) {
    let id = LinkID(rawValue: nextLink)
    nextLink += 1
    links.append(
      HostLink(
        id: id, handle: connection.handle, role: connection.role, isReported: isWanted,
        timing: connection.timing,
        gatt: GATTLink(offering: settings.mtu, holdingWrites: settings.holdsWrites),
        signalling: Signalling(asksController: features & LEFeature.parameterRequest != 0)))
    guard isWanted else { return endLink(links.count - 1, .remoteUserTerminated, at: now) }
    report(.connected(id, connection))
    for fragment in earlyPackets.take(connection.handle) { receive(fragment, at: now) }
  }

  /// Ends a link; ``HostEvent/disconnected(_:reason:unacknowledged:)`` follows at its end.
  ///
  /// Waiting frames are dropped.
  ///
  /// - Precondition: the reason is permitted (Core 5.4, Vol 4 Part E §7.1.6): 0x05, 0x13, 0x14, 0x15, 0x1A,
  ///   0x29 or 0x3B.
  public mutating func disconnect(
    _ link: LinkID, reason: HCIErrorCode, at now: Instant
  ) -> [HostAction] {
    precondition(
      [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(reason.rawValue),
      "no reason for Disconnect: \(reason)")
    guard let index = openIndex(of: link) else { return [] }
    endLink(index, reason, at: now)
    return takeActions()
  }

  mutating func endLink(_ index: Int, _ reason: HCIErrorCode, at now: Instant) {
    guard links[index].isOpen else { return }
    links[index].stage = .ending(deadline: .never)
    links[index].dropped += links[index].outgoing.count
    links[index].outgoing.removeAll()
    links[index].isRoomAwaited = false
    let handle = links[index].handle
    send(.disconnect(handle, reason), for: .disconnection(handle), at: now)
  }

  /// Receives the response to Disconnect.
  mutating func disconnectCommandAnswered(_ handle: ConnectionHandle, _ status: HCIErrorCode, at now: Instant)
  {
    guard let index = index(of: handle) else { return }
    switch status {
    case .success:
      break
    case .unknownConnection:
      // The link is gone, but the controller did not report it.
      return removeLink(index, reason: .unknownConnection, at: now)
    default:
      // It may be ending already.
      reportViolation(links[index].reportedID, "the controller refuses to disconnect: \(status)")
    }
    // The other end may not receive it; the link then ends with the supervision timeout.
    let supervision = Interval.milliseconds(10) * Int64(links[index].timing.supervisionTimeout)
    links[index].stage = .ending(deadline: now + supervision + settings.commandTimeout)
  }

  /// Receives Disconnection Complete.
  mutating func disconnectionCompleted(
    _ status: HCIErrorCode, _ handle: ConnectionHandle, _ reason: HCIErrorCode, at now: Instant
  ) {
    switch (index(of: handle), status) {
    case (let index?, .success): removeLink(index, reason: reason, at: now)
    case (let index?, _):
      reportViolation(links[index].reportedID, "the controller could not disconnect: \(status)")
    case (nil, _): reportViolation(nil, "the end of an unknown link \(handle)")
    }
  }

  /// Removes an ended link: the buffers of its data are free again (§4.1.1).
  private mutating func removeLink(_ index: Int, reason: HCIErrorCode, at now: Instant) {
    var link = links.remove(at: index)
    commands.forget(link.handle)
    earlyPackets.forget(link.handle, at: now)
    buffers.free += link.unsent
    if link.isReported {
      for action in link.gatt.linkLost() {
        if case .report(let event) = action { report(.gatt(link.id, event)) }
      }
      report(
        .disconnected(
          link.id, reason: reason, unacknowledged: link.unsent + link.outgoing.count + link.dropped))
    }
    sendFrames()
  }

  mutating func linkDeadlinePassed(_ index: Int, at now: Instant) {
    switch links[index].stage {
    case .ending:
      fail(.broken("no Disconnection Complete for link \(links[index].handle)"))
    case .open:
      carryOut(links[index].signalling.advance(to: now), index, at: now)
      carryOut(links[index].gatt.advance(to: now), index, at: now)
    }
  }
}
