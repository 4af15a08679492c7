public import Sesame
public import Bluetooth
public import Centrals
public import Conformance
public import Basics

/// A lock link over the air: the client's end, with a host of its own on a controller, real or emulated.
///
///                 listen          connect           link up           discovered
///     idle ──▶ idle, scanning ──▶ connecting ──▶ discovering ──────────────────▶ open
///       ▲                             │                │ not a lock                │
///       └──── disconnected ───────────┴────────────────┴───────────────────────────┘
///
/// - It scans actively and hears one lock, the target; see ``LockTarget``.
/// - Links have the least interval, 7.5 ms, no latency, and are lost after 2 s. ``LinkEvent/connected`` is followed
///   by the discovery of the lock's service with the fewest exchanges, then by ``LinkEvent/ready``; what the lock
///   notified before that comes after it, in order.
/// - What fails in discovery ends the link, with a diagnostic that says what was missing.
/// - A link that the client ends is over for it at once, with reason 0x16, as is an attempt that it gives up, with
///   0x02.
/// - Trouble with the transport or the controller is a `LabFault`, after which every call throws the same one until
///   the ``central`` was brought back; see ``recover(_:)``.
///
/// Each test begins with a reset of the controller, so that nothing of the test before can be heard in it.
public struct AirLink<Transport: HCITransport, Environment: LockEnvironment>: LockLink {
  private enum State {
    /// There is no link that can be used.
    case idle
    case discovering(Discovering)
    case open(Open)
  }

  /// A link on which the lock's service is being found.
  private struct Discovering {
    let link: LinkID
    var discovery: LockDiscovery
    var procedure: GATTProcedureID
    /// Frames that came before the client could be told that the link is ready.
    var early: [[UInt8]] = []
  }

  /// A link that the client uses.
  private struct Open {
    let link: LinkID, write: AttributeHandle, notify: AttributeHandle
    /// Frames that wait for room in the host.
    var outgoing: [[UInt8]] = []
  }

  private var way: CentralLink<Transport>
  /// Who can do something to the lock and to the air around it.
  public internal(set) var environment: Environment

  private var listener: LockListener
  private var state = State.idle
  private var isListening = false
  private var isHandling = false
  /// What the client is to hear, and how much of it has been taken.
  private var events: [LinkEvent] = []
  private var taken = 0
  private var diagnostics: [String] = []
  /// Whether a frame of this test may be tampered with of which the environment will not tell.
  private var mayBeTampered = false
  /// The connections of this test: on each second one a larger MTU is asked for, as some phones do and some do not.
  private var connections = 0
  /// Whether something was sent on this link that makes no sense.
  private var isProvoked = false

  /// Makes a link whose controller is reset when the first test begins.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - host: the settings of the client's host.
  ///   - environment: who brings the lock into a start condition.
  ///   - target: which lock is meant.
  ///   - patience: after which silence the controller is asked for a sign of life; see ``Centrals/LabCentral/patience``.
  public init(
    _ transport: Transport, host: HostSettings, environment: Environment, target: LockTarget,
    patience: Interval? = nil
  ) {
    way = CentralLink(LabCentral(transport, host))
    way.central.patience = patience
    self.environment = environment
    listener = LockListener(target)
  }
}

extension AirLink {
  /// The client's host on its controller.
  public private(set) var central: LabCentral<Transport> {
    @inline(__always) _read { yield way.central }
    @inline(__always) _modify { yield &way.central }
  }

  @inline(__always)
  public var now: Instant { central.now }

  /// What the environment can do, and two of the client's Bluetooth: `att`, something that makes no sense
  /// (``MalformedBluetooth``), and `unsubscribe`, which turns the lock's notifications off.
  public var faults: [String] { environment.faults + Self.ownFaults }

  /// The faults that are brought about by the client's Bluetooth.
  public static var ownFaults: [String] { ["att", "unsubscribe"] }

  public var stimuli: [String] { environment.stimuli }
  public var settings: [String] { environment.settings }
  public var generation: Generation? { environment.generation }
  public var livesOn: Bool { environment.livesOn }
  public var isKeySure: Bool { environment.isKeySure }

  /// Ends whatever there is, lets the environment bring the lock into the condition, resets the controller and sets
  /// it up; time zero is after that.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    try central.checkUse()
    if central.isSetUp { try endEverything() }
    let key = try environment.prepare(start)
    try setUp()
    listener = LockListener(listener.target)
    mayBeTampered = false
    connections = 0
    central.startClock()
    return key
  }

  public mutating func record(to recorder: PacketRecorder?) -> Bool {
    central.recorder = recorder
    return true
  }

  public mutating func listen() throws(LabFault) {
    try check()
    isListening = true
    listener.listenAgain()
    try carryOut(
      central.host.startScanning(ScanParameters(), filterDuplicates: false, at: central.transport.now))
  }

  /// Why the lock is not heard, where others are heard over the same controller: then the silence is its own.
  public var explanationOfSilence: Explanation? {
    isListening && way.isIdle ? .unheard(others: listener.others) : nil
  }

  public mutating func stopListening() throws(LabFault) {
    try check()
    guard isListening else { return }
    isListening = false
    try carryOut(central.host.stopScanning(at: central.transport.now))
  }

  public mutating func connect() throws(LabFault) {
    try check()
    guard way.isIdle else { return }
    guard listener.address != nil else {
      throw LabFault(.notPossible, "a lock that was never heard cannot be connected to")
    }
    way.address = listener.address
    try way.connect()
    try handleReports()
  }

  public mutating func disconnect() throws(LabFault) {
    try check()
    state = .idle
    guard let reason = try way.disconnect() else { return }
    try handleReports()
    events.append(.disconnected(reason: reason))
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    try check()
    guard case .open(var open) = state else { return }
    guard open.outgoing.isEmpty,
      let actions = central.host.writeCommand(open.write, frame, on: open.link, at: central.transport.now)
    else {
      open.outgoing.append(frame)
      return state = .open(open)
    }
    try carryOut(actions)
  }

  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    try check()
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
      guard try step(until: limit) != .none else {
        // What the environment did to a frame may be all that there is.
        if events.isEmpty { return nil }
        continue
      }
      isOver = overrun.isEndless(isLate: central.transport.now > limit, at: central.transport.now)
    }
  }

  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try check()
    try environment.perform(stimulus, arguments)
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    try check()
    if Self.ownFaults.contains(fault.name), fault.value.isNothing { return }
    switch fault.name {
    case "att": try send(MalformedBluetooth(fault))
    case "unsubscribe": try unsubscribe()
    default:
      if !environment.reportsTampering, Self.tamperings.contains(fault.name), !fault.value.isNothing {
        mayBeTampered = true
        events.append(.tampered)
      }
      try environment.bring(about: fault)
      noteTampering()
    }
  }

  public static func check(_ fault: Fault) throws(LabFault) {
    switch fault.name {
    case "att": if !fault.value.isNothing { _ = try MalformedBluetooth(fault) }
    case "unsubscribe": try fault.flag()
    default: try Environment.check(fault)
    }
  }

  /// The faults that tamper with frames.
  private static var tamperings: [String] {
    ["drop", "corrupt", "duplicate", "delay", "lose-link", "inject", "write"]
  }

  /// Tells the client of frames that the environment tampered with, before what came of it.
  private mutating func noteTampering() {
    if environment.takeTampering() { events.append(.tampered) }
  }

  private mutating func send(_ malformed: MalformedBluetooth) throws(LabFault) {
    guard case .open(let open) = state else { return }
    isProvoked = true
    events.append(.provoked)
    // It overtakes what waits for the host, and comes between the frames of a message.
    if !open.outgoing.isEmpty { events.append(.tampered) }
    let packets = malformed.packets(write: open.write, notify: open.notify, frame: MalformedBluetooth.frame)
    for (channel, payload) in packets {
      try carryOut(central.host.sendRaw(payload, onChannel: channel, of: open.link))
    }
  }

  private mutating func unsubscribe() throws(LabFault) {
    guard case .open(let open) = state else { return }
    isProvoked = true
    events.append(.tampered)
    // Its configuration stands right behind the value, where a service is as documented.
    let configuration = open.notify.rawValue + 1
    let payload = [0x52, UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8), 0, 0]
    try carryOut(central.host.sendRaw(payload, onChannel: L2CAPChannel.att.rawValue, of: open.link))
  }

  public mutating func keep(_ key: LockKey) throws(LabFault) { try environment.keep(key) }
  public mutating func drop(_ key: LockKey) throws(LabFault) { try environment.drop(key) }

  /// Resets the controller, and does no more: a way in memory needs no other help.
  public mutating func restart() throws(LabFault) {
    defer { forgetEverything() }
    try central.resetController(until: central.transport.now + .seconds(10))
  }

  /// Has the central brought back: whatever there was on it is over.
  public mutating func recover<Result, Failure: Error>(
    _ body: (inout LabCentral<Transport>) throws(Failure) -> Result
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
  private func check() throws(LabFault) { try central.check() }

  /// Resets the controller and waits until it can be used.
  private mutating func setUp() throws(LabFault) {
    forgetEverything()
    try central.setUp()
  }

  private mutating func forgetEverything() {
    isListening = false
    way.forgetEverything()
    state = .idle
    events.removeAll(keepingCapacity: true)
    taken = 0
  }

  /// Ends links and attempts, and gives the controller a few seconds to say that it did; a reset follows anyway.
  private mutating func endEverything() throws(LabFault) {
    state = .idle
    try way.endEverything()
  }

  /// Lets time pass up to the next packet or to what the host has to do next.
  private mutating func step(until limit: Instant) throws(LabFault) -> LabCentral<Transport>.Step {
    let step = try way.step(until: limit)
    noteTampering()
    try handleReports()
    if step == .packet { try way.endDrained() }
    return step
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
}

extension AirLink {
  private mutating func handle(_ event: CentralLink<Transport>.Event) throws(LabFault) {
    switch event {
    case .connected(let link, let isFirst): try connected(link, isFirst: isFirst)
    case .disconnected(let reason, let unacknowledged):
      var unsent = 0
      if case .open(let open) = state { unsent = open.outgoing.count }
      state = .idle
      events.append(.disconnected(reason: reason, unacknowledged: unacknowledged + unsent))
    case .leftUnsurely: events.append(.tampered)
    case .other(let report): try handle(report)
    }
  }

  private mutating func handle(_ event: HostEvent) throws(LabFault) {
    switch event {
    case .advertisement(let report):
      guard isListening, let data = listener.hear(report) else { return }
      way.address = listener.address
      events.append(.advertisement(data))
    case .scanning(_, let status) where status != .success:
      throw central.fail(LabFault(.badAnswer, "the controller does not scan: \(status)"))
    case .gatt(let link, let event):
      try handle(event, on: link)
    case .readyToSend(let link):
      try sendWaiting(on: link)
    case .protocolViolation(nil, let undefinedRequest):
      diagnostics.append("odd, of the controller: \(undefinedRequest)")
    case .protocolViolation where isProvoked:
      // Whoever is asked something malformed may answer so.
      break
    case .protocolViolation(_, let rule):
      diagnostics.append("the lock's Bluetooth broke a rule: \(rule)")
    case .ready, .failed, .connected, .connectionFailed, .disconnected, .scanning, .advertising, .timing,
      .dataLength:
      break
    }
  }

  private mutating func connected(_ link: LinkID, isFirst: Bool) throws(LabFault) {
    isProvoked = false
    if isFirst {
      events += (mayBeTampered ? [.tampered] : []) + [.connected]
      connections += 1
    }
    let discovery = LockDiscovery(asksForMTU: connections.isMultiple(of: 2))
    let (procedure, actions) = central.host.start(discovery.first, on: link, at: central.transport.now)
    state = .discovering(Discovering(link: link, discovery: discovery, procedure: procedure))
    try carryOut(actions)
  }

  private mutating func handle(_ event: GATTEvent, on link: LinkID) throws(LabFault) {
    switch (state, event) {
    case (.open(let open), .notification(let handle, let frame)):
      if open.link == link, open.notify == handle { events.append(.frame(frame)) }
    case (.discovering(var it), .notification(let handle, let frame)):
      guard it.link == link, it.discovery.notify == handle else { return }
      it.early.append(frame)
      state = .discovering(it)
    case (.discovering(let it), .finished(let ended, let result)):
      if it.link == link, it.procedure == ended { try goOn(it, with: result) }
    case (.idle, _), (.discovering, _), (.open, _): break
    }
  }

  private mutating func goOn(
    _ last: Discovering, with result: Result<GATTResult, GATTFailure>
  ) throws(LabFault) {
    var it = last
    switch it.discovery.receive(result) {
    case .procedure(let procedure):
      let (number, actions) = central.host.start(procedure, on: it.link, at: central.transport.now)
      it.procedure = number
      state = .discovering(it)
      try carryOut(actions)
    case .done:
      state = .open(Open(link: it.link, write: it.discovery.write, notify: it.discovery.notify))
      way.noteEstablished()
      events.append(.ready)
      events += it.early.map { .frame($0) }
    case .failed(let reason):
      // A lost link is told of by itself.
      if case .failure(.linkLost) = result { return }
      diagnostics.append("this is no lock that can be used: \(reason)")
      try disconnect()
    }
  }

  private mutating func sendWaiting(on link: LinkID) throws(LabFault) {
    guard case .open(var open) = state, open.link == link, !open.outgoing.isEmpty else { return }
    var sent = 0
    while sent < open.outgoing.count,
      let actions = central.host.writeCommand(
        open.write, open.outgoing[sent], on: link, at: central.transport.now)
    {
      sent += 1
      try carryOut(actions)
    }
    open.outgoing.removeFirst(sent)
    state = .open(open)
  }
}

extension MalformedBluetooth {
  /// Reads the value of the fault `att`.
  fileprivate init(_ fault: Fault) throws(LabFault) {
    guard let known = Self(rawValue: fault.value.description) else {
      throw fault.problem(expectingOneOf: Self.allCases.map(\.rawValue))
    }
    self = known
  }
}

extension Explanation {
  /// That a lock is silent by itself, since others are heard over the same controller; `nil` where none is.
  public static func unheard(others count: Int) -> Explanation? {
    guard count > 0 else { return nil }
    let others = count == 1 ? "another device was" : "\(count) other devices were"
    return Explanation(
      "unheard", "the lock was not heard, and \(others), over the same controller", isOfDevice: true)
  }
}
