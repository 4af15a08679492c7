import System
public import Bluetooth
import Glibc
public import Basics

/// A transport to a real controller, or from an emulated controller to a host.
///
///                   fault, or the peer closes
///         open ─────────────────────────────────────▶ failed
///          ▲ │                                          │
///          │ └────── close() ─────▶ closed              │
///          └──────────── reopen() ──┴───────────────────┘
///
/// It has no thread: packets move only inside its calls. One loop over several transports and sockets polls their
/// ``descriptors`` together, calls ``service()`` on each, and takes received packets with ``take()``. Packets that
/// arrived before a fault are returned before it is thrown.
public final class Transport: HCITransport {
  /// The specification of the transport.
  public let spec: TransportSpec
  private let settings: TransportSettings
  private var line: (any Line)?
  private var lock: EndpointLock?
  private var dongle: USBDongle?
  private var tap: SnoopTap?
  private var traffic = Traffic()
  private var fault: TransportFault?

  /// Opens the transport, and waits until it is open.
  public init(
    opening spec: TransportSpec, settings: TransportSettings = TransportSettings()
  ) throws(TransportFault) {
    FailedWrites.ignore()
    self.spec = spec
    self.settings = settings
    if let path = settings.tap { tap = try SnoopTap(creating: path, role: settings.role) }
    try open(until: now + settings.openTimeout)
  }

  deinit { close() }
}

extension Transport {
  /// The monotonic clock ``Waiting/now``, which all transports of this process share.
  public var now: Instant { Waiting.now }

  /// Sends a packet, and blocks only while too much is already queued.
  ///
  /// A server without a peer drops the packet.
  public func send(_ packet: HCIPacket) throws(TransportFault) {
    if let fault { throw fault }
    guard let line, line.hasPeer else { return }
    do {
      try awaitRoom(line)
      try line.send(packet, at: now)
    } catch {
      fault = error
      throw error
    }
    note(packet, isSent: true)
  }

  /// Lets time pass until the next packet, at most until `limit`.
  public func receive(until limit: Instant) throws(TransportFault) -> HCIPacket? {
    while true {
      if let packet = take() { return packet }
      try service()
      if let packet = take() { return packet }
      if let fault { throw fault }
      guard now < limit else { return nil }
      Waiting.wait(for: descriptors, until: min(limit, now + (pollTimeout ?? .forever)))
    }
  }

  /// Closes the transport and opens it again, retrying for a while. The controller must be reset after that.
  ///
  /// A server keeps its port, and disconnects its peer.
  public func reopen() throws(TransportFault) { try reopen(.untouched, until: now + settings.reopenTimeout) }

  /// A dongle can be reset, and a controller on a power switch can be turned off and on.
  public var reopenings: [Reopening] {
    var all = [Reopening.untouched]
    if spec.isDongle { all.append(.afterReset) }
    if settings.cyclePower != nil { all.append(.afterPowerCycle) }
    return all
  }

  /// Closes the transport and opens it again in one of its ``reopenings``, retrying until a deadline.
  public func reopen(_ how: Reopening, until limit: Instant) throws(TransportFault) {
    let reason = fault.map { " (\($0.symptom.rawValue))" } ?? ""
    traffic.inbox = FIFO()
    fault = nil
    if let line, line.restart() {
      diagnostic("\(spec): closed to its peer\(reason)")
    } else {
      closeLine()
      diagnostic("\(spec): closed\(reason)")
    }
    do throws(TransportFault) {
      if how == .afterPowerCycle { try cyclePower(until: limit) }
      try openAgain(until: limit, isReset: how == .afterReset)
    } catch {
      fault = error
      throw error
    }
  }

  /// Releases the controller, also for other programs.
  public func close() {
    closeLine()
    lock = nil
    fault = TransportFault(.unavailable, "\(spec) is closed")
  }
}

extension Transport {
  /// The descriptors to poll, with their events for poll(2).
  public var descriptors: [(descriptor: Int32, events: Int16)] {
    line?.descriptors(reading: !traffic.isFull) ?? []
  }

  /// The maximum duration of a poll before ``service()`` must be called; `nil` if it is unlimited.
  public var pollTimeout: Interval? {
    if fault != nil || !traffic.inbox.isEmpty { return .zero }
    return line?.deadline.map { max(.zero, $0 - now) }
  }

  /// Sends and receives what is possible without waiting.
  ///
  /// - Throws: the transport's fault, once all packets that arrived before it have been taken, and on every later
  ///   call.
  public func service() throws(TransportFault) {
    if fault == nil, let line {
      do {
        try exchange(over: line)
      } catch {
        fault = error
      }
    }
    if let fault, traffic.inbox.isEmpty { throw fault }
  }

  /// Takes the next received packet; `nil` if there is none.
  public func take() -> HCIPacket? { traffic.inbox.popFirst() }

  /// Whether a peer is connected: false while a server waits for its peer, and after a fault.
  public var hasPeer: Bool { fault == nil && line?.hasPeer == true }

  /// The port on which a TCP server listens, which the system chooses for port 0.
  public var port: UInt16? { (line as? DescriptorLine)?.port }

  /// Takes the diagnostics since the last call: opened, closed, retried.
  public func takeDiagnostics() -> [String] {
    defer { traffic.diagnostics = [] }
    return traffic.diagnostics
  }
}

extension Transport {
  /// The maximum number of stored diagnostics.
  private static let diagnosticLimit = 100

  private func diagnostic(_ text: String) {
    if traffic.diagnostics.count < Self.diagnosticLimit { traffic.diagnostics.append(text) }
  }

  /// How much longer than its time limit an opening or closing may take. The system may block a call to a broken
  /// device for longer; the call is then abandoned.
  private static let grace = Interval.seconds(1)

  private func open(until limit: Instant, isReset: Bool = false) throws(TransportFault) {
    if line == nil {
      let opening = Opening(
        spec: spec, settings: settings, held: lock, known: dongle, isReset: isReset, limit: limit)
      let result = BoundedCall.run(until: max(limit, now) + Self.grace) {
        () -> Result<Opening.Opened, TransportFault> in
        do throws(TransportFault) { return .success(try opening.open()) } catch { return .failure(error) }
      }
      guard let result else {
        throw TransportFault(.silent, "\(spec) opening it takes too long, and it is not used")
      }
      let opened = try result.get()
      line = opened.line
      lock = opened.lock
      dongle = opened.dongle
    }
    diagnostic("\(spec): opened")
    if settings.awaitsPeer { try awaitPeer(until: limit) }
  }

  private func closeLine() {
    guard let line else { return }
    self.line = nil
    if BoundedCall.run(until: now + .seconds(1) + Self.grace, { line.close() }) == nil {
      diagnostic("\(spec): closing it takes too long, and it was abandoned")
    }
  }

  private func cyclePower(until limit: Instant) throws(TransportFault) {
    guard let cyclePower = settings.cyclePower else {
      throw TransportFault(.unavailable, "\(spec) has no power switch")
    }
    diagnostic("\(spec): \(try cyclePower(dongle?.path ?? spec.busPath, limit))")
  }

  /// Retries with increasing pauses.
  private func openAgain(until limit: Instant, isReset: Bool) throws(TransportFault) {
    var pause = Interval.milliseconds(50)
    var last: TransportFault?
    while true {
      do {
        return try open(until: limit, isReset: isReset)
      } catch {
        // Report only changed errors.
        if error != last { diagnostic("\(spec): not opened yet: \(error)") }
        last = error
        guard now + pause < limit else { throw error }
      }
      Waiting.wait(for: [], until: now + pause)
      pause = pause + pause
    }
  }

  /// Waits for the peer of a server.
  private func awaitPeer(until limit: Instant) throws(TransportFault) {
    while let line, !line.hasPeer {
      guard now < limit else { throw TransportFault(.silent, "no program connected to \(spec)") }
      Waiting.wait(for: line.descriptors(reading: true), until: limit)
      try exchange(over: line)
    }
  }

  private func awaitRoom(_ line: any Line) throws(TransportFault) {
    let limit = now + settings.sendTimeout
    while line.isFull {
      guard now < limit else {
        throw TransportFault(.silent, "\(spec) takes what is sent too slowly")
      }
      Waiting.wait(for: line.descriptors(reading: !traffic.isFull), until: limit)
      try exchange(over: line)
    }
  }

  /// Exchanges packets, and processes those that arrived even if a fault followed them.
  private func exchange(over line: any Line) throws(TransportFault) {
    let waiting = traffic.inbox.count
    var trouble: TransportFault?
    do {
      try line.service(&traffic, at: now)
    } catch {
      trouble = error
    }
    if let wrong = recordArrivals(from: waiting) { trouble = wrong }
    if let trouble { throw trouble }
  }

  /// Records the packets that have just arrived. A packet that only this end may send is a fault, and is dropped
  /// with all later packets.
  private func recordArrivals(from waiting: Int) -> TransportFault? {
    guard traffic.inbox.count > waiting else { return nil }
    for packet in traffic.inbox.dropFirst(waiting) { note(packet, isSent: false) }
    guard let wrong = traffic.inbox.dropFirst(waiting).firstIndex(where: { !isFromOtherEnd($0) }) else {
      return nil
    }
    traffic.inbox.removeLast(traffic.inbox.count - wrong)
    let (ours, other) = settings.role == .host ? ("command", "controller") : ("event", "host")
    return TransportFault(
      .malformed, "\(spec) sent a \(ours), as no \(other) does; is something else at the other end?")
  }

  private func isFromOtherEnd(_ packet: HCIPacket) -> Bool {
    switch packet {
    case .command: settings.role == .controller
    case .event: settings.role == .host
    case .acl, .synchronous, .isochronous: true
    }
  }

  private func note(_ packet: HCIPacket, isSent: Bool) {
    guard tap != nil, tap?.note(packet, isSent: isSent) == false else { return }
    diagnostic("\(spec): the capture ends here, since it cannot be written any more (\(errorText(errno)))")
    tap = nil
  }
}
