public import Basics
public import Bluetooth

/// A host with one or more links as a peripheral: it advertises, serves, notifies, and survives the loss of its
/// controller.
///
///            start           ready             connected
///     off ──────────▶ starting ─────▶ ready ◀────────────▶ ready, with links
///      ▲                  │             │
///      └── lose ── failed ◀─────────────┘
///
/// - The user requests advertising, again after each connection: a connection ends advertising in the controller.
/// - If the controller refuses to advertise, the session retries after a second.
/// - The session disconnects links beyond the maximum number at once.
///
/// The type does no I/O and reads no clock: feed it what the controller sends and when, hand the controller what
/// ``takePacket()`` gives, and take what happened from ``takeEvent()``. When ``deadline`` has come, call ``advance(to:)``.
public struct PeripheralSession: Sendable {
  /// An event. Events are reported in the order in which they happened.
  public enum Event: Hashable, Sendable {
    /// The controller was reset and set up.
    case ready(ControllerDescription)
    /// The controller failed and its links are lost; the session must be started again.
    case failed(HostFailure)
    /// The controller refused to advertise.
    case notAdvertising(HCIErrorCode)
    case connected(LinkID, PeerAddress)
    case disconnected(LinkID, HCIErrorCode)
    case written(LinkID, AttributeHandle, [UInt8])
    /// The client changed its subscription to a value.
    case subscribed(LinkID, AttributeHandle, Subscription)
    /// The client confirmed an indication.
    case confirmed(LinkID, AttributeHandle)
    case mtu(LinkID, Int)
    /// There is room for notifications again, after the session rejected some.
    case readyToNotify(LinkID)
    /// The client violated a rule of its protocol; the sentence names the rule.
    case peerViolation(String)
    /// The controller showed a harmless anomaly.
    case controllerAnomaly(String)
  }

  /// The parameters and data of advertising.
  public struct Advertisement: Hashable, Sendable {
    public var parameters: AdvertisingParameters
    /// AD structures, at most 31 bytes each.
    public var data: [UInt8], scanResponse: [UInt8]

    /// Creates an advertisement.
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
  /// The requested advertisement, and the one last sent to the controller.
  private var wanted: Advertisement?
  private var advertised: Advertisement?
  /// When to retry after the controller refused to advertise.
  private var retryTime = Instant.never
  private var output = HostOutput()
  private var events = FIFO<Event>()
  private var isHandling = false

  /// Creates a session whose controller has not been started.
  public init(_ settings: HostSettings, services: [ServiceDefinition], maximumLinks: Int = 1) {
    self.settings = settings
    self.services = services
    self.maximumLinks = maximumLinks
    host = BluetoothHost(settings, services: services)
  }

  private static let retryInterval = Interval.seconds(1)
}

extension PeripheralSession {
  /// Whether the controller is set up.
  public var isReady: Bool { if case .ready = state { true } else { false } }

  /// Why the controller cannot be used; `nil` if it works or has not been started.
  public var failure: HostFailure? { if case .failed(let failure) = state { failure } else { nil } }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      let due = min(host.deadline ?? .never, retryTime)
      return due == .never ? nil : due
    }
  }

  /// Takes the next packet for the controller.
  public mutating func takePacket() -> HCIPacket? { output.takePacket() }

  /// Takes all packets for the controller.
  public mutating func takePackets() -> [HCIPacket] { output.takePackets() }

  /// Takes the next event.
  public mutating func takeEvent() -> Event? { events.popFirst() }

  /// Resets the controller and sets it up. Drops all links without events.
  public mutating func start(at now: Instant) {
    forgetController()
    state = .starting
    carryOut(host.start(at: now), at: now)
  }

  /// Drops a lost controller, its links and the packets queued for it.
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

  /// Receives a packet from the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) {
    carryOut(host.receive(packet, at: now), at: now)
  }

  /// Carries out everything due at or before `now`.
  public mutating func advance(to now: Instant) {
    if let due = host.deadline, due <= now { carryOut(host.advance(to: now), at: now) }
    guard retryTime <= now else { return }
    retryTime = .never
    advertise(wanted, at: now)
  }
}

// MARK: - Operations

extension PeripheralSession {
  /// Replaces the current advertisement; `nil` stops advertising.
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

  /// Replaces the services that follow those every server has.
  public mutating func setServices(_ services: [ServiceDefinition]) { host.setServices(services) }

  /// Returns the value handle of a characteristic.
  public func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> AttributeHandle? {
    host.handle(of: characteristic, in: service)
  }

  /// Sets the value that clients read from now on.
  public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    host.setValue(value, of: handle)
  }

  /// The MTU of a link.
  public func mtu(of link: LinkID) -> Int { host.mtu(of: link) }

  /// Returns whether everything sent on a link has been acknowledged.
  public func hasSentEverything(on link: LinkID) -> Bool { host.hasSentEverything(on: link) }

  /// Notifies a client; see ``BluetoothHost/notify(_:_:on:at:)``.
  ///
  /// - Returns: whether there was room; if not, ``Event/readyToNotify(_:)`` follows.
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

  /// Answers the last reported write, if the host defers write responses; see
  /// ``BluetoothHost/answerWrite(_:on:at:)``.
  public mutating func answerWrite(_ error: ATTErrorCode?, on link: LinkID, at now: Instant) {
    carryOut(host.answerWrite(error, on: link, at: now), at: now)
  }

  /// Disconnects a link.
  public mutating func disconnect(_ link: LinkID, reason: HCIErrorCode, at now: Instant) {
    carryOut(host.disconnect(link, reason: reason, at: now), at: now)
  }

  /// Checks that the controller is alive.
  public mutating func checkController(at now: Instant) {
    carryOut(host.checkController(at: now), at: now)
  }
}

// MARK: - Events

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
