import Bluetooth
import Simulation

/// Somebody else on the air, who advertises what he is told to, one thing after another.
struct Stranger: Sendable {
  private var host = BluetoothHost(HostSettings(address: .staticRandom(0x57A4_63E4_0002)))
  private var isStarted = false
  private var isReady = false
  /// What is to be advertised, the first of it for the time being.
  private var waiting: [[UInt8]] = []
  private var end: Instant?
  private var packets: [HCIPacket] = []

  /// How long he says one thing.
  static let time = Interval.milliseconds(100)

  var deadline: Instant? {
    mutating get {
      let due = min(host.deadline ?? .never, end ?? .never)
      return due == .never ? nil : due
    }
  }

  mutating func advertise(_ data: [UInt8], at now: Instant) -> [HCIPacket] {
    waiting.append(data)
    if !isStarted {
      isStarted = true
      note(host.start(at: now), at: now)
    } else if isReady, end == nil {
      goOn(at: now)
    }
    return take()
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
      case .report: break
      }
    }
    guard begins else { return }
    isReady = true
    goOn(at: now)
  }

  private mutating func take() -> [HCIPacket] {
    defer { packets = [] }
    return packets
  }
}
