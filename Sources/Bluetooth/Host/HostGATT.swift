public import Basics

extension BluetoothHost {
  /// The services of every server: GAP with the device's name, and GATT.
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

  /// The MTU of a link, in bytes; that of a new link if the link is gone.
  public func mtu(of link: LinkID) -> Int {
    Int(links.first { $0.id == link }?.gatt.mtu ?? GATTLink.minimumMTU)
  }

  /// The handle of a characteristic's value on our own server; `nil` if it does not exist.
  public func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> AttributeHandle? {
    database.handle(of: characteristic, in: service)
  }

  /// Sets a value of our own server, which clients read from now on; ``notify(_:_:on:at:)`` notifies them.
  public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    database.set(value, of: handle)
  }

  /// Starts a procedure of our client on a link, after those before it.
  ///
  /// It ends with one ``GATTEvent/finished(_:_:)``. If the link is gone, that follows at once with
  /// ``GATTFailure/linkLost``, and the identifier is 0.
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

  /// Writes a value to the other end's server without response; `nil` if there is no room.
  ///
  /// ``HostEvent/readyToSend(_:)`` follows when there is room again. Does nothing if the link is gone.
  ///
  /// - Precondition: the value is not longer than the MTU minus 3.
  public mutating func writeCommand(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction]? {
    guard let index = openIndex(of: link) else { return [] }
    return sendWithoutResponse(.writeCommand(handle, value), value.count, index)
  }

  /// Notifies the other end's client of one of our values; `nil` if there is no room.
  ///
  /// ``HostEvent/readyToSend(_:)`` follows when there is room again. Does nothing if the client has not
  /// subscribed, or the link is gone.
  ///
  /// - Precondition: the value is not longer than the MTU minus 3.
  public mutating func notify(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction]? {
    guard let index = openIndex(of: link), links[index].gatt.mayNotify(handle, database) else { return [] }
    return sendWithoutResponse(.notification(handle, value), value.count, index)
  }

  /// Indicates one of our values to the other end's client, after earlier indications;
  /// ``GATTEvent/confirmed(_:)`` follows. Does nothing if the client has not subscribed, or the link is gone.
  public mutating func indicate(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> [HostAction] {
    guard let index = openIndex(of: link), links[index].gatt.mayIndicate(handle, database) else { return [] }
    carryOut(links[index].gatt.indicate(handle, value, at: now), index, at: now)
    return takeActions()
  }

  /// Answers the held write request that ``GATTEvent/written(_:_:)`` reported last
  /// (``HostSettings/holdsWrites``): makes the write, or refuses it with an error. Does nothing if there is
  /// none.
  public mutating func answerWrite(_ error: ATTErrorCode?, on link: LinkID, at now: Instant) -> [HostAction] {
    guard let index = openIndex(of: link) else { return [] }
    carryOut(links[index].gatt.answerWrite(error, &database), index, at: now)
    return takeActions()
  }

  /// Sends an L2CAP frame without any check, to test the other end. Does nothing if the link is gone.
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

  private mutating func sendWithoutResponse(_ packet: ATTPacket, _ size: Int, _ index: Int) -> [HostAction]? {
    precondition(size + 3 <= Int(links[index].gatt.mtu), "a value of \(size) bytes does not fit the MTU")
    guard links[index].outgoing.count < settings.queueLimit else {
      links[index].isRoomAwaited = true
      return nil
    }
    sendFrame(frame(.att, packet, capacity: size + 3), index)
    return takeActions()
  }

  /// Carries out the ATT and GATT actions of a link.
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
