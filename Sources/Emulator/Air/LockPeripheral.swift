import Controllers
public import Bluetooth
public import Sesame
public import Basics

/// An emulated lock as a peripheral on a controller: a host in the peripheral role, the lock, and what disturbs
/// the frames between it and its client.
///
///             start           ready                  connected               subscribed
///     (nothing) ──▶ starting ──────▶ advertising ───────────────▶ connected ────────────▶ open to frames
///                      │                  ▲  ▲                        │                        │
///                      ▼ failed           │  └──── disconnected ──────┴────────────────────────┘
///                   (nothing)             └─ whenever what the lock advertises changes
///
/// One client at a time is connected: while one is, nothing is advertised. What the lock notifies goes out in order;
/// what the controller has no room for waits.
///
/// The type does no I/O and reads no clock: feed it the controller's packets and the time, and hand the controller
/// the packets that it returns, in order. The lock's own time begins anew with each ``prepare(_:at:)``. One seed
/// gives one lock, whatever was tested before.
public struct LockPeripheral: Sendable {
  /// How far the controller is, and what it was asked to advertise.
  private enum State: Sendable {
    /// Not started, or gone.
    case off
    case starting
    /// Set up, and advertising that or, while it is `nil`, nothing.
    case advertising(Advertised?)
    /// It refused to advertise, and is asked again then.
    case refused(until: Instant)
    /// Nothing goes on until it is started again.
    case failed(HostFailure)
  }

  /// The lock is out of reach.
  struct OutOfRange: Sendable {
    /// Until when a link survives that.
    var linkEnd: Instant
    /// When it comes back by itself, or never.
    var returnTime: Instant
  }

  /// What is advertised.
  struct Advertised: Equatable, Sendable {
    var data: [UInt8]
    var scanResponse: [UInt8]
    /// Which one of others it is; 0 for the lock's own.
    var foreigner = 0
  }

  let factory: LockFactory
  /// The lock.
  public internal(set) var lock: EmulatedLock
  var host: BluetoothHost
  let writeHandle: AttributeHandle
  let notifyHandle: AttributeHandle
  private var state = State.off
  var link: Link?
  /// When the lock's own time began.
  var origin = Instant.zero
  var disturbances = FrameDisturbances()
  var chance: SeededGenerator
  var outOfRange: OutOfRange?
  /// What can be overheard of its owner.
  var overheard = Overheard()
  /// Whether the lock ends the link when bad channel conditions take it, or somebody else who can do it better.
  var losesLinksItself = true
  /// Whether bad channel conditions took the link with a frame.
  var isLinkLossDue = false
  /// What others advertise, the first of it for the time being.
  var foreign = FIFO<Advertised>()
  var foreigners = 0
  var foreignEnd = Instant.never
  /// What the lock advertised last, and the bytes of it.
  private var known: (advertisement: Advertisement, bytes: Advertised)?
  private var packets: [HCIPacket] = []
  private var events: [HostEvent] = []
  private var isHandling = false
  private var notices: [LockNotice] = []
  /// How many starts of the motor were told.
  private var toldStarts = 0

  /// Makes a lock whose controller has not been started; the lock has no owner until ``prepare(_:at:)``.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    factory = LockFactory(specification, seed: seed)
    lock = factory.lock()
    chance = SeededGenerator(seed: seed, for: "link")
    host = Self.host(factory)
    guard let write = host.handle(of: SesameService.write, in: SesameService.service),
      let notify = host.handle(of: SesameService.notify, in: SesameService.service)
    else { preconditionFailure("a host has the services that it was made with") }
    writeHandle = write
    notifyHandle = notify
  }

  private static func host(_ factory: LockFactory) -> BluetoothHost {
    BluetoothHost(
      HostSettings(address: factory.identity.address, name: "Sesame"),
      services: LockServices.definitions(factory.specification.options.gatt))
  }

  /// How long a link survives that the lock is out of reach.
  static let supervisionTimeout = Interval.seconds(2)
  /// How long something of somebody else is advertised.
  static let foreignTime = Interval.milliseconds(100)
}

extension LockPeripheral {
  /// What kind of lock it is.
  public var specification: EmulatedLockSpecification { factory.specification }

  /// The key with which ``prepare(_:at:)`` registers it.
  public var ownerKey: LockKey { factory.key }

  /// The key of its owner as it is now, or `nil` while it has none.
  public var key: LockKey? { lock.storage.owner.map { factory.key(of: $0) } }

  /// The address under which it advertises.
  public var address: PeerAddress { PeerAddress(.randomDevice, factory.identity.address) }

  /// Why its controller failed; nothing goes on until ``start(at:)``.
  public var failure: HostFailure? {
    if case .failed(let failure) = state { failure } else { nil }
  }

  /// Whether a client is connected.
  public var isConnected: Bool { link != nil }

  /// What happened since this was last called.
  public mutating func takeNotices() -> [LockNotice] {
    defer {
      notices = []
      toldStarts = lock.motorStarts
    }
    // A lock that was made anew counts anew.
    let first = toldStarts <= lock.motorStarts ? toldStarts : 0
    return notices + (first..<lock.motorStarts).map { _ in .motorStarted }
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      var next = host.deadline ?? .never
      if let due = lock.deadline { next = min(next, origin + (due - .zero)) }
      if let outOfRange {
        next = min(next, link?.isOpen == true ? outOfRange.linkEnd : .never, outOfRange.returnTime)
      } else {
        next = min(next, link?.deadline ?? .never)
      }
      if !foreign.isEmpty { next = min(next, foreignEnd) }
      if case .refused(let limit) = state { next = min(next, limit) }
      return next == .never ? nil : next
    }
  }

  /// Resets the controller and sets it up. Called first, and again after a failure.
  public mutating func start(at now: Instant) -> [HCIPacket] {
    beginAnew(at: now)
    return take()
  }

  /// Takes in a packet of the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    note(host.receive(packet, at: now))
    handleEvents(at: now)
    if link?.isDraining == true { moveFrames(at: now) }
    return take()
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [HCIPacket] {
    if let due = host.deadline, due <= now { note(host.advance(to: now)) }
    handleEvents(at: now)
    if let due = lock.deadline, due <= lockTime(now) { carryOut(lock.advance(to: lockTime(now)), at: now) }
    if let outOfRange, outOfRange.returnTime <= now { setAbsent(false, at: now) }
    if let outOfRange, outOfRange.linkEnd <= now { loseLink(at: now) }
    if foreignEnd <= now, !foreign.isEmpty {
      foreign.removeFirst()
      foreignEnd = .never
    }
    if case .refused(let limit) = state, limit <= now { state = .advertising(nil) }
    moveFrames(at: now)
    advertise(at: now)
    return take()
  }
}

extension LockPeripheral {
  /// The lock's own time.
  func lockTime(_ now: Instant) -> Instant { .zero + (now - origin) }

  /// Takes what is for the controller.
  mutating func take() -> [HCIPacket] {
    let taken = packets
    packets = []
    return taken
  }

  /// Sorts what the host wants done: what it sends goes out in its order, whatever becomes of what it reports.
  mutating func note(_ actions: [HostAction]) {
    for action in actions {
      switch action {
      case .transmit(let packet): packets.append(packet)
      case .report(let event): events.append(event)
      }
    }
  }

  /// Looks at what the host reported, in its order: what that brings comes behind it.
  mutating func handleEvents(at now: Instant) {
    guard !isHandling else { return }
    isHandling = true
    var handled = 0
    while handled < events.count {
      handled += 1
      handle(events[handled - 1], at: now)
    }
    events.removeAll(keepingCapacity: true)
    isHandling = false
  }

  /// Starts the controller, which ends whatever it did, without a word to the other end.
  mutating func beginAnew(at now: Instant) {
    forgetController(and: .starting, at: now)
    note(host.start(at: now))
    handleEvents(at: now)
  }

  /// Forgets what a controller did that does nothing any more; the lock notices that its client is gone.
  private mutating func forgetController(and next: State, at now: Instant) {
    state = next
    guard let ended = link.take() else { return }
    guard !ended.isForgotten else { return }
    notices.append(.disconnected(.hardwareFailure))
    carryOut(
      lock.disconnected(reason: HCIErrorCode.connectionTimeout.rawValue, at: lockTime(now)), at: now)
  }

  /// Forgets a controller that has gone.
  mutating func loseController(at now: Instant) {
    forgetController(and: .off, at: now)
    host = Self.host(factory)
  }

  private mutating func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .ready(let description):
      state = .advertising(nil)
      notices.append(.ready(description))
      advertise(at: now)
    case .failed(let failure):
      notices.append(.failed(failure))
      forgetController(and: .failed(failure), at: now)
    case .advertising(_, let status):
      if status != .success { advertisingRefused(status, at: now) }
    case .connected(let id, let complete):
      connected(id, complete, at: now)
    case .disconnected(let id, let reason, _):
      disconnected(id, reason, at: now)
    case .gatt(let id, let event):
      if link?.id == id, link?.isOpen == true { handle(event, at: now) }
    case .readyToSend(let id):
      guard id == link?.id else { return }
      link?.setBlocked(false)
      moveFrames(at: now)
    case .protocolViolation(nil, let what):
      notices.append(.undefinedRequest(what))
    case .protocolViolation(_, let rule):
      notices.append(.protocolViolation(rule))
    case .advertisement, .scanning, .connectionFailed, .timing, .dataLength:
      break
    }
  }

  private mutating func handle(_ event: GATTEvent, at now: Instant) {
    switch event {
    case .written(writeHandle, let frame):
      receive(frame, at: now)
    case .subscribed(notifyHandle, let subscription):
      let isOn = subscription.contains(.notifications)
      notices.append(.subscribed(isOn))
      guard isOn else { return }
      link?.toLock.append(.subscription, at: now)
      moveFrames(at: now)
    case .mtu(let mtu):
      link?.capacity = Int(mtu) - 3
    case .written, .subscribed, .finished, .notification, .confirmed:
      break
    }
  }

  private mutating func connected(_ id: LinkID, _ complete: ConnectionComplete, at now: Instant) {
    if case .advertising = state { state = .advertising(nil) }
    guard link == nil, complete.role == .peripheral else {
      note(host.disconnect(id, reason: .remoteUserTerminated, at: now))
      return
    }
    link = Link(id: id)
    overheard.begin(with: lock)
    notices.append(.connected(complete.peer))
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
  /// Does what the lock wants done.
  mutating func carryOut(_ actions: [EmulatedLock.Action], at now: Instant) {
    for action in actions {
      switch action {
      case .notify(let frame): send(frame, at: now)
      case .disconnect(let reason): endLink(HCIErrorCode(rawValue: reason), at: now)
      case .advertisingChanged: advertise(at: now)
      }
    }
  }

  /// Lets the controller advertise what is to be advertised now, if it does not.
  mutating func advertise(at now: Instant) {
    guard case .advertising(let advertised) = state else { return }
    let wanted = self.wanted
    guard wanted != advertised else { return }
    state = .advertising(wanted)
    if let wanted {
      if wanted.foreigner != 0 { foreignEnd = now + Self.foreignTime }
      note(
        host.startAdvertising(
          parameters(of: wanted), data: wanted.data, scanResponse: wanted.scanResponse, at: now))
    } else {
      note(host.stopAdvertising(at: now))
    }
    handleEvents(at: now)
  }

  /// What is to be advertised: what somebody else says comes first.
  private var wanted: Advertised? {
    mutating get {
      if let first = foreign.first { return first }
      guard link == nil, outOfRange == nil, let current = lock.advertisement else { return nil }
      if let known, known.advertisement == current { return known.bytes }
      guard let data = lock.advertisingData else { return nil }
      let bytes = Advertised(data: data.advertisement.encoded, scanResponse: data.scanResponse.encoded)
      known = (current, bytes)
      return bytes
    }
  }

  private func parameters(of advertised: Advertised) -> AdvertisingParameters {
    guard advertised.foreigner == 0 else {
      return AdvertisingParameters(minimumInterval: 0x0020, maximumInterval: 0x0020, kind: .nonconnectable)
    }
    // In units of 0.625 ms; the option keeps to the range that the Core Specification allows.
    let units = UInt16(clamping: specification.options.advertising.nanoseconds / 625_000)
    return AdvertisingParameters(minimumInterval: units, maximumInterval: units)
  }

  private mutating func advertisingRefused(_ status: HCIErrorCode, at now: Instant) {
    state = .refused(until: now + .seconds(1))
    notices.append(.notAdvertising(status))
  }
}
