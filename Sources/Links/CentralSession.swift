public import Basics
public import Bluetooth

/// A GATT client in the Central role with at most one link: it scans, connects to a peripheral, discovers its profile,
/// and performs operations one by one.
///
///                connect            link up               discovery complete
///     idle ──▶ connecting ──────▶ discovering ───────────────────────▶ open
///       ▲        ▲     │               │  0x3E: failed to be established  │
///       │        └─────┼───────────────┘                                  │
///       └───────── disconnect, failed, disconnected ──────────────────────┘
///
/// - By default, links have the minimum connection interval of 7.5 ms, a peripheral latency of 0, and a supervision
///   timeout of 2 s.
/// - The session retries a connection that failed to be established (0x3E; Core 5.4, Vol 6 Part B §4.5).
/// - The session reports a requested disconnection at once. The reason is 0x16 (Connection Terminated by Local Host)
///   for a link, and 0x02 (Unknown Connection Identifier) for a connection attempt. The session then still delivers
///   earlier writes before it ends the link, and starts no new connection until the link has ended.
/// - If discovery fails, the session disconnects.
///
/// The type does no I/O and reads no clock: feed it the packets of the controller with their times, send the
/// controller the packets from ``takePacket()``, and take events from ``takeEvent()``. When ``deadline`` has come,
/// call ``advance(to:)``.
public struct CentralSession: Sendable {
  private enum State {
    case idle
    /// With the remaining number of retries for a link that failed to be established (0x3E).
    case connecting(retriesLeft: Int)
    case discovering(Discovery)
    case open(LinkID)
  }

  /// A discovery in progress on a link, and the notifications that arrived meanwhile.
  private struct Discovery {
    let link: LinkID
    var retriesLeft: Int
    var profileDiscovery: ProfileDiscovery
    var procedure: GATTProcedureID = 0
    var earlyNotifications: [(AttributeHandle, [UInt8])] = []
  }

  /// An operation in progress on the link.
  private struct OngoingOperation {
    let operation: CentralOperation
    let handle: AttributeHandle
    var id: GATTProcedureID = 0
    /// The value of the Client Characteristic Configuration descriptor once the procedure succeeds. The session may
    /// have to discover the descriptor first.
    var subscription = Subscription()
    var isDiscoveringConfiguration = false

    init(_ operation: CentralOperation, _ handle: AttributeHandle) {
      (self.operation, self.handle) = (operation, handle)
    }
  }

  private var host: BluetoothHost
  private let parameters: ConnectionParameters
  private var state = State.idle
  /// The peer of the current link or connection attempt, what to discover there, and the timeout of the attempt.
  private var peer: (address: PeerAddress, query: ProfileQuery, timeout: Interval)?
  /// The link that is being disconnected, and whether the session still waits for queued packets before it disconnects.
  private var disconnecting: (link: LinkID, isDraining: Bool)?
  /// The number of cancelled attempts that the host has not confirmed yet.
  private var cancelledAttempts = 0
  /// The profile discovered on the open link or, without one, on the previous link.
  public private(set) var profile = DiscoveredProfile()

  private var ongoing: OngoingOperation?
  /// The requested operations that have not started yet, in order.
  private var queuedOperations = FIFO<CentralOperation>()
  /// Writes without response that wait until the host can send them.
  private var queuedWrites = FIFO<(handle: AttributeHandle, value: [UInt8])>()
  /// Whether this session has sent malformed packets, intentionally, since the link was connected.
  private var hasSentMalformedPackets = false
  /// Malformed packets that wait until no operation is in progress: otherwise the response to them could be mistaken
  /// for the response to the operation.
  private var deferredPackets: [(channel: UInt16, payload: [UInt8])] = []
  /// The time before which no request is sent: a late response to malformed packets would be taken for its response.
  private var quietPeriodEnd = Instant.zero

  private var output = HostOutput()
  private var events = FIFO<CentralEvent>()
  private var isHandling = false
  /// Why the controller cannot be used; ``start(at:)`` resets it to `nil`.
  public private(set) var failure: HostFailure?

  /// Creates a session whose controller has not been started.
  public init(_ settings: HostSettings, _ parameters: ConnectionParameters = ConnectionParameters()) {
    host = BluetoothHost(settings)
    self.parameters = parameters
  }

  /// The maximum number of retries of a link that failed to be established: the CONNECT_IND packet was lost, so the
  /// peer knows nothing of the link. Common Bluetooth hosts retry on their own, too.
  private static let maximumRetries = 3
  /// The timeout of each retry: if the peer does not advertise any more, the link is reported as disconnected.
  private static let retryTimeout = Interval.seconds(3)
  /// How long to wait for responses to malformed packets.
  private static let quietPeriod = Interval.milliseconds(100)
}

extension CentralSession {
  /// Whether there is neither a link nor a connection attempt.
  public var isIdle: Bool { if case .idle = state { true } else { false } }

  /// Whether a link is up.
  public var isConnected: Bool { link != nil }

  /// Whether the link is ready for operations.
  public var isOpen: Bool { if case .open = state { true } else { false } }

  /// Whether the session is idle, and no disconnection and no cancellation is pending.
  public var isAtRest: Bool { isIdle && disconnecting == nil && cancelledAttempts == 0 }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      guard isWaitingForQuietPeriod, quietPeriodEnd < host.deadline ?? .never else { return host.deadline }
      return quietPeriodEnd
    }
  }

  /// Whether queued operations wait only for the quiet period after malformed packets.
  private var isWaitingForQuietPeriod: Bool {
    ongoing == nil && queuedWrites.isEmpty && !queuedOperations.isEmpty
  }

  private var link: LinkID? {
    switch state {
    case .idle, .connecting: nil
    case .discovering(let discovery): discovery.link
    case .open(let link): link
    }
  }

  /// Removes and returns the next packet for the controller.
  public mutating func takePacket() -> HCIPacket? { output.takePacket() }

  /// Removes and returns all packets for the controller.
  public mutating func takePackets() -> [HCIPacket] { output.takePackets() }

  /// Removes and returns the oldest event.
  public mutating func takeEvent() -> CentralEvent? { events.popFirst() }
}

// MARK: - Inputs

extension CentralSession {
  /// Resets the controller and sets it up. Drops links, connection attempts and queued operations.
  public mutating func start(at now: Instant) {
    forgetEverything()
    carryOut(host.start(at: now), at: now)
  }

  /// Drops links, connection attempts and queued operations; to be called before the controller is started, or after
  /// it was lost.
  public mutating func forgetEverything() {
    (cancelledAttempts, disconnecting, failure, state) = (0, nil, nil, .idle)
    output.removeAll()
    events.removeAll()
    forgetOperations()
  }

  /// Receives a packet from the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) {
    carryOut(host.receive(packet, at: now), at: now)
    disconnectIfDrained(at: now)
  }

  /// Handles everything that is due at or before `now`.
  public mutating func advance(to now: Instant) {
    if let due = host.deadline, due <= now { carryOut(host.advance(to: now), at: now) }
    if isWaitingForQuietPeriod { beginNext(at: now) }
  }

  /// Returns whether a deadline before `now` was missed.
  public mutating func isLate(at now: Instant) -> Bool { host.deadline.map { $0 < now } ?? false }

  /// Sends a command to check that the controller responds, unless a command is already pending.
  public mutating func checkController(at now: Instant) {
    carryOut(host.checkController(at: now), at: now)
  }
}

// MARK: - Operations

extension CentralSession {
  /// Starts or queues an operation; an event reports its outcome.
  public mutating func perform(_ operation: CentralOperation, at now: Instant) {
    switch operation {
    case .scan(true):
      carryOut(host.startScanning(ScanParameters(), filterDuplicates: false, at: now), at: now)
    case .scan(false): carryOut(host.stopScanning(at: now), at: now)
    case .connect(let address, let query, let timeout):
      guard isIdle else { return fail(operation, "already connected or connecting") }
      peer = (address, query, timeout)
      state = .connecting(retriesLeft: Self.maximumRetries)
      beginConnecting(at: now)
    case .disconnect: disconnect(at: now)
    case .exchangeMTU, .read, .write, .subscribe, .unsubscribe:
      if queuedOperations.isEmpty, canBegin(operation, at: now) {
        begin(operation, at: now)
      } else {
        queuedOperations.append(operation)
      }
    }
  }

  /// Sends malformed L2CAP payloads as soon as no operation is in progress. From then on until the next link, the
  /// session does not report protocol violations by the peer.
  public mutating func provoke(_ packets: [(channel: UInt16, payload: [UInt8])], at now: Instant) {
    guard case .open(let link) = state else { return }
    // New packets replace deferred ones: at most one set is deferred.
    guard ongoing == nil, queuedWrites.isEmpty else { return deferredPackets = packets }
    hasSentMalformedPackets = true
    quietPeriodEnd = now + Self.quietPeriod
    for packet in packets {
      carryOut(host.sendRaw(packet.payload, onChannel: packet.channel, of: link), at: now)
    }
  }

  /// Performs a task of the host that does not concern the link, such as advertising.
  public mutating func ask(_ body: (inout BluetoothHost) -> [HostAction], at now: Instant) {
    carryOut(body(&host), at: now)
  }

  /// Sends deferred packets, and starts queued operations, while no operation is in progress.
  private mutating func beginNext(at now: Instant) {
    if ongoing == nil, queuedWrites.isEmpty, !deferredPackets.isEmpty {
      let packets = deferredPackets
      deferredPackets = []
      provoke(packets, at: now)
    }
    while let next = queuedOperations.first, canBegin(next, at: now) {
      queuedOperations.removeFirst()
      begin(next, at: now)
    }
  }

  /// Returns whether an operation can be started or rejected now, and need not be queued.
  private func canBegin(_ operation: CentralOperation, at now: Instant) -> Bool {
    guard ongoing == nil, queuedWrites.isEmpty else { return false }
    return now >= quietPeriodEnd || !isRequest(operation)
  }

  private mutating func begin(_ operation: CentralOperation, at now: Instant) {
    guard case .open(let link) = state else { return fail(operation, "not connected") }
    guard let handle = valueHandle(of: operation) else { return }
    begin(operation, of: handle, on: link, at: now)
  }

  private mutating func begin(
    _ operation: CentralOperation, of handle: AttributeHandle, on link: LinkID, at now: Instant
  ) {
    switch operation {
    case .exchangeMTU: start(.exchangeMTU, OngoingOperation(operation, handle), on: link, at: now)
    case .read: start(.read(handle), OngoingOperation(operation, handle), on: link, at: now)
    case .write(_, let value, _):
      guard value.count <= GATTDatabase.valueLimit else {
        return fail(
          operation, "the value has \(value.count) bytes; the maximum is \(GATTDatabase.valueLimit)")
      }
      guard !isRequest(operation) else {
        return start(.write(handle, value), OngoingOperation(operation, handle), on: link, at: now)
      }
      let room = host.mtu(of: link) - 3
      guard value.count <= room else {
        return fail(
          operation,
          "the value has \(value.count) bytes; Write Without Response takes at most \(room) at this ATT_MTU")
      }
      queuedWrites.append((handle, value))
      sendQueuedWrites(on: link, at: now)
    case .subscribe, .unsubscribe: configure(operation, of: handle, on: link, at: now)
    case .scan, .connect, .disconnect: break
    }
  }

  /// Returns whether the peer must respond to an operation.
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
    var ongoing = OngoingOperation(operation, handle)
    let properties = characteristic.properties
    guard !properties.isDisjoint(with: [.notify, .indicate]) else {
      return fail(operation, "the characteristic supports neither notifications nor indications")
    }
    if case .subscribe = operation {
      ongoing.subscription = properties.contains(.notify) ? .notifications : .indications
    }
    if let configuration = profile.configuration(of: characteristic) {
      return write(ongoing, to: configuration, on: link, at: now)
    }
    guard let range = profile.descriptorRange(of: characteristic) else {
      return fail(operation, "the characteristic has no Client Characteristic Configuration descriptor")
    }
    if range.first == range.last { return write(ongoing, to: range.first, on: link, at: now) }
    ongoing.isDiscoveringConfiguration = true
    start(.discoverDescriptors(range, wanted: .clientConfiguration), ongoing, on: link, at: now)
  }

  private mutating func write(
    _ ongoing: OngoingOperation, to configuration: AttributeHandle, on link: LinkID, at now: Instant
  ) {
    var ongoing = ongoing
    ongoing.isDiscoveringConfiguration = false
    let value = [UInt8(truncatingIfNeeded: ongoing.subscription.rawValue), 0]
    start(.write(configuration, value), ongoing, on: link, at: now)
  }

  private mutating func start(
    _ procedure: GATTProcedure, _ next: OngoingOperation, on link: LinkID, at now: Instant
  ) {
    let (id, actions) = host.start(procedure, on: link, at: now)
    ongoing = next
    ongoing?.id = id
    carryOut(actions, at: now)
  }

  /// Returns the value handle of an operation's characteristic, or 0 if the operation has none. If the characteristic
  /// cannot be found, appends a failure event and returns `nil`.
  private mutating func valueHandle(of operation: CentralOperation) -> AttributeHandle? {
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

  private mutating func fail(_ operation: CentralOperation, _ reason: String) {
    events.append(.failed(operation, .impossible(reason)))
  }

  private mutating func sendQueuedWrites(on link: LinkID, at now: Instant) {
    while let next = queuedWrites.first,
      let actions = host.writeCommand(next.handle, next.value, on: link, at: now)
    {
      queuedWrites.removeFirst()
      carryOut(actions, at: now)
      events.append(.wrote(next.handle, withResponse: false))
    }
  }
}

extension CentralOperation {
  /// The characteristic on which the operation acts; `nil` if it acts on none.
  public var characteristic: Characteristic? {
    switch self {
    case .read(let characteristic), .write(let characteristic, _, _), .subscribe(let characteristic),
      .unsubscribe(let characteristic):
      characteristic
    case .scan, .connect, .disconnect, .exchangeMTU: nil
    }
  }
}

// MARK: - The link

extension CentralSession {
  /// Starts the requested connection. If the previous link is still ending, does nothing: the connection is started
  /// when that link has ended.
  private mutating func beginConnecting(at now: Instant) {
    guard case .connecting(let retriesLeft) = state, disconnecting == nil, let peer else { return }
    let isFirst = retriesLeft == Self.maximumRetries
    let timeout = isFirst ? peer.timeout : Self.retryTimeout
    carryOut(host.connect(to: peer.address, parameters, timeout: timeout, at: now), at: now)
  }

  private mutating func disconnect(at now: Instant) {
    let previous = state
    resetToIdle()
    switch previous {
    case .idle: return
    case .connecting:
      // An attempt that waits for an earlier link to end has not started yet.
      if disconnecting == nil {
        cancelledAttempts += 1
        carryOut(host.cancelConnecting(at: now), at: now)
      }
      events.append(.disconnected(.unknownConnection, unacknowledged: nil))
    case .discovering, .open:
      if case .discovering(let discovery) = previous { disconnecting = (discovery.link, isDraining: true) }
      if case .open(let link) = previous { disconnecting = (link, isDraining: true) }
      disconnectIfDrained(at: now)
      events.append(.disconnected(.localHostTerminated, unacknowledged: nil))
    }
  }

  /// If the peer has received all earlier writes, disconnects the link in ``disconnecting``.
  private mutating func disconnectIfDrained(at now: Instant) {
    guard let disconnecting, disconnecting.isDraining, host.hasSentEverything(on: disconnecting.link) else {
      return
    }
    self.disconnecting?.isDraining = false
    carryOut(host.disconnect(disconnecting.link, reason: .remoteUserTerminated, at: now), at: now)
  }

  /// Drops the state of the link or connection attempt, and all operations.
  private mutating func resetToIdle() {
    state = .idle
    forgetOperations()
  }

  private mutating func forgetOperations() {
    ongoing = nil
    queuedOperations.removeAll()
    queuedWrites.removeAll()
    deferredPackets = []
    quietPeriodEnd = .zero
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
      resetToIdle()
      events.append(.disconnected(status, unacknowledged: 0))
    case .disconnected(let link, let reason, let unacknowledged):
      disconnected(link, reason, unacknowledged, at: now)
    case .gatt(let link, let event): if link == self.link { handle(event, on: link, at: now) }
    case .readyToSend(let link):
      guard link == self.link else { return }
      sendQueuedWrites(on: link, at: now)
      beginNext(at: now)
    case .protocolViolation(nil, let sentence): events.append(.controllerAnomaly(sentence))
    // The answer to a malformed packet may itself be malformed.
    case .protocolViolation where hasSentMalformedPackets: break
    case .protocolViolation(_, let rule): events.append(.peerViolation(rule))
    case .advertising, .timing, .dataLength: break
    }
  }

  private mutating func connected(_ link: LinkID, at now: Instant) {
    guard case .connecting(let retriesLeft) = state, let peer else { return }
    // Until now, the peer's violations could be caused by malformed packets on the previous link.
    hasSentMalformedPackets = false
    if retriesLeft == Self.maximumRetries { events.append(.connected(peer.address)) }
    let profileDiscovery = ProfileDiscovery(peer.query)
    discover(
      Discovery(link: link, retriesLeft: retriesLeft, profileDiscovery: profileDiscovery), at: now)
  }

  private mutating func disconnected(
    _ link: LinkID, _ reason: HCIErrorCode, _ unacknowledged: Int, at now: Instant
  ) {
    if let disconnecting, link == disconnecting.link {
      // The last writes have certainly arrived only if all were acknowledged, and the link then ended as requested
      // (0x16).
      let isCertain = !disconnecting.isDraining && unacknowledged == 0 && reason == .localHostTerminated
      self.disconnecting = nil
      beginConnecting(at: now)
      if !isCertain { events.append(.lastPacketsUncertain) }
      return
    }
    guard link == self.link else { return }
    if case .discovering(let discovery) = state, reason == .failedToEstablish, discovery.retriesLeft > 0 {
      state = .connecting(retriesLeft: discovery.retriesLeft - 1)
      return beginConnecting(at: now)
    }
    let unsent = queuedWrites.count
    resetToIdle()
    events.append(.disconnected(reason, unacknowledged: unacknowledged + unsent))
  }
}

// MARK: - GATT

extension CentralSession {
  /// Starts the next discovery procedure; opens the link when discovery is complete.
  private mutating func discover(_ previous: Discovery, at now: Instant) {
    var discovery = previous
    guard let procedure = discovery.profileDiscovery.procedure else {
      profile = discovery.profileDiscovery.profile
      state = .open(discovery.link)
      events.append(.open(profile, gaps: discovery.profileDiscovery.gaps))
      for (handle, value) in discovery.earlyNotifications { events.append(.notified(handle, value)) }
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
      discovery.earlyNotifications.append((handle, value))
      state = .discovering(discovery)
    case (.discovering(let discovery), .finished(let id, let result)):
      if id == discovery.procedure { discovered(result, discovery, at: now) }
    case (_, .mtu(let mtu)): events.append(.mtu(Int(mtu)))
    case (.open, .finished(let id, let result)):
      guard let ended = ongoing, ended.id == id else { return }
      ongoing = nil
      finished(ended, result, on: link, at: now)
      beginNext(at: now)
    case (.idle, _), (.connecting, _), (.discovering, _), (.open, _): break
    }
  }

  private mutating func discovered(
    _ result: Result<GATTResult, GATTFailure>, _ previous: Discovery, at now: Instant
  ) {
    var discovery = previous
    let procedure = discovery.profileDiscovery.procedure
    do throws(GATTFailure) {
      try discovery.profileDiscovery.take(result)
    } catch {
      // The host reports a lost link in a separate event.
      if error == .linkLost { return }
      if let procedure { events.append(.notDiscovered(procedure, error)) }
      return disconnect(at: now)
    }
    discover(discovery, at: now)
  }

  private mutating func finished(
    _ ended: OngoingOperation, _ result: Result<GATTResult, GATTFailure>, on link: LinkID, at now: Instant
  ) {
    let operation = ended.operation
    switch (operation, result) {
    case (_, .failure(.linkLost)), (.exchangeMTU, .success): break
    case (_, .success(.descriptors(let found))) where ended.isDiscoveringConfiguration:
      guard let descriptor = found.first(where: { $0.uuid == .clientConfiguration }) else {
        return fail(operation, "the characteristic has no Client Characteristic Configuration descriptor")
      }
      write(ended, to: descriptor.handle, on: link, at: now)
    case (.read, .success(.value(let value))): events.append(.read(ended.handle, value))
    case (.write, .success): events.append(.wrote(ended.handle, withResponse: true))
    case (.subscribe, .success), (.unsubscribe, .success):
      events.append(.subscribed(ended.handle, ended.subscription))
    case (_, .success): fail(operation, "unexpected response to the procedure")
    case (_, .failure(let failure)): events.append(.failed(operation, .gatt(failure)))
    }
  }
}
