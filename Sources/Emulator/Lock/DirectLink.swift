public import SesameDevice
public import Bluetooth
public import Conformance
public import Sesame
public import Basics

/// An emulated lock and the air between it and its client, in virtual time.
///
/// | what | how long it takes |
/// |---|---|
/// | a frame, either way | 7.5 ms, the least connection interval; each direction carries one frame at a time, in order |
/// | a link, once the lock advertises | 50 ms |
/// | finding the service and turning notifications on | 100 ms after that |
/// | noticing that the other end is gone | 2 s |
///
/// A client that begins to listen hears the lock at once, and then at its advertising interval. Nothing is
/// scheduled while nothing happens: an idle hour costs nothing.
///
/// Faults on the link (``faults``) and random losses (``ChannelConditions``) are independent. One seed gives
/// one lock and one trace for a test, regardless of earlier tests.
public struct DirectLink: LockLink, Sendable {
  /// A scheduled event.
  enum Event: Sendable {
    /// The attempt to connect succeeds, if the lock is in range.
    case connection
    /// The service was found, and notifications were turned on.
    case discovery(link: Int)
    case toLock([UInt8], link: Int)
    case toClient([UInt8], link: Int)
    /// The client ended the link: the lock is notified.
    case lockLearns(reason: UInt8, link: Int)
    /// The lock ended the link, or is gone: the client is notified.
    case clientLearns(reason: UInt8, link: Int)
    /// The supervision timeout passes, unless the lock came back into range.
    case supervision(link: Int, outOfRange: Int)
    /// The lock comes back into range.
    case returning(outOfRange: Int)
    /// A third-party central has enabled notifications, or its stay is over.
    case thirdPartyListens(link: Int)
    case thirdPartyLeaves(link: Int)
    /// An event that the client sees without a frame.
    case report(LinkEvent)

    /// Whether it waits while the lock is out of range. Each end notices a lost link by itself.
    var isOnTheAir: Bool {
      switch self {
      case .discovery, .toLock, .toClient: true
      case .lockLearns(let reason, _), .clientLearns(let reason, _): reason != 0x08
      case .connection, .supervision, .returning, .thirdPartyListens, .thirdPartyLeaves, .report: false
      }
    }
  }

  /// The state of the client's end.
  enum ClientEnd: Equatable, Sendable {
    case apart
    /// It wants a link: it waits for an advertisement, or has received one, and the link is due at an event
    /// of the queue.
    case waiting, connecting
    case linked(Int)
  }

  /// The state of the lock's end: idle, linked to its client, or linked to a third party, by the number of
  /// the link.
  enum LockEnd: Sendable {
    case alone
    case linked(Int)
    case visited(Int, Intrusion)
  }

  /// The specification of the lock.
  public var specification: EmulatedLockSpecification { factory.specification }
  /// The lock.
  public internal(set) var lock: EmulatedLock
  public private(set) var now = Instant.zero

  private let factory: LockFactory
  var queue = EventQueue<Event>()
  private var chance: SeededGenerator
  var isListening = false
  private var isInRange = false
  var nextAdvertisement: Instant?
  /// The lock's current advertisement, the last one that a listener received, and the bytes of the last one
  /// sent.
  private var advertisement: [UInt8]?
  private var heard: [UInt8]?
  private var advertised: (advertisement: Advertisement, bytes: [UInt8])?
  var clientEnd = ClientEnd.apart
  var lockEnd = LockEnd.alone
  var lastLink = 0
  /// The owner's frames that an eavesdropper has.
  var overheard = Overheard()
  /// Until when each direction is busy.
  private var busyToLock = Instant.zero
  private var busyToClient = Instant.zero
  var disturbances = FrameDisturbances()
  /// How often the lock went out of range, and the events that wait for its return.
  var rangeLosses = 0
  var held: [Event]?

  /// Makes a link to a lock that is out of range.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    factory = LockFactory(specification, seed: seed)
    chance = SeededGenerator(seed: seed, for: "link")
    lock = factory.lock()
  }

  /// The duration of a frame.
  public static let frameTime = Interval.microseconds(7500)
  /// The duration of connecting to an advertising lock.
  public static let connectionTime = Interval.milliseconds(50)
  /// The duration of finding the service and enabling notifications.
  public static let discoveryTime = Interval.milliseconds(100)
  /// The time without packets after which an end considers the link lost.
  public static let supervisionTimeout = Interval.seconds(2)

  /// The conditions of the model that always hold on this link.
  public var conditions: [String] { specification.channel.isFair ? [] : ["loss"] }
}

/// A link in memory never fails and has no packets, and the creator of the lock knows its key.
extension DirectLink {
  public var abilities: Abilities { LockFault.abilities }
  public var generation: Generation? { specification.model.generation }
  public var isKeySure: Bool { true }
  public func keep(_ key: LockKey) {}
  public func drop(_ key: LockKey) {}
  public func restart() {}
  public func takeDiagnostics() -> [String] { [] }
  public func record(to recorder: PacketRecorder?) -> Bool { false }
}

extension DirectLink {
  /// Brings the lock into a start condition, at time zero, out of range and unconnected.
  ///
  /// `registered` and `configured` are `yes` by default; `bolt` is `locked`, `unlocked` or `moved`; `battery` is in
  /// volts; `jam` blocks the bolt.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    let key: LockKey?
    (lock, key) = try factory.lock(in: start)
    forgetEverything()
    return key
  }

  private mutating func forgetEverything() {
    now = .zero
    queue.removeAll { _ in true }
    chance = SeededGenerator(seed: factory.seed, for: "link")
    isListening = false
    isInRange = false
    clientEnd = .apart
    lockEnd = .alone
    lastLink = 0
    busyToLock = .zero
    busyToClient = .zero
    disturbances.cancel()
    overheard.forget()
    rangeLosses = 0
    held = nil
    checkAdvertisement()
  }
}

extension DirectLink {
  public mutating func listen() throws(LabFault) {
    isListening = true
    isInRange = true
    heard = nil
    nextAdvertisement = nil
    updateReachability()
  }

  public mutating func stopListening() throws(LabFault) {
    isListening = false
    nextAdvertisement = nil
  }

  public mutating func connect() throws(LabFault) {
    guard clientEnd == .apart else { return }
    clientEnd = .waiting
    updateReachability()
  }

  public mutating func disconnect() throws(LabFault) {
    switch clientEnd {
    case .apart: return
    case .waiting, .connecting:
      queue.removeAll { if case .connection = $0 { true } else { false } }
      queue.schedule(.report(.disconnected(reason: 0x02)), at: now)
    case .linked(let link):
      // Earlier writes still arrive, unless a fault delays them beyond the supervision timeout.
      let end = min(max(now, busyToLock) + Self.frameTime, now + Self.supervisionTimeout)
      queue.schedule(.lockLearns(reason: 0x13, link: link), at: end)
      queue.schedule(.report(.disconnected(reason: 0x16)), at: now)
    }
    clientEnd = .apart
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    guard clientLink != 0 else { return }
    overheard.record(frame)
    transmit(frame, .write)
  }

  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    while true {
      let due = queue.nextTime ?? .never
      let lockDue = lock.deadline ?? .never
      let heard = nextAdvertisement ?? .never
      let next = min(due, lockDue, heard)
      guard next <= limit, next != .never else {
        now = max(now, limit)
        return nil
      }
      now = max(now, next)
      if lockDue <= now {
        carryOut(lock.advance(to: now))
      } else if due <= now, let (_, event) = queue.next(until: now) {
        if isAbsent, event.isOnTheAir {
          held?.append(event)
        } else if let report = process(event) {
          return report
        }
      } else if let data = hear() {
        skipRepetitions(of: data, until: min(limit, lockDue, due))
        return .advertisement(data)
      }
    }
  }
}

extension DirectLink {
  /// Performs an event; returns what the client notices.
  private mutating func process(_ event: Event) -> LinkEvent? {
    switch event {
    case .connection:
      return establish()
    case .discovery(let link):
      guard link == clientLink else { return nil }
      if link == lockLink { carryOut(lock.subscribed(at: now)) }
      return .ready
    case .toLock(let frame, let link):
      if link == lockLink { carryOut(lock.receive(frame, at: now)) }
      return nil
    case .toClient(let frame, let link):
      if case .visited(link, let intrusion) = lockEnd { sendMessages(of: intrusion, on: link) }
      return link == clientLink ? .frame(frame) : nil
    case .lockLearns(let reason, let link):
      if link == lockLink { endAtLock(reason) }
      return nil
    case .clientLearns(let reason, let link):
      guard link == clientLink else { return nil }
      clientEnd = .apart
      return .disconnected(reason: reason)
    case .supervision(let link, let outOfRange):
      guard isAbsent, outOfRange == rangeLosses else { return nil }
      if link == lockLink { endAtLock(0x08) }
      guard link == clientLink else { return nil }
      clientEnd = .apart
      return .disconnected(reason: 0x08)
    case .returning(let outOfRange):
      if outOfRange == rangeLosses { setAbsent(false) }
      return nil
    case .thirdPartyListens(let link):
      if link == lockLink { carryOut(lock.subscribed(at: now)) }
      return nil
    case .thirdPartyLeaves(let link):
      if link == lockLink { endAtLock(0x13) }
      return nil
    case .report(let report):
      return report
    }
  }

  /// Connects if the lock is still in range; otherwise the attempt continues.
  private mutating func establish() -> LinkEvent? {
    guard isAudible else {
      clientEnd = .waiting
      return nil
    }
    lastLink += 1
    clientEnd = .linked(lastLink)
    lockEnd = .linked(lastLink)
    busyToLock = now
    busyToClient = now
    overheard.begin(with: lock)
    carryOut(lock.connected(at: now))
    // Some phones request a larger MTU: this client does on every second connection.
    if lastLink.isMultiple(of: 2) { lock.exchanged(capacity: Self.largerCapacity) }
    queue.schedule(.discovery(link: lastLink), at: now + Self.discoveryTime)
    return .connected
  }

  /// How many bytes a notification carries after the exchange of a larger MTU, which is 247.
  private static var largerCapacity: Int { 244 }

  private mutating func endAtLock(_ reason: UInt8) {
    lockEnd = .alone
    carryOut(lock.disconnected(reason: reason, at: now))
  }

  /// Carries out the lock's actions.
  mutating func carryOut(_ actions: [EmulatedLock.Action]) {
    for action in actions {
      switch action {
      case .notify(let frame):
        if lockLink != 0 { transmit(frame, .notification) }
      case .disconnect(let reason):
        guard lockLink != 0 else { continue }
        // Earlier frames still arrive.
        queue.schedule(
          .clientLearns(reason: reason, link: lockLink), at: max(now, busyToClient) + Self.frameTime)
        endAtLock(0x16)
      case .advertisingChanged:
        checkAdvertisement()
      }
    }
  }
}

extension DirectLink {
  /// The number of the link that the client considers up; 0 for none.
  var clientLink: Int { if case .linked(let link) = clientEnd { link } else { 0 } }

  /// The number of the link that the lock considers up; 0 for none.
  var lockLink: Int {
    switch lockEnd {
    case .alone: 0
    case .linked(let link), .visited(let link, _): link
    }
  }

  /// Whether a fault has put the lock out of range.
  var isAbsent: Bool { held != nil }

  /// Whether the lock can be heard.
  var isAudible: Bool { isInRange && !isAbsent && advertisement != nil }

  /// Updates the lock's current advertisement.
  private mutating func checkAdvertisement() {
    if let current = lock.advertisement {
      if let advertised, advertised.advertisement == current {
        advertisement = advertised.bytes
      } else {
        let bytes = lock.advertisingData.map { $0.advertisement.encoded + $0.scanResponse.encoded } ?? []
        advertised = (current, bytes)
        advertisement = bytes
      }
    } else {
      advertisement = nil
    }
    updateReachability()
  }

  /// Updates who waits for the lock, and whether it is in range.
  mutating func updateReachability() {
    guard isAudible else {
      nextAdvertisement = nil
      return
    }
    if isListening, nextAdvertisement == nil { nextAdvertisement = now }
    if clientEnd == .waiting {
      clientEnd = .connecting
      queue.schedule(.connection, at: now + Self.connectionTime)
    }
  }

  /// The advertisement that is due, unless it is lost.
  private mutating func hear() -> [UInt8]? { hear(at: now) ? advertisement : nil }

  /// Whether the advertisement of a moment is received.
  private mutating func hear(at time: Instant) -> Bool {
    nextAdvertisement = time + specification.options.advertising
    return !chance.happens(specification.channel.loss)
  }

  /// Skips advertisements that the listener has received already, except for the last one before another
  /// event: hours of listening cost little.
  private mutating func skipRepetitions(of data: [UInt8], until limit: Instant) {
    guard heard == data else { return heard = data }
    while let next = nextAdvertisement, next <= limit, next != .never {
      if hear(at: next) { now = next }
    }
  }

  /// Schedules a frame, with the faults that apply to it.
  private mutating func transmit(_ frame: [UInt8], _ direction: Tampering.Direction) {
    var tampered =
      disturbances.isEmpty ? Tampered(frame: frame) : disturbances.tamper(with: frame, direction)
    if disturbances.takeTampering() { queue.schedule(.report(.tampered), at: now) }
    let delay = specification.channel.delay(
      each: Self.frameTime, upTo: Self.supervisionTimeout, drawnFrom: &chance)
    guard let delay else { return loseLink() }
    if delay > .zero { tampered.delay = tampered.delay + delay }
    schedule(tampered, direction)
  }

  private mutating func schedule(_ tampered: Tampered, _ direction: Tampering.Direction) {
    for _ in 0..<tampered.copies {
      switch direction {
      case .write:
        busyToLock = max(now, busyToLock) + Self.frameTime + tampered.delay
        queue.schedule(.toLock(tampered.frame, link: clientLink), at: busyToLock)
      case .notification:
        busyToClient = max(now, busyToClient) + Self.frameTime + tampered.delay
        queue.schedule(.toClient(tampered.frame, link: lockLink), at: busyToClient)
      }
    }
    guard tampered.losesLink else { return }
    let link = max(clientLink, lockLink)
    let arrival = max(now, direction == .write ? busyToLock : busyToClient)
    queue.schedule(.lockLearns(reason: 0x08, link: link), at: arrival)
    queue.schedule(.clientLearns(reason: 0x08, link: link), at: arrival)
  }
}
