public import Sesame
public import Bluetooth
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
///   ``reconnect(until:)``, ``resetController(until:)`` or ``reopen(_:until:)`` has helped. Which of them is tried, and
///   when, is for whoever uses the link to say.
///
/// Each test begins with a reset of the controller, so that nothing of the test before can be heard in it.
public struct AirLink<Transport: HCITransport, Environment: LockEnvironment>: LockLink {
  private enum State {
    case idle
    /// With how often an attempt may still be made again that the controller took for a link before it was one.
    case connecting(attemptsLeft: Int)
    case discovering(Discovering)
    case open(Open)
  }

  /// A link on which the lock's service is being found.
  private struct Discovering {
    let link: LinkID
    var discovery = LockDiscovery()
    var procedure: GATTProcedureID
    let attemptsLeft: Int
    /// Frames that came before the client could be told that the link is ready.
    var early: [[UInt8]] = []
  }

  /// A link that the client uses.
  private struct Open {
    let link: LinkID, write: AttributeHandle, notify: AttributeHandle
    /// Frames that wait for room in the host.
    var outgoing: [[UInt8]] = []
  }

  /// How it is with the controller.
  private enum Controller {
    case reset, setUp
    /// What everything ends with until it is in work again.
    case failed(LabFault)
  }

  /// The way to the client's controller.
  public private(set) var transport: Transport
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence. Without it,
  /// a controller that froze looks like a lock that does not answer.
  public var patience: Interval?
  /// Who can do something to the lock and to the air around it.
  public internal(set) var environment: Environment

  private var host: BluetoothHost
  /// Whether the host is kept from what is due.
  private var hostOverrun = Overrun()
  private var listener: LockListener
  private var state = State.idle
  private var isListening = false
  /// The link that the client has ended, until it is over, and whether it is to end once the controller has sent what it has.
  private var leaving: (link: LinkID, isDraining: Bool)?
  /// How many attempts were given up of which the host has not said that they are over.
  private var givenUp = 0
  private var controller = Controller.reset
  private var epoch = Instant.zero
  /// When the controller said something, or was asked to.
  private var lastSign = Instant.zero
  /// What the controller's packets brought, in order.
  private var reports: [HostEvent] = []
  private var isHandling = false
  /// What the client is to hear, and how much of it has been taken.
  private var events: [LinkEvent] = []
  private var taken = 0
  private var diagnostics: [String] = []
  /// Whether a frame of this test may be tampered with of which the environment will not tell.
  private var mayBeTampered = false
  /// Whether something was sent on this link that makes no sense.
  private var isProvoked = false
  private var recorder: PacketRecorder?
  /// Whether the way to the controller is closed, so that nothing can be asked of it before it is opened anew.
  public private(set) var isWayLost = false

  /// Makes a link whose controller is reset when the first test begins.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - host: the settings of the client's host.
  ///   - environment: who brings the lock into a start condition.
  ///   - target: which lock is meant.
  public init(_ transport: Transport, host: HostSettings, environment: Environment, target: LockTarget) {
    self.transport = transport
    self.environment = environment
    self.host = BluetoothHost(host)
    listener = LockListener(target)
  }
}

extension AirLink {
  public var now: Instant { .zero + (transport.now - epoch) }

  /// What the environment can do, and two of the client's Bluetooth: `att`, something that makes no sense
  /// (``MalformedBluetooth``), and `unsubscribe`, which turns the lock's notifications off.
  public var faults: [String] { environment.faults + Self.ownFaults }

  /// The faults that are brought about by the client's Bluetooth.
  public static var ownFaults: [String] { ["att", "unsubscribe"] }

  public var stimuli: [String] { environment.stimuli }
  public var settings: [String] { environment.settings }
  public var livesOn: Bool { environment.livesOn }
  public var isKeySure: Bool { environment.isKeySure }

  /// Ends whatever there is, lets the environment bring the lock into the condition, resets the controller and sets
  /// it up; time zero is after that.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    switch controller {
    case .failed(let fault): throw fault
    case .setUp: try endEverything()
    case .reset: break
    }
    let key = try environment.prepare(start)
    try setUp()
    listener = LockListener(listener.target)
    mayBeTampered = false
    epoch = transport.now
    // What went wrong before is of interest only while it is not put right.
    recorder?.startOver(at: epoch)
    return key
  }

  public mutating func record(to recorder: PacketRecorder?) -> Bool {
    self.recorder = recorder
    return true
  }

  public mutating func listen() throws(LabFault) {
    try check()
    isListening = true
    listener.listenAgain()
    try carryOut(host.startScanning(ScanParameters(), filterDuplicates: false, at: transport.now))
  }

  public mutating func stopListening() throws(LabFault) {
    try check()
    guard isListening else { return }
    isListening = false
    try carryOut(host.stopScanning(at: transport.now))
  }

  public mutating func connect() throws(LabFault) {
    try check()
    guard case .idle = state else { return }
    guard listener.address != nil else {
      throw LabFault(.notPossible, "a lock that was never heard cannot be connected to")
    }
    state = .connecting(attemptsLeft: Self.repeatedAttempts)
    try beginConnecting()
  }

  public mutating func disconnect() throws(LabFault) {
    try check()
    let last = state
    state = .idle
    switch last {
    case .idle: break
    case .connecting:
      // An attempt that waits for an earlier link to end was not begun.
      if leaving == nil {
        givenUp += 1
        try carryOut(host.cancelConnecting(at: transport.now))
      }
      events.append(.disconnected(reason: HCIErrorCode.unknownConnection.rawValue))
    case .discovering(let discovering): try leave(discovering.link)
    case .open(let open): try leave(open.link)
    }
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    try check()
    guard case .open(var open) = state else { return }
    guard open.outgoing.isEmpty,
      let actions = host.writeCommand(open.write, frame, on: open.link, at: transport.now)
    else {
      open.outgoing.append(frame)
      return state = .open(open)
    }
    try carryOut(actions)
  }

  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    try check()
    let limit = epoch + (limit - .zero)
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
      guard try step(until: limit) else {
        // What the environment did to a frame may be all that there is.
        if events.isEmpty { return nil }
        continue
      }
      isOver = overrun.isEndless(isLate: transport.now > limit, at: transport.now)
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
      try carryOut(host.sendRaw(payload, onChannel: channel, of: open.link))
    }
  }

  private mutating func unsubscribe() throws(LabFault) {
    guard case .open(let open) = state else { return }
    isProvoked = true
    events.append(.tampered)
    // Its configuration stands right behind the value, where a service is as documented.
    let configuration = open.notify.rawValue + 1
    let payload = [0x52, UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8), 0, 0]
    try carryOut(host.sendRaw(payload, onChannel: L2CAPChannel.att.rawValue, of: open.link))
  }

  public mutating func keep(_ key: LockKey) throws(LabFault) { try environment.keep(key) }
  public mutating func drop(_ key: LockKey) throws(LabFault) { try environment.drop(key) }

  /// Resets the controller, and does no more: a way in memory needs no other help.
  public mutating func restart() throws(LabFault) {
    try resetController(until: transport.now + .seconds(10))
  }

  public mutating func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + transport.takeDiagnostics()
  }
}

// MARK: - Bringing the controller back

extension AirLink {
  /// Gives up everything under way, and asks the controller for a sign of life. After that a test has to be prepared.
  public mutating func reconnect(until limit: Instant) throws(LabFault) {
    forgetEverything()
    let question = HCICommand.readBDADDR().packet
    do {
      try transport.send(question)
      recorder?.note(question, isReceived: false, at: transport.now)
      while transport.now < limit {
        guard let packet = try transport.receive(until: limit) else { continue }
        recorder?.note(packet, isReceived: true, at: transport.now)
        if Self.isAnswer(packet) { return }
      }
    } catch {
      throw fail(error)
    }
    throw fail(LabFault(.noAnswer, "the controller gives no sign of life"))
  }

  /// Whether a packet is Command Complete of Read BD_ADDR.
  private static func isAnswer(_ packet: HCIPacket) -> Bool {
    guard case .event(let code, let parameters) = packet,
      case .commandComplete(_, HCICommand.readBDADDR.opcode, _)? = try? HCIEvent(
        code: code, parameters: parameters)
    else { return false }
    return true
  }

  /// Resets the controller and sets it up.
  public mutating func resetController(until limit: Instant) throws(LabFault) {
    try setUp(until: limit)
  }

  /// Opens the way to the controller anew, resets that and sets it up. A part of the time is kept for setting it up.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(LabFault) {
    forgetEverything()
    defer { diagnostics += transport.takeDiagnostics() }
    do {
      try transport.reopen(how, until: limit - Self.settingUp)
      isWayLost = false
    } catch {
      throw fail(error)
    }
    try setUp(until: max(limit, transport.now + Self.settingUp))
  }

  /// As long as a controller that works needs to be set up, and more.
  private static var settingUp: Interval { .milliseconds(1300) }
}

/// Tells what arrived while this program was held up, and is heard before anything that is due by now, from a
/// controller that talks without a pause, for which nothing that is due may wait.
private struct Overrun {
  private var begin: Instant?

  /// Whether everything has been late for longer than it takes to catch up.
  mutating func isEndless(isLate: Bool, at now: Instant) -> Bool {
    guard isLate else {
      begin = nil
      return false
    }
    let begin = begin ?? now
    self.begin = begin
    return now - begin >= .seconds(1)
  }
}

extension AirLink {
  private func check() throws(LabFault) {
    switch controller {
    case .setUp: break
    case .failed(let fault): throw fault
    case .reset: throw LabFault(.notPossible, "nothing was prepared since the controller was lost")
    }
  }

  /// Keeps the fault, so that nothing is tried before the controller was brought back.
  private mutating func fail(_ fault: LabFault) -> LabFault {
    controller = .failed(fault)
    return fault
  }

  private mutating func fail(_ fault: TransportFault) -> LabFault {
    switch fault.symptom {
    case .unavailable, .busy, .lost: isWayLost = true
    case .silent, .malformed: break
    }
    return fail(LabFault(fault))
  }

  /// Resets the controller and waits until it can be used.
  private mutating func setUp(until limit: Instant = .never) throws(LabFault) {
    forgetEverything()
    try carryOut(host.start(at: transport.now))
    while case .reset = controller {
      guard try step(until: limit) || transport.now < limit else {
        throw fail(LabFault(.noAnswer, "the controller was not set up in time"))
      }
    }
    events.removeAll(keepingCapacity: true)
  }

  private mutating func forgetEverything() {
    controller = .reset
    isListening = false
    givenUp = 0
    leaving = nil
    state = .idle
    events.removeAll(keepingCapacity: true)
    taken = 0
  }

  /// Ends links and attempts, and gives the controller a few seconds to say that it did; a reset follows anyway.
  private mutating func endEverything() throws(LabFault) {
    try disconnect()
    let end = transport.now + .seconds(3)
    while givenUp > 0 || leaving != nil, transport.now < end { _ = try step(until: end) }
  }

  /// Ends a link that the client wants no more.
  private mutating func leave(_ link: LinkID) throws(LabFault) {
    leaving = (link, isDraining: true)
    try endDrained()
    events.append(.disconnected(reason: HCIErrorCode.localHostTerminated.rawValue))
  }

  /// Ends the link that the client has left, once what was written before has arrived.
  private mutating func endDrained() throws(LabFault) {
    guard let leaving, leaving.isDraining, host.hasSentEverything(on: leaving.link) else { return }
    self.leaving?.isDraining = false
    try carryOut(host.disconnect(leaving.link, reason: .remoteUserTerminated, at: transport.now))
  }

  /// Connects, once nothing of an earlier link is in the way.
  private mutating func beginConnecting() throws(LabFault) {
    guard case .connecting(let attemptsLeft) = state, leaving == nil, let address = listener.address else {
      return
    }
    let isFirst = attemptsLeft == Self.repeatedAttempts
    let time = isFirst ? Interval.forever : Self.repeatedAttemptTime
    try carryOut(host.connect(to: address, ConnectionParameters(), timeout: time, at: transport.now))
  }

  /// Lets time pass up to the next packet or to what the host has to do next; false at the limit.
  private mutating func step(until limit: Instant) throws(LabFault) -> Bool {
    let due = host.deadline
    let check = patience.map { lastSign + $0 }
    let packet: HCIPacket?
    do {
      packet = try transport.receive(until: min(limit, due ?? .never, check ?? .never))
    } catch {
      throw fail(error)
    }
    let now = transport.now
    noteTampering()
    if let packet {
      lastSign = now
      recorder?.note(packet, isReceived: true, at: now)
      try carryOut(host.receive(packet, at: now))
      try endDrained()
      if hostOverrun.isEndless(isLate: host.deadline.map { $0 < now } ?? false, at: now) {
        try carryOut(host.advance(to: now))
      }
    } else if let due, due <= now {
      try carryOut(host.advance(to: now))
    } else if let check, check <= now {
      lastSign = now
      try carryOut(host.checkController(at: now))
    } else {
      return false
    }
    return true
  }

  /// Does what the host wants done: what it sends goes out in its order, then what it reports is looked at.
  private mutating func carryOut(_ actions: [HostAction]) throws(LabFault) {
    for action in actions {
      switch action {
      case .transmit(let packet):
        do {
          try transport.send(packet)
          recorder?.note(packet, isReceived: false, at: transport.now)
        } catch {
          throw fail(error)
        }
      case .report(let event):
        reports.append(event)
      }
    }
    guard !isHandling else { return }
    isHandling = true
    defer {
      reports.removeAll(keepingCapacity: true)
      isHandling = false
    }
    var handled = 0
    while handled < reports.count {
      handled += 1
      try handle(reports[handled - 1])
    }
  }
}

extension AirLink {
  /// How often a link is asked for once more that never came about: the packet that asks for it was lost, and the lock
  /// knows nothing of it (0x3E; Core 5.4, Vol 6 Part B §4.5). Hosts do so by themselves.
  private static var repeatedAttempts: Int { 3 }

  /// How long the lock is listened for then; one that has gone away meanwhile is lost.
  private static var repeatedAttemptTime: Interval { .seconds(3) }

  private mutating func handle(_ event: HostEvent) throws(LabFault) {
    switch event {
    case .ready:
      controller = .setUp
    case .failed(let failure):
      throw fail(LabFault(failure))
    case .advertisement(let report):
      if isListening, let data = listener.hear(report) { events.append(.advertisement(data)) }
    case .scanning(_, let status) where status != .success:
      throw fail(LabFault(.badAnswer, "the controller does not scan: \(status)"))
    case .connected(let link, _):
      try connected(link)
    case .connectionFailed(let status):
      notConnected(status)
    case .disconnected(let link, let reason, let unacknowledged):
      // What was written last may not have arrived, though the client has left.
      if let leaving, link == leaving.link,
        leaving.isDraining || unacknowledged > 0 || reason != .localHostTerminated
      {
        events.append(.tampered)
      }
      try disconnected(link, reason, unacknowledged)
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
    case .scanning, .advertising, .timing, .dataLength:
      break
    }
  }

  private mutating func connected(_ link: LinkID) throws(LabFault) {
    guard case .connecting(let attemptsLeft) = state else { return }
    isProvoked = false
    if attemptsLeft == Self.repeatedAttempts { events += (mayBeTampered ? [.tampered] : []) + [.connected] }
    let (procedure, actions) = host.start(LockDiscovery.first, on: link, at: transport.now)
    state = .discovering(Discovering(link: link, procedure: procedure, attemptsLeft: attemptsLeft))
    try carryOut(actions)
  }

  private mutating func notConnected(_ status: HCIErrorCode) {
    if givenUp > 0 {
      givenUp -= 1
    } else if case .connecting = state {
      state = .idle
      events.append(.disconnected(reason: status.rawValue))
    }
  }

  private mutating func disconnected(
    _ link: LinkID, _ reason: HCIErrorCode, _ unacknowledged: Int
  ) throws(LabFault) {
    if link == leaving?.link {
      leaving = nil
      return try beginConnecting()
    }
    let unsent: Int
    switch state {
    case .discovering(let it) where it.link == link && reason == .failedToEstablish && it.attemptsLeft > 0:
      state = .connecting(attemptsLeft: it.attemptsLeft - 1)
      return try beginConnecting()
    case .discovering(let it) where it.link == link: unsent = 0
    case .open(let open) where open.link == link: unsent = open.outgoing.count
    case .idle, .connecting, .discovering, .open: return
    }
    state = .idle
    events.append(.disconnected(reason: reason.rawValue, unacknowledged: unacknowledged + unsent))
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
    case (.idle, _), (.connecting, _), (.discovering, _), (.open, _): break
    }
  }

  private mutating func goOn(
    _ last: Discovering, with result: Result<GATTResult, GATTFailure>
  ) throws(LabFault) {
    var it = last
    switch it.discovery.receive(result) {
    case .procedure(let procedure):
      let (number, actions) = host.start(procedure, on: it.link, at: transport.now)
      it.procedure = number
      state = .discovering(it)
      try carryOut(actions)
    case .done:
      state = .open(Open(link: it.link, write: it.discovery.write, notify: it.discovery.notify))
      events.append(.ready)
      events += it.early.map { .frame($0) }
    case .failed(let reason):
      // A lost link is told of by itself.
      if case .failure(.linkLost) = result { return }
      diagnostics.append("this is no lock that can be used: \(reason)")
      state = .idle
      try leave(it.link)
    }
  }

  private mutating func sendWaiting(on link: LinkID) throws(LabFault) {
    guard case .open(var open) = state, open.link == link, !open.outgoing.isEmpty else { return }
    var sent = 0
    while sent < open.outgoing.count,
      let actions = host.writeCommand(open.write, open.outgoing[sent], on: link, at: transport.now)
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
