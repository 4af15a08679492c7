public import Sesame
public import Bluetooth
public import Links
public import Conformance
public import Basics

/// A link to a lock over the air, which adapts a ``Links/Central`` for a Sesame client.
///
/// - It scans actively and reports one lock, the target; see ``LockTarget``.
/// - After ``LinkEvent/connected``, it discovers the lock's service with the fewest exchanges and then reports
///   ``LinkEvent/ready``. Earlier notifications follow that event, in order.
/// - A failed discovery ends the link, with a diagnostic that names what is missing.
/// - A failure of the transport or the controller is a `LabFault`. Every call then throws the same fault until the
///   ``central`` is recovered; see ``recover(_:)``.
///
/// Each test begins with a reset of the controller, so that it cannot receive anything of the previous test.
public struct AirLink<Transport: HCITransport>: LockLink {
  /// The characteristics to which frames are written and that notify frames.
  private struct Characteristics {
    let write: AttributeHandle, notify: AttributeHandle
    /// Whether notifications are enabled and the client has received ``LinkEvent/ready``.
    var isReady = false
    /// The frames that arrived before.
    var early: [[UInt8]] = []
  }

  /// The client's host and its controller.
  public internal(set) var central: Central<Transport>
  /// The fixture that acts on the lock and on the air around it.
  public let fixture: any Fixture
  private let keys: any OwnerKeys
  public let abilities: Abilities
  public let generation: Generation?

  private var listener: LockListener
  /// The lock's characteristics on the current link.
  private var found: Characteristics?
  private var isListening = false
  /// The client's events, and how many of them have been taken.
  private var events: [LinkEvent] = []
  private var taken = 0
  private var diagnostics: [String] = []
  /// Whether a frame of this test may be changed without a report from the fixture.
  private var mayBeTampered = false
  /// Whether the fixture has received a fault in this test: without one it changes no frames.
  private var hasFaults = false
  /// The number of connections in this test. Every second one requests a larger MTU, because only some phones do.
  private var connections = 0

  /// Creates a link; the first test resets its controller.
  ///
  /// - Parameters:
  ///   - transport: the transport to the client's controller.
  ///   - host: the settings of the client's host.
  ///   - fixture: the fixture that brings the lock into a start condition.
  ///   - keys: the store of the owner's key.
  ///   - target: identifies the lock.
  ///   - generation: the lock's generation, if known.
  ///   - silenceLimit: the silence after which the controller is checked; see ``Links/Central/silenceLimit``.
  public init(
    _ transport: Transport, host: HostSettings, fixture: any Fixture, keys: any OwnerKeys,
    target: LockTarget, generation: Generation? = nil, silenceLimit: Interval? = nil
  ) {
    central = Central(transport, host, silenceLimit: silenceLimit)
    self.fixture = fixture
    self.keys = keys
    self.generation = generation
    abilities = Self.abilities(around: fixture.abilities)
    listener = LockListener(target)
  }
}

extension AirLink {
  @inline(__always)
  public var now: Instant { central.now }

  /// Returns the abilities of a fixture, plus two faults of the client's Bluetooth: `att` sends a malformed packet
  /// (``MalformedBluetooth``), and `unsubscribe` disables the lock's notifications.
  static func abilities(around fixture: Abilities) -> Abilities {
    var abilities = fixture
    abilities.faults += ownFaults
    abilities.particulars.fault = { fault throws(LabFault) in
      switch fault.name {
      case "att": if !fault.value.isNothing { _ = try MalformedBluetooth(fault) }
      case "unsubscribe": try fault.flag()
      default: try fixture.particulars.fault(fault)
      }
    }
    return abilities
  }

  private static var ownFaults: [String] { ["att", "unsubscribe"] }

  public var isKeySure: Bool { keys.isSure }

  /// Ends all links, lets the fixture establish the start condition, and then resets and sets up the controller.
  /// Time zero is after that.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    try central.endLinks()
    try fixture.prepare(start)
    let key = keys.key
    forgetEverything()
    try central.setUp()
    listener = LockListener(listener.target)
    (mayBeTampered, hasFaults) = (false, false)
    connections = 0
    central.startClock()
    return key
  }

  public mutating func record(to recorder: PacketRecorder?) -> Bool {
    central.recorder = recorder
    return true
  }

  public mutating func listen() throws(LabFault) {
    try central.check()
    isListening = true
    listener.listenAgain()
    try perform(.scan(true))
  }

  /// Explains why the lock is not heard; see `unheard(others:isLossy:)`.
  public var explanationOfSilence: Explanation? {
    guard isListening, central.session.isIdle else { return nil }
    return .unheard(others: listener.others, isLossy: abilities.conditions.contains("loss"))
  }

  public mutating func stopListening() throws(LabFault) {
    try central.check()
    guard isListening else { return }
    isListening = false
    try perform(.scan(false))
  }

  public mutating func connect() throws(LabFault) {
    try central.check()
    guard central.session.isIdle else { return }
    guard let address = listener.address else {
      throw LabFault(.notPossible, "a lock that was never heard cannot be connected to")
    }
    let query = ProfileQuery(
      services: [SesameService.service], characteristics: [SesameService.write, SesameService.notify],
      firstOfEach: true, descriptors: false, exchangesMTU: !connections.isMultiple(of: 2))
    try perform(.connect(address, query))
  }

  public mutating func disconnect() throws(LabFault) {
    try central.check()
    try perform(.disconnect)
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    try central.check()
    guard let found, found.isReady else { return }
    try perform(.write(.handle(found.write), frame, withResponse: false))
  }

  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    try central.check()
    let limit = central.transportTime(of: limit)
    var overrun = Overrun()
    var isOver = false
    while true {
      if taken < events.count {
        taken += 1
        return events[taken - 1]
      }
      events.removeAll(keepingCapacity: true)
      taken = 0
      guard !isOver else { return nil }
      let step = try central.step(until: limit)
      noteTampering()
      try takeEvents()
      guard step != .none else {
        // The change of a frame by the fixture may be the only event.
        if events.isEmpty { return nil }
        continue
      }
      isOver = overrun.isEndless(isLate: central.transport.now > limit, at: central.transport.now)
    }
  }

  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try central.check()
    if let refusal = try fixture.perform(stimulus, arguments) { throw LabFault(.notPossible, refusal) }
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    try central.check()
    if Self.ownFaults.contains(fault.name), fault.value.isNothing { return }
    switch fault.name {
    case "att": try send(MalformedBluetooth(fault))
    case "unsubscribe": try unsubscribe()
    default:
      if !fixture.reportsTampering, Self.tamperings.contains(fault.name), !fault.value.isNothing {
        mayBeTampered = true
        events.append(.tampered)
      }
      hasFaults = true
      try fixture.bring(about: fault)
      noteTampering()
    }
  }

  /// The faults that change frames or cut the link.
  private static var tamperings: [String] {
    ["drop", "corrupt", "duplicate", "delay", "lose-link", "inject", "write"]
  }

  /// Reports frames that the fixture changed, before their consequences.
  private mutating func noteTampering() {
    if hasFaults, fixture.takeTampering() { events.append(.tampered) }
  }

  private mutating func send(_ malformed: MalformedBluetooth) throws(LabFault) {
    guard let found, found.isReady else { return }
    events.append(.provoked)
    try central.provoke(
      malformed.packets(write: found.write, notify: found.notify, frame: MalformedBluetooth.frame))
    try takeEvents()
  }

  private mutating func unsubscribe() throws(LabFault) {
    guard let found, found.isReady else { return }
    events.append(.tampered)
    // On a service as documented, the configuration descriptor directly follows the value.
    let configuration = found.notify.rawValue + 1
    let payload = [0x52, UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8), 0, 0]
    try central.provoke([(L2CAPChannel.att.rawValue, payload)])
    try takeEvents()
  }

  public mutating func keep(_ key: LockKey) throws(LabFault) { try keys.keep(key) }
  public mutating func drop(_ key: LockKey) throws(LabFault) { try keys.drop(key) }

  /// Resets the controller, which is all that a transport in memory needs.
  public mutating func restart() throws(LabFault) {
    defer { forgetEverything() }
    try central.resetController(until: central.transport.now + .seconds(10))
  }

  /// Lets `body` recover the central. All links are lost.
  public mutating func recover<Result, Failure: Error>(
    _ body: (inout Central<Transport>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { forgetEverything() }
    return try body(&central)
  }

  public mutating func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + central.takeDiagnostics()
  }
}

extension AirLink {
  private mutating func forgetEverything() {
    isListening = false
    found = nil
    events.removeAll(keepingCapacity: true)
    taken = 0
  }

  private mutating func perform(_ operation: CentralOperation) throws(LabFault) {
    try central.perform(operation)
    try takeEvents()
  }

  private mutating func takeEvents() throws(LabFault) {
    while let event = try central.takeEvent() { try handle(event) }
  }

  private mutating func handle(_ event: CentralEvent) throws(LabFault) {
    switch event {
    case .advertisement(let report):
      if isListening, let data = listener.hear(report) { events.append(.advertisement(data)) }
    case .connected:
      events += (mayBeTampered ? [.tampered] : []) + [.connected]
      connections += 1
    case .open(let profile, _): try open(profile)
    case .notDiscovered(_, let failure): diagnostics.append(Self.unusable(failure.lockProblem))
    case .subscribed(_, .notifications): becomeReady()
    case .notified(let handle, let frame): receive(frame, from: handle)
    case .failed(_, let failure):
      guard found?.isReady == false else { return }
      try abandon(failure.lockProblem)
    case .disconnected(let reason, let unacknowledged):
      found = nil
      events.append(.disconnected(reason: reason.rawValue, unacknowledged: unacknowledged))
    case .lastPacketsUncertain: events.append(.tampered)
    case .peerViolation, .controllerAnomaly: diagnostics += [event.diagnostic].compactMap(\.self)
    case .ready, .scanning, .mtu, .read, .wrote, .subscribed: break
    }
  }

  private mutating func receive(_ frame: [UInt8], from handle: AttributeHandle) {
    guard let found, found.notify == handle else { return }
    if found.isReady { events.append(.frame(frame)) } else { self.found?.early.append(frame) }
  }

  /// Enables the lock's notifications, if the device has a lock's service and characteristics.
  private mutating func open(_ profile: DiscoveredProfile) throws(LabFault) {
    func characteristic(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
      profile.characteristics.first { $0.uuid == uuid }
    }
    guard !profile.services.isEmpty else { return try abandon("it has no service \(SesameService.service)") }
    guard let write = characteristic(SesameService.write), let notify = characteristic(SesameService.notify)
    else { return try abandon("its service lacks a characteristic") }
    found = Characteristics(write: write.value, notify: notify.value)
    try perform(.subscribe(.handle(notify.value)))
  }

  private mutating func becomeReady() {
    guard let early = found?.early, found?.isReady == false else { return }
    found?.isReady = true
    found?.early = []
    events.append(.ready)
    events += early.map { .frame($0) }
  }

  /// Disconnects from a device that is not a usable lock.
  private mutating func abandon(_ reason: String) throws(LabFault) {
    diagnostics.append(Self.unusable(reason))
    try perform(.disconnect)
  }

  private static func unusable(_ reason: String) -> String { "this is no lock that can be used: \(reason)" }
}

extension CentralEvent.Failure {
  /// The reason why the lock cannot be used.
  fileprivate var lockProblem: String {
    switch self {
    case .gatt(let failure): failure.lockProblem
    case .impossible: "its notifications cannot be turned on"
    }
  }
}

extension GATTFailure {
  /// The reason why the lock cannot be used.
  fileprivate var lockProblem: String {
    switch self {
    case .refused(let code, let handle): "it refuses with 0x\([code.rawValue].hex) at \(handle)"
    case .badAnswer(let rule): "its answer is wrong: \(rule)"
    case .timedOut: "it does not answer"
    case .linkLost: "the link was lost"
    }
  }
}

extension MalformedBluetooth {
  /// A frame that no client with an open session would send.
  fileprivate static var frame: [UInt8] {
    Segmenter().frames(of: LockCommand.unlock(.absent).encoded(for: .os3), .plaintext)[0]
  }

  /// Reads the value of the fault `att`.
  fileprivate init(_ fault: Fault) throws(LabFault) {
    guard let known = Self(rawValue: fault.value.description) else {
      throw fault.problem(expectingOneOf: Self.allCases.map(\.rawValue))
    }
    self = known
  }
}
