import Bluetooth
import Basics

/// The schedule of an advertiser and its random draws (Core 5.4, Vol 6 Part B §4.4.2).
///
/// A small value without references, so that a caller can simulate a copy in order to look ahead.
struct AdvertisingSchedule: Sendable {
  private var generator: SeededGenerator
  /// The advertising channels in use, one bit each.
  private var channels: UInt8 = 7
  private var interval: Int64 = 0
  private var isHighDuty = false
  /// The duration of a packet.
  var duration: Int64 = 0
  /// The start of the event after this one, drawn early to allow looking ahead.
  private var following: Int64 = 0
  /// The next packet: its channel, 0 to 2, and its start.
  private(set) var channel = 0
  private(set) var packetStart: Int64 = 0

  init(generator: SeededGenerator) {
    self.generator = generator
  }

  /// Starts advertising.
  mutating func start(_ parameters: AdvertisingParameters, at now: Int64) {
    channels = parameters.channels
    interval = Int64(parameters.minimumInterval) * AirTime.slot
    isHighDuty = parameters.kind == .directedHighDuty
    begin(at: isHighDuty ? now : now + delay())
  }

  /// Resets the state, but not the random generator.
  mutating func reset() {
    self = AdvertisingSchedule(generator: generator)
  }

  /// Advances to the next channel, or to the next event after the last channel.
  mutating func advance(after time: Int64) {
    if let next = channel(from: channel + 1) {
      channel = next
      packetStart = time
    } else {
      begin(at: following)
    }
  }

  /// Advances to the first event that is not over at `now`.
  mutating func skip(to now: Int64) {
    while eventEnd <= now { begin(at: following) }
  }

  /// Advances to a packet that was found by looking ahead.
  mutating func skip(to packet: Packet) {
    if packet.isFollowing { begin(at: following) }
    channel = packet.channel
    packetStart = packet.start
  }

  /// A future packet, in this event or the next.
  struct Packet: Sendable {
    var channel: Int
    var start: Int64
    var isFollowing: Bool
  }

  /// Returns the first remaining packet of this event, or the first packet of the next; there always is one.
  func firstPacket(following isFollowing: Bool) -> Packet {
    isFollowing
      ? Packet(channel: channel(from: 0) ?? 0, start: following, isFollowing: true)
      : Packet(channel: channel, start: packetStart, isFollowing: false)
  }

  /// Returns the packet on the next channel of the same event.
  func packet(after packet: Packet) -> Packet? {
    guard let next = channel(from: packet.channel + 1) else { return nil }
    return Packet(
      channel: next, start: packet.start + duration + AirTime.channelChange, isFollowing: packet.isFollowing)
  }

  /// The end of the event's last packet, if no response follows.
  private var eventEnd: Int64 { end(left: channels >> UInt8(channel), from: packetStart) }

  /// The end of the next event's last packet.
  var followingEnd: Int64 { end(left: channels, from: following) }

  private func end(left channels: UInt8, from start: Int64) -> Int64 {
    let count = Int64(channels.nonzeroBitCount)
    return start + count * duration + (count - 1) * AirTime.channelChange
  }

  /// Returns the first channel in use that is not below `first`, or `nil`.
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

  /// Draws whether a packet is lost, and the fading of its signal.
  mutating func isLost(_ loss: UInt64) -> Bool { loss > 0 && generator.next() < loss }

  mutating func fading(_ limit: Int) -> Int { limit == 0 ? 0 : generator.below(2 * limit + 1) - limit }
}
