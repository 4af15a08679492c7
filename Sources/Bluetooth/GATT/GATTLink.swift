public import Basics

/// ATT and GATT on one link, both ends of it: a client and a server that share the bearer and its MTU
/// (Core 5.4, Vol 3 Parts F and G).
///
/// The client runs its procedures one after another. The server answers each request at once from a database
/// that belongs to the host, since all links share it. Write commands and notifications need no state beyond
/// ``mtu`` and ``mayNotify(_:_:)``: the host sends them itself.
///
///     open ──a response or a confirmation thirty seconds late──▶ closed ◀──linkLost── open
///
/// The type does no I/O and reads no clock: feed it what happened and when, then carry out the actions it returns,
/// in order, before feeding it anything else.
public struct GATTLink: Sendable {
  /// What the caller must do next.
  public enum Action: Hashable, Sendable {
    /// Hand the packet to L2CAP channel 0x0004.
    case transmit(ATTPacket)
    /// An event for the user of the host.
    case report(GATTEvent)
    /// Report a violation by the peer, described by the text.
    case reportViolation(String)
    /// The bearer is unusable; disconnect the link for this reason.
    case disconnect(HCIErrorCode)
  }

  /// The minimum MTU, which applies until another one is agreed (Vol 3 Part G §5.2.1).
  public static let minimumMTU: UInt16 = 23

  /// The MTU that both ends use, in bytes.
  public private(set) var mtu = GATTLink.minimumMTU

  private let offered: UInt16
  private var client: GATTClient
  private var server: ATTServer
  private var state = State.open

  /// Makes the ends of a new link.
  ///
  /// - Parameters:
  ///   - mtu: the maximum MTU of this end, in bytes; at least 23.
  ///   - holdsWrites: whether the answer to a write request waits for ``answerWrite(_:_:)``.
  public init(offering mtu: UInt16, holdingWrites holdsWrites: Bool = false) {
    precondition(mtu >= GATTLink.minimumMTU, "an MTU is at least 23")
    offered = mtu
    client = GATTClient(offering: mtu)
    server = ATTServer(holdingWrites: holdsWrites)
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    let due = min(client.due, server.due)
    return due == .never ? nil : due
  }
}

extension GATTLink {
  /// Receives a packet from the peer.
  public mutating func receive(
    _ packet: ATTPacket, _ database: inout GATTDatabase, at now: Instant
  ) -> [Action] {
    guard isOpen(at: now) else { return advance(to: now) }
    switch packet {
    case .writeCommand(let handle, let value):
      return server.receiveCommand(value, of: handle, &database)
    case .notification(let handle, let value):
      return [deliver(value, of: handle)]
    case .indication(let handle, let value):
      return [.transmit(.confirmation), deliver(value, of: handle)]
    case .confirmation:
      return server.receiveConfirmation(mtu: mtu, at: now)
    case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
      .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
      .writeResponse, .prepareWriteResponse, .executeWriteResponse:
      let actions = client.receive(packet, mtu: &mtu, at: now)
      guard case .exchangeMTUResponse(let theirs) = packet, theirs < GATTLink.minimumMTU else {
        return actions
      }
      return [.reportViolation("an MTU of \(theirs), below 23")] + actions
    case .exchangeMTURequest(let theirs):
      return agree(onMTU: theirs)
    case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest, .readBlobRequest,
      .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
      .executeWriteRequest:
      return server.answer(packet, &database, mtu: mtu)
    case .signedWriteCommand:
      // Without a bond there is no key to check the signature with (Vol 3 Part F §3.4.5.4).
      return []
    case .unknown(let opcode, _):
      return answerUnknown(opcode)
    }
  }

  /// Receives a packet of a known kind that could not be decoded (Vol 3 Part F §3.4.1.1, Invalid PDU).
  public mutating func receiveUndecodable(opcode: UInt8, at now: Instant) -> [Action] {
    guard isOpen(at: now) else { return advance(to: now) }
    switch opcode {
    case ATTOpcode.errorResponse, ATTOpcode.exchangeMTUResponse, ATTOpcode.findInformationResponse,
      ATTOpcode.findByTypeValueResponse, ATTOpcode.readByTypeResponse, ATTOpcode.readResponse,
      ATTOpcode.readBlobResponse, ATTOpcode.readMultipleResponse, ATTOpcode.readByGroupTypeResponse,
      ATTOpcode.writeResponse, ATTOpcode.prepareWriteResponse, ATTOpcode.executeWriteResponse:
      return client.receiveUndecodable(opcode: opcode, mtu: &mtu, at: now)
    case ATTOpcode.exchangeMTURequest, ATTOpcode.findInformationRequest, ATTOpcode.findByTypeValueRequest,
      ATTOpcode.readByTypeRequest, ATTOpcode.readRequest, ATTOpcode.readBlobRequest,
      ATTOpcode.readMultipleRequest, ATTOpcode.readByGroupTypeRequest, ATTOpcode.writeRequest,
      ATTOpcode.prepareWriteRequest, ATTOpcode.executeWriteRequest:
      return [
        .reportViolation("an undecodable request, opcode \(hexadecimal(opcode))"),
        .transmit(.errorResponse(request: opcode, AttributeHandle(rawValue: 0), .invalidPDU)),
      ]
    case let other:
      return [.reportViolation("an undecodable packet, opcode \(hexadecimal(other))")]
    }
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [Action] {
    guard case .open = state, min(client.due, server.due) <= now else { return [] }
    state = .closed
    server.close()
    let actions = client.advance(to: now, mtu: &mtu)
    guard actions.isEmpty else { return actions }
    // An indication was not confirmed: nothing more may be sent on this bearer either.
    return client.close(.timedOut) + [.disconnect(.remoteUserTerminated)]
  }

  /// Reports that the link is lost: pending procedures fail, in the order in which they were started.
  public mutating func linkLost() -> [Action] {
    state = .closed
    server.close()
    return client.close(.linkLost)
  }
}

extension GATTLink {
  /// Starts a procedure after the earlier ones.
  ///
  /// It ends with one ``GATTEvent/finished(_:_:)``, which may be among the returned actions. Handles must not
  /// be 0, and a value must not be longer than 512 bytes.
  public mutating func start(_ procedure: GATTProcedure, at now: Instant) -> (GATTProcedureID, [Action]) {
    client.start(procedure, mtu: &mtu, at: now)
  }

  /// Answers the held write request that ``GATTEvent/written(_:_:)`` reported last: makes the write, or
  /// refuses it with an error. Does nothing if there is none.
  public mutating func answerWrite(_ error: ATTErrorCode?, _ database: inout GATTDatabase) -> [Action] {
    switch state {
    case .open: server.completeWrite(error, &database)
    case .closed: []
    }
  }

  /// Indicates a value to the peer; the next one follows after its confirmation.
  ///
  /// The peer should have subscribed, see ``mayIndicate(_:_:)``. A value is truncated to the size of a
  /// packet, ``mtu`` − 3 bytes.
  public mutating func indicate(_ handle: AttributeHandle, _ value: [UInt8], at now: Instant) -> [Action] {
    switch state {
    case .open: server.indicate(handle, value, mtu: mtu, at: now)
    case .closed: []
    }
  }

  /// Whether the peer subscribed to notifications of a value.
  ///
  /// Mutating although it changes nothing: it is called before each notification, and a link must not be
  /// copied for it.
  public mutating func mayNotify(_ handle: AttributeHandle, _ database: borrowing GATTDatabase) -> Bool {
    server.subscription(to: handle, database).contains(.notifications)
  }

  /// Discards the peer's subscriptions, since the services have changed.
  public mutating func forgetSubscriptions() { server.forgetSubscriptions() }

  /// Whether the peer subscribed to indications of a value.
  public mutating func mayIndicate(_ handle: AttributeHandle, _ database: borrowing GATTDatabase) -> Bool {
    server.subscription(to: handle, database).contains(.indications)
  }
}

extension GATTLink {
  private enum State {
    case open
    case closed
  }

  /// Whether no response or confirmation is late now, or was earlier.
  private func isOpen(at now: Instant) -> Bool {
    switch state {
    case .open: now < min(client.due, server.due)
    case .closed: false
    }
  }

  private func deliver(_ value: [UInt8], of handle: AttributeHandle) -> Action {
    guard handle.rawValue > 0 else { return .reportViolation("a notification or indication of handle 0") }
    return .report(.notification(handle, value))
  }

  private mutating func agree(onMTU theirs: UInt16) -> [Action] {
    var actions = [Action.transmit(.exchangeMTUResponse(offered))]
    if theirs < GATTLink.minimumMTU { actions.append(.reportViolation("an MTU of \(theirs), below 23")) }
    if !server.recordMTURequest() { actions.append(.reportViolation("the MTU was asked for more than once")) }
    let agreed = max(GATTLink.minimumMTU, min(offered, theirs))
    if agreed != mtu {
      mtu = agreed
      actions.append(.report(.mtu(agreed)))
    }
    return actions
  }

  private func answerUnknown(_ opcode: UInt8) -> [Action] {
    switch opcode {
    case 0x21, 0x23:
      // Read Multiple Variable Response and Multiple Handle Value Notification, which were not requested.
      [.reportViolation("opcode \(hexadecimal(opcode)), which nothing asked for")]
    case _ where opcode & 0x40 != 0:
      // Unknown commands are ignored (Vol 3 Part F §3.3).
      []
    case _:
      [.transmit(.errorResponse(request: opcode, AttributeHandle(rawValue: 0), .requestNotSupported))]
    }
  }
}
