public import Basics
public import Bluetooth

/// A request of a central's user, on its one link or to establish one.
///
/// Operations on a link run in the order in which they are requested, and each ends with one ``CentralEvent``.
public enum CentralOperation: Hashable, Sendable {
  /// Identifies a characteristic by its UUID, if only one was discovered, or by its value handle.
  public enum Characteristic: Hashable, Sendable {
    case uuid(BluetoothUUID)
    case handle(AttributeHandle)
  }

  /// Starts or stops the reporting of advertisements.
  case scan(Bool)
  /// Connects to a device and discovers what the query names. Without a time limit, the attempt continues until it
  /// is cancelled.
  case connect(PeerAddress, ProfileQuery, within: Interval = .forever)
  /// Ends the link or the connection attempt. Earlier writes are sent first.
  case disconnect
  case exchangeMTU
  case read(Characteristic)
  /// Writes with response, without, or as the characteristic's properties demand.
  case write(Characteristic, [UInt8], withResponse: Bool? = nil)
  /// Subscribes to notifications, or to indications if the characteristic only indicates.
  case subscribe(Characteristic)
  case unsubscribe(Characteristic)
}

/// An event of a central. Events are reported in the order in which they happened.
public enum CentralEvent: Hashable, Sendable {
  /// Why an operation failed.
  public enum Failure: Error, Hashable, Sendable {
    /// The peer refused it or did not answer.
    case gatt(GATTFailure)
    /// A precondition is missing; the sentence names it.
    case impossible(String)
  }

  /// The controller was reset and set up.
  case ready
  /// Scanning was started or stopped as requested, or the controller refused.
  case scanning(Bool, status: HCIErrorCode)
  /// A device advertised.
  case advertisement(AdvertisingReport)
  /// The link layer is connected, and discovery begins.
  case connected(PeerAddress)
  /// Discovery is complete, and the link can be used. `gaps` describes in sentences what the server did not expose.
  /// Notifications that arrived during discovery follow this event.
  case open(DiscoveredProfile, gaps: [String])
  /// Discovery failed in this procedure. The session disconnects the link.
  case notDiscovered(GATTProcedure, GATTFailure)
  /// The MTU that both ends use from now on.
  case mtu(Int)
  /// A notification or an indication.
  case notified(AttributeHandle, [UInt8])
  case read(AttributeHandle, [UInt8])
  case wrote(AttributeHandle, withResponse: Bool)
  /// The subscription from now on; empty after an unsubscription.
  case subscribed(AttributeHandle, Subscription)
  case failed(CentralOperation, Failure)
  /// The link or the connection attempt is over. `unacknowledged` is the number of sent packets that may not have
  /// arrived. It is `nil` while that is unknown, after a disconnection by this end.
  case disconnected(HCIErrorCode, unacknowledged: Int?)
  /// The last packets sent on the link that this end disconnected may not have arrived.
  case lastPacketsUncertain
  /// The peer violated a rule of its protocol; the sentence names the rule.
  case peerViolation(String)
  /// The controller showed a harmless anomaly.
  case controllerAnomaly(String)
}

extension CentralEvent.Failure: CustomStringConvertible {
  /// The failure in words.
  public var description: String {
    switch self {
    case .gatt(let failure): "\(failure)"
    case .impossible(let sentence): sentence
    }
  }

  /// The error code with which the server refused the operation.
  public var code: ATTErrorCode? {
    if case .gatt(.refused(let code, _)) = self { code } else { nil }
  }
}

extension CentralEvent {
  /// The diagnostic for the lab if the event reveals a defect of the peer's Bluetooth or of the controller.
  public var diagnostic: String? {
    switch self {
    case .controllerAnomaly(let sentence): "odd, of the controller: \(sentence)"
    case .peerViolation(let rule): "the lock's Bluetooth broke a rule: \(rule)"
    default: nil
    }
  }
}
