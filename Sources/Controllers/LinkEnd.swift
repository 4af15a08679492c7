import Basics
import Bluetooth

/// The packets that one end of a link can send and receive (Core 5.4, Vol 6 Part B §4.5.10).
struct PacketLimits: Equatable, Sendable {
  var octets: UInt16 = 27
  var time: UInt16 = 328

  /// What a packet can hold on the 1M PHY, where a byte takes 8 µs and ten bytes surround the payload; four
  /// more are set aside for authentication.
  var payload: Int { max(27, min(Int(octets), Int(time) / 8 - 14)) }

  /// What may be sent to an end with such limits.
  func common(with other: PacketLimits) -> PacketLimits {
    PacketLimits(octets: min(octets, other.octets), time: min(time, other.time))
  }

  /// How long a packet with so many bytes of payload takes at most.
  static func time(of octets: UInt16) -> UInt16 { (octets + 14) * 8 }
}

/// One end of a link: what it has to send, what it has heard, and what it is waiting for.
struct LinkEnd: Sendable {
  /// What is on the air, or was and is not acknowledged. Empty packets need no acknowledgement.
  enum Sending: Equatable, Sendable {
    case nothing
    case data(Int)
    case control
  }

  /// What the host asked for and has not been told.
  struct Pending: Equatable, Sendable {
    var features = false
    var version = false
    var update: ConnectionParameters?
    /// The other end asked for other parameters, and the host has not answered.
    var parameterRequest = false
    /// The host ended the link.
    var termination = false
  }

  let controller: Int
  let handle: ConnectionHandle
  let peer: PeerAddress
  let role: LinkRole
  /// What the other end learns when it asks.
  let features: UInt64
  let version: VersionInformation
  /// Number Of Completed Packets for one packet: made once, sent often.
  let completion: HCIPacket
  /// The longest fragment that the host is given.
  let aclLength: Int

  var isUp = true
  var fragments = FIFO<ACLPacket>()
  /// How much of the first fragment the other end has acknowledged.
  var acknowledged = 0
  var controls = FIFO<LinkControl>()
  var sending = Sending.nothing
  /// Whether the other end has what is being sent.
  var isDelivered = false
  /// Whether the packet on the air says that there is more.
  var hasMore = false
  /// How many bytes of the frame that the host began are still to come, or −1 if that is not known.
  var frameRest = 0

  /// The greatest packets that this end would send and can receive, and what is agreed.
  var wanted: PacketLimits
  let possible: PacketLimits
  var transmit = PacketLimits()
  var receive = PacketLimits()

  /// When the last packet of the other end was heard, and after how long without one the link is lost.
  var lastHeard: Int64
  var hasHeard = false
  var supervisionTimeout: Int64
  var pending = Pending()
  var sentVersion = false
  var knowsVersion = false
  /// The reason with which the other end terminates the link; this end has yet to acknowledge it.
  var terminateReason: HCIErrorCode?
  /// Why the link is over for this end; the host is about to hear it.
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

  /// Whether there is anything to send, or to be acknowledged, or the other end waits for a last packet.
  var isBusy: Bool {
    sending != .nothing || !fragments.isEmpty || !controls.isEmpty || terminateReason != nil
  }

  /// When it gives up if it hears nothing: at a given time, as long as it never heard anything.
  func deadline(_ establishing: Int64) -> Int64 { hasHeard ? lastHeard + supervisionTimeout : establishing }

  /// Decides what the next packet is, and returns its payload's length.
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

  /// The part of the first fragment that is on the air, as the other end's host gets it.
  func payload(_ count: Int, to handle: ConnectionHandle) -> ACLPacket {
    let fragment = fragments[0]
    let isStart = fragment.boundary == .first && acknowledged == 0
    let isWhole = count == fragment.data.count
    return ACLPacket(
      handle: handle, boundary: isStart ? .firstFlushable : .continuing,
      data: isWhole ? fragment.data : Array(fragment.data[acknowledged..<acknowledged + count]))
  }

  /// The other end has what was sent.
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

  /// Gives the host what arrived, in fragments that are not longer than its controller's buffers.
  func deliver(_ packet: ACLPacket, at now: Int64, _ ports: inout HostPorts) {
    guard packet.data.count > aclLength else { return ports.send(.acl(packet), to: controller, at: now) }
    var boundary = packet.boundary
    for start in stride(from: 0, to: packet.data.count, by: aclLength) {
      let data = Array(packet.data[start..<min(start + aclLength, packet.data.count)])
      ports.send(.acl(ACLPacket(handle: handle, boundary: boundary, data: data)), to: controller, at: now)
      boundary = .continuing
    }
  }

  /// The other end was silent for too long.
  mutating func giveUp() {
    ended =
      pending.termination ? .localHostTerminated : hasHeard ? .connectionTimeout : .failedToEstablish
  }
}
