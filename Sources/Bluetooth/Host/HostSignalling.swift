public import Basics

/// The peripheral's request for another timing of one link, one at a time: by the link layer if both
/// controllers support that, and else by L2CAP signalling (Core 5.4, Vol 3 Part A §4.20, §6.2.1).
///
///     idle ──▶ asking ──the other end does not know how──▶ waiting ──response, rejection, or 30 s──▶ idle
///      ▲ │       └──changed or refused──▶ idle                ▲
///      │ └────────────────────────────────────────────────────┘ this controller does not know how
struct Signalling: Sendable {
  /// What the host must do next.
  enum Action: Sendable {
    /// Have the controller send a request to the other end's controller.
    case update(ConnectionParameters)
    case transmit(SignallingPacket)
    /// Report the result of a request.
    case report(HCIErrorCode)
    case reportViolation(String)
  }

  /// `next` is the latest request made meanwhile; it follows.
  private enum State: Sendable {
    case idle
    /// The controllers negotiate.
    case asking(ConnectionParameters, next: ConnectionParameters?)
    case waiting(identifier: UInt8, deadline: Instant, next: ConnectionParameters?)
  }

  /// The response timer RTX; 60 s at most (§6.2.1).
  static var responseTimeout: Interval { .seconds(30) }

  /// The longest command that must be supported, in bytes (§4, MTUsig of LE).
  static var mtu: Int { 23 }

  private var state = State.idle
  /// Whether both controllers may support the procedure.
  private var asksController: Bool
  private var lastIdentifier: UInt8 = 0

  init(asksController: Bool) {
    self.asksController = asksController
  }

  /// When a response is late, or never.
  var deadline: Instant {
    switch state {
    case .idle, .asking: .never
    case .waiting(_, let deadline, _): deadline
    }
  }

  /// Requests another timing, now or after the current request.
  mutating func ask(for parameters: ConnectionParameters, at now: Instant) -> [Action] {
    switch state {
    case .idle:
      return begin(parameters, at: now)
    case .asking(let asked, _):
      state = .asking(asked, next: parameters)
      return []
    case .waiting(let identifier, let deadline, _):
      state = .waiting(identifier: identifier, deadline: deadline, next: parameters)
      return []
    }
  }

  /// Receives the result of the controller's procedure, or a change of the timing.
  mutating func updated(_ status: HCIErrorCode, at now: Instant) -> [Action] {
    switch (state, status) {
    case (.asking(let asked, let next), .unsupportedRemoteFeature):
      // The result is open: the same request continues with L2CAP.
      asksController = false
      return begin(next ?? asked, at: now)
    case (.asking(_, let next), _):
      return [.report(status)] + begin(next, at: now)
    case (.idle, _), (.waiting, _):
      return [.report(status)]
    }
  }

  /// Whether a response with this identifier is awaited.
  func awaits(_ identifier: UInt8) -> Bool {
    if case .waiting(identifier, _, _) = state { true } else { false }
  }

  /// Receives the awaited response. An accepted change is reported when it takes effect.
  mutating func answered(refusal: HCIErrorCode?, at now: Instant) -> [Action] {
    guard case .waiting(_, _, let next) = state else { return [] }
    return (refusal.map { [.report($0)] } ?? []) + begin(next, at: now)
  }

  /// Abandons a response that is thirty seconds late.
  mutating func advance(to now: Instant) -> [Action] {
    guard deadline <= now else { return [] }
    return [.reportViolation("no response to a connection parameter update request")]
      + answered(refusal: .llResponseTimeout, at: now)
  }

  private mutating func begin(_ parameters: ConnectionParameters?, at now: Instant) -> [Action] {
    guard let parameters else {
      state = .idle
      return []
    }
    guard !asksController else {
      state = .asking(parameters, next: nil)
      return [.update(parameters)]
    }
    // From 1 to 255, and then from 1 again.
    lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    state = .waiting(identifier: lastIdentifier, deadline: now + Self.responseTimeout, next: nil)
    return [.transmit(.connectionParameterUpdateRequest(identifier: lastIdentifier, parameters))]
  }

  /// Whether a command with this code is a request, which may be rejected.
  static func isRequest(_ code: UInt8) -> Bool {
    switch code {
    case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x15, 0x16, 0x18, 0x1A: false
    default: true
    }
  }
}

extension BluetoothHost {
  /// Requests another timing of a link: from the controller as central, from the other end as peripheral.
  ///
  /// ``HostEvent/timing(_:status:_:)`` follows when the timing has changed or the request was refused. If the
  /// central accepts, a peripheral receives the event when the change takes effect.
  ///
  /// - Precondition: the parameters are valid.
  public mutating func updateParameters(
    _ link: LinkID, _ parameters: ConnectionParameters, at now: Instant
  ) -> [HostAction] {
    precondition(parameters.isValid, "the connection parameters do not fit each other")
    guard let index = openIndex(of: link) else { return [] }
    switch links[index].role {
    case .central: sendUpdate(parameters, index, at: now)
    case .peripheral: carryOut(links[index].signalling.ask(for: parameters, at: now), index, at: now)
    }
    return takeActions()
  }

  /// Requests packets of up to a number of bytes and microseconds; ``HostEvent/dataLength(_:_:)`` follows if
  /// they change.
  public mutating func setDataLength(
    _ link: LinkID, octets: UInt16, time: UInt16, at now: Instant
  ) -> [HostAction] {
    guard let index = openIndex(of: link) else { return [] }
    let handle = links[index].handle
    send(.leSetDataLength(handle, octets, time), for: .request("to set the data length", handle), at: now)
    return takeActions()
  }

  /// Carries out the signalling actions of a link.
  mutating func carryOut(_ todo: [Signalling.Action], _ index: Int, at now: Instant) {
    for action in todo {
      switch action {
      case .update(let parameters): sendUpdate(parameters, index, at: now)
      case .transmit(let packet): answer(.signalling, packet, index, at: now)
      case .report(let status): report(.timing(links[index].id, status: status, links[index].timing))
      case .reportViolation(let sentence): reportViolation(links[index].id, sentence)
      }
    }
  }

  private mutating func sendUpdate(_ parameters: ConnectionParameters, _ index: Int, at now: Instant) {
    let handle = links[index].handle
    send(.leConnectionUpdate(handle, parameters), for: .update(handle), at: now)
  }
}

extension BluetoothHost {
  /// Receives a signalling command from the other end's L2CAP.
  mutating func receiveSignalling(_ bytes: [UInt8], _ index: Int, at now: Instant) {
    guard bytes.count <= Signalling.mtu else {
      reportViolation(links[index].id, "a signalling command of \(bytes.count) bytes")
      return reject(bytes, .signallingMTUExceeded, data: [UInt8(Signalling.mtu), 0], index, at: now)
    }
    do {
      receive(try SignallingPacket(decoding: bytes), bytes, index, at: now)
    } catch {
      reportViolation(links[index].id, "a signalling command that does not decode, \(error)")
      reject(bytes, .commandNotUnderstood, index, at: now)
    }
  }

  private mutating func receive(_ packet: SignallingPacket, _ bytes: [UInt8], _ index: Int, at now: Instant) {
    switch (packet, links[index].role) {
    case (.connectionParameterUpdateRequest(let identifier, let parameters), .central):
      let isAccepted = parameters.isValid && commands.hasRoom
      answer(
        .signalling,
        SignallingPacket.connectionParameterUpdateResponse(identifier: identifier, isAccepted: isAccepted),
        index,
        at: now)
      guard isAccepted else {
        return reportViolation(links[index].id, "a request for connection parameters that cannot be had")
      }
      sendUpdate(parameters, index, at: now)
    case (.connectionParameterUpdateRequest, .peripheral):
      // Only a peripheral sends this request (§4.20).
      reportViolation(links[index].id, "a connection parameter update request of a central")
      reject(bytes, .commandNotUnderstood, index, at: now)
    case (.connectionParameterUpdateResponse(let identifier, let isAccepted), _)
    where links[index].signalling.awaits(identifier):
      let refusal: HCIErrorCode? = isAccepted ? nil : .unacceptableConnectionParameters
      carryOut(links[index].signalling.answered(refusal: refusal, at: now), index, at: now)
    case (.commandReject(let identifier, _, _), _) where links[index].signalling.awaits(identifier):
      carryOut(links[index].signalling.answered(refusal: .unsupportedRemoteFeature, at: now), index, at: now)
    case (.creditBasedConnectionRequest(let identifier, _), _):
      answer(
        .signalling,
        SignallingPacket.creditBasedConnectionResponse(identifier: identifier, .serviceNotSupported), index,
        at: now)
    case (.other(let code, _, _), _) where Signalling.isRequest(code):
      reject(bytes, .commandNotUnderstood, index, at: now)
    case (.connectionParameterUpdateResponse, _), (.commandReject, _), (.creditBasedConnectionResponse, _),
      (.other, _):
      reportViolation(links[index].id, "signalling command 0x\([packet.code].hex), which answers nothing")
    }
  }

  /// Rejects an unknown request, unless it is no request or has no identifier.
  private mutating func reject(
    _ bytes: [UInt8], _ reason: SignallingPacket.RejectReason, data: [UInt8] = [], _ index: Int,
    at now: Instant
  ) {
    guard bytes.count >= 2, bytes[1] != 0, Signalling.isRequest(bytes[0]) else { return }
    answer(
      .signalling, SignallingPacket.commandReject(identifier: bytes[1], reason, data: data), index, at: now)
  }
}

extension BluetoothHost {
  /// Receives the response to LE Connection Update.
  mutating func updateCommandAnswered(_ handle: ConnectionHandle, _ status: HCIErrorCode, at now: Instant) {
    guard status != .success, let index = index(of: handle), links[index].isReported else { return }
    carryOut(links[index].signalling.updated(status, at: now), index, at: now)
  }

  /// Receives LE Connection Update Complete.
  mutating func connectionUpdated(
    _ handle: ConnectionHandle, _ status: HCIErrorCode, _ timing: ConnectionTiming, at now: Instant
  ) {
    guard let index = index(of: handle), links[index].isReported else { return }
    if status == .success { links[index].timing = timing }
    carryOut(links[index].signalling.updated(status, at: now), index, at: now)
  }

  /// Receives the other end's link-layer request for another timing (Core 5.4, Vol 4 Part E §7.7.65.6).
  mutating func remoteAsksForParameters(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {
    guard !parameters.isValid else {
      return reply(
        .leRemoteConnectionParameterRequestReply(handle, parameters),
        for: .request("to accept connection parameters", handle), to: handle, at: now)
    }
    reportViolation(
      index(of: handle).flatMap { links[$0].reportedID },
      "a request for connection parameters that cannot be had")
    reply(
      .leRemoteConnectionParameterRequestNegativeReply(handle, .unacceptableConnectionParameters),
      for: .nobody, to: handle, at: now)
  }

  /// Answers the other end of a link through the controller.
  mutating func reply(
    _ command: HCICommand, for asker: CommandQueue.Asker, to handle: ConnectionHandle, at now: Instant
  ) {
    switch index(of: handle) {
    case nil: reportViolation(nil, "a request on an unknown link \(handle)")
    case let index? where !commands.hasRoom:
      reportViolation(links[index].reportedID, "more requests than can be answered")
    case _?: send(command, for: asker, at: now)
    }
  }
}
