import Basics
import Bluetooth
import Centrals
import Conformance
import Sesame

/// Which lock on the air a driver is for.
enum DriverTarget: Equatable {
  case address(PeerAddress)
  /// The one that advertises all of that.
  case advertising(name: String?, services: [BluetoothUUID])
}

/// A driver's link: our Bluetooth as it asks for it, operation by operation, and what comes of that, event by event.
///
///             connect            link up               all is found
///     idle ──────────▶ connecting ──────▶ discovering ───────────────▶ open
///       ▲                   │                  │                        │
///       └── disconnected ───┴──────────────────┴────────────────────────┘
///
/// After a link is up its services are found, those that the driver asked for or all, and with the event `ready` it can
/// be used; what was notified before comes behind that. Operations wait for each other where GATT has one request at a
/// time. What cannot be done is an event too: it is for the driver to say what that means.
struct DriverLink<Transport: HCITransport> {
  private enum State {
    case idle, connecting
    case discovering(Discovery)
    case open
  }

  /// What is being found, and what was notified meanwhile.
  private struct Discovery {
    var search: ProfileDiscovery
    var procedure: GATTProcedureID = 0
    var early: [(AttributeHandle, [UInt8])] = []
  }

  /// An operation of which the end is not known yet.
  private typealias Pending = (id: GATTProcedureID, kind: PendingOperation)

  private var way: CentralLink<Transport>
  private let target: DriverTarget
  private var listener: PeerListener
  private var state = State.idle
  private var wanted: [BluetoothUUID] = []
  private var services: [ProgramEvent.Service] = []
  private var pending: [Pending] = []
  /// What was asked for and is not begun: operations are done in the order in which they are asked for.
  private var waiting = FIFO<ProgramOperation>()
  /// What waits for room in the host.
  private var outgoing: [(AttributeHandle, [UInt8])] = []
  private var events = FIFO<ProgramEvent>()
  private var diagnostics: [String] = []
  private var isHandling = false
  /// Whether something was sent on this link that makes no sense.
  private var isProvoked = false
  /// Until when nothing is begun: the answer to something that makes no sense would be taken for that to an operation.
  private var quietEnd = Instant.zero
  /// What makes no sense and is sent when no operation is under way: its answer would be taken for that of the operation.
  private var heldMalformed: MalformedBluetooth?

  init(_ transport: Transport, host: HostSettings, target: DriverTarget, patience: Interval? = nil) {
    way = CentralLink(LabCentral(transport, host))
    way.central.patience = patience
    self.target = target
    listener = PeerListener(target)
  }

  /// The host on its controller.
  var central: LabCentral<Transport> {
    @inline(__always) _read { yield way.central }
    @inline(__always) _modify { yield &way.central }
  }

  var now: Instant { way.central.now }
}

// MARK: - What is asked of it

extension DriverLink {
  /// Ends whatever there is, lets the other end be made ready, and sets the controller up; time zero is after that.
  mutating func prepare(_ arrange: () throws(LabFault) -> Void) throws(LabFault) {
    try central.checkUse()
    if central.isSetUp { try way.endEverything() }
    try arrange()
    forgetEverything()
    try central.setUp()
    listener = PeerListener(target)
    central.startClock()
  }

  /// Does what a driver wants done.
  mutating func carryOut(_ operation: ProgramOperation) throws(LabFault) {
    try central.check()
    switch operation {
    case .scan(let hearing): try scan(hearing)
    case .connect(let services): try connect(services)
    case .disconnect:
      let wasIdle = way.isIdle
      let reason = try way.disconnect()
      closed()
      try handleReports()
      if !wasIdle, let reason { events.append(.disconnected(reason: reason)) }
    case .exchangeMTU, .read, .write, .subscribe, .unsubscribe:
      waiting.append(operation)
      try goOn()
    case .advertise, .set, .notify, .indicate, .reject, .meaning, .secret: break
    }
  }

  /// Begins what waits, once nothing is under way.
  private mutating func goOn() throws(LabFault) {
    if pending.isEmpty, outgoing.isEmpty, let malformed = heldMalformed {
      heldMalformed = nil
      try send(malformed)
    }
    while pending.isEmpty, outgoing.isEmpty, central.transport.now >= quietEnd,
      let operation = waiting.popFirst()
    {
      switch operation {
      case .exchangeMTU: try begin("exchangeMTU", nil) { _ in (.exchangeMTU, .mtu) }
      case .read(let place): try begin("read", place) { (.read($0.handle), .read($0)) }
      case .write(let place, let value, let withResponse, _):
        try write(place, value, withResponse: withResponse)
      case .subscribe(let place): try subscribe(place, isOn: true)
      case .unsubscribe(let place): try subscribe(place, isOn: false)
      case .scan, .connect, .disconnect, .advertise, .set, .notify, .indicate, .reject, .meaning, .secret:
        break
      }
    }
  }

  /// How many other devices than the lock are heard, while it is listened for.
  var others: Int { way.link == nil ? listener.others : 0 }

  private mutating func scan(_ hearing: ProgramOperation.Hearing) throws(LabFault) {
    let wasListening = listener.hearing != .nothing
    listener.listen(to: hearing)
    if hearing != .nothing, !wasListening {
      try carryOut(
        central.host.startScanning(ScanParameters(), filterDuplicates: false, at: central.transport.now))
    } else if hearing == .nothing, wasListening {
      try carryOut(central.host.stopScanning(at: central.transport.now))
    }
  }

  private mutating func connect(_ services: [BluetoothUUID]) throws(LabFault) {
    guard way.isIdle else { return fail("connect", nil, "there is a link already, or an attempt") }
    guard listener.address != nil else { return fail("connect", nil, "the lock was never heard") }
    wanted = services
    state = .connecting
    way.address = listener.address
    try way.connect()
    try handleReports()
  }

  /// Begins a procedure on a characteristic, or on none.
  private mutating func begin(
    _ operation: String, _ place: ProgramOperation.Place?,
    _ make: (ProgramEvent.Place) -> (GATTProcedure, PendingOperation)
  ) throws(LabFault) {
    guard case .open = state, let link = way.link else { return fail(operation, place, "there is no link") }
    var found = ProgramEvent.Place(handle: AttributeHandle(rawValue: 0))
    if let place {
      guard let one = resolve(place, for: operation) else { return }
      found = one
    }
    let (procedure, kind) = make(found)
    try start(procedure, kind, on: link)
  }

  private mutating func start(
    _ procedure: GATTProcedure, _ kind: PendingOperation, on link: LinkID
  ) throws(LabFault) {
    let (id, actions) = central.host.start(procedure, on: link, at: central.transport.now)
    pending.append((id, kind))
    try carryOut(actions)
  }

  private mutating func write(
    _ place: ProgramOperation.Place, _ value: [UInt8], withResponse: Bool?
  ) throws(LabFault) {
    guard case .open = state, let link = way.link else { return fail("write", place, "there is no link") }
    guard let found = resolve(place, for: "write") else { return }
    guard value.count <= GATTDatabase.valueLimit else {
      return fail("write", place, "a value has at most \(GATTDatabase.valueLimit) bytes, not \(value.count)")
    }
    let properties = characteristic(at: found.handle)?.properties ?? [.write]
    guard withResponse ?? !properties.contains(.writeWithoutResponse) else {
      let room = central.host.mtu(of: link) - 3
      guard value.count <= room else {
        return fail(
          "write", place, "a write without response has at most \(room) bytes here, not \(value.count)")
      }
      outgoing.append((found.handle, value))
      return try sendWaiting(on: link)
    }
    try start(.write(found.handle, value), .write(found), on: link)
  }

  private mutating func subscribe(_ place: ProgramOperation.Place, isOn: Bool) throws(LabFault) {
    let operation = isOn ? "subscribe" : "unsubscribe"
    guard case .open = state, let link = way.link else { return fail(operation, place, "there is no link") }
    guard let found = resolve(place, for: operation) else { return }
    guard let service = services.first(where: { $0.has(found.handle) }),
      let characteristic = characteristic(at: found.handle)
    else { return fail(operation, place, "no characteristic was found there") }
    var subscription: Subscription = []
    if characteristic.properties.contains(.notify) {
      subscription = .notifications
    } else if characteristic.properties.contains(.indicate) {
      subscription = .indications
    } else {
      return fail(operation, place, "it neither notifies nor indicates")
    }
    if !isOn { subscription = [] }
    // Its descriptors end where the next characteristic begins.
    let next = service.characteristics.map(\.declaration).filter { $0 > found.handle }.min()
    let first = AttributeHandle(rawValue: found.handle.rawValue &+ 1)
    let last = next.map { AttributeHandle(rawValue: $0.rawValue - 1) } ?? service.service.range.last
    guard found.handle < last, first <= last else { return fail(operation, place, "it has no configuration") }
    if first == last { return try set(subscription, of: found, at: first, on: link) }
    try start(
      .discoverDescriptors(AttributeRange(first, last), wanted: .clientConfiguration),
      .findConfiguration(found, subscription), on: link)
  }

  private mutating func set(
    _ subscription: Subscription, of place: ProgramEvent.Place, at handle: AttributeHandle, on link: LinkID
  ) throws(LabFault) {
    let value = [UInt8(truncatingIfNeeded: subscription.rawValue), 0]
    try start(.write(handle, value), .subscribe(place, subscription), on: link)
  }

  /// Sends something below GATT that makes no sense, to the first characteristics that are written to and that notify.
  mutating func send(_ malformed: MalformedBluetooth) throws(LabFault) {
    try central.check()
    guard case .open = state, let link = way.link else { return }
    guard pending.isEmpty, outgoing.isEmpty else { return heldMalformed = malformed }
    let all = services.flatMap(\.characteristics)
    let write = all.first { !$0.properties.isDisjoint(with: [.write, .writeWithoutResponse]) }
    let notify = all.first { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
    guard let write = write ?? notify, let notify = notify ?? Optional(write) else { return }
    isProvoked = true
    quietEnd = central.transport.now + .milliseconds(100)
    let noise = [UInt8](repeating: 0xFF, count: 20)
    for (channel, payload) in malformed.packets(write: write.value, notify: notify.value, frame: noise) {
      try carryOut(central.host.sendRaw(payload, onChannel: channel, of: link))
    }
  }
}

// MARK: - What comes of it

extension DriverLink {
  /// Lets time pass up to the next event, or to a limit when there is none before.
  mutating func next(until limit: Instant) throws(LabFault) -> ProgramEvent? {
    try central.check()
    let limit = central.transportTime(of: limit)
    var overrun = Overrun()
    var isOver = false
    while true {
      if let event = events.popFirst() { return event }
      guard !isOver else { return nil }
      let held = waiting.isEmpty || central.transport.now >= quietEnd ? Instant.never : quietEnd
      let step = try way.step(until: min(limit, held))
      try handleReports()
      if step == .packet { try way.endDrained() }
      if held != .never, central.transport.now >= quietEnd { try goOn() }
      // Where the lock's side has shown something, time stops before.
      let isInterrupted = central.transport.now < min(limit, held)
      if step == .none, events.isEmpty, held > limit || isInterrupted { return nil }
      isOver = overrun.isEndless(isLate: central.transport.now > limit, at: central.transport.now)
    }
  }

  /// Has the central brought back: whatever there was on it is over.
  mutating func recover<Result, Failure: Error>(
    _ body: (inout LabCentral<Transport>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { forgetEverything() }
    return try body(&central)
  }

  mutating func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + central.takeDiagnostics()
  }

  private mutating func forgetEverything() {
    way.forgetEverything()
    closed()
    listener.listen(to: .nothing)
    events.removeAll()
  }

  /// Forgets what went with a link.
  private mutating func closed() {
    state = .idle
    services = []
    pending = []
    waiting.removeAll()
    outgoing = []
    heldMalformed = nil
    quietEnd = .zero
  }

  private mutating func fail(
    _ operation: String, _ place: ProgramOperation.Place?, _ error: String, code: UInt8? = nil
  ) {
    events.append(.failed(operation: operation, place, error: error, code: code))
  }

  private func characteristic(at handle: AttributeHandle) -> DiscoveredCharacteristic? {
    for service in services {
      if let found = service.characteristics.first(where: { $0.value == handle }) { return found }
    }
    return nil
  }

  private func place(of handle: AttributeHandle) -> ProgramEvent.Place {
    ProgramEvent.Place(uuid: characteristic(at: handle)?.uuid, handle: handle)
  }

  /// What a driver names; an event says why it is none.
  private mutating func resolve(
    _ place: ProgramOperation.Place, for operation: String
  ) -> ProgramEvent.Place? {
    switch place {
    case .handle(let handle): return self.place(of: handle)
    case .characteristic(let uuid):
      let found = services.flatMap(\.characteristics).filter { $0.uuid == uuid }
      guard let one = found.first else {
        fail(operation, place, "no characteristic \(uuid) was found")
        return nil
      }
      guard found.count == 1 else {
        let handles = found.map { "\($0.value.rawValue)" }.joined(separator: ", ")
        fail(
          operation, place, "there are \(found.count) characteristics \(uuid), with the handles \(handles)")
        return nil
      }
      return ProgramEvent.Place(uuid: uuid, handle: one.value)
    }
  }

  /// Does what the host wants done: what it sends goes out in its order, then what it reports is looked at.
  private mutating func carryOut(_ actions: [HostAction]) throws(LabFault) {
    try central.carryOut(actions)
    try handleReports()
  }

  private mutating func handleReports() throws(LabFault) {
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while let report = central.takeReport() {
      for event in try way.take(report) { try handle(event) }
    }
  }

  private mutating func handle(_ event: CentralLink<Transport>.Event) throws(LabFault) {
    switch event {
    case .connected(let link, let isFirst):
      // What was provoked on the link before may be reported until now.
      isProvoked = false
      if isFirst { events.append(.connected(way.address)) }
      try discover(on: link)
    case .disconnected(let reason, _):
      closed()
      events.append(.disconnected(reason: reason))
    case .leftUnsurely: break
    case .other(let report): try handle(report)
    }
  }

  private mutating func handle(_ event: HostEvent) throws(LabFault) {
    switch event {
    case .advertisement(let report):
      guard let (data, address) = listener.hear(report) else { return }
      if way.isIdle { way.address = address }
      events.append(.heard(address, data, rssi: report.rssi))
    case .scanning(_, let status) where status != .success:
      throw central.fail(LabFault(.badAnswer, "the controller does not scan: \(status)"))
    case .gatt(let link, let event):
      if link == way.link { try handle(event, on: link) }
    case .readyToSend(let link):
      if link == way.link { try sendWaiting(on: link) }
    case .protocolViolation(nil, let what): diagnostics.append("odd, of the controller: \(what)")
    // Whoever is asked something malformed may answer so.
    case .protocolViolation where isProvoked: break
    case .protocolViolation(_, let rule): diagnostics.append("the lock's Bluetooth broke a rule: \(rule)")
    case .ready, .failed, .connected, .connectionFailed, .disconnected, .scanning, .advertising, .timing,
      .dataLength:
      break
    }
  }

  private mutating func discover(on link: LinkID) throws(LabFault) {
    services = []
    try proceed(Discovery(search: ProfileDiscovery(of: wanted, descriptors: false)), on: link)
  }

  /// Asks for what is to be found next; with all of it the link can be used.
  private mutating func proceed(_ last: Discovery, on link: LinkID) throws(LabFault) {
    var discovery = last
    guard let procedure = discovery.search.procedure else {
      diagnostics += discovery.search.gaps.map { "not found: \($0)" }
      services = discovery.search.profile.programServices
      state = .open
      way.noteEstablished()
      events.append(.ready(services))
      for (handle, value) in discovery.early { events.append(.notified(place(of: handle), value)) }
      return
    }
    let (id, actions) = central.host.start(procedure, on: link, at: central.transport.now)
    discovery.procedure = id
    state = .discovering(discovery)
    try carryOut(actions)
  }

  private mutating func handle(_ event: GATTEvent, on link: LinkID) throws(LabFault) {
    switch (state, event) {
    case (.discovering(var discovery), .notification(let handle, let value)):
      discovery.early.append((handle, value))
      state = .discovering(discovery)
    case (.discovering(let discovery), .finished(let id, let result)):
      if id == discovery.procedure { try found(result, discovery, on: link) }
    case (.open, .notification(let handle, let value)):
      events.append(.notified(place(of: handle), value))
    case (.open, .mtu(let mtu)): events.append(.mtu(Int(mtu)))
    case (.open, .finished(let id, let result)):
      guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
      try finished(pending.remove(at: index).kind, result, on: link)
      try goOn()
    default: break
    }
  }

  private mutating func found(
    _ result: Result<GATTResult, GATTFailure>, _ last: Discovery, on link: LinkID
  ) throws(LabFault) {
    var discovery = last
    do throws(GATTFailure) {
      try discovery.search.take(result)
    } catch {
      // A lost link is told of by itself.
      if error == .linkLost { return }
      diagnostics.append("its services cannot be found: \(error)")
      return try carryOut(.disconnect)
    }
    try proceed(discovery, on: link)
  }

  private mutating func finished(
    _ kind: PendingOperation, _ result: Result<GATTResult, GATTFailure>, on link: LinkID
  ) throws(LabFault) {
    switch (kind, result) {
    case (_, .failure(.linkLost)), (.mtu, .success): break
    case (.read(let place), .success(.value(let value))): events.append(.read(place, value))
    case (.write(let place), .success): events.append(.wrote(place))
    case (.subscribe(let place, let subscription), .success):
      events.append(subscription.isEmpty ? .unsubscribed(place) : .subscribed(place))
    case (.findConfiguration(let place, let subscription), .success(.descriptors(let found))):
      guard let descriptor = found.first(where: { $0.uuid == .clientConfiguration }) else {
        return fail(kind.operation, kind.place, "it has no configuration")
      }
      try set(subscription, of: place, at: descriptor.handle, on: link)
    case (_, .success): fail(kind.operation, kind.place, "answered something else")
    case (_, .failure(let failure)):
      var code: UInt8?
      if case .refused(let error, _) = failure { code = error.rawValue }
      fail(kind.operation, kind.place, "\(failure)", code: code)
    }
  }

  private mutating func sendWaiting(on link: LinkID) throws(LabFault) {
    while let (handle, value) = outgoing.first,
      let actions = central.host.writeCommand(handle, value, on: link, at: central.transport.now)
    {
      outgoing.removeFirst()
      try carryOut(actions)
    }
    try goOn()
  }
}

/// What a procedure of GATT is for.
private enum PendingOperation {
  case mtu
  case read(ProgramEvent.Place)
  case write(ProgramEvent.Place)
  /// Looking for what turns notifications on, and turning them.
  case findConfiguration(ProgramEvent.Place, Subscription)
  case subscribe(ProgramEvent.Place, Subscription)

  var operation: String {
    switch self {
    case .mtu: "exchangeMTU"
    case .read: "read"
    case .write: "write"
    case .findConfiguration(_, let subscription), .subscribe(_, let subscription):
      subscription.isEmpty ? "unsubscribe" : "subscribe"
    }
  }

  var place: ProgramOperation.Place? {
    switch self {
    case .mtu: nil
    case .read(let place), .write(let place), .findConfiguration(let place, _), .subscribe(let place, _):
      place.uuid.map { .characteristic($0) } ?? .handle(place.handle)
    }
  }
}

extension ProgramEvent.Service {
  fileprivate func has(_ handle: AttributeHandle) -> Bool {
    service.range.first <= handle && handle <= service.range.last
  }
}

extension DiscoveredProfile {
  /// The services, each with its characteristics.
  fileprivate var programServices: [ProgramEvent.Service] {
    var services: [ProgramEvent.Service] = []
    for attribute in attributes {
      switch attribute {
      case .service(let service): services.append(ProgramEvent.Service(service: service))
      case .characteristic(let characteristic, _):
        guard let index = services.lastIndex(where: { $0.has(characteristic.value) }) else { continue }
        services[index].characteristics.append(characteristic)
      case .descriptor, .unknown: break
      }
    }
    return services
  }
}
