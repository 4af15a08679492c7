public import Basics
public import Bluetooth

/// The central of a link: a host that scans, connects to one device at a time, finds what it has and uses that, operation by
/// operation.
///
///                connect            link up               all is found
///     idle ──▶ connecting ──────▶ discovering ───────────────────────▶ open
///       ▲        ▲     │               │  0x3E: it never came about       │
///       │        └─────┼───────────────┘                                  │
///       └───────── disconnect, failed, disconnected ──────────────────────┘
///
/// - Links have the least interval, 7.5 ms, no latency, and are lost after 2 s, unless other parameters are given.
/// - A link that never came about is asked for again (0x3E; Core 5.4, Vol 6 Part B §4.5).
/// - A link that is left is over for its user at once, with reason 0x16, as is an attempt that is given up, with 0x02. What
///   was written before goes out first, and no other link is begun until it is over.
/// - What fails in discovery ends the link.
///
/// The type does no I/O and reads no clock: feed it what the controller sends and when, hand the controller what
/// ``takePacket()`` gives, and take what happened from ``takeEvent()``. When ``deadline`` has come, call ``advance(to:)``.
public struct CentralSession: Sendable {
  private enum State {
    case idle
    /// With the number of retries that remain after a link failed to be established (0x3E).
    case connecting(attemptsLeft: Int)
    case discovering(Discovery)
    case open(LinkID)
  }

  /// What is being found on a link, and what was notified meanwhile.
  private struct Discovery {
    let link: LinkID
    var attemptsLeft: Int
    var search: ProfileDiscovery
    var procedure: GATTProcedureID = 0
    var early: [(AttributeHandle, [UInt8])] = []
  }

  /// An operation of which the end is not known yet.
  private struct Pending {
    let operation: CentralOperation
    let handle: AttributeHandle
    var id: GATTProcedureID = 0
    /// What is subscribed to when the procedure has ended; before that, its configuration may have to be found.
    var subscription = Subscription()
    var isFindingConfiguration = false

    init(_ operation: CentralOperation, _ handle: AttributeHandle) {
      (self.operation, self.handle) = (operation, handle)
    }
  }

  private var host: BluetoothHost
  private let parameters: ConnectionParameters
  private var state = State.idle
  /// Who is connected to, and what is looked for there.
  private var peer: (address: PeerAddress, query: ProfileQuery, time: Interval)?
  /// The link that is being disconnected, and whether the session still waits for queued packets before it disconnects.
  private var disconnecting: (link: LinkID, isDraining: Bool)?
  /// The number of cancelled attempts that the host has not confirmed yet.
  private var cancelledAttempts = 0
  /// What was found on the link that is open, or on the last one.
  public private(set) var profile = DiscoveredProfile()

  private var pending: Pending?
  /// What was asked for and is not begun.
  private var waiting = FIFO<CentralOperation>()
  /// Writes without response that wait for room in the host.
  private var outgoing = FIFO<(handle: AttributeHandle, value: [UInt8])>()
  /// Whether this session has sent malformed packets on the link, on purpose.
  private var isProvoked = false
  /// Malformed packets that wait until no operation is pending: their response would be taken for that of the operation.
  private var deferredPackets: [(channel: UInt16, payload: [UInt8])] = []
  /// No request begins before this time: a late response to malformed packets would be taken for its response.
  private var quietEnd = Instant.zero

  private var output = HostOutput()
  private var events = FIFO<CentralEvent>()
  private var isHandling = false
  /// Why its controller cannot be used; `nil` again after ``start(at:)``.
  public private(set) var failure: HostFailure?

  /// Makes one whose controller was not started.
  public init(_ settings: HostSettings, _ parameters: ConnectionParameters = ConnectionParameters()) {
    host = BluetoothHost(settings)
    self.parameters = parameters
  }

  /// How often a link is asked for once more that never came about: the packet that asks for it was lost, and the other
  /// end knows nothing of it. Hosts do so by themselves.
  private static let repeatedAttempts = 3
  /// How long the other end is listened for then; one that has gone away meanwhile is lost.
  private static let repeatedAttemptTime = Interval.seconds(3)
  /// How long the answer to something that makes no sense may take.
  private static let quietTime = Interval.milliseconds(100)
}

extension CentralSession {
  /// Whether there is neither a link nor an attempt at one.
  public var isIdle: Bool { if case .idle = state { true } else { false } }

  /// Whether a link is up.
  public var isConnected: Bool { link != nil }

  /// Whether operations can be done.
  public var isOpen: Bool { if case .open = state { true } else { false } }

  /// Whether no link, nor an attempt at one, is left that has to end.
  public var isAtRest: Bool { isIdle && disconnecting == nil && cancelledAttempts == 0 }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      guard isWaitingForQuietEnd, quietEnd < host.deadline ?? .never else { return host.deadline }
      return quietEnd
    }
  }

  /// Whether only the quiet time after malformed packets holds up what waits.
  private var isWaitingForQuietEnd: Bool { pending == nil && outgoing.isEmpty && !waiting.isEmpty }

  private var link: LinkID? {
    switch state {
    case .idle, .connecting: nil
    case .discovering(let discovery): discovery.link
    case .open(let link): link
    }
  }

  /// Takes what the controller is to get next.
  public mutating func takePacket() -> HCIPacket? { output.takePacket() }

  /// Takes all that the controller is to get.
  public mutating func takePackets() -> [HCIPacket] { output.takePackets() }

  /// Takes what happened next.
  public mutating func takeEvent() -> CentralEvent? { events.popFirst() }
}

// MARK: - What happens

extension CentralSession {
  /// Resets the controller and sets it up: links, attempts and whatever waits are forgotten.
  public mutating func start(at now: Instant) {
    forgetEverything()
    carryOut(host.start(at: now), at: now)
  }

  /// Forgets links, attempts and whatever waits: the controller is about to be started, or lost.
  public mutating func forgetEverything() {
    (cancelledAttempts, disconnecting, failure, state) = (0, nil, nil, .idle)
    output.removeAll()
    events.removeAll()
    forgetOperations()
  }

  /// Receives a packet of the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) {
    carryOut(host.receive(packet, at: now), at: now)
    endDrained(at: now)
  }

  /// Lets everything happen that was due at or before a moment.
  public mutating func advance(to now: Instant) {
    if let due = host.deadline, due <= now { carryOut(host.advance(to: now), at: now) }
    if isWaitingForQuietEnd { beginNext(at: now) }
  }

  /// Whether something was due before a moment.
  public mutating func isLate(at now: Instant) -> Bool { host.deadline.map { $0 < now } ?? false }

  /// Asks the controller for a sign of life, where nothing else is asked of it.
  public mutating func checkController(at now: Instant) {
    carryOut(host.checkController(at: now), at: now)
  }
}

// MARK: - What is asked of it

extension CentralSession {
  /// Does what its user wants done; what comes of it is an event.
  public mutating func perform(_ operation: CentralOperation, at now: Instant) {
    switch operation {
    case .scan(true):
      carryOut(host.startScanning(ScanParameters(), filterDuplicates: false, at: now), at: now)
    case .scan(false): carryOut(host.stopScanning(at: now), at: now)
    case .connect(let address, let query, let time):
      guard isIdle else { return fail(operation, "there is a link already, or an attempt") }
      peer = (address, query, time)
      state = .connecting(attemptsLeft: Self.repeatedAttempts)
      beginConnecting(at: now)
    case .disconnect: disconnect(at: now)
    case .exchangeMTU, .read, .write, .subscribe, .unsubscribe:
      if waiting.isEmpty, mayBegin(operation, at: now) {
        begin(operation, at: now)
      } else {
        waiting.append(operation)
      }
    }
  }

  /// Sends L2CAP payloads that make no sense, once no operation is under way. From then on the other end is not reproached with
  /// its answers.
  public mutating func provoke(_ packets: [(channel: UInt16, payload: [UInt8])], at now: Instant) {
    guard case .open(let link) = state else { return }
    // What was held before makes room: one provocation at a time.
    guard pending == nil, outgoing.isEmpty else { return deferredPackets = packets }
    isProvoked = true
    quietEnd = now + Self.quietTime
    for packet in packets {
      carryOut(host.sendRaw(packet.payload, onChannel: packet.channel, of: link), at: now)
    }
  }

  /// Uses the host for what a central does beside its link: advertising.
  public mutating func ask(_ body: (inout BluetoothHost) -> [HostAction], at now: Instant) {
    carryOut(body(&host), at: now)
  }

  /// Begins what waits, once nothing is under way.
  private mutating func beginNext(at now: Instant) {
    if pending == nil, outgoing.isEmpty, !deferredPackets.isEmpty {
      let packets = deferredPackets
      deferredPackets = []
      provoke(packets, at: now)
    }
    while let next = waiting.first, mayBegin(next, at: now) {
      waiting.removeFirst()
      begin(next, at: now)
    }
  }

  /// Whether an operation can be begun, or said to be impossible, now.
  private func mayBegin(_ operation: CentralOperation, at now: Instant) -> Bool {
    guard pending == nil, outgoing.isEmpty else { return false }
    return now >= quietEnd || !isRequest(operation)
  }

  private mutating func begin(_ operation: CentralOperation, at now: Instant) {
    guard case .open(let link) = state else { return fail(operation, "there is no link") }
    guard let characteristic = resolve(operation) else { return }
    begin(operation, of: characteristic, on: link, at: now)
  }

  private mutating func begin(
    _ operation: CentralOperation, of handle: AttributeHandle, on link: LinkID, at now: Instant
  ) {
    switch operation {
    case .exchangeMTU: start(.exchangeMTU, Pending(operation, handle), on: link, at: now)
    case .read: start(.read(handle), Pending(operation, handle), on: link, at: now)
    case .write(_, let value, _):
      guard value.count <= GATTDatabase.valueLimit else {
        return fail(
          operation, "a value has at most \(GATTDatabase.valueLimit) bytes, not \(value.count)")
      }
      guard !isRequest(operation) else {
        return start(.write(handle, value), Pending(operation, handle), on: link, at: now)
      }
      let room = host.mtu(of: link) - 3
      guard value.count <= room else {
        return fail(
          operation, "a write without response has at most \(room) bytes here, not \(value.count)")
      }
      outgoing.append((handle, value))
      sendWaiting(on: link, at: now)
    case .subscribe, .unsubscribe: configure(operation, of: handle, on: link, at: now)
    case .scan, .connect, .disconnect: break
    }
  }

  /// Whether the other end has to answer an operation.
  private func isRequest(_ operation: CentralOperation) -> Bool {
    guard case .write(let characteristic, _, let withResponse) = operation else { return true }
    if let withResponse { return withResponse }
    let found = profile.characteristics.first {
      switch characteristic {
      case .handle(let handle): $0.value == handle
      case .uuid(let uuid): $0.uuid == uuid
      }
    }
    return found?.properties.contains(.writeWithoutResponse) != true
  }

  private mutating func configure(
    _ operation: CentralOperation, of handle: AttributeHandle, on link: LinkID, at now: Instant
  ) {
    guard let characteristic = profile.characteristic(at: handle) else {
      return fail(operation, "no characteristic was found there")
    }
    var pending = Pending(operation, handle)
    let properties = characteristic.properties
    guard !properties.isDisjoint(with: [.notify, .indicate]) else {
      return fail(operation, "it neither notifies nor indicates")
    }
    if case .subscribe = operation {
      pending.subscription = properties.contains(.notify) ? .notifications : .indications
    }
    if let configuration = profile.configuration(of: characteristic) {
      return write(pending, to: configuration, on: link, at: now)
    }
    guard let range = profile.descriptorRange(of: characteristic) else {
      return fail(operation, "it has no configuration")
    }
    if range.first == range.last { return write(pending, to: range.first, on: link, at: now) }
    pending.isFindingConfiguration = true
    start(.discoverDescriptors(range, wanted: .clientConfiguration), pending, on: link, at: now)
  }

  private mutating func write(
    _ pending: Pending, to configuration: AttributeHandle, on link: LinkID, at now: Instant
  ) {
    var pending = pending
    pending.isFindingConfiguration = false
    let value = [UInt8(truncatingIfNeeded: pending.subscription.rawValue), 0]
    start(.write(configuration, value), pending, on: link, at: now)
  }

  private mutating func start(
    _ procedure: GATTProcedure, _ next: Pending, on link: LinkID, at now: Instant
  ) {
    let (id, actions) = host.start(procedure, on: link, at: now)
    pending = next
    pending?.id = id
    carryOut(actions, at: now)
  }

  /// The characteristic of an operation, 0 for one that is about none; an event says why there is none.
  private mutating func resolve(_ operation: CentralOperation) -> AttributeHandle? {
    switch operation.characteristic {
    case nil: return AttributeHandle(rawValue: 0)
    case .handle(let handle): return handle
    case .uuid(let uuid):
      let found = profile.characteristics.filter { $0.uuid == uuid }
      guard let first = found.first else {
        fail(operation, "no characteristic \(uuid) was found")
        return nil
      }
      guard found.count == 1 else {
        let handles = found.map { "\($0.value.rawValue)" }.joined(separator: ", ")
        fail(operation, "there are \(found.count) characteristics \(uuid), with the handles \(handles)")
        return nil
      }
      return first.value
    }
  }

  private mutating func fail(_ operation: CentralOperation, _ sentence: String) {
    events.append(.failed(operation, .impossible(sentence)))
  }

  private mutating func sendWaiting(on link: LinkID, at now: Instant) {
    while let next = outgoing.first,
      let actions = host.writeCommand(next.handle, next.value, on: link, at: now)
    {
      outgoing.removeFirst()
      carryOut(actions, at: now)
      events.append(.wrote(next.handle, withResponse: false))
    }
  }
}

extension CentralOperation {
  /// The characteristic that it is about.
  public var characteristic: Characteristic? {
    switch self {
    case .read(let it), .write(let it, _, _), .subscribe(let it), .unsubscribe(let it): it
    case .scan, .connect, .disconnect, .exchangeMTU: nil
    }
  }
}

// MARK: - The link

extension CentralSession {
  /// Connects, once nothing of an earlier link is in the way.
  private mutating func beginConnecting(at now: Instant) {
    guard case .connecting(let attemptsLeft) = state, disconnecting == nil, let peer else { return }
    let isFirst = attemptsLeft == Self.repeatedAttempts
    let time = isFirst ? peer.time : Self.repeatedAttemptTime
    carryOut(host.connect(to: peer.address, parameters, timeout: time, at: now), at: now)
  }

  private mutating func disconnect(at now: Instant) {
    let last = state
    close()
    switch last {
    case .idle: return
    case .connecting:
      // An attempt that waits for an earlier link to end was not begun.
      if disconnecting == nil {
        cancelledAttempts += 1
        carryOut(host.cancelConnecting(at: now), at: now)
      }
      events.append(.disconnected(.unknownConnection, unacknowledged: nil))
    case .discovering, .open:
      if case .discovering(let discovery) = last { disconnecting = (discovery.link, isDraining: true) }
      if case .open(let link) = last { disconnecting = (link, isDraining: true) }
      endDrained(at: now)
      events.append(.disconnected(.localHostTerminated, unacknowledged: nil))
    }
  }

  /// Ends the link that was left, once what was written before has arrived.
  private mutating func endDrained(at now: Instant) {
    guard let disconnecting, disconnecting.isDraining, host.hasSentEverything(on: disconnecting.link) else {
      return
    }
    self.disconnecting?.isDraining = false
    carryOut(host.disconnect(disconnecting.link, reason: .remoteUserTerminated, at: now), at: now)
  }

  /// Forgets what goes with a link.
  private mutating func close() {
    state = .idle
    forgetOperations()
  }

  private mutating func forgetOperations() {
    pending = nil
    waiting.removeAll()
    outgoing.removeAll()
    deferredPackets = []
    quietEnd = .zero
  }

  /// Queues the host's packets in their order, then handles its reports.
  private mutating func carryOut(_ actions: consuming [HostAction], at now: Instant) {
    output.add(actions)
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while let report = output.takeReport() { handle(report, at: now) }
  }

  private mutating func handle(_ report: HostEvent, at now: Instant) {
    switch report {
    case .ready: events.append(.ready)
    case .failed(let failure): self.failure = failure
    case .advertisement(let report): events.append(.advertisement(report))
    case .scanning(let isOn, let status): events.append(.scanning(isOn, status: status))
    case .connected(let link, _): connected(link, at: now)
    case .connectionFailed(let status):
      if cancelledAttempts > 0 {
        cancelledAttempts -= 1
        return
      }
      guard case .connecting = state else { return }
      close()
      events.append(.disconnected(status, unacknowledged: 0))
    case .disconnected(let link, let reason, let unacknowledged):
      disconnected(link, reason, unacknowledged, at: now)
    case .gatt(let link, let event): if link == self.link { handle(event, on: link, at: now) }
    case .readyToSend(let link):
      guard link == self.link else { return }
      sendWaiting(on: link, at: now)
      beginNext(at: now)
    case .protocolViolation(nil, let sentence): events.append(.controllerAnomaly(sentence))
    // The answer to something malformed may be malformed.
    case .protocolViolation where isProvoked: break
    case .protocolViolation(_, let rule): events.append(.peerViolation(rule))
    case .advertising, .timing, .dataLength: break
    }
  }

  private mutating func connected(_ link: LinkID, at now: Instant) {
    guard case .connecting(let attemptsLeft) = state, let peer else { return }
    // What was provoked on the link before may be reported until now.
    isProvoked = false
    if attemptsLeft == Self.repeatedAttempts { events.append(.connected(peer.address)) }
    discover(
      Discovery(link: link, attemptsLeft: attemptsLeft, search: ProfileDiscovery(peer.query)), at: now)
  }

  private mutating func disconnected(
    _ link: LinkID, _ reason: HCIErrorCode, _ unacknowledged: Int, at now: Instant
  ) {
    if let disconnecting, link == disconnecting.link {
      // What was written last may not have arrived, though it was left.
      let isCertain = !disconnecting.isDraining && unacknowledged == 0 && reason == .localHostTerminated
      self.disconnecting = nil
      beginConnecting(at: now)
      if !isCertain { events.append(.lastPacketsUncertain) }
      return
    }
    guard link == self.link else { return }
    if case .discovering(let discovery) = state, reason == .failedToEstablish, discovery.attemptsLeft > 0 {
      state = .connecting(attemptsLeft: discovery.attemptsLeft - 1)
      return beginConnecting(at: now)
    }
    let unsent = outgoing.count
    close()
    events.append(.disconnected(reason, unacknowledged: unacknowledged + unsent))
  }
}

// MARK: - GATT

extension CentralSession {
  /// Asks for what is to be found next; with all of it the link can be used.
  private mutating func discover(_ last: Discovery, at now: Instant) {
    var discovery = last
    guard let procedure = discovery.search.procedure else {
      profile = discovery.search.profile
      state = .open(discovery.link)
      events.append(.open(profile, gaps: discovery.search.gaps))
      for (handle, value) in discovery.early { events.append(.notified(handle, value)) }
      return
    }
    let (id, actions) = host.start(procedure, on: discovery.link, at: now)
    discovery.procedure = id
    state = .discovering(discovery)
    carryOut(actions, at: now)
  }

  private mutating func handle(_ event: GATTEvent, on link: LinkID, at now: Instant) {
    switch (state, event) {
    case (.open, .notification(let handle, let value)): events.append(.notified(handle, value))
    case (.discovering(var discovery), .notification(let handle, let value)):
      discovery.early.append((handle, value))
      state = .discovering(discovery)
    case (.discovering(let discovery), .finished(let id, let result)):
      if id == discovery.procedure { discovered(result, discovery, at: now) }
    case (_, .mtu(let mtu)): events.append(.mtu(Int(mtu)))
    case (.open, .finished(let id, let result)):
      guard let ended = pending, ended.id == id else { return }
      pending = nil
      finished(ended, result, on: link, at: now)
      beginNext(at: now)
    case (.idle, _), (.connecting, _), (.discovering, _), (.open, _): break
    }
  }

  private mutating func discovered(
    _ result: Result<GATTResult, GATTFailure>, _ last: Discovery, at now: Instant
  ) {
    var discovery = last
    let procedure = discovery.search.procedure
    do throws(GATTFailure) {
      try discovery.search.take(result)
    } catch {
      // A lost link is reported by itself.
      if error == .linkLost { return }
      if let procedure { events.append(.notDiscovered(procedure, error)) }
      return disconnect(at: now)
    }
    discover(discovery, at: now)
  }

  private mutating func finished(
    _ ended: Pending, _ result: Result<GATTResult, GATTFailure>, on link: LinkID, at now: Instant
  ) {
    let operation = ended.operation
    switch (operation, result) {
    case (_, .failure(.linkLost)), (.exchangeMTU, .success): break
    case (_, .success(.descriptors(let found))) where ended.isFindingConfiguration:
      guard let descriptor = found.first(where: { $0.uuid == .clientConfiguration }) else {
        return fail(operation, "it has no configuration")
      }
      write(ended, to: descriptor.handle, on: link, at: now)
    case (.read, .success(.value(let value))): events.append(.read(ended.handle, value))
    case (.write, .success): events.append(.wrote(ended.handle, withResponse: true))
    case (.subscribe, .success), (.unsubscribe, .success):
      events.append(.subscribed(ended.handle, ended.subscription))
    case (_, .success): fail(operation, "answered something else")
    case (_, .failure(let failure)): events.append(.failed(operation, .gatt(failure)))
    }
  }
}
