public import Sesame
public import Bluetooth
public import Links
public import Conformance
public import Basics

/// A lock link over the air: what a ``Links/Central`` does for a Sesame client.
///
/// - It scans actively and hears one lock, the target; see ``LockTarget``.
/// - ``LinkEvent/connected`` is followed by the discovery of the lock's service with the fewest exchanges, then by
///   ``LinkEvent/ready``; what the lock notified before that comes after it, in order.
/// - What fails in discovery ends the link, with a diagnostic that says what was missing.
/// - Trouble with the transport or the controller is a `LabFault`, after which every call throws the same one until
///   the ``central`` was brought back; see ``recover(_:)``.
///
/// Each test begins with a reset of the controller, so that nothing of the test before can be heard in it.
public struct AirLink<Transport: HCITransport>: LockLink {
  /// Where frames are written to and notified from.
  private struct Characteristics {
    let write: AttributeHandle, notify: AttributeHandle
    /// Whether notifications are on, so that the client was told that the link is ready.
    var isReady = false
    /// Frames that came before that.
    var early: [[UInt8]] = []
  }

  /// The client's host on its controller.
  public internal(set) var central: Central<Transport>
  /// What can do something to the lock and to the air around it.
  public let fixture: any Fixture
  private let keys: any OwnerKeys
  public let abilities: Abilities
  public let generation: Generation?

  private var listener: LockListener
  /// What was found of the lock on the link that is up.
  private var found: Characteristics?
  private var isListening = false
  /// What the client is to hear, and how much of it has been taken.
  private var events: [LinkEvent] = []
  private var taken = 0
  private var diagnostics: [String] = []
  /// Whether a frame of this test may be tampered with of which the fixture will not tell.
  private var mayBeTampered = false
  /// Whether the fixture was given a fault in this test: without one it tampers with nothing.
  private var hasFaults = false
  /// The connections of this test: on each second one a larger MTU is asked for, as some phones do and some do not.
  private var connections = 0

  /// Makes a link whose controller is reset when the first test begins.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - host: the settings of the client's host.
  ///   - fixture: what brings the lock into a start condition.
  ///   - keys: what keeps the key of its owner.
  ///   - target: which lock is meant.
  ///   - generation: the lock's, where it is known.
  ///   - silenceLimit: after which silence the controller is asked for a sign of life; see ``Links/Central/silenceLimit``.
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

  /// What a fixture can do, and two faults of the client's Bluetooth: `att`, something that makes no sense
  /// (``MalformedBluetooth``), and `unsubscribe`, which turns the lock's notifications off.
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

  /// Ends whatever there is, lets the fixture bring the lock into the condition, resets the controller and sets
  /// it up; time zero is after that.
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

  /// Why the lock is not heard, where others are heard over the same controller: then the silence is its own.
  public var explanationOfSilence: Explanation? {
    isListening && central.session.isIdle ? .unheard(others: listener.others) : nil
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
        // What the fixture did to a frame may be all that there is.
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

  /// The faults that tamper with frames.
  private static var tamperings: [String] {
    ["drop", "corrupt", "duplicate", "delay", "lose-link", "inject", "write"]
  }

  /// Tells the client of frames that the fixture tampered with, before what came of it.
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
    // Its configuration stands right behind the value, where a service is as documented.
    let configuration = found.notify.rawValue + 1
    let payload = [0x52, UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8), 0, 0]
    try central.provoke([(L2CAPChannel.att.rawValue, payload)])
    try takeEvents()
  }

  public mutating func keep(_ key: LockKey) throws(LabFault) { try keys.keep(key) }
  public mutating func drop(_ key: LockKey) throws(LabFault) { try keys.drop(key) }

  /// Resets the controller, and does no more: a way in memory needs no other help.
  public mutating func restart() throws(LabFault) {
    defer { forgetEverything() }
    try central.resetController(until: central.transport.now + .seconds(10))
  }

  /// Has the central brought back: whatever there was on it is over.
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
    case .notDiscovered(_, let failure): diagnostics.append(Self.unusable(failure.ofLock))
    case .subscribed(_, .notifications): becomeReady()
    case .notified(let handle, let frame): receive(frame, from: handle)
    case .failed(_, let failure):
      guard found?.isReady == false else { return }
      try abandon(failure.ofLock)
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

  /// Turns the lock's notifications on, where it has what a lock has.
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

  /// Leaves a link to something that is no lock.
  private mutating func abandon(_ reason: String) throws(LabFault) {
    diagnostics.append(Self.unusable(reason))
    try perform(.disconnect)
  }

  private static func unusable(_ reason: String) -> String { "this is no lock that can be used: \(reason)" }
}

extension CentralEvent.Failure {
  /// What it says of a lock that cannot be used.
  fileprivate var ofLock: String {
    switch self {
    case .gatt(let failure): failure.ofLock
    case .impossible: "its notifications cannot be turned on"
    }
  }
}

extension GATTFailure {
  /// What it says of a lock that cannot be used.
  fileprivate var ofLock: String {
    switch self {
    case .refused(let code, let handle): "it refuses with 0x\([code.rawValue].hex) at \(handle)"
    case .badAnswer(let rule): "its answer is wrong: \(rule)"
    case .timedOut: "it does not answer"
    case .linkLost: "the link was lost"
    }
  }
}

extension MalformedBluetooth {
  /// A frame that no client with a session would send.
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
