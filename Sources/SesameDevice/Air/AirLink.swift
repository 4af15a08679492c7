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
/// - What fails in discovery ends the link, with a remark that says what was missing.
/// - A link that the client ends is over for it at once, with reason 0x16, as is an attempt that it gives up, with
///   0x02.
/// - Trouble with the transport or the controller is a `LabFault`, after which every call throws the same one until
///   ``reconnect(until:)``, ``resetController(until:)`` or ``reopen(_:until:)`` has helped. Which of them is tried, and
///   when, is for whoever uses the link to say.
///
/// Each test begins with a reset of the controller, so that nothing of the test before can be heard in it.
public struct AirLink<Transport: HCITransport, Surroundings: LockSurroundings>: LockLink {
  private enum State {
    case idle
    case connecting
    case discovering(LinkID, LockDiscovery, GATTProcedureID)
    case open(LinkID, write: AttributeHandle, notify: AttributeHandle)
  }

  /// The way to the client's controller.
  public private(set) var transport: Transport
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence. Without it,
  /// a controller that froze looks like a lock that does not answer.
  public var patience: Interval?
  /// Who can do something to the lock and to the air around it.
  public internal(set) var surroundings: Surroundings

  private var host: BluetoothHost
  /// Whether the host is kept from what is due.
  private var hostOverrun = Overrun()
  private var listener: LockListener
  private var state = State.idle
  private var isListening = false
  /// The link that the client has ended, until it is over.
  private var leaving: LinkID?
  /// Whether that link is to end once the controller has sent what it has.
  private var isDraining = false
  /// How many attempts were given up of which the host has not said that they are over.
  private var givenUp = 0
  private var isSetUp = false
  private var epoch = Instant.zero
  /// When the controller said something, or was asked to.
  private var lastSign = Instant.zero
  /// What the controller's packets brought, in order.
  private var reports: [HostEvent] = []
  private var isHandling = false
  /// What the client is to hear, and how much of it has been taken.
  private var events: [LinkEvent] = []
  private var taken = 0
  /// How often an attempt may still be made again that the controller took for a link before it was one.
  private var attemptsLeft = 0
  /// Frames that came before the client could be told that the link is ready.
  private var early: [[UInt8]] = []
  /// Frames that wait for room in the host.
  private var outgoing: [[UInt8]] = []
  private var remarks: [String] = []
  /// Whether something was sent on this link that makes no sense.
  private var isProvoked = false
  private var recorder: PacketRecorder?
  /// What everything ends with until the controller is in work again.
  private var fault: LabFault?
  /// Whether the way to the controller is closed, so that nothing can be asked of it before it is opened anew.
  public private(set) var isWayLost = false

  /// Makes a link whose controller is reset when the first test begins.
  ///
  /// - Parameters:
  ///   - transport: the way to the client's controller.
  ///   - host: the settings of the client's host.
  ///   - surroundings: who brings the lock into a start condition.
  ///   - target: which lock is meant.
  public init(_ transport: Transport, host: HostSettings, surroundings: Surroundings, target: LockTarget) {
    self.transport = transport
    self.surroundings = surroundings
    self.host = BluetoothHost(host)
    listener = LockListener(target)
  }
}

extension AirLink {
  public var now: Instant { .zero + (transport.now - epoch) }

  /// What the surroundings can do, and two of the client's Bluetooth: `att`, something that makes no sense
  /// (``BluetoothNonsense``), and `unsubscribe`, which turns the lock's notifications off.
  public var faults: [String] { surroundings.faults + Self.ownFaults }

  /// The faults that are brought about by the client's Bluetooth.
  public static var ownFaults: [String] { ["att", "unsubscribe"] }

  public var stimuli: [String] { surroundings.stimuli }

  public var settings: [String] { surroundings.settings }

  public var reportsTampering: Bool { surroundings.reportsTampering }

  public var livesOn: Bool { surroundings.livesOn }

  public var isKeySure: Bool { surroundings.isKeySure }

  /// Ends whatever there is, lets the surroundings bring the lock into the condition, resets the controller and sets
  /// it up; time zero is after that.
  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    if let fault { throw fault }
    if isSetUp { try endEverything() }
    let key = try surroundings.prepare(start)
    try setUp()
    listener = LockListener(listener.target)
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
    state = .connecting
    attemptsLeft = Self.repeatedAttempts
    try beginConnecting()
  }

  public mutating func disconnect() throws(LabFault) {
    try check()
    switch state {
    case .idle:
      return
    case .connecting:
      // An attempt that waits for an earlier link to end was not begun.
      if leaving == nil {
        givenUp += 1
        try carryOut(host.cancelConnecting(at: transport.now))
      }
      events.append(.disconnected(reason: HCIErrorCode.unknownConnection.rawValue))
    case .discovering(let link, _, _), .open(let link, _, _):
      try leave(link)
      events.append(.disconnected(reason: HCIErrorCode.localHostTerminated.rawValue))
    }
    state = .idle
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) {
    try check()
    guard case .open(let link, let write, _) = state else { return }
    guard outgoing.isEmpty, let actions = host.writeCommand(write, frame, on: link, at: transport.now) else {
      outgoing.append(frame)
      return
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
        // What the surroundings did to a frame may be all that there is.
        if events.isEmpty { return nil }
        continue
      }
      isOver = overrun.isEndless(isLate: transport.now > limit, at: transport.now)
    }
  }

  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try check()
    try surroundings.perform(stimulus, arguments)
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    try check()
    if Self.ownFaults.contains(fault.name), fault.value.isNothing { return }
    switch fault.name {
    case "att": try send(BluetoothNonsense(fault))
    case "unsubscribe": try unsubscribe()
    default:
      try surroundings.bring(about: fault)
      noteTampering()
    }
  }

  public static func check(_ fault: Fault) throws(LabFault) {
    switch fault.name {
    case "att": if !fault.value.isNothing { _ = try BluetoothNonsense(fault) }
    case "unsubscribe": try fault.flag()
    default: try Surroundings.check(fault)
    }
  }

  /// Tells the client of frames that the surroundings tampered with, before what came of it.
  private mutating func noteTampering() {
    if surroundings.takeTampering() { events.append(.tampered) }
  }

  private mutating func send(_ nonsense: BluetoothNonsense) throws(LabFault) {
    guard case .open(let link, let write, let notify) = state else { return }
    isProvoked = true
    events.append(.provoked)
    // It overtakes what waits for the host, and comes between the frames of a message.
    if !outgoing.isEmpty { events.append(.tampered) }
    for (channel, payload) in nonsense.packets(write: write, notify: notify, frame: BluetoothNonsense.frame) {
      try carryOut(host.sendRaw(payload, onChannel: channel, of: link))
    }
  }

  private mutating func unsubscribe() throws(LabFault) {
    guard case .open(let link, _, let notify) = state else { return }
    isProvoked = true
    events.append(.tampered)
    // Its configuration stands right behind the value, where a service is as documented.
    let configuration = notify.rawValue + 1
    let payload = [0x52, UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8), 0, 0]
    try carryOut(host.sendRaw(payload, onChannel: L2CAPChannel.att.rawValue, of: link))
  }

  public mutating func keep(_ key: LockKey) throws(LabFault) { try surroundings.keep(key) }

  public mutating func drop(_ key: LockKey) throws(LabFault) { try surroundings.drop(key) }

  /// Resets the controller, and does no more: a way in memory needs no other help.
  public mutating func restart() throws(LabFault) {
    try resetController(until: transport.now + .seconds(10))
  }

  public mutating func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks + transport.takeRemarks()
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
    defer { remarks += transport.takeRemarks() }
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
    if let fault { throw fault }
    guard isSetUp else { throw LabFault(.notPossible, "nothing was prepared since the controller was lost") }
  }

  /// Keeps the fault, so that nothing is tried before the controller was brought back.
  private mutating func fail(_ fault: LabFault) -> LabFault {
    self.fault = fault
    return fault
  }

  private mutating func fail(_ fault: TransportFault) -> LabFault {
    switch fault.symptom {
    case .unavailable, .busy, .lost: isWayLost = true
    case .silent, .nonsense: break
    }
    return fail(LabFault(fault))
  }

  /// Resets the controller and waits until it can be used.
  private mutating func setUp(until limit: Instant = .never) throws(LabFault) {
    forgetEverything()
    try carryOut(host.start(at: transport.now))
    while !isSetUp {
      guard try step(until: limit) || transport.now < limit else {
        throw fail(LabFault(.noAnswer, "the controller was not set up in time"))
      }
    }
    events.removeAll(keepingCapacity: true)
  }

  private mutating func forgetEverything() {
    fault = nil
    isSetUp = false
    isListening = false
    givenUp = 0
    leaving = nil
    isDraining = false
    state = .idle
    events.removeAll(keepingCapacity: true)
    taken = 0
    early = []
    outgoing = []
  }

  /// Ends links and attempts, and gives the controller a few seconds to say that it did; a reset follows anyway.
  private mutating func endEverything() throws(LabFault) {
    try disconnect()
    let end = transport.now + .seconds(3)
    while givenUp > 0 || leaving != nil, transport.now < end { _ = try step(until: end) }
  }

  /// Ends a link that the client wants no more.
  private mutating func leave(_ link: LinkID) throws(LabFault) {
    leaving = link
    early = []
    outgoing = []
    isDraining = true
    try endDrained()
  }

  /// Ends the link that the client has left, once what was written before has arrived.
  private mutating func endDrained() throws(LabFault) {
    guard isDraining, let leaving, host.hasSentEverything(on: leaving) else { return }
    isDraining = false
    try carryOut(host.disconnect(leaving, reason: .remoteUserTerminated, at: transport.now))
  }

  /// Connects, once nothing of an earlier link is in the way.
  private mutating func beginConnecting() throws(LabFault) {
    guard case .connecting = state, leaving == nil, let address = listener.address else { return }
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
      isSetUp = true
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
      if link == leaving, isDraining || unacknowledged > 0 || reason != .localHostTerminated {
        events.append(.tampered)
      }
      try disconnected(link, reason, unacknowledged)
    case .gatt(let link, let event):
      try handle(event, on: link)
    case .readyToSend(let link):
      try sendWaiting(on: link)
    case .complaint(nil, let oddity):
      remarks.append("odd, of the controller: \(oddity)")
    case .complaint where isProvoked:
      // Whoever is asked nonsense may answer so.
      break
    case .complaint(_, let rule):
      remarks.append("the lock's Bluetooth broke a rule: \(rule)")
    case .scanning, .advertising, .timing, .dataLength:
      break
    }
  }

  private mutating func connected(_ link: LinkID) throws(LabFault) {
    guard case .connecting = state else { return }
    isProvoked = false
    if attemptsLeft == Self.repeatedAttempts { events.append(.connected) }
    let (procedure, actions) = host.start(LockDiscovery.first, on: link, at: transport.now)
    state = .discovering(link, LockDiscovery(), procedure)
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
    if link == leaving {
      leaving = nil
      isDraining = false
      try beginConnecting()
      return
    }
    switch state {
    case .discovering(link, _, _) where reason == .failedToEstablish && attemptsLeft > 0:
      attemptsLeft -= 1
      state = .connecting
      try beginConnecting()
    case .discovering(link, _, _), .open(link, _, _):
      events.append(
        .disconnected(reason: reason.rawValue, unacknowledged: unacknowledged + outgoing.count))
      state = .idle
      early = []
      outgoing = []
    case .idle, .connecting, .discovering, .open:
      break
    }
  }

  private mutating func handle(_ event: GATTEvent, on link: LinkID) throws(LabFault) {
    switch (state, event) {
    case (.open(link, _, let notify), .notification(let handle, let frame)):
      if handle == notify { events.append(.frame(frame)) }
    case (.discovering(link, let discovery, _), .notification(let handle, let frame)):
      if handle == discovery.notify { early.append(frame) }
    case (.discovering(link, let discovery, let procedure), .finished(let ended, let result)):
      if ended == procedure { try goOn(discovery, with: result, on: link) }
    default:
      break
    }
  }

  private mutating func goOn(
    _ discovery: LockDiscovery, with result: Result<GATTResult, GATTFailure>, on link: LinkID
  ) throws(LabFault) {
    var discovery = discovery
    switch discovery.receive(result) {
    case .procedure(let procedure):
      let (number, actions) = host.start(procedure, on: link, at: transport.now)
      state = .discovering(link, discovery, number)
      try carryOut(actions)
    case .done:
      state = .open(link, write: discovery.write, notify: discovery.notify)
      events.append(.ready)
      for frame in early { events.append(.frame(frame)) }
      early = []
    case .failed(let reason):
      // A lost link is told of by itself.
      if case .failure(.linkLost) = result { return }
      remarks.append("this is no lock that can be used: \(reason)")
      state = .idle
      try leave(link)
      events.append(.disconnected(reason: HCIErrorCode.localHostTerminated.rawValue))
    }
  }

  private mutating func sendWaiting(on link: LinkID) throws(LabFault) {
    guard case .open(link, let write, _) = state else { return }
    var sent = 0
    while sent < outgoing.count,
      let actions = host.writeCommand(write, outgoing[sent], on: link, at: transport.now)
    {
      sent += 1
      try carryOut(actions)
    }
    outgoing.removeFirst(sent)
  }
}

extension BluetoothNonsense {
  /// Reads the value of the fault `att`.
  fileprivate init(_ fault: Fault) throws(LabFault) {
    guard let known = Self(rawValue: fault.value.description) else {
      throw fault.problem(expectingOneOf: Self.allCases.map(\.rawValue))
    }
    self = known
  }
}
