import Bluetooth
import Basics

/// Somebody else on the air, who advertises what he is told to, one thing after another, and connects to the lock.
struct ThirdPartyCentral: Sendable {
  private var host = BluetoothHost(HostSettings(address: .staticRandom(0x57A4_63E4_0002)))
  private var isStarted = false
  private var isReady = false
  /// What is to be advertised, the first of it for the time being.
  private var waiting = FIFO<[UInt8]>()
  private var end: Instant?
  private var packets: [HCIPacket] = []
  private var visit: Visit?

  /// What he does at the lock.
  private struct Visit {
    var lock: PeerAddress
    var write: AttributeHandle
    var notify: AttributeHandle
    /// What he says when the token came.
    var frames: [[UInt8]]
    var link: LinkID?
    var hasBegun = false
    var end = Instant.never
  }

  /// How long he says one thing.
  static let time = Interval.milliseconds(100)
  /// How long he tries to connect.
  static let patience = Interval.seconds(2)

  var deadline: Instant? {
    mutating get {
      let due = min(host.deadline ?? .never, end ?? .never, visit?.end ?? .never)
      return due == .never ? nil : due
    }
  }

  mutating func advertise(_ data: [UInt8], at now: Instant) -> [HCIPacket] {
    waiting.append(data)
    if isReady, end == nil { goOn(at: now) }
    start(at: now)
    return take()
  }

  /// Connects to a lock, if he is not at it already.
  mutating func intrude(
    _ intrusion: Intrusion, on lock: LockPeripheral, at now: Instant
  ) -> [HCIPacket] {
    guard visit == nil else { return [] }
    visit = Visit(
      lock: lock.address, write: lock.writeHandle, notify: lock.notifyHandle,
      frames: intrusion.frames(for: lock.lock.generation, overheard: lock.overheard.frames))
    if isReady { beginVisit(at: now) }
    start(at: now)
    return take()
  }

  private mutating func start(at now: Instant) {
    guard !isStarted else { return }
    isStarted = true
    note(host.start(at: now), at: now)
  }

  mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    note(host.receive(packet, at: now), at: now)
    return take()
  }

  mutating func advance(to now: Instant) -> [HCIPacket] {
    if let due = host.deadline, due <= now { note(host.advance(to: now), at: now) }
    if let end, end <= now {
      waiting.removeFirst()
      goOn(at: now)
    }
    if let due = visit?.end, due <= now { endVisit(at: now) }
    return take()
  }

  private mutating func goOn(at now: Instant) {
    guard let data = waiting.first else {
      end = nil
      return note(host.stopAdvertising(at: now), at: now)
    }
    end = now + Self.time
    let parameters = AdvertisingParameters(
      minimumInterval: 0x0020, maximumInterval: 0x0020, kind: .nonconnectable)
    note(host.startAdvertising(parameters, data: data, scanResponse: [], at: now), at: now)
  }

  private mutating func note(_ actions: [HostAction], at now: Instant) {
    var begins = false
    for action in actions {
      switch action {
      case .transmit(let packet): packets.append(packet)
      case .report(.ready): begins = true
      case .report(let event): visit(event, at: now)
      }
    }
    guard begins else { return }
    isReady = true
    goOn(at: now)
    beginVisit(at: now)
  }

  private mutating func take() -> [HCIPacket] {
    defer { packets = [] }
    return packets
  }
}

// The visit.

extension ThirdPartyCentral {
  private mutating func beginVisit(at now: Instant) {
    guard let visit, !visit.hasBegun, !host.isConnecting else { return }
    self.visit?.hasBegun = true
    note(
      host.connect(to: visit.lock, ConnectionParameters(), timeout: Self.patience, at: now), at: now)
  }

  private mutating func endVisit(at now: Instant) {
    visit?.end = .never
    guard let link = visit?.link else { return }
    note(host.disconnect(link, reason: .remoteUserTerminated, at: now), at: now)
  }

  private mutating func visit(_ event: HostEvent, at now: Instant) {
    guard let visit else { return }
    switch event {
    case .connected(let link, _):
      self.visit?.link = link
      self.visit?.end = now + Intrusion.stay
      // Its configuration stands behind the value.
      let configuration = AttributeHandle(rawValue: visit.notify.rawValue + 1)
      note(host.start(.write(configuration, [1, 0]), on: link, at: now).actions, at: now)
    case .gatt(let link, .notification(visit.notify, _)):
      self.visit?.frames = []
      for frame in visit.frames {
        if let actions = host.writeCommand(visit.write, frame, on: link, at: now) { note(actions, at: now) }
      }
    case .connectionFailed, .disconnected, .failed:
      self.visit = nil
    default:
      break
    }
  }
}
