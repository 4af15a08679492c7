import Bluetooth

// Functions that change nothing are also mutating: a nonmutating one works on a copy of the radio, and while a copy
// exists, each change copies whole arrays.

// MARK: - Simulating advertisements

extension Radio {
  /// Processes an advertiser's wake-up.
  mutating func processAdvertiser(_ index: Int, at now: Int64) {
    guard now < advertisers[index].end else { return endHighDuty(index, at: now) }
    switch advertisers[index].phase {
    case .quiet: break
    case .packet:
      if let packet = advertisers[index].awaited {
        advertisers[index].schedule.skip(to: packet)
        return hearPacket(of: index, at: now)
      }
    case .response: hearResponse(of: index, at: now)
    case .request(let initiator):
      advertisers[index].phase = .quiet
      advertisers[index].schedule.advance(after: now + AirTime.pause)
      if connect(initiator, to: index, at: now) { return }
    }
    planAdvertiser(index, at: now)
  }

  /// Sets an advertiser's next wake-up time: the end of the next packet that a controller receives.
  mutating func planAdvertiser(_ index: Int, at now: Int64) {
    guard advertisers[index].isOn else { return wakeAdvertiser(index, at: .max) }
    switch advertisers[index].phase {
    case .response, .request: return
    case .quiet, .packet: break
    }
    guard hasListeners(index) else {
      advertisers[index].phase = .quiet
      return wakeAdvertiser(index, at: advertisers[index].end)
    }
    advertisers[index].schedule.skip(to: now)
    advertisers[index].phase = .packet
    let packet =
      nextHeard(of: index, following: false, at: now) ?? nextHeard(of: index, following: true, at: now)
    advertisers[index].awaited = packet
    let wake =
      packet.map { $0.start + advertisers[index].schedule.duration }
      ?? advertisers[index].schedule.followingEnd
    wakeAdvertiser(index, at: min(wake, advertisers[index].end))
  }

  /// Reschedules all advertisers after the listeners or the controllers in range have changed.
  mutating func replanAdvertisers() {
    for index in advertisers.indices where advertisers[index].isOn { planAdvertiser(index, at: time) }
  }

  private mutating func hasListeners(_ index: Int) -> Bool {
    guard controllers[index].isOnAir else { return false }
    for listener in listeners.indices where isHeard(index, by: listener) { return true }
    return false
  }

  /// Returns the first future packet of this event, or of the next, that a listener receives.
  private mutating func nextHeard(
    of index: Int, following: Bool, at now: Int64
  ) -> AdvertisingSchedule.Packet? {
    let duration = advertisers[index].schedule.duration
    var candidate: AdvertisingSchedule.Packet? = advertisers[index].schedule.firstPacket(following: following)
    while let packet = candidate {
      let end = packet.start + duration
      if end > now {
        for listener in listeners.indices
        where listeners[listener].windows.hears(packet.channel, from: packet.start, to: end)
          && isHeard(index, by: listener)
        {
          return packet
        }
      }
      candidate = advertisers[index].schedule.packet(after: packet)
    }
    return nil
  }

  mutating func isHeard(_ index: Int, by listener: Int) -> Bool {
    let controller = listeners[listener].controller
    return controller != index && controllers[controller].isReachable
  }

  /// The high duty cycle ended without a connection (Core 5.4, Vol 6 Part B §4.4.2.4.3).
  private mutating func endHighDuty(_ index: Int, at now: Int64) {
    advertisers[index].stop()
    wakeAdvertiser(index, at: .max)
    emitFailure(.advertisingTimeout, role: .peripheral, to: index)
  }
}

// MARK: - Receiving

extension Radio {
  /// Handles the end of an advertiser's packet: each receiver reports it, sends a scan request, or connects.
  private mutating func hearPacket(of index: Int, at now: Int64) {
    let channel = advertisers[index].schedule.channel
    let start = advertisers[index].schedule.packetStart
    var initiator: Int?
    advertisers[index].scanRequesters.removeAll(keepingCapacity: true)
    for listener in listeners.indices {
      guard listeners[listener].windows.hears(channel, from: start, to: now), isHeard(index, by: listener),
        !advertisers[index].schedule.isLost(loss)
      else { continue }
      if listeners[listener].isInitiator {
        if initiator == nil, mayConnect(listener, to: index) { initiator = listeners[listener].controller }
      } else if isWanted(index, by: listener) {
        report(index, to: listener, isResponse: false)
        if !listeners[listener].isActive || !advertisers[index].isScannable {
          advertisers[index].markFullyReported(to: listeners[listener].number)
        } else if asks(listener, for: index) {
          advertisers[index].scanRequesters.append(listeners[listener].number)
        }
      }
    }
    if let initiator {
      advertisers[index].phase = .request(initiator: initiator)
      wakeAdvertiser(index, at: now + AirTime.pause + AirTime.connectRequest)
    } else if !advertisers[index].scanRequesters.isEmpty {
      advertisers[index].phase = .response
      wakeAdvertiser(index, at: now + advertisers[index].responseTime)
    } else {
      advertisers[index].schedule.advance(after: now + AirTime.channelChange)
      planAdvertiser(index, at: now)
    }
  }

  /// Handles the end of a scan response.
  private mutating func hearResponse(of index: Int, at now: Int64) {
    for position in advertisers[index].scanRequesters.indices {
      let requester = advertisers[index].scanRequesters[position]
      // A scanner that was restarted in the meantime has not sent this request.
      guard let listener = listeners.firstIndex(where: { $0.number == requester }),
        isHeard(index, by: listener), controllers[index].isReachable,
        !advertisers[index].schedule.isLost(loss)
      else { continue }
      report(index, to: listener, isResponse: true)
      advertisers[index].markFullyReported(to: listeners[listener].number)
    }
    advertisers[index].phase = .quiet
    advertisers[index].schedule.advance(after: now + AirTime.pause)
  }

  /// Returns whether a scanner processes the packets of an advertiser (Core 5.4, Vol 6 Part B §4.3.3).
  private mutating func isWanted(_ index: Int, by listener: Int) -> Bool {
    if let target = advertisers[index].directedAt, target != listeners[listener].address { return false }
    guard listeners[listener].usesAcceptList else { return true }
    return controllers[listeners[listener].controller].acceptList.contains(advertisers[index].address)
  }

  /// Returns whether a scanner requests a scan response, and the advertiser receives and accepts the request.
  private mutating func asks(_ listener: Int, for index: Int) -> Bool {
    guard listeners[listener].isActive, advertisers[index].isScannable,
      listeners[listener].wantsResponse(advertisers[index].identity)
    else { return false }
    if advertisers[index].parameters.filterPolicy & 1 == 1 {
      guard controllers[index].acceptList.contains(listeners[listener].address) else { return false }
    }
    return !advertisers[index].schedule.isLost(loss)
  }

  /// Returns whether an initiator connects to an advertiser that it received.
  private mutating func mayConnect(_ listener: Int, to index: Int) -> Bool {
    guard advertisers[index].isConnectable else { return false }
    let initiator = listeners[listener]
    if let target = advertisers[index].directedAt, target != initiator.address { return false }
    if let wanted = initiator.wanted { return wanted == advertisers[index].address }
    return controllers[initiator.controller].acceptList.contains(advertisers[index].address)
  }

  /// Reports an advertisement or scan response to a scanner's host, unless it is a duplicate.
  private mutating func report(_ index: Int, to listener: Int, isResponse: Bool) {
    guard !listeners[listener].isDuplicate(advertisers[index].identity, isResponse: isResponse) else {
      return
    }
    let controller = listeners[listener].controller
    let data =
      isResponse
      ? advertisers[index].response : advertisers[index].directedAt == nil ? advertisers[index].data : []
    let report = AdvertisingReport(
      isResponse ? .scanResponse : advertisers[index].reportedKind, from: advertisers[index].address, data,
      rssi: signal(from: index, to: controller, fading: advertisers[index].schedule.fading(settings.fading)))
    let isExtended = controllers[controller].settings.quirks.contains(.extendedReports)
    ports.emit(
      isExtended ? .leExtendedAdvertisingReport([report]) : .leAdvertisingReport([report]), to: controller,
      at: time)
  }

  /// Returns the RSSI of one controller's signal at another, in dBm (Core 5.4, Vol 4 Part E §7.5.4).
  mutating func signal(from controller: Int, to other: Int, fading: Int) -> Int8? {
    guard !controllers[other].settings.quirks.contains(.noRSSI) else { return nil }
    let strength = Int(controllers[controller].settings.transmitPower) - settings.pathLoss + fading
    return Int8(min(max(strength, -127), 20))
  }
}

// MARK: - Listening

extension Radio {
  mutating func add(_ listener: Listener) {
    listenerCount += 1
    listeners.append(listener)
    listeners[listeners.count - 1].number = listenerCount
    replanAdvertisers()
  }

  mutating func removeListeners(where condition: (Listener) -> Bool) {
    let count = listeners.count
    listeners.removeAll(where: condition)
    if listeners.count != count { replanAdvertisers() }
  }

  /// Returns the number of an address, the same for all devices that use it.
  mutating func identity(of address: PeerAddress) -> Int {
    if let known = identities[address] { return known }
    identities[address] = identities.count
    return identities.count - 1
  }
}

// MARK: - Connecting

extension Radio {
  /// Handles the end of CONNECT_IND: the initiator has a link, and so does the advertiser if it received the packet
  /// (Core 5.4, Vol 6 Part B §4.5.1).
  ///
  /// - Returns: whether the advertiser stopped.
  private mutating func connect(_ initiator: Int, to index: Int, at now: Int64) -> Bool {
    // The host may have cancelled the connection since CONNECT_IND began.
    guard let listener = listeners.firstIndex(where: { $0.controller == initiator && $0.isInitiator }),
      mayConnect(listener, to: index), let request = controllers[initiator].request,
      controllers[initiator].isOnAir
    else { return false }
    let own = listeners[listener].address
    controllers[initiator].request = nil
    removeListeners { $0.controller == initiator && $0.isInitiator }
    guard let handle = controllers[initiator].freeHandle else {
      emitFailure(.connectionLimitExceeded, role: .central, to: initiator)
      return false
    }
    let peer = advertisers[index].address
    let peripheralHandle = controllers[index].freeHandle
    let isAllowed =
      advertisers[index].parameters.filterPolicy & 2 == 0 || controllers[index].acceptList.contains(own)
    let isHeard =
      isAllowed && peripheralHandle != nil && controllers[index].isOnAir
      && !advertisers[index].schedule.isLost(loss)
    let parameters = request.parameters
    let central = end(initiator, handle, peer: peer, .central, parameters)
    var peripheral = end(
      index, peripheralHandle ?? ConnectionHandle(rawValue: 0), peer: own, .peripheral, parameters)
    peripheral.isUp = isHeard
    let place = add(
      Link(
        central: central, peripheral: peripheral, parameters: parameters, isInReach: true, loss: loss,
        generator: drawGenerator(), at: now))
    enter(place, handle, initiator)
    if isHeard, let peripheralHandle {
      advertisers[index].stop()
      wakeAdvertiser(index, at: .max)
      enter(place, peripheralHandle, index)
    }
    announce(links[place])
    negotiateLengths(place)
    return isHeard
  }

  private func end(
    _ controller: Int, _ handle: ConnectionHandle, peer: PeerAddress, _ role: LinkRole,
    _ parameters: ConnectionParameters
  ) -> LinkEnd {
    LinkEnd(
      controller: controller, handle: handle, peer: peer, role: role,
      settings: controllers[controller].settings,
      wanted: controllers[controller].suggested,
      supervisionTimeout: Int64(parameters.supervisionTimeout) * 10_000_000,
      at: time)
  }

  private mutating func enter(_ link: Int, _ handle: ConnectionHandle, _ controller: Int) {
    controllers[controller].links[Int(handle.rawValue) - Controller.firstHandle] = link
  }

  private mutating func announce(_ link: Link) {
    for end in [link.central, link.peripheral] where end.isUp {
      let complete = ConnectionComplete(
        status: .success, handle: end.handle, role: end.role, peer: end.peer, timing: link.timing,
        clockAccuracy: end.role == .central ? 0 : 5)
      let isEnhanced =
        controllers[end.controller].settings.quirks.contains(.enhancedConnection)
        && ports.ports[end.controller].wantsLE(0x0A)
      ports.emit(
        isEnhanced ? enhanced(complete) : .leConnectionComplete(complete), to: end.controller, at: time)
    }
  }

  /// Returns the event with two additional resolvable private addresses, both zero (Core 5.4, Vol 4 Part E
  /// §7.7.65.10).
  private func enhanced(_ complete: ConnectionComplete) -> HCIEvent {
    guard case .event(_, var parameters) = HCIEvent.leConnectionComplete(complete).packet else {
      return .leConnectionComplete(complete)
    }
    parameters.insert(contentsOf: repeatElement(0, count: 12), at: 12)
    return .otherLE(subevent: 0x0A, parameters: Array(parameters.dropFirst()))
  }

  /// Starts the data length update at each end whose host suggested longer packets (Core 5.4, Vol 6 Part B §5.1.9).
  private mutating func negotiateLengths(_ link: Int) {
    let ends = (links[link].central, links[link].peripheral)
    for (end, other) in [ends, (ends.1, ends.0)] where end.isUp && end.wanted.payload > 27 {
      guard end.features & other.features & LEFeature.dataLength != 0 else { continue }
      links[link].send(.lengthRequest, fromCentral: end.role == .central, at: time)
    }
    linkMoved(link)
  }

  /// Reports to a host that no link was established.
  mutating func emitFailure(_ status: HCIErrorCode, role: LinkRole, to controller: Int) {
    ports.emit(
      .noConnection(status, role: role, to: PeerAddress(.publicDevice, BluetoothAddress(0))), to: controller,
      at: time)
  }
}

extension HCIEvent {
  /// Returns the event that reports a failed connection.
  static func noConnection(_ status: HCIErrorCode, role: LinkRole, to peer: PeerAddress) -> HCIEvent {
    .leConnectionComplete(
      ConnectionComplete(
        status: status, handle: ConnectionHandle(rawValue: 0), role: role, peer: peer,
        timing: ConnectionTiming(interval: 0, latency: 0, supervisionTimeout: 0)))
  }
}
