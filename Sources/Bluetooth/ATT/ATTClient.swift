public import Basics

/// The client end of one ATT bearer: allows one request at a time, and matches responses to requests.
///
/// ATT allows one outstanding request per direction, and closes the bearer if a response is thirty seconds
/// late (Core 5.4, Vol 3 Part F §3.3.2, §3.3.3). Only this type implements both rules.
///
///            request                   response
///     idle ───────────▶ waiting ───────────────────▶ idle
///                          │ deadline passed
///                          ▼
///                        failed
///
/// A response to another request also ends the transaction: the correct response may never come. If it comes,
/// the idle client reports a violation.
///
/// The type does no I/O and reads no clock: feed it what happened and when, then carry out the actions it returns,
/// in order, before feeding it anything else.
public struct ATTClient: Sendable {
  /// What the caller must do next.
  public enum Action: Hashable, Sendable {
    /// Hand the packet to L2CAP channel 0x0004.
    case transmit(ATTPacket)
    /// The outstanding request has ended.
    case complete(Result<ATTPacket, Failure>)
    /// Report a violation by the peer that ends nothing, described by the text.
    case reportViolation(String)
    /// The bearer is unusable; disconnect the link.
    case disconnect(Failure)
  }

  /// Why a request failed.
  public enum Failure: Error, Hashable, Sendable {
    /// The server sent an error response.
    case refused(ATTErrorCode, AttributeHandle)
    /// The server sent a response that does not belong to the request, as described by the text.
    case unexpected(String)
    /// The server did not answer in time.
    case timedOut(opcode: UInt8)
  }

  /// The time limit of a server's response and of a client's confirmation (Vol 3 Part F §3.3.3).
  public static let timeout = Interval.seconds(30)

  private var state = State.idle

  /// Makes a client that waits for nothing.
  public init() {}

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    switch state {
    case .waiting(_, let deadline): deadline
    case .idle, .failed: nil
    }
  }
}

extension ATTClient {
  /// Sends a request. No other may be outstanding, and the bearer must not have failed.
  public mutating func request(_ packet: ATTPacket, at now: Instant) -> [Action] {
    guard case .idle = state else { preconditionFailure("one request at a time") }
    state = .waiting(opcode: packet.opcode, until: now + ATTClient.timeout)
    return [.transmit(packet)]
  }

  /// Receives a response or an error response.
  public mutating func receive(_ response: ATTPacket) -> [Action] {
    switch (state, response) {
    case (.idle, _):
      return [.reportViolation("a response, opcode \(hexadecimal(response.opcode)), to no request")]
    case (.waiting(let opcode, _), .errorResponse(let request, let handle, let code)):
      guard request == opcode else {
        return finish(
          .failure(.unexpected("an error for request \(hexadecimal(request)), not \(hexadecimal(opcode))")))
      }
      return finish(.failure(.refused(code, handle)))
    case (.waiting(let opcode, _), _):
      guard response.opcode == opcode + 1 else {
        return finish(
          .failure(.unexpected("opcode \(hexadecimal(response.opcode)) for request \(hexadecimal(opcode))")))
      }
      return finish(.success(response))
    case (.failed, _):
      return []
    }
  }

  /// Receives a response that could not be decoded.
  public mutating func receiveUndecodable(opcode: UInt8) -> [Action] {
    switch state {
    case .idle: [.reportViolation("an undecodable response, opcode \(hexadecimal(opcode)), to no request")]
    case .waiting: finish(.failure(.unexpected("an undecodable response, opcode \(hexadecimal(opcode))")))
    case .failed: []
    }
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [Action] {
    guard case .waiting(let opcode, let deadline) = state, deadline <= now else { return [] }
    state = .failed
    return [.complete(.failure(.timedOut(opcode: opcode))), .disconnect(.timedOut(opcode: opcode))]
  }

  private mutating func finish(_ result: Result<ATTPacket, Failure>) -> [Action] {
    state = .idle
    return [.complete(result)]
  }

  private enum State {
    case idle
    /// For the answer to a request of this opcode.
    case waiting(opcode: UInt8, until: Instant)
    case failed
  }
}

/// An opcode as the specification writes it.
func hexadecimal(_ opcode: UInt8) -> String { "0x" + [opcode].hex }
