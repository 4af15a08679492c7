public import Basics
public import Bluetooth

/// What the user of a central wants done, on its one link or to come to one.
///
/// Operations on a link are done in the order in which they are asked for, and each ends with one ``CentralEvent``.
public enum CentralOperation: Hashable, Sendable {
  /// How a characteristic is named: by its UUID, where only one was found, or by the handle of its value.
  public enum Characteristic: Hashable, Sendable {
    case uuid(BluetoothUUID)
    case handle(AttributeHandle)
  }

  /// Begins to report advertisements, or ends that.
  case scan(Bool)
  /// Connects to a device and looks there for what the query names. An attempt has no end of its own unless a time is given.
  case connect(PeerAddress, ProfileQuery, within: Interval = .forever)
  /// Ends the link, or the attempt at one. What was written before goes out first.
  case disconnect
  case exchangeMTU
  case read(Characteristic)
  /// With response, without, or as the characteristic has it.
  case write(Characteristic, [UInt8], withResponse: Bool? = nil)
  /// Asks for notifications, or for indications where there are only these.
  case subscribe(Characteristic)
  case unsubscribe(Characteristic)
}

/// What happened on a central, in the order in which it did.
public enum CentralEvent: Hashable, Sendable {
  /// Why an operation was not done.
  public enum Failure: Error, Hashable, Sendable {
    /// What the other end answered, or that it did not.
    case gatt(GATTFailure)
    /// What is missing for it; the sentence says what.
    case impossible(String)
  }

  /// The controller was reset and set up.
  case ready
  /// Scanning has begun or ended as was asked for, or was refused.
  case scanning(Bool, status: HCIErrorCode)
  /// Something was heard while scanning.
  case advertisement(AdvertisingReport)
  /// The link layer is up; what the query names is being looked for.
  case connected(PeerAddress)
  /// All was found that the server shows; what it did not show, in sentences. From here on the link can be used, and what was
  /// notified before comes behind this.
  case open(DiscoveredProfile, gaps: [String])
  /// Nothing can be found, since that procedure failed. The link is ended.
  case notDiscovered(GATTProcedure, GATTFailure)
  /// The MTU that both ends use from now on.
  case mtu(Int)
  /// A notification or an indication.
  case notified(AttributeHandle, [UInt8])
  case read(AttributeHandle, [UInt8])
  case wrote(AttributeHandle, withResponse: Bool)
  /// What is subscribed to from now on; nothing after an operation that ended it.
  case subscribed(AttributeHandle, Subscription)
  case failed(CentralOperation, Failure)
  /// The link, or the attempt at one, is over. So many packets that were given to it may not have arrived; `nil` where that is
  /// not known yet, since this end has left it.
  case disconnected(HCIErrorCode, unacknowledged: Int?)
  /// Something that was written to the link that was left last may not have arrived.
  case lastPacketsUncertain
  /// The other end broke a rule of its protocol; the sentence says which.
  case peerViolation(String)
  /// The controller did something odd that does no harm.
  case controllerAnomaly(String)
}

extension CentralEvent.Failure: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .gatt(let failure): "\(failure)"
    case .impossible(let sentence): sentence
    }
  }

  /// The error code with which the server refused it.
  public var code: ATTErrorCode? {
    if case .gatt(.refused(let code, _)) = self { code } else { nil }
  }
}

extension CentralEvent {
  /// What a lab notes of it, where it says something of the other end's Bluetooth, or of the controller's.
  public var diagnostic: String? {
    switch self {
    case .controllerAnomaly(let sentence): "odd, of the controller: \(sentence)"
    case .peerViolation(let rule): "the lock's Bluetooth broke a rule: \(rule)"
    default: nil
    }
  }
}
