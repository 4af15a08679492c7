import Bluetooth
import Simulation

/// The advertising of one controller (Core 5.4, Vol 6 Part B §4.4.2).
///
/// An advertising event is one packet on each channel in use; the next begins an interval and a random delay
/// later. Events are played only while somebody listens, and of those only the packets that somebody can
/// hear.
struct Advertiser: Sendable {
  enum Phase: Sendable {
    /// Not advertising, or nobody listens.
    case quiet
    /// Waiting for the end of the next packet that somebody hears.
    case packet
    /// A scan response is on the air, for those in ``Advertiser/askers``.
    case response
    /// An initiator's CONNECT_IND is on the air.
    case request(initiator: Int)
  }

  let controller: Int
  private var generator: SeededGenerator
  private(set) var isOn = false
  private(set) var parameters = AdvertisingParameters(
    minimumInterval: 0x0800, maximumInterval: 0x0800, ownAddressType: 0)
  var data: [UInt8] = []
  var response: [UInt8] = []
  private(set) var address = PeerAddress(.publicDevice, BluetoothAddress(0))
  /// A number for the address, the same for whoever uses it.
  private(set) var identity = 0

  var phase = Phase.quiet
  /// The controllers whose SCAN_REQ was heard.
  var askers: [Int] = []
  /// When the event after this one begins: drawn early, so that one may look ahead.
  private var following: Int64 = 0
  /// The next packet: its channel, 0 to 2, and when it begins.
  private(set) var channel = 0
  private(set) var packetStart: Int64 = 0
  /// The packet at whose end the advertiser is woken; `nil` when nobody hears any soon.
  var awaited: Packet?
  /// When advertising at the high duty cycle ends.
  private(set) var end = Int64.max

  init(controller: Int, generator: SeededGenerator) {
    self.controller = controller
    self.generator = generator
  }

  /// Whether the packets say that anybody, or somebody, may connect.
  var isConnectable: Bool {
    switch parameters.kind {
    case .connectable, .directedHighDuty, .directedLowDuty: true
    case .scannable, .nonconnectable: false
    }
  }

  var isScannable: Bool {
    switch parameters.kind {
    case .connectable, .scannable: true
    case .directedHighDuty, .directedLowDuty, .nonconnectable: false
    }
  }

  /// Whom a directed advertisement is for.
  var directedAt: PeerAddress? {
    switch parameters.kind {
    case .directedHighDuty, .directedLowDuty: parameters.peer
    case .connectable, .scannable, .nonconnectable: nil
    }
  }

  /// What a report calls the packets.
  var reportedKind: AdvertisingReport.Kind {
    switch parameters.kind {
    case .connectable: .connectable
    case .directedHighDuty, .directedLowDuty: .directed
    case .scannable: .scannable
    case .nonconnectable: .nonconnectable
    }
  }

  /// How long a packet takes.
  var duration: Int64 { AirTime.packet(directedAt == nil ? 6 + data.count : 12) }

  mutating func set(_ parameters: AdvertisingParameters) {
    self.parameters = parameters
  }

  mutating func start(as address: PeerAddress, identity: Int, at now: Int64) {
    self.address = address
    self.identity = identity
    isOn = true
    phase = .quiet
    let isHighDuty = parameters.kind == .directedHighDuty
    end = isHighDuty ? now + AirTime.highDutyDuration : .max
    begin(at: isHighDuty ? now : now + delay())
  }

  mutating func stop() {
    isOn = false
    phase = .quiet
    end = .max
  }

  /// As after a reset.
  mutating func reset() {
    self = Advertiser(controller: controller, generator: generator)
  }

  /// Goes on to the next channel, or to the next event after the last.
  mutating func advance(after time: Int64) {
    if let next = channel(from: channel + 1) {
      channel = next
      packetStart = time
    } else {
      begin(at: following)
    }
  }

  /// Goes on to the first event that is not over at a moment.
  mutating func skip(to now: Int64) {
    while eventEnd <= now { begin(at: following) }
  }

  /// Goes on to a packet that was found by looking ahead.
  mutating func skip(to packet: Packet) {
    if packet.isFollowing { begin(at: following) }
    channel = packet.channel
    packetStart = packet.start
  }

  /// A packet still to come, in this event or the one after.
  struct Packet: Sendable {
    var channel: Int
    var start: Int64
    var isFollowing: Bool
  }

  /// The packets to come in this event, or all of the one after; the first is there always.
  func firstPacket(following isFollowing: Bool) -> Packet {
    isFollowing
      ? Packet(channel: channel(from: 0) ?? 0, start: following, isFollowing: true)
      : Packet(channel: channel, start: packetStart, isFollowing: false)
  }

  /// The packet on the next channel of the same event.
  func packet(after packet: Packet) -> Packet? {
    guard let next = channel(from: packet.channel + 1) else { return nil }
    return Packet(
      channel: next, start: packet.start + duration + AirTime.channelChange, isFollowing: packet.isFollowing)
  }

  /// When the last packet of the event ends if nobody answers.
  private var eventEnd: Int64 { end(left: parameters.channels >> UInt8(channel), from: packetStart) }

  /// When the last packet of the event after this one ends.
  var followingEnd: Int64 { end(left: parameters.channels, from: following) }

  private func end(left channels: UInt8, from start: Int64) -> Int64 {
    let count = Int64(channels.nonzeroBitCount)
    return start + count * duration + (count - 1) * AirTime.channelChange
  }

  /// The first channel in use from one on, or `nil`.
  private func channel(from first: Int) -> Int? {
    var candidate = first
    while candidate < 3 {
      if parameters.channels >> UInt8(candidate) & 1 == 1 { return candidate }
      candidate += 1
    }
    return nil
  }

  private mutating func begin(at time: Int64) {
    packetStart = time
    channel = channel(from: 0) ?? 0
    following =
      parameters.kind == .directedHighDuty
      ? time + AirTime.highDutyInterval
      : time + Int64(parameters.minimumInterval) * AirTime.slot + delay()
  }

  private mutating func delay() -> Int64 { Int64(generator.below(AirTime.advertisingDelay + 1)) * 1000 }

  /// Draws whether a packet is lost, and how strong it is.
  mutating func isLost(_ loss: UInt64) -> Bool { loss > 0 && generator.next() < loss }

  mutating func fading(_ limit: Int) -> Int { limit == 0 ? 0 : generator.below(2 * limit + 1) - limit }
}
