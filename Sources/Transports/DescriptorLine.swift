import System
import Bluetooth
import Glibc
import Basics

/// H4 over a file descriptor: a stream, or datagrams that hold one packet each.
///
///                  accept                        closed, malformed, silence
///     listening ───────────▶ peer ─────────────────────────────────────────▶ fault
///     (servers)               ▲
///                             │ open (clients, serial lines, adapters)
final class DescriptorLine: Line {
  /// The file descriptors that a transport has opened.
  struct Ends {
    /// The descriptor that carries packets, or -1 while a server has no peer.
    var peer: Int32 = -1
    /// The descriptor on which a server listens, or -1.
    var listener: Int32 = -1
    /// Whether each read returns one packet and each write takes one.
    var isDatagram = false
    /// Whether it is TCP, which needs options against delays.
    var isTCP = false
  }

  /// The maximum number of bytes that wait to be sent.
  private static let outgoingLimit = 64 * 1024
  /// The size of one read, and the maximum number of reads in a row, which gives other lines their share.
  private static let readSize = 4096
  private static let readLimit = 16

  private let name: String
  private let settings: TransportSettings
  private var ends: Ends
  private var stream = H4Stream()
  private var buffer = [UInt8](repeating: 0, count: readSize)
  private var outgoing = OutgoingPackets()
  private var blockedSince: Instant?
  private var partialSince: Instant?

  /// Takes ownership of the descriptors, and closes them at the end.
  init(_ ends: Ends, name: String, settings: TransportSettings) {
    self.ends = ends
    self.name = name
    self.settings = settings
  }

  deinit { close() }
}

extension DescriptorLine {
  var hasPeer: Bool { ends.peer >= 0 }

  var isFull: Bool { outgoing.byteCount > Self.outgoingLimit }

  /// The port on which a TCP server listens.
  var port: UInt16? { ends.listener >= 0 && ends.isTCP ? TCP.localPort(of: ends.listener) : nil }

  func descriptors(reading: Bool) -> [(descriptor: Int32, events: Int16)] {
    guard hasPeer else { return ends.listener >= 0 ? [(ends.listener, Int16(POLLIN))] : [] }
    let events = (reading ? POLLIN : 0) | (outgoing.isEmpty ? 0 : POLLOUT)
    return events == 0 ? [] : [(ends.peer, Int16(events))]
  }

  var deadline: Instant? {
    let limits = [
      blockedSince.map { $0 + settings.sendTimeout }, partialSince.map { $0 + settings.packetTimeout },
    ]
    return limits.compactMap(\.self).min()
  }

  func send(_ packet: HCIPacket, at now: Instant) throws(TransportFault) {
    outgoing.append(packet.h4)
    if outgoing.count == 1 { try flush(at: now) }
  }

  func service(_ traffic: inout Traffic, at now: Instant) throws(TransportFault) {
    if !hasPeer, ends.listener >= 0 { accept(&traffic) }
    guard hasPeer else { return }
    // While reading is suspended, the rest of a packet is not late.
    if traffic.isFull, partialSince != nil { partialSince = now }
    try read(into: &traffic, at: now)
    try flush(at: now)
    try checkLimits(at: now)
  }

  func restart() -> Bool {
    dropPeer()
    return ends.listener >= 0
  }

  func close() {
    dropPeer()
    if ends.listener >= 0 { Kernel.close(ends.listener) }
    ends.listener = -1
  }
}

extension DescriptorLine {
  private func dropPeer() {
    if hasPeer { Kernel.close(ends.peer) }
    ends.peer = -1
    stream.reset()
    outgoing = OutgoingPackets()
    blockedSince = nil
    partialSince = nil
  }

  private func accept(_ traffic: inout Traffic) {
    guard let peer = TCP.accept(from: ends.listener) else { return }
    ends.peer = peer.descriptor
    traffic.diagnostics.append("\(name): \(peer.name) connected")
  }

  private func read(into traffic: inout Traffic, at now: Instant) throws(TransportFault) {
    for _ in 0..<Self.readLimit where !traffic.isFull {
      let count = unsafe Kernel.receive(ends.peer, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else { throw ended(count < 0 ? errno : 0) }
      if ends.isTCP { TCP.acknowledgeAtOnce(ends.peer) }
      try unpack(count, into: &traffic.inbox, at: now)
      if count < buffer.count, !ends.isDatagram { return }
    }
  }

  private func unpack(_ count: Int, into inbox: inout FIFO<HCIPacket>, at now: Instant) throws(TransportFault)
  {
    stream.append(buffer[..<count])
    do {
      while let packet = try stream.next() { inbox.append(packet) }
    } catch {
      throw TransportFault(.malformed, "\(name) sent what is no HCI packet (\(error.reason))")
    }
    if ends.isDatagram, stream.pendingCount > 0 {
      throw TransportFault(.malformed, "\(name) sent a packet that is shorter than it says")
    }
    partialSince = stream.pendingCount > 0 ? now : nil
  }

  private func flush(at now: Instant) throws(TransportFault) {
    while let (bytes, start) = outgoing.first {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Kernel.send(ends.peer, bytes.baseAddress! + start, bytes.count - start)
      }
      if count > 0 {
        outgoing.remove(count)
        blockedSince = nil
      } else if count == 0 || errno == EAGAIN {
        blockedSince = blockedSince ?? now
        return
      } else if errno != EINTR {
        throw ended(errno)
      }
    }
    blockedSince = nil
  }

  private func checkLimits(at now: Instant) throws(TransportFault) {
    if let blockedSince, now - blockedSince >= settings.sendTimeout {
      throw TransportFault(
        .silent,
        "\(name) has taken nothing for \(settings.sendTimeout), with \(outgoing.byteCount) bytes to send")
    }
    if let partialSince, now - partialSince >= settings.packetTimeout {
      throw TransportFault(
        .silent,
        "\(name) sent \(stream.pendingCount) bytes of a packet, and nothing more for \(settings.packetTimeout)"
      )
    }
  }

  /// The fault of a connection that has ended: by an error, or in an orderly way if the code is 0.
  private func ended(_ code: Int32) -> TransportFault {
    let partial = stream.pendingCount > 0 ? " in the middle of a packet" : ""
    return TransportFault(
      .lost,
      code == 0
        ? "\(name) closed the connection\(partial)" : "\(name) went away\(partial) (\(errorText(code)))")
  }
}

/// Packets that wait to be sent; the oldest may have been sent in part.
struct OutgoingPackets {
  private var packets = FIFO<[UInt8]>()
  private var sent = 0

  /// The number of waiting bytes.
  private(set) var byteCount = 0

  var count: Int { packets.count }
  var isEmpty: Bool { packets.isEmpty }

  /// The oldest packet, and the position of its first unsent byte.
  var first: (bytes: [UInt8], start: Int)? { packets.first.map { ($0, sent) } }

  mutating func append(_ bytes: [UInt8]) {
    packets.append(bytes)
    byteCount += bytes.count
  }

  /// Removes sent bytes of the oldest packet.
  mutating func remove(_ count: Int) {
    byteCount -= count
    sent += count
    guard sent == packets[0].count else { return }
    sent = 0
    packets.removeFirst()
  }
}
