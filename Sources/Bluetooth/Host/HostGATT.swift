public import Basics

extension BluetoothHost {
  /// What every server offers: GAP with the device's name, and GATT.
  static func ownServices(_ settings: HostSettings) -> [ServiceDefinition] {
    [.genericAccess(name: settings.name), .genericAttribute]
  }

  /// Replaces the services after those that every server has.
  ///
  /// Subscriptions are discarded without notice: a client that caches handles must discover again.
  public mutating func setServices(_ services: [ServiceDefinition]) {
    database = GATTDatabase(Self.ownServices(settings) + services)
    for index in links.indices { links[index].gatt.forgetSubscriptions() }
  }

  /// The MTU of a link, in bytes; what a new link has, when this one is gone.
  public func mtu(of link: LinkID) -> Int {
    Int(links.first { $0.id == link }?.gatt.mtu ?? GATTLink.minimumMTU)
  }

  /// The handle of a characteristic's value on our own server; `nil` if it does not exist.
  public func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> AttributeHandle? {
    database.handle(of: characteristic, in: service)
  }

  /// Sets a value of our own server, which clients read from now on; ``notify(_:_:on:at:)`` tells them of it.
  public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    database.set(value, of: handle)
  }

  /// Starts a procedure of our client on a link, or lets it wait until those before it have ended.
  ///
  /// It ends with one ``GATTEvent/finished(_:_:)``, at once with ``GATTFailure/linkLost`` if the link is gone; its
  /// identifier is 0 then.
  public mutating func start(
    _ procedure: GATTProcedure, on link: LinkID, at now: Instant
  ) -> (id: GATTProcedureID, actions: [HostAction]) {
    guard let index = openIndex(of: link) else {
      return (0, [.report(.gatt(link, .finished(0, .failure(.linkLost))))])
    }
    let (id, todo) = links[index].gatt.start(procedure, at: now)
    carryOut(todo, index, at: now)
    return (id, takeActions())
  }

  /// Writes a value of the other end's server without response; `nil` if there is no room now.
  ///
  /// ``HostEvent/readyToSend(_:)`` follows when there is room again. On a link that is gone nothing is done.
  ///
  /// - Precondition: the value is no longer than the MTU less 3.
  public mutating func writeCommand(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction]? {
    guard let index = openIndex(of: link) else { return [] }
    return sendUnasked(.writeCommand(handle, value), value.count, index)
  }

  /// Tells the other end's client of a value of ours; `nil` if there is no room now.
  ///
  /// ``HostEvent/readyToSend(_:)`` follows when there is room again. To a client that did not subscribe, or on a link
  /// that is gone, nothing is sent.
  ///
  /// - Precondition: the value is no longer than the MTU less 3.
  public mutating func notify(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction]? {
    guard let index = openIndex(of: link), links[index].gatt.mayNotify(handle, database) else { return [] }
    return sendUnasked(.notification(handle, value), value.count, index)
  }

  /// Tells the other end's client of a value of ours and has it confirmed, after those before it;
  /// ``GATTEvent/confirmed(_:)`` follows. To a client that did not subscribe, or on a link that is gone, nothing is
  /// sent.
  public mutating func indicate(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction] {
    guard let index = openIndex(of: link), links[index].gatt.mayIndicate(handle, database) else { return [] }
    carryOut(links[index].gatt.indicate(handle, value, at: now), index, at: now)
    return takeActions()
  }

  /// Answers the write with response that ``GATTEvent/written(_:_:)`` told of last, where the host holds writes
  /// (``HostSettings/holdsWrites``): makes it, or refuses it with an error. Where none waits for an answer nothing is done.
  public mutating func answerWrite(_ error: ATTErrorCode?, on link: LinkID, at now: Instant) -> [HostAction] {
    guard let index = openIndex(of: link) else { return [] }
    carryOut(links[index].gatt.answerWrite(error, &database), index, at: now)
    return takeActions()
  }

  /// Sends an L2CAP frame as it is, whatever it says: for tests of the other end. On a link that is gone nothing is
  /// done.
  ///
  /// - Precondition: the payload has at most 65,535 bytes.
  public mutating func sendRaw(
    _ payload: [UInt8], onChannel channel: UInt16, of link: LinkID
  ) -> [HostAction] {
    guard let index = openIndex(of: link) else { return [] }
    var frame: [UInt8] = []
    L2CAPFrame(channel: channel, payload: payload).encode(into: &frame)
    sendFrame(frame, index)
    return takeActions()
  }

  private mutating func sendUnasked(_ packet: ATTPacket, _ size: Int, _ index: Int) -> [HostAction]? {
    precondition(size + 3 <= Int(links[index].gatt.mtu), "a value of \(size) bytes does not fit the MTU")
    guard links[index].outgoing.count < settings.queueLimit else {
      links[index].isRoomAwaited = true
      return nil
    }
    sendFrame(frame(.att, packet, capacity: size + 3), index)
    return takeActions()
  }

  /// Does what ATT and GATT of a link want done.
  mutating func carryOut(_ todo: [GATTLink.Action], _ index: Int, at now: Instant) {
    for action in todo {
      switch action {
      case .transmit(let packet): answer(.att, packet, index, at: now)
      case .report(let event): report(.gatt(links[index].id, event))
      case .reportViolation(let sentence): reportViolation(links[index].id, sentence)
      case .disconnect(let reason): endLink(index, reason, at: now)
      }
    }
  }
}
