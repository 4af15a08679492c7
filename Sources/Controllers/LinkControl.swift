import Basics
import Bluetooth

/// A control packet of the link layer (Core 5.4, Vol 6 Part B §2.4.2).
enum LinkControl: Equatable, Sendable {
  case connectionUpdate(ConnectionParameters)
  case terminate(HCIErrorCode)
  case featureRequest
  case featureResponse
  case versionIndication
  case lengthRequest
  case lengthResponse
  case parameterRequest(ConnectionParameters)
  case parameterResponse(ConnectionParameters)
  case parameterReject(HCIErrorCode)

  /// The length of the payload in bytes, including the opcode.
  var length: Int {
    switch self {
    case .connectionUpdate: 12
    case .terminate: 2
    case .featureRequest, .featureResponse, .lengthRequest, .lengthResponse: 9
    case .versionIndication: 6
    case .parameterRequest, .parameterResponse: 24
    case .parameterReject: 3
    }
  }
}

// MARK: - Responses

extension Link {
  /// Processes a control packet that an end received for the first time.
  mutating func take(_ control: LinkControl, inCentral: Bool, at now: Int64, _ ports: inout HostPorts) {
    if inCentral {
      central.take(control, from: peripheral, at: now, &ports)
    } else {
      if case .connectionUpdate = control { update?.isShared = true }
      peripheral.take(control, from: central, at: now, &ports)
    }
    switch control {
    case .parameterReject(.unsupportedRemoteFeature) where inCentral:
      // The other host does not support the request and is not asked (§5.1.7.1).
      if let wanted = central.pending.update { changeTiming(to: wanted) }
    case .parameterReject(let reason):
      refuse(inCentral: inCentral, reason, at: now, &ports)
    case .parameterResponse(let agreed) where inCentral && central.pending.update != nil:
      changeTiming(to: agreed)
    default: break
    }
  }

  /// Makes the central send the new timing to the peripheral, unless an update is in progress.
  private mutating func changeTiming(to parameters: ConnectionParameters) {
    if update == nil { central.controls.append(.connectionUpdate(parameters)) }
  }

  private mutating func refuse(
    inCentral: Bool, _ reason: HCIErrorCode, at now: Int64, _ ports: inout HostPorts
  ) {
    let end = self[central: inCentral]
    guard end.pending.update != nil else { return }
    self[central: inCentral].pending.update = nil
    ports.emit(
      .leConnectionUpdateComplete(status: reason, end.handle, timing), to: end.controller, at: now)
  }
}

extension LinkEnd {
  fileprivate mutating func take(
    _ control: LinkControl, from other: LinkEnd, at now: Int64, _ ports: inout HostPorts
  ) {
    switch control {
    case .connectionUpdate, .parameterResponse, .parameterReject: break
    case .terminate(let reason): terminateReason = reason
    case .featureRequest: controls.append(.featureResponse)
    case .featureResponse:
      guard pending.features else { return }
      pending.features = false
      ports.emit(
        .leReadRemoteFeaturesComplete(status: .success, handle, features: features & other.features),
        to: controller, at: now)
    case .versionIndication: takeVersion(of: other, at: now, &ports)
    case .lengthRequest:
      controls.append(.lengthResponse)
      agree(with: other, at: now, &ports)
    case .lengthResponse: agree(with: other, at: now, &ports)
    case .parameterRequest(let parameters):
      guard ports.ports[controller].wantsLE(0x06) else {
        return controls.append(.parameterReject(.unsupportedRemoteFeature))
      }
      pending.parameterRequest = true
      ports.emit(.leRemoteConnectionParameterRequest(handle, parameters), to: controller, at: now)
    }
  }

  /// Sends and reports the version; each end sends its version once per link.
  private mutating func takeVersion(of other: LinkEnd, at now: Int64, _ ports: inout HostPorts) {
    knowsVersion = true
    if !sentVersion {
      sentVersion = true
      controls.append(.versionIndication)
    }
    guard pending.version else { return }
    pending.version = false
    ports.emit(
      .readRemoteVersionInformationComplete(status: .success, handle, other.version), to: controller, at: now)
  }

  private mutating func agree(with other: LinkEnd, at now: Int64, _ ports: inout HostPorts) {
    let agreed = (transmit: wanted.common(with: other.possible), receive: possible.common(with: other.wanted))
    guard agreed != (transmit, receive) else { return }
    (transmit, receive) = agreed
    ports.emit(
      .leDataLengthChange(
        handle,
        DataLength(
          transmitOctets: transmit.octets, transmitTime: transmit.time, receiveOctets: receive.octets,
          receiveTime: receive.time)),
      to: controller, at: now)
  }
}
