public import Basics
public import Bluetooth

/// The peripheral of one or more links: a host that advertises, serves, notifies, and goes on after a controller was lost.
///
///            start           ready             connected
///     off ──────────▶ starting ─────▶ ready ◀────────────▶ ready, with links
///      ▲                  │             │
///      └── lose ── failed ◀─────────────┘
///
/// - Its user says what is advertised, again after each connection: with one the controller ends advertising by itself.
/// - A controller that refuses to advertise is asked again a second later.
/// - Links beyond the greatest number are ended at once.
///
/// The type does no I/O and reads no clock: feed it what the controller sends and when, hand the controller what
/// ``takePacket()`` gives, and take what happened from ``takeEvent()``. When ``deadline`` has come, call ``advance(to:)``.
public struct PeripheralSession: Sendable {
  /// What happened, in the order in which it did.
  public enum Event: Hashable, Sendable {
    /// The controller was reset and set up.
    case ready(ControllerDescription)
    /// The controller cannot be used until the session is started again; its links are over.
    case failed(HostFailure)
    /// The controller does not advertise though it was asked to.
    case notAdvertising(HCIErrorCode)
    case connected(LinkID, PeerAddress)
    case disconnected(LinkID, HCIErrorCode)
    case written(LinkID, AttributeHandle, [UInt8])
    /// The client asked to be told of a value, or not to be told any more.
    case subscribed(LinkID, AttributeHandle, Subscription)
    /// The client confirmed an indication.
    case confirmed(LinkID, AttributeHandle)
    case mtu(LinkID, Int)
    /// There is room again for notifications, after some were turned away.
    case readyToNotify(LinkID)
    /// The client broke a rule of its protocol; the sentence says which.
    case peerViolation(String)
    /// The controller did something odd that does no harm.
    case controllerAnomaly(String)
  }

  /// What is advertised.
  public struct Advertisement: Hashable, Sendable {
    public var parameters: AdvertisingParameters
    /// AD structures, at most 31 bytes each.
    public var data: [UInt8], scanResponse: [UInt8]

    /// Makes an advertisement.
    public init(_ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8] = []) {
      self.parameters = parameters
      self.data = data
      self.scanResponse = scanResponse
    }
  }

  private enum State {
    case off, starting, ready
    case failed(HostFailure)
  }

  private let settings: HostSettings
  private let services: [ServiceDefinition]
  private let maximumLinks: Int
  private var host: BluetoothHost
  private var state = State.off
  private var links: [LinkID] = []
  /// What is to be advertised, and what the controller was asked to.
  private var wanted: Advertisement?
  private var advertised: Advertisement?
  /// When the controller, having refused to advertise, is asked again.
  private var retryTime = Instant.never
  private var output = HostOutput()
  private var events = FIFO<Event>()
  private var isHandling = false

  /// Makes one whose controller was not started.
  public init(_ settings: HostSettings, services: [ServiceDefinition], maximumLinks: Int = 1) {
    self.settings = settings
    self.services = services
    self.maximumLinks = maximumLinks
    host = BluetoothHost(settings, services: services)
  }

  private static let retryInterval = Interval.seconds(1)
}

extension PeripheralSession {
  /// Whether its controller is set up.
  public var isReady: Bool { if case .ready = state { true } else { false } }

  /// Why its controller cannot be used; `nil` where it can, or was not started.
  public var failure: HostFailure? { if case .failed(let failure) = state { failure } else { nil } }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      let due = min(host.deadline ?? .never, retryTime)
      return due == .never ? nil : due
    }
  }

  /// Takes what the controller is to get next.
  public mutating func takePacket() -> HCIPacket? { output.takePacket() }

  /// Takes all that the controller is to get.
  public mutating func takePackets() -> [HCIPacket] { output.takePackets() }

  /// Takes what happened next.
  public mutating func takeEvent() -> Event? { events.popFirst() }

  /// Resets the controller and sets it up. Its links are forgotten without a word.
  public mutating func start(at now: Instant) {
    forgetController()
    state = .starting
    carryOut(host.start(at: now), at: now)
  }

  /// Forgets a controller that is gone, with its links and what it was to be sent.
  public mutating func loseController() {
    forgetController()
    output.removeAll()
    host = BluetoothHost(settings, services: services)
  }

  private mutating func forgetController() {
    state = .off
    links = []
    (wanted, advertised, retryTime) = (nil, nil, .never)
  }

  /// Receives a packet of the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) {
    carryOut(host.receive(packet, at: now), at: now)
  }

  /// Lets everything happen that was due at or before a moment.
  public mutating func advance(to now: Instant) {
    if let due = host.deadline, due <= now { carryOut(host.advance(to: now), at: now) }
    guard retryTime <= now else { return }
    retryTime = .never
    advertise(wanted, at: now)
  }
}

// MARK: - What is asked of it

extension PeripheralSession {
  /// Advertises that from now on, and nothing else; `nil` for nothing.
  public mutating func advertise(_ advertisement: Advertisement?, at now: Instant) {
    wanted = advertisement
    guard case .ready = state, retryTime == .never, wanted != advertised else { return }
    advertised = wanted
    if let wanted {
      carryOut(
        host.startAdvertising(
          wanted.parameters, data: wanted.data, scanResponse: wanted.scanResponse, at: now), at: now)
    } else {
      carryOut(host.stopAdvertising(at: now), at: now)
    }
  }

  /// Offers other services behind those that every server has.
  public mutating func setServices(_ services: [ServiceDefinition]) { host.setServices(services) }

  /// Where a characteristic's value stands.
  public func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> AttributeHandle? {
    host.handle(of: characteristic, in: service)
  }

  /// Sets a value that is read from now on.
  public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    host.setValue(value, of: handle)
  }

  /// The MTU of a link.
  public func mtu(of link: LinkID) -> Int { host.mtu(of: link) }

  /// Whether everything that was sent on a link has arrived.
  public func hasSentEverything(on link: LinkID) -> Bool { host.hasSentEverything(on: link) }

  /// Notifies a client; see ``BluetoothHost/notify(_:_:on:at:)``.
  ///
  /// - Returns: whether there is room for it; if not, ``Event/readyToNotify(_:)`` follows.
  public mutating func notify(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) -> Bool {
    guard let actions = host.notify(handle, value, on: link, at: now) else { return false }
    carryOut(actions, at: now)
    return true
  }

  /// Indicates a value to a client.
  public mutating func indicate(
    _ handle: AttributeHandle, _ value: [UInt8], on link: LinkID, at now: Instant
  ) {
    carryOut(host.indicate(handle, value, on: link, at: now), at: now)
  }

  /// Answers the write that was reported last, where the host holds writes; see ``BluetoothHost/answerWrite(_:on:at:)``.
  public mutating func answerWrite(_ error: ATTErrorCode?, on link: LinkID, at now: Instant) {
    carryOut(host.answerWrite(error, on: link, at: now), at: now)
  }

  /// Ends a link.
  public mutating func disconnect(_ link: LinkID, reason: HCIErrorCode, at now: Instant) {
    carryOut(host.disconnect(link, reason: reason, at: now), at: now)
  }

  /// Asks the controller for a sign of life.
  public mutating func checkController(at now: Instant) {
    carryOut(host.checkController(at: now), at: now)
  }
}

// MARK: - What happens

extension PeripheralSession {
  /// Queues the host's packets in their order, then handles its reports.
  private mutating func carryOut(_ actions: consuming [HostAction], at now: Instant) {
    output.add(actions)
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while let report = output.takeReport() { handle(report, at: now) }
  }

  private mutating func handle(_ report: HostEvent, at now: Instant) {
    switch report {
    case .ready(let description):
      state = .ready
      events.append(.ready(description))
    case .failed(let failure):
      forgetController()
      state = .failed(failure)
      events.append(.failed(failure))
    case .advertising(_, let status):
      guard status != .success else { return }
      advertised = nil
      retryTime = now + Self.retryInterval
      events.append(.notAdvertising(status))
    case .connected(let link, let connection):
      advertised = nil
      guard links.count < maximumLinks, connection.role == .peripheral else {
        return carryOut(host.disconnect(link, reason: .remoteUserTerminated, at: now), at: now)
      }
      links.append(link)
      events.append(.connected(link, connection.peer))
    case .disconnected(let link, let reason, _):
      guard let index = links.firstIndex(of: link) else { return }
      links.remove(at: index)
      events.append(.disconnected(link, reason))
    case .gatt(let link, let event): if links.contains(link) { handle(event, on: link) }
    case .readyToSend(let link): if links.contains(link) { events.append(.readyToNotify(link)) }
    case .protocolViolation(nil, let sentence): events.append(.controllerAnomaly(sentence))
    case .protocolViolation(_, let rule): events.append(.peerViolation(rule))
    case .advertisement, .scanning, .connectionFailed, .timing, .dataLength: break
    }
  }

  private mutating func handle(_ event: GATTEvent, on link: LinkID) {
    switch event {
    case .written(let handle, let value): events.append(.written(link, handle, value))
    case .subscribed(let handle, let subscription): events.append(.subscribed(link, handle, subscription))
    case .confirmed(let handle): events.append(.confirmed(link, handle))
    case .mtu(let mtu): events.append(.mtu(link, Int(mtu)))
    case .finished, .notification: break
    }
  }
}
