import Basics
import Bluetooth
import Links

/// Another device on the air, which sends given advertisements one after the other, and connects to the lock.
struct ThirdPartyCentral: Sendable {
  private var session = CentralSession(HostSettings(address: .staticRandom(0x57A4_63E4_0002)))
  private var isStarted = false
  private var isReady = false
  /// The advertisements, the first of which is being sent.
  private var waiting = FIFO<[UInt8]>()
  private var end: Instant?
  private var visit: Visit?

  /// A connection to the lock.
  private struct Visit {
    var lock: PeerAddress
    var write: AttributeHandle
    var notify: AttributeHandle
    /// The frames to write after the token.
    var frames: [[UInt8]]
    var hasBegun = false
    var end = Instant.never
  }

  /// How long it sends one advertisement.
  static let time = Interval.milliseconds(100)
  /// How long it stays connected.
  static let linkDuration = Intrusion.linkDuration
  /// How long it tries to connect.
  static let connectionTime = Interval.seconds(2)

  var deadline: Instant? {
    mutating get {
      let due = min(session.deadline ?? .never, end ?? .never, visit?.end ?? .never)
      return due == .never ? nil : due
    }
  }

  mutating func advertise(_ data: [UInt8], at now: Instant) -> [HCIPacket] {
    waiting.append(data)
    if isReady, end == nil { advertiseNext(at: now) }
    start(at: now)
    return take(at: now)
  }

  /// Connects to a lock, if it is not connected yet, and writes these frames after the first notification.
  mutating func visit(
    _ lock: PeerAddress, write: AttributeHandle, notify: AttributeHandle, frames: [[UInt8]], at now: Instant
  ) -> [HCIPacket] {
    guard visit == nil else { return [] }
    visit = Visit(lock: lock, write: write, notify: notify, frames: frames)
    if isReady { beginVisit(at: now) }
    start(at: now)
    return take(at: now)
  }

  private mutating func start(at now: Instant) {
    guard !isStarted else { return }
    isStarted = true
    session.start(at: now)
  }

  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    session.receive(packet, at: now)
    return take(at: now)
  }

  mutating func advance(to now: Instant) -> [HCIPacket] {
    session.advance(to: now)
    if let end, end <= now {
      waiting.removeFirst()
      advertiseNext(at: now)
    }
    if let due = visit?.end, due <= now {
      visit?.end = .never
      session.perform(.disconnect, at: now)
    }
    return take(at: now)
  }

  private mutating func advertiseNext(at now: Instant) {
    guard let data = waiting.first else {
      end = nil
      return session.ask({ $0.stopAdvertising(at: now) }, at: now)
    }
    end = now + Self.time
    let parameters = AdvertisingParameters(
      minimumInterval: 0x0020, maximumInterval: 0x0020, kind: .nonconnectable)
    session.ask({ $0.startAdvertising(parameters, data: data, scanResponse: [], at: now) }, at: now)
  }

  private mutating func beginVisit(at now: Instant) {
    guard let visit, !visit.hasBegun else { return }
    self.visit?.hasBegun = true
    session.perform(.connect(visit.lock, .nothing, within: Self.connectionTime), at: now)
  }

  private mutating func handle(_ event: CentralEvent, at now: Instant) {
    switch event {
    case .ready:
      isReady = true
      advertiseNext(at: now)
      beginVisit(at: now)
    case .open:
      guard let visit else { return }
      self.visit?.end = now + Self.linkDuration
      // The configuration descriptor follows the value.
      let configuration = AttributeHandle(rawValue: visit.notify.rawValue + 1)
      session.perform(.write(.handle(configuration), [1, 0], withResponse: true), at: now)
    case .notified(let handle, _):
      guard let visit, handle == visit.notify else { return }
      self.visit?.frames = []
      for frame in visit.frames {
        session.perform(.write(.handle(visit.write), frame, withResponse: false), at: now)
      }
    case .disconnected: visit = nil
    default: break
    }
  }

  /// Removes and returns the packets for its controller, after all events were handled.
  private mutating func take(at now: Instant) -> [HCIPacket] {
    while let event = session.takeEvent() { handle(event, at: now) }
    if session.failure != nil { visit = nil }
    return session.takePackets()
  }
}
