import Bluetooth
import Basics

/// When an advertiser sends what, and what chance does to it (Core 5.4, Vol 6 Part B §4.4.2).
///
/// It is a small value without references: one may play it on a copy to see what would come.
struct AdvertisingCourse: Sendable {
  private var generator: SeededGenerator
  /// The advertising channels in use, one bit each.
  private var channels: UInt8 = 7
  private var interval: Int64 = 0
  private var isHighDuty = false
  /// How long a packet takes.
  var duration: Int64 = 0
  /// When the event after this one begins: drawn early, so that one may look ahead.
  private var following: Int64 = 0
  /// The next packet: its channel, 0 to 2, and when it begins.
  private(set) var channel = 0
  private(set) var packetStart: Int64 = 0

  init(generator: SeededGenerator) {
    self.generator = generator
  }

  /// Begins to advertise.
  mutating func start(_ parameters: AdvertisingParameters, at now: Int64) {
    channels = parameters.channels
    interval = Int64(parameters.minimumInterval) * AirTime.slot
    isHighDuty = parameters.kind == .directedHighDuty
    begin(at: isHighDuty ? now : now + delay())
  }

  /// Resets the state, but not the random generator.
  mutating func reset() {
    self = AdvertisingCourse(generator: generator)
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

  /// When the last packet of the event ends if no response follows.
  private var eventEnd: Int64 { end(left: channels >> UInt8(channel), from: packetStart) }

  /// When the last packet of the event after this one ends.
  var followingEnd: Int64 { end(left: channels, from: following) }

  private func end(left channels: UInt8, from start: Int64) -> Int64 {
    let count = Int64(channels.nonzeroBitCount)
    return start + count * duration + (count - 1) * AirTime.channelChange
  }

  /// The first channel in use from one on, or `nil`.
  private func channel(from first: Int) -> Int? {
    let left = channels >> UInt8(first)
    return left == 0 ? nil : first + left.trailingZeroBitCount
  }

  private mutating func begin(at time: Int64) {
    packetStart = time
    channel = channel(from: 0) ?? 0
    following = isHighDuty ? time + AirTime.highDutyInterval : time + interval + delay()
  }

  private mutating func delay() -> Int64 { Int64(generator.below(AirTime.advertisingDelay + 1)) * 1000 }

  /// Draws whether a packet is lost, and how strong it is.
  mutating func isLost(_ loss: UInt64) -> Bool { loss > 0 && generator.next() < loss }

  mutating func fading(_ limit: Int) -> Int { limit == 0 ? 0 : generator.below(2 * limit + 1) - limit }
}
