import Controllers
public import Bluetooth
import Links
public import Sesame
public import Basics

/// An emulated lock as a peripheral on a controller: a host in the peripheral role, the lock, and the faults of the
/// frames between it and its client.
///
///             start           ready                  connected               subscribed
///     (nothing) ──▶ starting ──────▶ advertising ───────────────▶ connected ────────────▶ open to frames
///                      │                  ▲  ▲                        │                        │
///                      ▼ failed           │  └──── disconnected ──────┴────────────────────────┘
///                   (nothing)             └─ whenever what the lock advertises changes
///
/// One client at a time is connected, and meanwhile nothing is advertised. The lock's notifications are sent in
/// order; those for which the controller has no room wait.
///
/// The type does no I/O and reads no clock: feed it the controller's packets and the time, and hand the controller
/// the packets that it returns, in order. The lock's own time starts at zero with each ``prepare(_:at:)``. One seed
/// gives one lock, regardless of earlier tests.
public struct LockPeripheral: Sendable {
  /// The lock is out of reach.
  struct OutOfRange: Sendable {
    /// When the link is lost.
    var linkEnd: Instant
    /// When the lock returns by itself, or never.
    var returnTime: Instant
  }

  let factory: LockFactory
  /// The lock.
  public internal(set) var lock: EmulatedLock
  var session: PeripheralSession
  let writeHandle: AttributeHandle
  let notifyHandle: AttributeHandle
  var link: Link?
  /// When the lock's own time began.
  var origin = Instant.zero
  var disturbances = FrameDisturbances()
  var chance: SeededGenerator
  var outOfRange: OutOfRange?
  /// The owner's frames that an eavesdropper has.
  var overheard = Overheard()
  /// Whether the lock ends the link when channel conditions require it; if not, the caller does so more
  /// realistically.
  var losesLinksItself = true
  /// Whether bad channel conditions require the caller to cut the link.
  var isLinkLossDue = false
  /// Third parties' advertisements, the first of which is being sent.
  var foreign = FIFO<PeripheralSession.Advertisement>()
  var foreignEnd = Instant.never
  /// The lock's last advertisement, and its bytes.
  private var cachedAdvertisement: (advertisement: Advertisement, bytes: PeripheralSession.Advertisement)?
  private var isHandling = false
  private var notices: [LockNotice] = []
  /// The number of reported motor starts.
  private var reportedStarts = 0

  /// Makes a lock whose controller has not been started; the lock has no owner until ``prepare(_:at:)``.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    factory = LockFactory(specification, seed: seed)
    lock = factory.lock()
    chance = SeededGenerator(seed: seed, for: "link")
    session = PeripheralSession(
      HostSettings(address: factory.identity.address, name: "Sesame"),
      services: LockServices.definitions(factory.specification.options.gatt))
    guard let write = session.handle(of: SesameService.write, in: SesameService.service),
      let notify = session.handle(of: SesameService.notify, in: SesameService.service)
    else { preconditionFailure("a host has the services that it was made with") }
    writeHandle = write
    notifyHandle = notify
  }

  /// How long a link survives while the lock is out of range.
  static let supervisionTimeout = Interval.seconds(2)
  /// How long a third party's advertisement lasts.
  static let foreignTime = Interval.milliseconds(100)
}

extension LockPeripheral {
  /// The specification of the lock.
  public var specification: EmulatedLockSpecification { factory.specification }

  /// The key with which ``prepare(_:at:)`` registers it.
  public var ownerKey: LockKey { factory.key }

  /// The key of its current owner; `nil` if it has none.
  public var key: LockKey? { lock.storage.owner.map { factory.key(of: $0) } }

  /// The address under which it advertises.
  public var address: PeerAddress { PeerAddress(.randomDevice, factory.identity.address) }

  /// Why its controller failed; the lock stops until ``start(at:)``.
  public var failure: HostFailure? { session.failure }

  /// Whether a client is connected.
  public var isConnected: Bool { link != nil }

  /// Removes and returns the events since the last call.
  public mutating func takeNotices() -> [LockNotice] {
    defer {
      notices = []
      reportedStarts = lock.motorStarts
    }
    // A new lock counts from zero.
    let first = reportedStarts <= lock.motorStarts ? reportedStarts : 0
    return notices + (first..<lock.motorStarts).map { _ in .motorStarted }
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      var next = session.deadline ?? .never
      if let due = lock.deadline { next = min(next, origin + (due - .zero)) }
      if let outOfRange {
        next = min(next, link?.isOpen == true ? outOfRange.linkEnd : .never, outOfRange.returnTime)
      } else {
        next = min(next, link?.deadline ?? .never)
      }
      if !foreign.isEmpty { next = min(next, foreignEnd) }
      return next == .never ? nil : next
    }
  }

  /// Resets the controller and sets it up. Called first, and again after a failure.
  public mutating func start(at now: Instant) -> [HCIPacket] {
    restart(at: now)
    return take()
  }

  /// Receives a packet of the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    session.receive(packet, at: now)
    handleEvents(at: now)
    if link?.isDraining == true { moveFrames(at: now) }
    return take()
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [HCIPacket] {
    session.advance(to: now)
    handleEvents(at: now)
    if let due = lock.deadline, due <= lockTime(now) { carryOut(lock.advance(to: lockTime(now)), at: now) }
    if let outOfRange, outOfRange.returnTime <= now { setAbsent(false, at: now) }
    if let outOfRange, outOfRange.linkEnd <= now { loseLink(at: now) }
    if foreignEnd <= now, !foreign.isEmpty {
      foreign.removeFirst()
      foreignEnd = .never
    }
    moveFrames(at: now)
    advertise(at: now)
    return take()
  }
}

extension LockPeripheral {
  /// The lock's own time.
  func lockTime(_ now: Instant) -> Instant { .zero + (now - origin) }

  /// Removes and returns the packets for the controller.
  mutating func take() -> [HCIPacket] { session.takePackets() }

  /// Handles the host's events in order, including those that this causes.
  mutating func handleEvents(at now: Instant) {
    guard !isHandling else { return }
    isHandling = true
    while let event = session.takeEvent() { handle(event, at: now) }
    isHandling = false
  }

  /// Restarts the controller, which ends its links without telling the other end.
  mutating func restart(at now: Instant) {
    forgetLink(at: now)
    session.start(at: now)
    handleEvents(at: now)
  }

  /// Forgets the link of a controller that was reset; the lock notices the client's absence.
  private mutating func forgetLink(at now: Instant) {
    guard let ended = link.take() else { return }
    guard !ended.isForgotten else { return }
    notices.append(.disconnected(.hardwareFailure))
    carryOut(
      lock.disconnected(reason: HCIErrorCode.connectionTimeout.rawValue, at: lockTime(now)), at: now)
  }

  /// Forgets a controller that has lost power.
  mutating func loseController(at now: Instant) {
    forgetLink(at: now)
    session.loseController()
  }

  private mutating func handle(_ event: PeripheralSession.Event, at now: Instant) {
    switch event {
    case .ready(let description):
      notices.append(.ready(description))
      advertise(at: now)
    case .failed(let failure):
      notices.append(.failed(failure))
      forgetLink(at: now)
    case .notAdvertising(let status): notices.append(.notAdvertising(status))
    case .connected(let id, let peer): connected(id, peer, at: now)
    case .disconnected(let id, let reason): disconnected(id, reason, at: now)
    case .written(let id, let handle, let frame):
      if isOpen(id), handle == writeHandle { receive(frame, at: now) }
    case .subscribed(let id, let handle, let subscription):
      guard isOpen(id), handle == notifyHandle else { return }
      let isOn = subscription.contains(.notifications)
      notices.append(.subscribed(isOn))
      guard isOn else { return }
      link?.toLock.append(.subscription, at: now)
      moveFrames(at: now)
    case .mtu(let id, let mtu):
      guard isOpen(id) else { return }
      link?.capacity = mtu - 3
      lock.exchanged(capacity: mtu - 3)
    case .readyToNotify(let id):
      guard id == link?.id else { return }
      link?.setBlocked(false)
      moveFrames(at: now)
    case .controllerAnomaly(let sentence): notices.append(.controllerAnomaly(sentence))
    case .peerViolation(let rule): notices.append(.protocolViolation(rule))
    case .confirmed: break
    }
  }

  /// Whether a link is open. It changes nothing, and is mutating so that the lock is not copied for it.
  private mutating func isOpen(_ id: LinkID) -> Bool { link?.id == id && link?.isOpen == true }

  private mutating func connected(_ id: LinkID, _ peer: PeerAddress, at now: Instant) {
    link = Link(id: id)
    overheard.begin(with: lock)
    notices.append(.connected(peer))
    outOfRange?.linkEnd = now + Self.supervisionTimeout
    carryOut(lock.connected(at: lockTime(now)), at: now)
  }

  private mutating func disconnected(_ id: LinkID, _ reason: HCIErrorCode, at now: Instant) {
    guard let ended = link, ended.id == id else { return }
    link = nil
    notices.append(.disconnected(reason))
    if !ended.isForgotten {
      carryOut(lock.disconnected(reason: reason.rawValue, at: lockTime(now)), at: now)
    }
    advertise(at: now)
  }
}

extension LockPeripheral {
  /// Carries out the lock's actions.
  mutating func carryOut(_ actions: [EmulatedLock.Action], at now: Instant) {
    for action in actions {
      switch action {
      case .notify(let frame): send(frame, at: now)
      case .disconnect(let reason): endLink(HCIErrorCode(rawValue: reason), at: now)
      case .advertisingChanged: advertise(at: now)
      }
    }
  }

  /// Lets the controller send the current advertisement, if it does not yet.
  mutating func advertise(at now: Instant) {
    if !foreign.isEmpty, foreignEnd == .never, session.isReady { foreignEnd = now + Self.foreignTime }
    session.advertise(desiredAdvertisement, at: now)
    handleEvents(at: now)
  }

  /// The advertisement to send: a third party's has precedence.
  private var desiredAdvertisement: PeripheralSession.Advertisement? {
    mutating get {
      if let first = foreign.first { return first }
      guard link == nil, outOfRange == nil, let current = lock.advertisement else { return nil }
      if let cached = cachedAdvertisement, cached.advertisement == current { return cached.bytes }
      guard let data = lock.advertisingData else { return nil }
      // In units of 0.625 ms; the option stays within the range of the Core Specification.
      let units = UInt16(clamping: specification.options.advertising.nanoseconds / 625_000)
      let bytes = PeripheralSession.Advertisement(
        AdvertisingParameters(minimumInterval: units, maximumInterval: units),
        data: data.advertisement.encoded, scanResponse: data.scanResponse.encoded)
      cachedAdvertisement = (current, bytes)
      return bytes
    }
  }
}
