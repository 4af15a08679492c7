import Basics
import Bluetooth
import Conformance
import Links

/// The link of a driver: performs its operations with a ``Links/Central``, and returns the events for it.
///
/// An operation that is impossible is an event, too: the driver decides what it means.
struct DriverLink<Transport: HCITransport> {
  /// The host on its controller.
  var central: Central<Transport>
  private let target: DriverTarget
  private var listener: PeerListener
  private var events = FIFO<ProgramEvent>()
  private var diagnostics: [String] = []

  init(_ transport: Transport, host: HostSettings, target: DriverTarget, silenceLimit: Interval? = nil) {
    central = Central(transport, host, silenceLimit: silenceLimit)
    self.target = target
    listener = PeerListener(target)
  }

  var now: Instant { central.now }

  /// The number of other devices that were heard while the driver scans for the lock.
  var others: Int { central.session.isConnected ? 0 : listener.others }
}

// MARK: - Operations

extension DriverLink {
  /// Ends all links, prepares the other end, and sets the controller up; time zero is after that.
  mutating func prepare(_ arrange: () throws(LabFault) -> Void) throws(LabFault) {
    try central.endLinks()
    try arrange()
    forgetEverything()
    try central.setUp()
    listener = PeerListener(target)
    central.startClock()
  }

  /// Performs an operation of the driver.
  mutating func carryOut(_ operation: ProgramOperation) throws(LabFault) {
    try central.check()
    switch operation {
    case .scan(let hearing):
      let wasListening = listener.hearing != .nothing
      listener.listen(to: hearing)
      if (hearing != .nothing) != wasListening { try perform(.scan(hearing != .nothing)) }
    case .connect(let services):
      guard let address = listener.address else {
        return events.append(.failed("connect", nil, .impossible("the lock was never heard")))
      }
      try perform(.connect(address, ProfileQuery(services: services, descriptors: false)))
    case .disconnect: try perform(.disconnect)
    case .central(let operation, _): try perform(operation)
    case .advertise, .set, .notify, .indicate, .reject, .meaning, .secret: break
    }
  }

  /// Sends malformed packets below GATT to the first characteristics that support writing and notifying.
  mutating func send(_ malformed: MalformedBluetooth) throws(LabFault) {
    try central.check()
    guard central.session.isOpen else { return }
    let all = central.session.profile.characteristics
    let write = all.first { !$0.properties.isDisjoint(with: [.write, .writeWithoutResponse]) }
    let notify = all.first { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
    guard let write = write ?? notify, let notify = notify ?? Optional(write) else { return }
    let noise = [UInt8](repeating: 0xFF, count: 20)
    try central.provoke(malformed.packets(write: write.value, notify: notify.value, frame: noise))
    try takeEvents()
  }

  private mutating func perform(_ operation: CentralOperation) throws(LabFault) {
    try central.perform(operation)
    try takeEvents()
  }
}

// MARK: - Events

extension DriverLink {
  /// Lets time pass up to the next event, or to a limit. An observation of the lock's side stops time earlier.
  mutating func next(until limit: Instant) throws(LabFault) -> ProgramEvent? {
    try central.check()
    let limit = central.transportTime(of: limit)
    var overrun = Overrun()
    var isOver = false
    while true {
      if let event = events.popFirst() { return event }
      guard !isOver else { return nil }
      let step = try central.step(until: limit)
      try takeEvents()
      if step == .none, events.isEmpty { return nil }
      isOver = overrun.isEndless(isLate: central.transport.now > limit, at: central.transport.now)
    }
  }

  /// Recovers the central: all of its connections are over.
  mutating func recover<Result, Failure: Error>(
    _ body: (inout Central<Transport>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { forgetEverything() }
    return try body(&central)
  }

  mutating func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + central.takeDiagnostics()
  }

  private mutating func forgetEverything() {
    listener.listen(to: .nothing)
    events.removeAll()
  }

  private mutating func takeEvents() throws(LabFault) {
    while let event = try central.takeEvent() { handle(event) }
  }

  private mutating func handle(_ event: CentralEvent) {
    switch event {
    case .advertisement(let report):
      guard let (data, address) = listener.hear(report) else { return }
      events.append(.heard(address, data, rssi: report.rssi))
    case .connected(let address): events.append(.connected(address))
    case .open(let profile, let gaps):
      diagnostics += gaps.map { "not found: \($0)" }
      events.append(.ready(profile))
    case .notDiscovered(_, let failure): diagnostics.append("its services cannot be found: \(failure)")
    case .mtu(let mtu): events.append(.mtu(mtu))
    case .notified(let handle, let value): events.append(.notified(place(of: handle), value))
    case .read(let handle, let value): events.append(.read(place(of: handle), value))
    case .wrote(let handle, withResponse: true): events.append(.wrote(place(of: handle)))
    case .subscribed(let handle, []): events.append(.unsubscribed(place(of: handle)))
    case .subscribed(let handle, _): events.append(.subscribed(place(of: handle)))
    case .failed(let operation, let failure):
      events.append(.failed(operation.name, named(operation.characteristic, failure), failure))
    case .disconnected(let reason, let unacknowledged):
      events.append(.disconnected(reason, unacknowledged: unacknowledged))
    case .peerViolation, .controllerAnomaly: diagnostics += [event.diagnostic].compactMap(\.self)
    case .ready, .scanning, .wrote, .lastPacketsUncertain: break
    }
  }

  private func place(of handle: AttributeHandle) -> ProgramEvent.Place {
    ProgramEvent.Place(uuid: central.session.profile.characteristic(at: handle)?.uuid, handle: handle)
  }

  /// Returns the name of the characteristic of a failed operation: its UUID if the operation started, else the name in
  /// the request.
  private func named(
    _ characteristic: CentralOperation.Characteristic?, _ failure: CentralEvent.Failure
  ) -> CentralOperation.Characteristic? {
    guard case .gatt = failure, case .handle(let handle)? = characteristic,
      let uuid = central.session.profile.characteristic(at: handle)?.uuid
    else { return characteristic }
    return .uuid(uuid)
  }
}

extension CentralOperation {
  /// The name in a program's line.
  fileprivate var name: String {
    switch self {
    case .scan: "scan"
    case .connect: "connect"
    case .disconnect: "disconnect"
    case .exchangeMTU: "exchangeMTU"
    case .read: "read"
    case .write: "write"
    case .subscribe: "subscribe"
    case .unsubscribe: "unsubscribe"
    }
  }
}
