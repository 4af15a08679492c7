public import Basics

/// The peripheral's request for another timing of one link, one at a time: by the link layer if both controllers know
/// how, and only else by L2CAP's signalling (Core 5.4, Vol 3 Part A §4.20, §6.2.1).
///
///     idle ──▶ asking ──the other end does not know how──▶ waiting ──response, rejection, or 30 s──▶ idle
///      ▲ │       └──changed or refused──▶ idle                ▲
///      │ └────────────────────────────────────────────────────┘ this controller does not know how
struct Signalling: Sendable {
  enum State: Sendable {
    case idle
    /// The controller asks the other end's; what was asked for meanwhile follows, the latest alone.
    case asking(ConnectionParameters, next: ConnectionParameters?)
    /// What was asked for meanwhile follows, the latest alone.
    case waiting(identifier: UInt8, deadline: Instant, next: ConnectionParameters?)
  }

  /// The response timer RTX; 60 s at most (§6.2.1).
  static var patience: Interval { .seconds(30) }

  /// The greatest command that must be understood, in bytes (§4, MTUsig of LE).
  static var mtu: Int { 23 }

  var state = State.idle
  /// Whether the other end's controller is known not to be asked.
  var isOld = false
  private var lastIdentifier: UInt8 = 0

  /// When a response is late, or never.
  var deadline: Instant {
    switch state {
    case .idle, .asking: .never
    case .waiting(_, let deadline, _): deadline
    }
  }

  /// An identifier for a request, from 1 to 255 and then again.
  mutating func newIdentifier() -> UInt8 {
    lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    return lastIdentifier
  }

  /// Whether a command of this code is an answer or says something unasked, so that it is never rejected.
  static func isRequest(_ code: UInt8) -> Bool {
    switch code {
    case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x15, 0x16, 0x18, 0x1A: false
    default: true
    }
  }
}

extension BluetoothHost {
  /// Asks for another timing of a link: of the controller as central, of the other end as peripheral.
  ///
  /// ``HostEvent/timing(_:status:_:)`` follows when the timing changed or was refused. A peripheral whose central
  /// accepts hears of it when the change happens.
  ///
  /// - Precondition: the parameters are valid.
  public mutating func updateParameters(
    _ link: LinkID, _ parameters: ConnectionParameters, at now: Instant
  ) -> [HostAction] {
    precondition(parameters.isValid, "the connection parameters do not fit each other")
    guard let index = openIndex(of: link) else { return [] }
    switch (links[index].role, links[index].signalling.state) {
    case (.central, _):
      sendUpdate(parameters, index, at: now)
    case (.peripheral, .idle):
      requestUpdate(parameters, index, at: now)
    case (.peripheral, .asking(let asked, _)):
      links[index].signalling.state = .asking(asked, next: parameters)
    case (.peripheral, .waiting(let identifier, let deadline, _)):
      links[index].signalling.state = .waiting(identifier: identifier, deadline: deadline, next: parameters)
    }
    return takeActions()
  }

  /// Asks for packets of up to so many bytes and microseconds; ``HostEvent/dataLength(_:_:)`` follows if that
  /// changes anything.
  public mutating func setDataLength(
    _ link: LinkID, octets: UInt16, time: UInt16, at now: Instant
  ) -> [HostAction] {
    guard let index = openIndex(of: link) else { return [] }
    let handle = links[index].handle
    send(.leSetDataLength(handle, octets, time), for: .wish("to set the data length", handle), at: now)
    return takeActions()
  }

  private mutating func requestUpdate(_ parameters: ConnectionParameters, _ index: Int, at now: Instant) {
    guard features & LEFeature.parameterRequest == 0 || links[index].signalling.isOld else {
      links[index].signalling.state = .asking(parameters, next: nil)
      return sendUpdate(parameters, index, at: now)
    }
    let identifier = links[index].signalling.newIdentifier()
    links[index].signalling.state = .waiting(
      identifier: identifier, deadline: now + Signalling.patience, next: nil)
    answer(
      .signalling,
      SignallingPacket.connectionParameterUpdateRequest(identifier: identifier, parameters), index, at: now)
  }

  private mutating func sendUpdate(_ parameters: ConnectionParameters, _ index: Int, at now: Instant) {
    let handle = links[index].handle
    send(.leConnectionUpdate(handle, parameters), for: .update(handle), at: now)
  }

  /// A request is over; what was asked for meanwhile follows.
  private mutating func updateAnswered(_ index: Int, refusal: HCIErrorCode?, at now: Instant) {
    guard case .waiting(_, _, let next) = links[index].signalling.state else { return }
    links[index].signalling.state = .idle
    if let refusal { report(.timing(links[index].id, status: refusal, links[index].timing)) }
    if let next { requestUpdate(next, index, at: now) }
  }

  /// A response is thirty seconds late.
  mutating func updateUnanswered(_ index: Int, at now: Instant) {
    complain(links[index].id, "no response to a connection parameter update request")
    updateAnswered(index, refusal: .llResponseTimeout, at: now)
  }
}

extension BluetoothHost {
  /// Takes in a command of the other end's L2CAP.
  mutating func receiveSignalling(_ bytes: [UInt8], _ index: Int, at now: Instant) {
    guard bytes.count <= Signalling.mtu else {
      complain(links[index].id, "a signalling command of \(bytes.count) bytes")
      return reject(bytes, .signallingMTUExceeded, data: [UInt8(Signalling.mtu), 0], index, at: now)
    }
    do {
      receive(try SignallingPacket(decoding: bytes), bytes, index, at: now)
    } catch {
      complain(links[index].id, "a signalling command that does not decode, \(error)")
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
        return complain(links[index].id, "a request for connection parameters that cannot be had")
      }
      sendUpdate(parameters, index, at: now)
    case (.connectionParameterUpdateRequest, .peripheral):
      // Only a peripheral asks (§4.20).
      complain(links[index].id, "a connection parameter update request of a central")
      reject(bytes, .commandNotUnderstood, index, at: now)
    case (.connectionParameterUpdateResponse(let identifier, let isAccepted), _)
    where isAwaited(identifier, index):
      updateAnswered(index, refusal: isAccepted ? nil : .unacceptableConnectionParameters, at: now)
    case (.commandReject(let identifier, _, _), _) where isAwaited(identifier, index):
      updateAnswered(index, refusal: .unsupportedRemoteFeature, at: now)
    case (.creditBasedConnectionRequest(let identifier, _), _):
      answer(
        .signalling,
        SignallingPacket.creditBasedConnectionResponse(identifier: identifier, .serviceNotSupported), index,
        at: now)
    case (.other(let code, _, _), _) where Signalling.isRequest(code):
      reject(bytes, .commandNotUnderstood, index, at: now)
    case (.connectionParameterUpdateResponse, _), (.commandReject, _), (.creditBasedConnectionResponse, _),
      (.other, _):
      complain(links[index].id, "signalling command 0x\([packet.code].hex), which answers nothing")
    }
  }

  private func isAwaited(_ identifier: UInt8, _ index: Int) -> Bool {
    if case .waiting(identifier, _, _) = links[index].signalling.state { true } else { false }
  }

  /// Says that a request was not understood, unless it is none or has no identifier to say it with.
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
  /// Takes in the answer to LE Connection Update.
  mutating func updateCommandAnswered(_ handle: ConnectionHandle, _ status: HCIErrorCode, at now: Instant) {
    guard status != .success, let index = index(of: handle), links[index].isReported else { return }
    updateEnded(index, status, at: now)
  }

  /// Takes in LE Connection Update Complete.
  mutating func connectionUpdated(
    _ handle: ConnectionHandle, _ status: HCIErrorCode, _ timing: ConnectionTiming, at now: Instant
  ) {
    guard let index = index(of: handle), links[index].isReported else { return }
    if status == .success { links[index].timing = timing }
    updateEnded(index, status, at: now)
  }

  private mutating func updateEnded(_ index: Int, _ status: HCIErrorCode, at now: Instant) {
    let told = HostEvent.timing(links[index].id, status: status, links[index].timing)
    guard case .asking(let asked, let next) = links[index].signalling.state else { return report(told) }
    links[index].signalling.state = .idle
    if status == .unsupportedRemoteFeature {
      // Nothing is decided: the same goes on by L2CAP.
      links[index].signalling.isOld = true
      requestUpdate(next ?? asked, index, at: now)
    } else {
      report(told)
      if let next { requestUpdate(next, index, at: now) }
    }
  }

  /// Takes in that the other end's link layer asks for another timing (Core 5.4, Vol 4 Part E §7.7.65.6).
  mutating func remoteAsksForParameters(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {
    guard !parameters.isValid else {
      return reply(
        .leRemoteConnectionParameterRequestReply(handle, parameters),
        for: .wish("to accept connection parameters", handle), to: handle, at: now)
    }
    complain(
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
    case nil: complain(nil, "a request on an unknown link \(handle)")
    case let index? where !commands.hasRoom:
      complain(links[index].reportedID, "more requests than can be answered")
    case _?: send(command, for: asker, at: now)
    }
  }
}
