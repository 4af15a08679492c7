public import Basics

/// The way to a controller: a socket, a USB dongle, or an emulated radio in virtual time.
///
/// Time passes only in ``receive(until:)``: on an emulated radio it is virtual, elsewhere it is the clock's.
public protocol HCITransport {
  /// The transport's time, which only ever goes on.
  var now: Instant { get }

  /// Hands a packet to the controller.
  mutating func send(_ packet: HCIPacket) throws(TransportFault)

  /// Lets time pass up to the next packet of the controller, or up to a limit when there is none before.
  ///
  /// With the limit at ``now`` no time passes: what is already there is returned. After `nil`, ``now`` is the
  /// limit or later.
  mutating func receive(until limit: Instant) throws(TransportFault) -> HCIPacket?

  /// Makes the transport usable again after a fault: closes it and opens it anew. The controller must be reset
  /// after that.
  mutating func reopen() throws(TransportFault)

  /// The ways in which it can be opened anew, the mildest first.
  var reopenings: [Reopening] { get }

  /// Makes the transport usable again after a fault in one of its ``reopenings``, trying up to a moment. The controller
  /// must be reset after that.
  mutating func reopen(_ how: Reopening, until limit: Instant) throws(TransportFault)

  /// Lets go of the controller. What is sent after that is a fault.
  mutating func close()

  /// What there is to say since it was last asked, one line each: how the way was opened again.
  mutating func takeDiagnostics() -> [String]
}

/// What is done to a controller between closing the way to it and opening it anew.
public enum Reopening: CaseIterable, Hashable, Sendable {
  /// Nothing.
  case anew
  /// It is reset on its bus.
  case afterReset
  /// Its power is turned off and on.
  case afterPowerCycle
}

/// A way that has no other one in it, and can be opened anew in one manner at most.
public protocol StandaloneTransport: HCITransport {}

extension StandaloneTransport {
  /// Without touching the controller.
  public var reopenings: [Reopening] { [.anew] }

  /// Opens it anew, whatever was wanted beside that: there is nothing beside it.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(TransportFault) { try reopen() }

  /// Nothing.
  public mutating func takeDiagnostics() -> [String] { [] }
}

/// Trouble on the way to a controller. It says nothing about what is at the other end of the radio.
public struct TransportFault: Error, Hashable, Sendable {
  /// What kind of trouble.
  public enum Symptom: String, Hashable, Sendable {
    /// There is no such controller, or it may not be used.
    case unavailable = "controller unavailable"
    /// Somebody else uses it.
    case busy = "controller in use"
    /// It went away: unplugged, or its connection closed.
    case lost = "controller lost"
    /// It does not answer, or takes nothing more.
    case silent = "controller silent"
    /// What it sends is no HCI.
    case malformed = "malformed packets from the controller"
  }

  /// What kind of trouble.
  public var symptom: Symptom
  /// One sentence on what happened and, where there is something, what to do.
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
