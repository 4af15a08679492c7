import Basics
import Bluetooth
import Crypto

// What the commands do (Core 5.4, Vol 4 Part E §7). A command that may not be carried out throws, and changes
// nothing.

extension Radio {
  mutating func perform(_ command: HCICommand, _ c: Int) throws(Refusal) -> CommandOutcome {
    switch command {
    case .reset:
      reset(c)
      return .done
    case .setEventMask(let mask):
      ports.ports[c].eventMask = mask
      return .done
    case .setEventMaskPage2:
      // None of the events of the second page is ever sent.
      return .done
    case .leSetEventMask(let mask):
      ports.ports[c].leEventMask = mask
      return .done
    case .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures,
      .leReadAdvertisingTxPower, .leReadFilterAcceptListSize, .leReadSupportedStates,
      .leReadMaximumDataLength:
      return inform(command, controllers[c])
    case .leRand: return .returning(controllers[c].generator.next())
    case .leEncrypt(let key, let plaintext): return .returning(encrypted(plaintext, key))
    case .leSetDefaultPHY(let all, let transmit, let receive):
      return try setDefaultPHY(all, transmit, receive)
    case .leReadSuggestedDefaultDataLength:
      let suggested = controllers[c].suggested
      return .returning(CommandReturn.SuggestedDataLength(octets: suggested.octets, time: suggested.time))
    case .leWriteSuggestedDefaultDataLength(let octets, let time):
      controllers[c].suggested = try limits(octets, time)
      return .done
    case .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
      .leSetAdvertisingEnable:
      return try advertise(command, c)
    case .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel:
      return try listen(command, c)
    case .leClearFilterAcceptList, .leAddToFilterAcceptList, .leRemoveFromFilterAcceptList:
      return try changeAcceptList(command, c)
    case .disconnect, .readRemoteVersionInformation, .readRSSI, .leConnectionUpdate, .leReadChannelMap,
      .leReadRemoteFeatures, .leLongTermKeyRequestNegativeReply, .leRemoteConnectionParameterRequestReply,
      .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadPHY:
      return try actOnLink(command, c)
    case .other: throw Refusal(.unknownCommand)
    }
  }

  /// What a controller says of itself.
  private func inform(_ command: HCICommand, _ controller: Controller) -> CommandOutcome {
    let settings = controller.settings
    let version = settings.version
    switch command {
    case .readLocalVersionInformation:
      return .returning(
        CommandReturn.LocalVersion(
          hciVersion: version.version, hciSubversion: version.subversion, lmpVersion: version.version,
          company: version.company, lmpSubversion: version.subversion))
    case .readLocalSupportedCommands: return .returning(supportedCommands(settings))
    case .readLocalSupportedFeatures:
      // LE Supported (Controller) and BR/EDR Not Supported (Vol 2 Part C §3.3).
      return .returning(CommandReturn.LocalFeatures(0x60 << 32))
    case .readBufferSize, .leReadBufferSize: return bufferSize(command, settings)
    case .readBDADDR: return .returning(controller.publicAddress)
    case .leReadLocalSupportedFeatures: return .returning(settings.features)
    case .leReadAdvertisingTxPower: return .returning(settings.transmitPower)
    case .leReadFilterAcceptListSize: return .returning(UInt8(settings.acceptListSize))
    case .leReadSupportedStates:
      // All combinations there are (§7.8.27).
      return .returning(CommandReturn.SupportedStates((1 << 42) - 1))
    default:
      let octets = settings.maximumOctets
      let time = PacketLimits.time(of: octets)
      return .returning(
        DataLength(transmitOctets: octets, transmitTime: time, receiveOctets: octets, receiveTime: time))
    }
  }

  /// Without BR/EDR there are only buffers for LE, unless the controller has but one kind.
  private func bufferSize(_ command: HCICommand, _ settings: ControllerSettings) -> CommandOutcome {
    let isShared = settings.quirks.contains(.sharedBuffers)
    let isAsked = isShared == (command == .readBufferSize)
    let (length, count) = isAsked ? (settings.aclLength, settings.aclCount) : (0, 0)
    guard command == .readBufferSize else {
      return .returning(CommandReturn.LEReadBufferSize(aclLength: UInt16(length), aclCount: UInt8(count)))
    }
    return .returning(
      CommandReturn.ReadBufferSize(
        aclLength: UInt16(length), synchronousLength: 0, aclCount: UInt16(count), synchronousCount: 0))
  }

  private func supportedCommands(_ settings: ControllerSettings) -> CommandReturn.SupportedCommands {
    var supported = CommandReturn.SupportedCommands()
    for command in SupportedCommand.all where command.feature & ~settings.features == 0 {
      supported[octet: command.octet, bit: command.bit] = true
    }
    return supported
  }

  /// Only the 1M PHY is there (§7.8.48).
  private func setDefaultPHY(
    _ all: UInt8, _ transmit: UInt8, _ receive: UInt8
  ) throws(Refusal) -> CommandOutcome {
    for (bit, wish) in [(1, transmit), (2, receive)] as [(UInt8, UInt8)] where all & bit == 0 {
      guard wish != 0 else { throw Refusal(.invalidParameters) }
      guard wish & ~0b001 == 0 || wish & 0b001 != 0 && wish & ~0b111 == 0 else {
        throw Refusal(.unsupportedFeature)
      }
    }
    return .done
  }

  private func limits(_ octets: UInt16, _ time: UInt16) throws(Refusal) -> PacketLimits {
    guard (27...251).contains(octets), (328...17040).contains(time) else { throw Refusal(.invalidParameters) }
    return PacketLimits(octets: octets, time: time)
  }
}

// MARK: - Advertising, §7.8.4 to §7.8.9

extension Radio {
  private mutating func advertise(_ command: HCICommand, _ c: Int) throws(Refusal) -> CommandOutcome {
    switch command {
    case .leSetRandomAddress(let address):
      let isListening = listeners.contains { $0.controller == c }
      guard !advertisers[c].isOn, !isListening else { throw Refusal(.commandDisallowed) }
      controllers[c].randomAddress = address
    case .leSetAdvertisingParameters(let parameters):
      guard !advertisers[c].isOn else { throw Refusal(.commandDisallowed) }
      guard parameters.areLegal else { throw Refusal(.invalidParameters) }
      advertisers[c].set(parameters)
    case .leSetAdvertisingData(let data):
      advertisers[c].data = data
      planAdvertiser(c, at: time)
    case .leSetScanResponseData(let data): advertisers[c].response = data
    case .leSetAdvertisingEnable(let isOn): try setAdvertising(isOn, c)
    default: throw Refusal(.unknownCommand)
    }
    return .done
  }

  private mutating func setAdvertising(_ isOn: Bool, _ c: Int) throws(Refusal) {
    guard isOn else {
      advertisers[c].stop()
      return wakeAdvertiser(c, at: .max)
    }
    // Enabled again, it goes on as it is.
    guard !advertisers[c].isOn else { return }
    guard let own = controllers[c].ownAddress(advertisers[c].parameters.ownAddressType) else {
      throw Refusal(.invalidParameters)
    }
    guard !advertisers[c].isConnectable || controllers[c].freeHandle != nil else {
      throw Refusal(.connectionLimitExceeded)
    }
    let identity = identity(of: own)
    advertisers[c].start(as: own, identity: identity, at: time)
    planAdvertiser(c, at: time)
  }
}

extension AdvertisingParameters {
  /// Whether every parameter is in its range (§7.8.5). Own addresses that the controller would have to
  /// resolve are not: it does not claim LL Privacy.
  fileprivate var areLegal: Bool {
    let isInterval =
      kind == .directedHighDuty
      || minimumInterval <= maximumInterval
        && (0x0020...0x4000).contains(minimumInterval) && (0x0020...0x4000).contains(maximumInterval)
    let isDirected = kind == .directedHighDuty || kind == .directedLowDuty
    return isInterval && ownAddressType <= 1 && (1...7).contains(channels) && filterPolicy <= 3
      && (!isDirected || peer.kind == .publicDevice || peer.kind == .randomDevice)
  }
}

// MARK: - Scanning and initiating, §7.8.10 to §7.8.13

extension Radio {
  private mutating func listen(_ command: HCICommand, _ c: Int) throws(Refusal) -> CommandOutcome {
    switch command {
    case .leSetScanParameters(let parameters):
      guard !isScanning(c) else { throw Refusal(.commandDisallowed) }
      guard parameters.areLegal else { throw Refusal(.invalidParameters) }
      controllers[c].scanParameters = parameters
    case .leSetScanEnable(let isOn, let filterDuplicates): try setScanning(isOn, filterDuplicates, c)
    case .leCreateConnection(let request): try createConnection(request, c)
    case .leCreateConnectionCancel:
      guard let request = controllers[c].request else { throw Refusal(.commandDisallowed) }
      controllers[c].request = nil
      removeListeners { $0.controller == c && $0.isInitiator }
      return .followed(by: .noConnection(.unknownConnection, role: .central, to: request.peer))
    default: throw Refusal(.unknownCommand)
    }
    return .done
  }

  private mutating func isScanning(_ c: Int) -> Bool {
    listeners.contains { $0.controller == c && !$0.isInitiator }
  }

  private mutating func setScanning(_ isOn: Bool, _ filterDuplicates: Bool, _ c: Int) throws(Refusal) {
    guard isOn else { return removeListeners { $0.controller == c && !$0.isInitiator } }
    let parameters = controllers[c].scanParameters
    guard let own = controllers[c].ownAddress(parameters.ownAddressType) else {
      throw Refusal(.invalidParameters)
    }
    // Enabled again, it begins anew: what was reported counts no more (§7.8.11).
    listeners.removeAll { $0.controller == c && !$0.isInitiator }
    add(Listener(scanning: parameters, c, as: own, filterDuplicates: filterDuplicates, at: time))
  }

  private mutating func createConnection(_ request: ConnectionRequest, _ c: Int) throws(Refusal) {
    guard controllers[c].request == nil else { throw Refusal(.commandDisallowed) }
    let isScan = isScanTiming(request.scanInterval, request.scanWindow)
    let isPeer =
      request.usesFilterAcceptList || request.peer.kind == .publicDevice || request.peer.kind == .randomDevice
    guard isScan, isPeer, request.ownAddressType <= 1, request.parameters.isValid,
      let own = controllers[c].ownAddress(request.ownAddressType)
    else { throw Refusal(.invalidParameters) }
    if !request.usesFilterAcceptList {
      for link in controllers[c].links where link >= 0 {
        guard end(link, c).peer != request.peer else { throw Refusal(.connectionAlreadyExists) }
      }
    }
    guard controllers[c].freeHandle != nil else { throw Refusal(.connectionLimitExceeded) }
    controllers[c].request = request
    add(Listener(initiating: request, c, as: own, at: time))
  }
}

extension ScanParameters {
  /// Whether every parameter is in its range (§7.8.10); the filter policies 2 and 3 are for resolvable
  /// addresses.
  fileprivate var areLegal: Bool {
    isScanTiming(interval, window) && ownAddressType <= 1 && filterPolicy <= 1
  }
}

private func isScanTiming(_ interval: UInt16, _ window: UInt16) -> Bool {
  (0x0004...0x4000).contains(interval) && (0x0004...interval).contains(window)
}

// MARK: - The filter accept list, §7.8.14 to §7.8.17

extension Radio {
  private mutating func changeAcceptList(_ command: HCICommand, _ c: Int) throws(Refusal) -> CommandOutcome {
    // Whoever uses the list may not find it changed.
    let isInUse =
      advertisers[c].isOn && advertisers[c].parameters.filterPolicy != 0
      || listeners.contains { $0.controller == c && $0.usesAcceptList }
    guard !isInUse else { throw Refusal(.commandDisallowed) }
    switch command {
    case .leClearFilterAcceptList: controllers[c].acceptList = []
    case .leAddToFilterAcceptList(let peer):
      guard peer.kind == .publicDevice || peer.kind == .randomDevice else {
        throw Refusal(.invalidParameters)
      }
      guard !controllers[c].acceptList.contains(peer) else { break }
      guard controllers[c].acceptList.count < controllers[c].settings.acceptListSize else {
        throw Refusal(.memoryCapacityExceeded)
      }
      controllers[c].acceptList.append(peer)
    case .leRemoveFromFilterAcceptList(let peer): controllers[c].acceptList.removeAll { $0 == peer }
    default: throw Refusal(.unknownCommand)
    }
    return .done
  }
}

// MARK: - Links

extension Radio {
  private mutating func actOnLink(_ command: HCICommand, _ c: Int) throws(Refusal) -> CommandOutcome {
    switch command {
    case .readRSSI(let handle):
      _ = try link(handle, c)
      return .returning(CommandReturn.RSSI(handle: handle, rssi: strength(handle, c)))
    case .leReadChannelMap(let handle):
      _ = try link(handle, c)
      return .returning(CommandReturn.ChannelMap(handle: handle, channels: (1 << 37) - 1))
    case .leReadPHY(let handle):
      _ = try link(handle, c)
      return .returning(CommandReturn.PHY(handle: handle, transmit: 1, receive: 1))
    case .leLongTermKeyRequestNegativeReply(let handle):
      // Nobody encrypts, so nobody ever asks.
      _ = try link(handle, c)
      throw Refusal(.commandDisallowed)
    case .disconnect(let handle, let reason): return try disconnect(handle, reason, c)
    case .readRemoteVersionInformation(let handle): return try readVersion(handle, c)
    case .leReadRemoteFeatures(let handle): return try readFeatures(handle, c)
    case .leSetDataLength(let handle, let octets, let time):
      return try setDataLength(handle, limits(octets, time), c)
    case .leConnectionUpdate(let handle, let parameters): return try updateConnection(handle, parameters, c)
    case .leRemoteConnectionParameterRequestReply(let handle, let parameters):
      return try answerRequest(handle, parameters, c)
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      try send(.parameterReject(reason), requested(handle, c), c)
      return .returning(handle)
    default: throw Refusal(.unknownCommand)
    }
  }

  private mutating func link(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) -> Int {
    guard let index = controllers[c].link(handle) else { throw Refusal(.unknownConnection) }
    return index
  }

  private mutating func isCentral(_ index: Int, _ c: Int) -> Bool { links[index].central.controller == c }

  private mutating func strength(_ handle: ConnectionHandle, _ c: Int) -> Int8? {
    guard let index = controllers[c].link(handle) else { return nil }
    let other = links[index][central: !isCentral(index, c)].controller
    let limit = settings.fading
    let fading = limit == 0 ? 0 : controllers[c].generator.below(2 * limit + 1) - limit
    return signal(from: other, to: c, fading: fading)
  }

  /// Gives a control packet to the end of a controller.
  private mutating func send(_ control: LinkControl, _ index: Int, _ c: Int) {
    links[index].send(control, fromCentral: isCentral(index, c), at: time)
    linkMoved(index)
  }

  /// Changes what the host of one end waits for.
  private mutating func change(_ index: Int, _ c: Int, _ change: (inout LinkEnd) -> Void) {
    change(&links[index][central: isCentral(index, c)])
  }

  private mutating func end(_ index: Int, _ c: Int) -> LinkEnd {
    links[index][central: isCentral(index, c)]
  }

  private mutating func disconnect(
    _ handle: ConnectionHandle, _ reason: HCIErrorCode, _ c: Int
  ) throws(Refusal) -> CommandOutcome {
    let index = try link(handle, c)
    guard [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(reason.rawValue) else {
      throw Refusal(.invalidParameters)
    }
    guard !end(index, c).pending.termination else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.termination = true }
    send(.terminate(reason), index, c)
    return .done
  }

  private mutating func readVersion(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) -> CommandOutcome {
    let index = try link(handle, c)
    let end = end(index, c)
    guard !end.pending.version else { throw Refusal(.commandDisallowed) }
    if end.knowsVersion {
      let version = links[index][central: !isCentral(index, c)].version
      return .followed(by: .readRemoteVersionInformationComplete(status: .success, handle, version))
    }
    change(index, c) {
      $0.pending.version = true
      $0.sentVersion = true
    }
    send(.versionIndication, index, c)
    return .done
  }

  private mutating func readFeatures(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) -> CommandOutcome {
    let index = try link(handle, c)
    let end = end(index, c)
    // A peripheral may ask if both know how (bit 3).
    let isAllowed = isCentral(index, c) || end.features & 0b1000 != 0
    guard isAllowed, !end.pending.features else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.features = true }
    send(.featureRequest, index, c)
    return .done
  }

  private mutating func setDataLength(
    _ handle: ConnectionHandle, _ limits: PacketLimits, _ c: Int
  ) throws(Refusal) -> CommandOutcome {
    let index = try link(handle, c)
    change(index, c) { $0.wanted = limits.common(with: $0.possible) }
    // An end without the feature answers that it does not know the packet, and nothing changes.
    if links[index].central.features & links[index].peripheral.features & Feature.dataLength != 0 {
      send(.lengthRequest, index, c)
    }
    return .returning(handle)
  }

  private mutating func updateConnection(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, _ c: Int
  ) throws(Refusal) -> CommandOutcome {
    let index = try link(handle, c)
    guard parameters.isValid else { throw Refusal(.invalidParameters) }
    guard end(index, c).pending.update == nil, links[index].update == nil else {
      throw Refusal(.commandDisallowed)
    }
    // The other end is asked where both know how (Core 5.4, Vol 6 Part B §5.1.7).
    let isRequest =
      links[index].central.features & links[index].peripheral.features & Feature.parameterRequest != 0
    guard isRequest || isCentral(index, c) else { throw Refusal(.unsupportedRemoteFeature) }
    change(index, c) { $0.pending.update = parameters }
    send(isRequest ? .parameterRequest(parameters) : .connectionUpdate(parameters), index, c)
    return .done
  }

  /// The link whose other end asked this one's host for other parameters, which has not answered.
  private mutating func requested(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) -> Int {
    let index = try link(handle, c)
    guard end(index, c).pending.parameterRequest else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.parameterRequest = false }
    return index
  }

  private mutating func answerRequest(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, _ c: Int
  ) throws(Refusal) -> CommandOutcome {
    _ = try link(handle, c)
    guard parameters.isValid else { throw Refusal(.invalidParameters) }
    let index = try requested(handle, c)
    if !isCentral(index, c) {
      send(.parameterResponse(parameters), index, c)
    } else if links[index].central.pending.update == nil, links[index].update == nil {
      // If the central changes the parameters itself at this moment, that is the answer.
      links[index].central.pending.update = parameters
      send(.connectionUpdate(parameters), index, c)
    }
    return .returning(handle)
  }
}

/// A block as LE Encrypt has it: key, text and result least significant byte first (Core 5.4, Vol 4 Part E §7.8.22).
private func encrypted(_ plaintext: UUID128, _ key: UUID128) -> UUID128 {
  let block = encryptBlock(plaintext.bytes.reversed(), key: key.bytes.reversed())
  let halves = [block[8...], block[..<8]].map { $0.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
  return UUID128(high: halves[0], low: halves[1])
}
