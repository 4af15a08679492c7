import Basics
import Bluetooth
import Crypto

/// The implementation of each supported command (Core 5.4, Vol 4 Part E §7).
struct CommandTable: Sendable {
  /// A command, and the function that maps its parameters to the return parameters that follow the status. A
  /// command that is refused throws, and changes nothing.
  struct Entry: Sendable {
    var declaration: HCICommand.Declaration
    var perform: @Sendable (inout Radio, Int, [UInt8]) throws(Refusal) -> [UInt8]
  }

  private var entries: [UInt16: Entry] = [:]

  /// Returns the entry of a command if a controller with these features supports it.
  func find(_ opcode: UInt16, features: UInt64) -> Entry? {
    guard let entry = entries[opcode], entry.declaration.features & ~features == 0 else { return nil }
    return entry
  }

  /// Sets the function that executes a command and returns the parameters after the status.
  mutating func on<Return, Value>(
    _ kind: HCICommand.Kind<Return, Value>,
    _ act: @escaping @Sendable (inout Radio, Int, Value) throws(Refusal) -> Return
  ) {
    let perform = { @Sendable (radio: inout Radio, c: Int, bytes: [UInt8]) throws(Refusal) -> [UInt8] in
      let value: Value
      do { value = try kind.decode(bytes) } catch { throw Refusal(.invalidParameters) }
      return kind.success(try act(&radio, c, value))
    }
    entries[kind.opcode] = Entry(declaration: kind.declaration, perform: perform)
  }
}

extension Radio {
  static let commands = {
    var table = CommandTable()
    addGeneral(to: &table)
    addInformation(to: &table)
    addAdvertising(to: &table)
    addListening(to: &table)
    addAcceptList(to: &table)
    addLinks(to: &table)
    return table
  }()

  private static func addGeneral(to table: inout CommandTable) {
    table.on(HCICommand.reset) { radio, c, _ in radio.reset(c) }
    table.on(HCICommand.setEventMask) { radio, c, mask in radio.ports.ports[c].eventMask = mask }
    // The controller sends no event of page 2.
    table.on(HCICommand.setEventMaskPage2) { _, _, _ in }
    table.on(HCICommand.leSetEventMask) { radio, c, mask in radio.ports.ports[c].leEventMask = mask }
    table.on(HCICommand.leRand) { radio, c, _ in radio.controllers[c].generator.next() }
    table.on(HCICommand.leEncrypt) { _, _, block in encrypted(block.1, key: block.0) }
    table.on(HCICommand.leReadSuggestedDefaultDataLength) { radio, c, _ in
      let suggested = radio.controllers[c].suggested
      return (suggested.octets, suggested.time)
    }
    table.on(HCICommand.leWriteSuggestedDefaultDataLength) { radio, c, length throws(Refusal) in
      radio.controllers[c].suggested = try limits(length.0, length.1)
    }
    table.on(HCICommand.leSetDefaultPHY) { _, _, preference throws(Refusal) in
      let (all, transmit, receive) = preference
      try checkPHY(all & 1 == 0 ? transmit : 1)
      try checkPHY(all & 2 == 0 ? receive : 1)
    }
  }

  /// Adds the commands with which a controller describes itself.
  private static func addInformation(to table: inout CommandTable) {
    table.on(HCICommand.readLocalVersionInformation) { radio, c, _ in
      let version = radio.controllers[c].settings.version
      return CommandReturn.LocalVersion(
        hciVersion: version.version, hciSubversion: version.subversion, lmpVersion: version.version,
        company: version.company, lmpSubversion: version.subversion)
    }
    table.on(HCICommand.readLocalSupportedCommands) { radio, c, _ in
      let features = radio.controllers[c].settings.features
      var supported = CommandReturn.SupportedCommands()
      for command in HCICommand.all where command.features & ~features == 0 {
        if let (octet, bit) = command.place { supported[octet: octet, bit: bit] = true }
      }
      return supported
    }
    // LE Supported (Controller) and BR/EDR Not Supported (Vol 2 Part C §3.3).
    table.on(HCICommand.readLocalSupportedFeatures) { _, _, _ in 0x60 << 32 }
    // Without BR/EDR all buffers are LE buffers, unless the controller has shared buffers.
    table.on(HCICommand.readBufferSize) { radio, c, _ in
      let settings = radio.controllers[c].settings
      let (length, count) = settings.sharesBuffers ? (settings.aclLength, settings.aclCount) : (0, 0)
      return CommandReturn.ReadBufferSize(
        aclLength: UInt16(length), synchronousLength: 0, aclCount: UInt16(count), synchronousCount: 0)
    }
    table.on(HCICommand.leReadBufferSize) { radio, c, _ in
      let settings = radio.controllers[c].settings
      let (length, count) = settings.sharesBuffers ? (0, 0) : (settings.aclLength, settings.aclCount)
      return CommandReturn.LEReadBufferSize(aclLength: UInt16(length), aclCount: UInt8(count))
    }
    table.on(HCICommand.readBDADDR) { radio, c, _ in radio.controllers[c].publicAddress }
    table.on(HCICommand.leReadLocalSupportedFeatures) { radio, c, _ in
      radio.controllers[c].settings.features
    }
    table.on(HCICommand.leReadAdvertisingTxPower) { radio, c, _ in
      radio.controllers[c].settings.transmitPower
    }
    table.on(HCICommand.leReadFilterAcceptListSize) { radio, c, _ in
      UInt8(radio.controllers[c].settings.acceptListSize)
    }
    // All combinations of states (§7.8.27).
    table.on(HCICommand.leReadSupportedStates) { _, _, _ in (1 << 42) - 1 }
    table.on(HCICommand.leReadMaximumDataLength) { radio, c, _ in
      let octets = radio.controllers[c].settings.maximumOctets
      let time = PacketLimits.time(of: octets)
      return DataLength(transmitOctets: octets, transmitTime: time, receiveOctets: octets, receiveTime: time)
    }
  }

  /// Throws unless the preference contains the 1M PHY, the only supported one (§7.8.48).
  private static func checkPHY(_ preference: UInt8) throws(Refusal) {
    guard preference != 0 else { throw Refusal(.invalidParameters) }
    guard preference & 0b001 != 0, preference & ~0b111 == 0 else { throw Refusal(.unsupportedFeature) }
  }

  private static func limits(_ octets: UInt16, _ time: UInt16) throws(Refusal) -> PacketLimits {
    guard (27...251).contains(octets), (328...17040).contains(time) else { throw Refusal(.invalidParameters) }
    return PacketLimits(octets: octets, time: time)
  }
}

extension ControllerSettings {
  fileprivate var sharesBuffers: Bool { quirks.contains(.sharedBuffers) }
}

// MARK: - Advertising, §7.8.4 to §7.8.9

extension Radio {
  private static func addAdvertising(to table: inout CommandTable) {
    table.on(HCICommand.leSetRandomAddress) { radio, c, address throws(Refusal) in
      let isListening = radio.listeners.contains { $0.controller == c }
      guard !radio.advertisers[c].isOn, !isListening else { throw Refusal(.commandDisallowed) }
      radio.controllers[c].randomAddress = address
    }
    table.on(HCICommand.leSetAdvertisingParameters) { radio, c, parameters throws(Refusal) in
      guard !radio.advertisers[c].isOn else { throw Refusal(.commandDisallowed) }
      guard parameters.areLegal else { throw Refusal(.invalidParameters) }
      radio.advertisers[c].set(parameters)
    }
    table.on(HCICommand.leSetAdvertisingData) { radio, c, data in
      radio.advertisers[c].data = data
      radio.planAdvertiser(c, at: radio.time)
    }
    table.on(HCICommand.leSetScanResponseData) { radio, c, data in radio.advertisers[c].response = data }
    table.on(HCICommand.leSetAdvertisingEnable) { radio, c, isOn throws(Refusal) in
      try radio.setAdvertising(isOn, c)
    }
  }

  private mutating func setAdvertising(_ isOn: Bool, _ c: Int) throws(Refusal) {
    guard isOn else {
      advertisers[c].stop()
      return wakeAdvertiser(c, at: .max)
    }
    // Enabling again has no effect.
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
  /// Whether every parameter is in its range (§7.8.5). Own address types that require address resolution are not:
  /// the controller does not support LL Privacy.
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
  private static func addListening(to table: inout CommandTable) {
    table.on(HCICommand.leSetScanParameters) { radio, c, parameters throws(Refusal) in
      guard !radio.listeners.contains(where: { $0.controller == c && !$0.isInitiator }) else {
        throw Refusal(.commandDisallowed)
      }
      guard parameters.areLegal else { throw Refusal(.invalidParameters) }
      radio.controllers[c].scanParameters = parameters
    }
    table.on(HCICommand.leSetScanEnable) { radio, c, enable throws(Refusal) in
      try radio.setScanning(enable.0, filterDuplicates: enable.1, c)
    }
    table.on(HCICommand.leCreateConnection) { radio, c, request throws(Refusal) in
      try radio.createConnection(request, c)
    }
    table.on(HCICommand.leCreateConnectionCancel) { radio, c, _ throws(Refusal) in
      guard let request = radio.controllers[c].request else { throw Refusal(.commandDisallowed) }
      radio.controllers[c].request = nil
      radio.removeListeners { $0.controller == c && $0.isInitiator }
      radio.ports.ports[c].following = .noConnection(.unknownConnection, role: .central, to: request.peer)
    }
  }

  private mutating func setScanning(_ isOn: Bool, filterDuplicates: Bool, _ c: Int) throws(Refusal) {
    guard isOn else { return removeListeners { $0.controller == c && !$0.isInitiator } }
    let parameters = controllers[c].scanParameters
    guard let own = controllers[c].ownAddress(parameters.ownAddressType) else {
      throw Refusal(.invalidParameters)
    }
    // Enabling again restarts scanning: duplicate filtering forgets earlier reports (§7.8.11).
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
  /// Whether every parameter is in its range (§7.8.10); filter policies 2 and 3 require resolvable addresses.
  fileprivate var areLegal: Bool {
    isScanTiming(interval, window) && ownAddressType <= 1 && filterPolicy <= 1
  }
}

private func isScanTiming(_ interval: UInt16, _ window: UInt16) -> Bool {
  (0x0004...0x4000).contains(interval) && (0x0004...interval).contains(window)
}

// MARK: - The filter accept list, §7.8.14 to §7.8.17

extension Radio {
  private static func addAcceptList(to table: inout CommandTable) {
    table.on(HCICommand.leClearFilterAcceptList) { radio, c, _ throws(Refusal) in
      try radio.checkAcceptList(c)
      radio.controllers[c].acceptList = []
    }
    table.on(HCICommand.leAddToFilterAcceptList) { radio, c, peer throws(Refusal) in
      try radio.checkAcceptList(c)
      guard peer.kind == .publicDevice || peer.kind == .randomDevice else {
        throw Refusal(.invalidParameters)
      }
      guard !radio.controllers[c].acceptList.contains(peer) else { return }
      guard radio.controllers[c].acceptList.count < radio.controllers[c].settings.acceptListSize else {
        throw Refusal(.memoryCapacityExceeded)
      }
      radio.controllers[c].acceptList.append(peer)
    }
    table.on(HCICommand.leRemoveFromFilterAcceptList) { radio, c, peer throws(Refusal) in
      try radio.checkAcceptList(c)
      radio.controllers[c].acceptList.removeAll { $0 == peer }
    }
  }

  /// Throws if the list is in use and must not change.
  private mutating func checkAcceptList(_ c: Int) throws(Refusal) {
    let isInUse =
      advertisers[c].isOn && advertisers[c].parameters.filterPolicy != 0
      || listeners.contains { $0.controller == c && $0.usesAcceptList }
    guard !isInUse else { throw Refusal(.commandDisallowed) }
  }
}

// MARK: - Links

extension Radio {
  private static func addLinks(to table: inout CommandTable) {
    table.on(HCICommand.readRSSI) { radio, c, handle throws(Refusal) in
      _ = try radio.link(handle, c)
      return (handle, radio.strength(handle, c))
    }
    table.on(HCICommand.leReadChannelMap) { radio, c, handle throws(Refusal) in
      _ = try radio.link(handle, c)
      return (handle, (1 << 37) - 1)
    }
    table.on(HCICommand.leReadPHY) { radio, c, handle throws(Refusal) in
      _ = try radio.link(handle, c)
      return (handle, 1, 1)
    }
    table.on(HCICommand.leLongTermKeyRequestNegativeReply) { radio, c, handle throws(Refusal) in
      // No host encrypts, so the event never occurs.
      _ = try radio.link(handle, c)
      throw Refusal(.commandDisallowed)
    }
    table.on(HCICommand.disconnect) { radio, c, end throws(Refusal) in
      try radio.disconnect(end.0, end.1, c)
    }
    table.on(HCICommand.readRemoteVersionInformation) { radio, c, handle throws(Refusal) in
      try radio.readVersion(handle, c)
    }
    table.on(HCICommand.leReadRemoteFeatures) { radio, c, handle throws(Refusal) in
      try radio.readFeatures(handle, c)
    }
    table.on(HCICommand.leSetDataLength) { radio, c, length throws(Refusal) in
      let (handle, octets, time) = length
      try radio.setDataLength(handle, limits(octets, time), c)
      return handle
    }
    table.on(HCICommand.leConnectionUpdate) { radio, c, update throws(Refusal) in
      try radio.updateConnection(update.0, update.1, c)
    }
    table.on(HCICommand.leRemoteConnectionParameterRequestReply) {
      radio, c, reply throws(Refusal) in
      try radio.answerRequest(reply.0, reply.1, c)
      return reply.0
    }
    table.on(HCICommand.leRemoteConnectionParameterRequestNegativeReply) {
      radio, c, reply throws(Refusal) in
      radio.send(.parameterReject(reply.1), try radio.requested(reply.0, c), c)
      return reply.0
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

  /// Queues a control packet at this controller's end.
  private mutating func send(_ control: LinkControl, _ index: Int, _ c: Int) {
    links[index].send(control, fromCentral: isCentral(index, c), at: time)
    linkMoved(index)
  }

  /// Changes this controller's end of the link.
  private mutating func change(_ index: Int, _ c: Int, _ change: (inout LinkEnd) -> Void) {
    change(&links[index][central: isCentral(index, c)])
  }

  private mutating func end(_ index: Int, _ c: Int) -> LinkEnd {
    links[index][central: isCentral(index, c)]
  }

  private mutating func disconnect(
    _ handle: ConnectionHandle, _ reason: HCIErrorCode, _ c: Int
  ) throws(Refusal) {
    let index = try link(handle, c)
    guard [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(reason.rawValue) else {
      throw Refusal(.invalidParameters)
    }
    guard !end(index, c).pending.termination else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.termination = true }
    send(.terminate(reason), index, c)
  }

  private mutating func readVersion(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) {
    let index = try link(handle, c)
    let end = end(index, c)
    guard !end.pending.version else { throw Refusal(.commandDisallowed) }
    if end.knowsVersion {
      let version = links[index][central: !isCentral(index, c)].version
      ports.ports[c].following = .readRemoteVersionInformationComplete(status: .success, handle, version)
      return
    }
    change(index, c) {
      $0.pending.version = true
      $0.sentVersion = true
    }
    send(.versionIndication, index, c)
  }

  private mutating func readFeatures(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) {
    let index = try link(handle, c)
    let end = end(index, c)
    // A peripheral may ask if both ends support it (bit 3).
    let isAllowed = isCentral(index, c) || end.features & 0b1000 != 0
    guard isAllowed, !end.pending.features else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.features = true }
    send(.featureRequest, index, c)
  }

  private mutating func setDataLength(
    _ handle: ConnectionHandle, _ limits: PacketLimits, _ c: Int
  ) throws(Refusal) {
    let index = try link(handle, c)
    change(index, c) { $0.wanted = limits.common(with: $0.possible) }
    // An end without the feature rejects the packet as unknown, and nothing changes.
    if links[index].central.features & links[index].peripheral.features & LEFeature.dataLength != 0 {
      send(.lengthRequest, index, c)
    }
  }

  private mutating func updateConnection(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, _ c: Int
  ) throws(Refusal) {
    let index = try link(handle, c)
    guard parameters.isValid else { throw Refusal(.invalidParameters) }
    guard end(index, c).pending.update == nil, links[index].update == nil else {
      throw Refusal(.commandDisallowed)
    }
    // The peer is asked if both ends support the request (Core 5.4, Vol 6 Part B §5.1.7).
    let isRequest =
      links[index].central.features & links[index].peripheral.features & LEFeature.parameterRequest != 0
    guard isRequest || isCentral(index, c) else { throw Refusal(.unsupportedRemoteFeature) }
    change(index, c) { $0.pending.update = parameters }
    send(isRequest ? .parameterRequest(parameters) : .connectionUpdate(parameters), index, c)
  }

  /// Returns the link whose peer requested new parameters that this end's host has not answered yet.
  private mutating func requested(_ handle: ConnectionHandle, _ c: Int) throws(Refusal) -> Int {
    let index = try link(handle, c)
    guard end(index, c).pending.parameterRequest else { throw Refusal(.commandDisallowed) }
    change(index, c) { $0.pending.parameterRequest = false }
    return index
  }

  private mutating func answerRequest(
    _ handle: ConnectionHandle, _ parameters: ConnectionParameters, _ c: Int
  ) throws(Refusal) {
    _ = try link(handle, c)
    guard parameters.isValid else { throw Refusal(.invalidParameters) }
    let index = try requested(handle, c)
    if !isCentral(index, c) {
      send(.parameterResponse(parameters), index, c)
    } else if links[index].central.pending.update == nil, links[index].update == nil {
      // If the central is already changing the parameters, that is the answer.
      links[index].central.pending.update = parameters
      send(.connectionUpdate(parameters), index, c)
    }
  }
}

/// Encrypts a block as LE Encrypt does: key, text and result are least significant octet first (Core 5.4, Vol 4
/// Part E §7.8.22).
private func encrypted(_ plaintext: UUID128, key: UUID128) -> UUID128 {
  let block = encryptBlock(plaintext.bytes.reversed(), key: key.bytes.reversed())
  let halves = [block[8...], block[..<8]].map { $0.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
  return UUID128(high: halves[0], low: halves[1])
}
