public import Basics

/// A transport to a controller: a socket, a USB dongle, or an emulated radio in virtual time.
///
/// Time passes only in ``receive(until:)``: on an emulated radio it is virtual, elsewhere it is the clock's.
public protocol HCITransport {
  /// The transport's time, which is monotonic.
  var now: Instant { get }

  /// Hands a packet to the controller.
  mutating func send(_ packet: HCIPacket) throws(TransportFault)

  /// Lets time pass up to the controller's next packet, at most up to a limit.
  ///
  /// With the limit at ``now`` no time passes: a packet that is already available is returned. After `nil`, ``now``
  /// is the limit or later.
  mutating func receive(until limit: Instant) throws(TransportFault) -> HCIPacket?

  /// Makes the transport usable again after a fault: closes it and opens it again. The controller must be reset after
  /// that.
  mutating func reopen() throws(TransportFault)

  /// The methods by which it can be reopened, the mildest first.
  var reopenings: [Reopening] { get }

  /// Makes the transport usable again after a fault by one of its ``reopenings``, until a time limit. The
  /// controller must be reset after that.
  mutating func reopen(_ how: Reopening, until limit: Instant) throws(TransportFault)

  /// Releases the controller. Sending then throws a fault.
  mutating func close()

  /// Removes and returns the diagnostics since the last call, one line each: how the transport was reopened.
  mutating func takeDiagnostics() -> [String]
}

/// The treatment of a controller between closing and reopening its transport.
public enum Reopening: CaseIterable, Hashable, Sendable {
  /// None.
  case untouched
  /// It is reset on its bus.
  case afterReset
  /// Its power is turned off and on.
  case afterPowerCycle
}

/// A transport that wraps no other one, and can be reopened by one method at most.
public protocol StandaloneTransport: HCITransport {}

extension StandaloneTransport {
  /// Without touching the controller.
  public var reopenings: [Reopening] { [.untouched] }

  /// Reopens it, ignoring the method: there is only one.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(TransportFault) { try reopen() }

  /// There are none.
  public mutating func takeDiagnostics() -> [String] { [] }
}

/// A failure of the transport to a controller. It proves nothing about the peer on the air.
public struct TransportFault: Error, Hashable, Sendable {
  /// The kind of failure.
  public enum Symptom: String, Hashable, Sendable {
    /// There is no such controller, or it must not be used.
    case unavailable = "controller unavailable"
    /// Another process uses it.
    case busy = "controller in use"
    /// It was unplugged, or its connection was closed.
    case lost = "controller lost"
    /// It does not answer, or accepts no more packets.
    case silent = "controller silent"
    /// Its packets are not HCI.
    case malformed = "malformed packets from the controller"
  }

  /// The kind of failure.
  public var symptom: Symptom
  /// One sentence on the failure, with advice if there is any.
  public var detail: String

  /// Makes a fault.
  public init(_ symptom: Symptom, _ detail: String) {
    self.symptom = symptom
    self.detail = detail
  }
}

extension TransportFault: CustomStringConvertible {
  /// The symptom and the detail.
  public var description: String { "\(symptom.rawValue): \(detail)" }
}
