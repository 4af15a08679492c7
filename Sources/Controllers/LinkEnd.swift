import Basics
import Bluetooth

/// The packets that one end of a link can send and receive (Core 5.4, Vol 6 Part B §4.5.10).
struct PacketLimits: Equatable, Sendable {
  var octets: UInt16 = 27
  var time: UInt16 = 328

  /// The maximum payload on the 1M PHY, where a byte takes 8 µs and ten bytes surround the payload; four more are
  /// reserved for the MIC.
  var payload: Int { max(27, min(Int(octets), Int(time) / 8 - 14)) }

  /// Returns the limits for transmission to an end with these limits.
  func common(with other: PacketLimits) -> PacketLimits {
    PacketLimits(octets: min(octets, other.octets), time: min(time, other.time))
  }

  /// Returns the maximum duration of a packet with this payload.
  static func time(of octets: UInt16) -> UInt16 { (octets + 14) * 8 }
}

/// One end of a link: its queues, its reception state, and its pending procedures.
struct LinkEnd: Sendable {
  /// The packet that is on the air or not acknowledged yet. Empty packets need no acknowledgement.
  enum Sending: Equatable, Sendable {
    case nothing
    case data(Int)
    case control
  }

  /// The requests of the host that are not complete yet.
  struct Pending: Equatable, Sendable {
    var features = false
    var version = false
    var update: ConnectionParameters?
    /// The peer requested new parameters, and the host has not answered.
    var parameterRequest = false
    /// The host has requested the end of the link.
    var termination = false
  }

  let controller: Int
  let handle: ConnectionHandle
  let peer: PeerAddress
  let role: LinkRole
  /// The data that the peer receives on request.
  let features: UInt64
  let version: VersionInformation
  /// Number Of Completed Packets for one packet: created once, sent often.
  let completion: HCIPacket
  /// The maximum length of a fragment for the host.
  let aclLength: Int

  var isUp = true
  var fragments = FIFO<ACLPacket>()
  /// How much of the first fragment the peer has acknowledged.
  var acknowledged = 0
  var controls = FIFO<LinkControl>()
  var sending = Sending.nothing
  /// Whether the peer has received the packet that is being sent.
  var isDelivered = false
  /// The More Data bit of the packet on the air.
  var hasMore = false
  /// The number of bytes missing from the L2CAP frame that the host began, or −1 if unknown.
  var frameRest = 0

  /// The requested and supported maximum packet sizes, and the sizes agreed on.
  var wanted: PacketLimits
  let possible: PacketLimits
  var transmit = PacketLimits()
  var receive = PacketLimits()

  /// When this end last received a packet, and the supervision timeout.
  var lastHeard: Int64
  var hasHeard = false
  var supervisionTimeout: Int64
  var pending = Pending()
  var sentVersion = false
  var knowsVersion = false
  /// The reason with which the peer terminates the link; this end has yet to acknowledge it.
  var terminateReason: HCIErrorCode?
  /// Why the link is over for this end; the host has not been told yet.
  var ended: HCIErrorCode?

  init(
    controller: Int, handle: ConnectionHandle, peer: PeerAddress, role: LinkRole,
    settings: ControllerSettings, wanted: PacketLimits, supervisionTimeout: Int64, at now: Int64
  ) {
    self.controller = controller
    self.handle = handle
    self.peer = peer
    self.role = role
    features = settings.features
    version = settings.version
    aclLength = settings.aclLength
    completion = HCIEvent.numberOfCompletedPackets([CompletedPackets(handle, 1)]).packet
    self.wanted = wanted
    possible = PacketLimits(
      octets: settings.maximumOctets, time: PacketLimits.time(of: settings.maximumOctets))
    self.supervisionTimeout = supervisionTimeout
    lastHeard = now
  }

  /// Whether there is anything to send or to be acknowledged, including the acknowledgement of a termination.
  var isBusy: Bool {
    sending != .nothing || !fragments.isEmpty || !controls.isEmpty || terminateReason != nil
  }

  /// Returns when this end gives up if it receives nothing: at `establishing` as long as it has never received a
  /// packet.
  func deadline(_ establishing: Int64) -> Int64 { hasHeard ? lastHeard + supervisionTimeout : establishing }

  /// Selects the next packet and returns the length of its payload.
  mutating func load() -> Int {
    if sending == .nothing {
      isDelivered = false
      if !controls.isEmpty {
        sending = .control
      } else if !fragments.isEmpty {
        sending = .data(min(transmit.payload, fragments[0].data.count - acknowledged))
      }
    }
    switch sending {
    case .nothing:
      hasMore = false
      return 0
    case .control:
      hasMore = controls.count > 1 || !fragments.isEmpty
      return controls[0].length
    case .data(let count):
      hasMore =
        fragments.count > 1 || acknowledged + count < fragments[0].data.count || !controls.isEmpty
      return count
    }
  }

  /// Returns the part of the first fragment that is on the air, as the peer's host receives it.
  func payload(_ count: Int, to handle: ConnectionHandle) -> ACLPacket {
    let fragment = fragments[0]
    let isStart = fragment.boundary == .first && acknowledged == 0
    let isWhole = count == fragment.data.count
    return ACLPacket(
      handle: handle, boundary: isStart ? .firstFlushable : .continuing,
      data: isWhole ? fragment.data : Array(fragment.data[acknowledged..<acknowledged + count]))
  }

  /// Handles the peer's acknowledgement of the packet.
  mutating func confirm(at now: Int64, _ ports: inout HostPorts) {
    switch sending {
    case .nothing: return
    case .data(let count):
      acknowledged += count
      if acknowledged == fragments[0].data.count {
        acknowledged = 0
        fragments.removeFirst()
        ports.ports[controller].fragmentsHeld -= 1
        ports.send(completion, to: controller, at: now)
      }
    case .control:
      if case .terminate = controls.removeFirst() { ended = .localHostTerminated }
    }
    sending = .nothing
    isDelivered = false
  }

  /// Delivers a received packet to the host, in fragments that fit the controller's buffers.
  func deliver(_ packet: ACLPacket, at now: Int64, _ ports: inout HostPorts) {
    guard packet.data.count > aclLength else { return ports.send(.acl(packet), to: controller, at: now) }
    var boundary = packet.boundary
    for start in stride(from: 0, to: packet.data.count, by: aclLength) {
      let data = Array(packet.data[start..<min(start + aclLength, packet.data.count)])
      ports.send(.acl(ACLPacket(handle: handle, boundary: boundary, data: data)), to: controller, at: now)
      boundary = .continuing
    }
  }

  /// Handles the supervision timeout.
  mutating func giveUp() {
    ended =
      pending.termination ? .localHostTerminated : hasHeard ? .connectionTimeout : .failedToEstablish
  }
}
