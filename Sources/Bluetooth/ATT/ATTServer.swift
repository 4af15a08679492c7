import Basics

/// Why a server refuses a request, with the attribute concerned.
struct ATTRefusal: Error {
  let code: ATTErrorCode
  let handle: AttributeHandle

  init(_ code: ATTErrorCode, _ handle: AttributeHandle) {
    self.code = code
    self.handle = handle
  }
}

/// The server end of one ATT bearer: one client's subscriptions, prepared writes, and unconfirmed indications.
///
/// Each request has exactly one response, no longer than the MTU, which is sent at once except for held writes (Core
/// 5.4, Vol 3 Part F §3.3.2). Indications are sent one at a time, and one without a confirmation within thirty
/// seconds kills the bearer (§3.3.3):
///
///              indicate                  confirmation
///     silent ───────────▶ unconfirmed ─────────────────▶ silent, or unconfirmed with the next
///
/// If writes are held, a write request is reported to the user of the host, who answers it:
///
///              write request           answered
///     ready ─────────────────▶ held ─────────────▶ ready, or held with the next value of a long write
///
/// The properties of a characteristic determine the access to its value; declarations are read-only. A client
/// characteristic configuration is readable and writable, and each client has its own.
struct ATTServer: Sendable {
  /// The maximum number of prepared writes of one client.
  static let preparedLimit = 64

  struct PreparedWrite: Sendable {
    let index: Int
    let offset: Int
    let part: [UInt8]
  }

  /// By slot, as far as the client has written any.
  private(set) var subscriptions: [Subscription] = []
  var prepared: [PreparedWrite] = []
  private var indicating = Indicating.silent
  private var waiting = FIFO<(handle: AttributeHandle, value: [UInt8])>()
  private var hasAgreedOnMTU = false
  /// Whether the user of the host answers write requests, and the one that waits for it.
  let holdsWrites: Bool
  var held: HeldWrite?

  /// Makes the server of a new link: its client has subscribed to nothing.
  init(holdingWrites: Bool = false) { holdsWrites = holdingWrites }

  /// The deadline of the awaited confirmation.
  var due: Instant {
    switch indicating {
    case .unconfirmed(_, let deadline): deadline
    case .silent, .closed: .never
    }
  }
}

extension ATTServer {
  /// Answers a request other than an MTU exchange, which the link handles.
  mutating func answer(
    _ request: ATTPacket, _ database: inout GATTDatabase, mtu: UInt16
  ) -> [GATTLink.Action] {
    // A client has one request at a time (Vol 3 Part F §3.3.2).
    guard held == nil else { return [.reportViolation("a request before the one before was answered")] }
    do throws(ATTRefusal) {
      switch request {
      case .writeRequest(let handle, let value):
        return make(request, [try checked(value, of: handle, by: .write, database)], &database)
      case .prepareWriteRequest(let handle, let offset, let part):
        try prepare(part, at: offset, of: handle, database, mtu: Int(mtu))
        return [.transmit(.prepareWriteResponse(handle, offset: offset, part))]
      case .executeWriteRequest(let isWritten):
        return make(request, try takePrepared(isWritten, database), &database)
      case let other:
        return [.transmit(try response(to: other, database, mtu: Int(mtu)))]
      }
    } catch {
      return [.transmit(.errorResponse(request: request.opcode, error.handle, error.code))]
    }
  }

  /// Receives a write without a response, which is not answered even if it is refused (Vol 3 Part F §3.4.5.3).
  mutating func receiveCommand(
    _ value: [UInt8], of handle: AttributeHandle, _ database: inout GATTDatabase
  ) -> [GATTLink.Action] {
    do throws(ATTRefusal) {
      guard let event = try write(value, to: handle, by: .writeWithoutResponse, &database) else { return [] }
      return [.report(event)]
    } catch {
      return [
        .reportViolation("a write command to \(handle) of \(value.count) bytes, refused with \(error.code)")
      ]
    }
  }

  private func response(
    to request: ATTPacket, _ database: GATTDatabase, mtu: Int
  ) throws(ATTRefusal) -> ATTPacket {
    switch request {
    case .findInformationRequest(let range):
      try findInformation(in: range, database, mtu: mtu)
    case .findByTypeValueRequest(let range, let type, let value):
      try findByTypeValue(in: range, type: type, value: value, database, mtu: mtu)
    case .readByTypeRequest(let range, let type):
      try readByType(in: range, type: type, database, mtu: mtu)
    case .readByGroupTypeRequest(let range, let type):
      try readByGroupType(in: range, type: type, database, mtu: mtu)
    case .readRequest(let handle):
      try read(handle, database, mtu: mtu)
    case .readBlobRequest(let handle, let offset):
      try readBlob(handle, offset: Int(offset), database, mtu: mtu)
    case .readMultipleRequest(let handles):
      try readMultiple(handles, database, mtu: mtu)
    case .errorResponse, .exchangeMTURequest, .exchangeMTUResponse, .findInformationResponse,
      .findByTypeValueResponse, .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse,
      .readByGroupTypeResponse, .writeRequest, .writeResponse, .writeCommand, .signedWriteCommand,
      .prepareWriteRequest, .prepareWriteResponse, .executeWriteRequest, .executeWriteResponse, .notification,
      .indication, .confirmation, .unknown:
      preconditionFailure("opcode \(hexadecimal(request.opcode)) is not for the server's lookups")
    }
  }
}

extension ATTServer {
  /// The client's subscription to the characteristic with a value handle.
  mutating func subscription(to handle: AttributeHandle, _ database: borrowing GATTDatabase) -> Subscription {
    guard let index = database.index(of: handle),
      case .value(_, slot: let slot?) = database.attributes[index].role
    else { return [] }
    return subscription(in: slot)
  }

  func subscription(in slot: Int) -> Subscription {
    slot < subscriptions.count ? subscriptions[slot] : []
  }

  /// Discards the client's subscriptions and prepared writes, since the services have changed.
  mutating func forgetSubscriptions() {
    subscriptions = []
    prepared = []
    held = nil
  }

  /// Sets a subscription; returns whether it changed.
  mutating func subscribe(_ subscription: Subscription, in slot: Int) -> Bool {
    while subscriptions.count <= slot { subscriptions.append([]) }
    defer { subscriptions[slot] = subscription }
    return subscriptions[slot] != subscription
  }

  /// Records that the client requested an MTU; returns whether it was the first request.
  mutating func recordMTURequest() -> Bool {
    defer { hasAgreedOnMTU = true }
    return !hasAgreedOnMTU
  }
}

extension ATTServer {
  private enum Indicating {
    case silent
    case unconfirmed(AttributeHandle, until: Instant)
    case closed
  }

  mutating func indicate(
    _ handle: AttributeHandle, _ value: [UInt8], mtu: UInt16, at now: Instant
  ) -> [GATTLink.Action] {
    switch indicating {
    case .silent:
      indicating = .unconfirmed(handle, until: now + ATTClient.timeout)
      return [.transmit(.indication(handle, Array(value.prefix(Int(mtu) - 3))))]
    case .unconfirmed:
      waiting.append((handle, value))
      return []
    case .closed:
      return []
    }
  }

  mutating func receiveConfirmation(mtu: UInt16, at now: Instant) -> [GATTLink.Action] {
    switch indicating {
    case .unconfirmed(let handle, _):
      indicating = .silent
      let confirmed = GATTLink.Action.report(.confirmed(handle))
      guard let next = waiting.popFirst() else { return [confirmed] }
      return [confirmed] + indicate(next.handle, next.value, mtu: mtu, at: now)
    case .silent:
      return [.reportViolation("a confirmation of no indication")]
    case .closed:
      return []
    }
  }

  mutating func close() {
    indicating = .closed
  }
}
