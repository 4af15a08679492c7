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
/// The lock is heard the moment the client begins to listen, and then at its advertising interval. Nothing is
/// scheduled while nothing happens: an idle hour costs nothing.
///
/// What is between the ends can be disturbed (``faults``); what was disturbed on purpose and what is lost by
/// chance (``ChannelConditions``) are independent. One seed gives one lock, and one trace for a test, whatever was
/// tested before.
public struct DirectLink: LockLink, Sendable {
  /// What is under way.
  enum Event: Sendable {
    /// The attempt to connect succeeds, if the lock is there.
    case connection
    /// The service was found, and notifications were turned on.
    case discovery(link: Int)
    case toLock([UInt8], link: Int)
    case toClient([UInt8], link: Int)
    /// The client ended the link: the lock gets to know.
    case lockLearns(reason: UInt8, link: Int)
    /// The lock ended the link, or is gone: the client gets to know.
    case clientLearns(reason: UInt8, link: Int)
    /// Two seconds without a sign of life, unless the lock came back into range.
    case supervision(link: Int, outOfRange: Int)
    /// The lock comes back into range.
    case returning(outOfRange: Int)
    /// A third-party central has turned notifications on, or has been there long enough.
    case thirdPartyListens(link: Int)
    case thirdPartyLeaves(link: Int)
    /// An event that the client sees without a frame.
    case report(LinkEvent)

    /// Whether it waits while the lock is out of reach. A loss needs no air: each end notices it alone.
    var isOnTheAir: Bool {
      switch self {
      case .discovery, .toLock, .toClient: true
      case .lockLearns(let reason, _), .clientLearns(let reason, _): reason != 0x08
      case .connection, .supervision, .returning, .thirdPartyListens, .thirdPartyLeaves, .report: false
      }
    }
  }

  /// How it is at the client's end.
  enum ClientEnd: Equatable, Sendable {
    case apart
    /// It wants a link: it waits for the lock to advertise, or has heard it, and the link is due at an event of the queue.
    case waiting, connecting
    case linked(Int)
  }

  /// The lock's end of the link: idle, with its client, or with a third party, by the number of the link.
  enum LockEnd: Sendable {
    case alone
    case linked(Int)
    case visited(Int, Intrusion)
  }

  /// What kind of lock stands at the other end.
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
  /// What the lock advertises, what a listener heard last, and the bytes of the last thing it advertised.
  private var advertisement: [UInt8]?
  private var heard: [UInt8]?
  private var advertised: (advertisement: Advertisement, bytes: [UInt8])?
  var clientEnd = ClientEnd.apart
  var lockEnd = LockEnd.alone
  var lastLink = 0
  /// What can be overheard of the owner.
  var overheard = Overheard()
  /// Until when each direction is busy with the frames before.
  private var busyToLock = Instant.zero
  private var busyToClient = Instant.zero
  var disturbances = FrameDisturbances()
  /// How often the lock was taken out of reach, and what waits for its return while it is.
  var rangeLosses = 0
  var held: [Event]?

  /// Makes a link to a lock that is out of range.
  public init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    factory = LockFactory(specification, seed: seed)
    chance = SeededGenerator(seed: seed, for: "link")
    lock = factory.lock()
  }

  /// How long a frame takes.
  public static let frameTime = Interval.microseconds(7500)
  /// How long it takes to connect to a lock that advertises.
  public static let connectionTime = Interval.milliseconds(50)
  /// How long it takes to find the service and to turn notifications on.
  public static let discoveryTime = Interval.milliseconds(100)
  /// How long an end hears nothing of the other before it takes the link for lost.
  public static let supervisionTimeout = Interval.seconds(2)

  /// What of the model's conditions always holds on this link.
  public var conditions: [String] { specification.channel.isFair ? [] : ["loss"] }
}

/// In memory nothing fails, there are no packets, and the creator of the lock knows its key.
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
    disturbances.callOff()
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
      // What was written before still arrives, unless a tester delays it by more than the supervision time-out.
      let end = min(max(now, busyToLock) + Self.frameTime, now + Self.supervisionTimeout)
      queue.schedule(.lockLearns(reason: 0x13, link: link), at: end)
      queue.schedule(.report(.disconnected(reason: 0x16)), at: now)
    }
    clientEnd = .apart
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    guard clientLink != 0 else { return }
    overheard.note(frame)
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
        } else if let report = happen(event) {
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
  /// Lets an event happen, and says what the client notices of it.
  private mutating func happen(_ event: Event) -> LinkEvent? {
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
      if case .visited(link, let intrusion) = lockEnd { hears(intrusion, on: link) }
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
    queue.schedule(.discovery(link: lastLink), at: now + Self.discoveryTime)
    return .connected
  }

  private mutating func endAtLock(_ reason: UInt8) {
    lockEnd = .alone
    carryOut(lock.disconnected(reason: reason, at: now))
  }

  /// Does what the lock wants done.
  mutating func carryOut(_ actions: [EmulatedLock.Action]) {
    for action in actions {
      switch action {
      case .notify(let frame):
        if lockLink != 0 { transmit(frame, .notification) }
      case .disconnect(let reason):
        guard lockLink != 0 else { continue }
        // What was sent before still arrives.
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
  /// The number of the link that the client takes for up; 0 for none.
  var clientLink: Int { if case .linked(let link) = clientEnd { link } else { 0 } }

  /// The number of the link that the lock takes for up; 0 for none.
  var lockLink: Int {
    switch lockEnd {
    case .alone: 0
    case .linked(let link), .visited(let link, _): link
    }
  }

  /// Whether the lock was taken out of reach.
  var isAbsent: Bool { held != nil }

  /// Whether the lock can be heard.
  var isAudible: Bool { isInRange && !isAbsent && advertisement != nil }

  /// Takes note of what the lock advertises now.
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

  /// Finds out who waits for the lock, and whether it is there.
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

  /// Whether the advertisement of a moment gets through.
  private mutating func hear(at time: Instant) -> Bool {
    nextAdvertisement = time + specification.options.advertising
    return !chance.happens(specification.channel.loss)
  }

  /// Passes over what a listener has heard before, but for the last time before something else can happen: hours of
  /// listening cost little.
  private mutating func skipRepetitions(of data: [UInt8], until limit: Instant) {
    guard heard == data else { return heard = data }
    while let next = nextAdvertisement, next <= limit, next != .never {
      if hear(at: next) { now = next }
    }
  }

  /// Sends a frame on its way, with all that may happen to it.
  private mutating func transmit(_ frame: [UInt8], _ direction: Tampering.Direction) {
    var tampered =
      disturbances.isEmpty ? Tampered(frame: frame) : disturbances.tamper(with: frame, direction)
    if disturbances.takeStrike() { queue.schedule(.report(.tampered), at: now) }
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
