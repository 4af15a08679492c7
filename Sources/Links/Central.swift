public import Basics
public import Bluetooth
public import Conformance

/// A central on a transport: its ``session`` with a real or emulated controller, which is reset for each test,
/// monitored, and recovered after a failure.
///
/// Pass operations to ``perform(_:)``, let time pass with ``step(until:)``, and take events from ``takeEvent()``. A
/// failure of the transport or the controller is a `LabFault`. Every call then throws the same fault until
/// ``reconnect(until:)``, ``resetController(until:)`` or ``reopen(_:until:)`` succeeds. The caller decides which of
/// them to try, and when; each of them drops all links and connection attempts.
public struct Central<Transport: HCITransport> {
  /// The state of the controller.
  private enum State {
    case reset, setUp
    /// Every call throws this fault until the controller works again.
    case failed(LabFault)
  }

  /// The outcome of a step.
  public enum Step: Sendable {
    /// Nothing: the limit was reached, or the transport returned early because the other end has an observation to
    /// report.
    case none
    /// A packet from the controller.
    case packet
    /// An action that was due.
    case due
  }

  /// The transport to the controller.
  public private(set) var transport: Transport
  /// The silence after which the central checks that the controller is alive; `nil` for a controller that cannot
  /// fail silently. Without it, a frozen controller looks like a lock that does not answer.
  public var silenceLimit: Interval?
  /// The host side of the connection to the controller.
  public private(set) var session: CentralSession
  /// Records the packets; `nil` to record nothing.
  public var recorder: PacketRecorder?
  /// Whether the transport is closed and must be reopened before anything can be sent.
  public private(set) var isTransportLost = false
  /// The last fault of the transport; `nil` if there was none, or if the controller failed instead.
  public private(set) var fault: TransportFault?

  /// Detects that received packets keep the session from its due actions.
  private var overrun = Overrun()
  private var state = State.reset
  private var epoch = Instant.zero
  /// When the controller last sent a packet or was last checked.
  private var lastActivity = Instant.zero

  /// Creates a central; the first ``setUp(until:)`` resets its controller.
  public init(_ transport: Transport, _ settings: HostSettings, silenceLimit: Interval? = nil) {
    self.transport = transport
    self.silenceLimit = silenceLimit
    session = CentralSession(settings)
  }

  /// The time since ``startClock()``.
  @inline(__always)
  public var now: Instant { .zero + (transport.now - epoch) }

  /// Converts a time of this central to the transport's time.
  public func transportTime(of moment: Instant) -> Instant { epoch + (moment - .zero) }

  /// Whether the controller is set up and has not failed since.
  public var isSetUp: Bool { if case .setUp = state { true } else { false } }

  /// Throws unless the controller is set up.
  public func check() throws(LabFault) {
    switch state {
    case .setUp: break
    case .failed(let fault): throw fault
    case .reset: throw LabFault(.notPossible, "nothing was prepared since the controller was lost")
    }
  }

  /// Throws if the controller must be recovered first.
  public func checkUse() throws(LabFault) {
    if case .failed(let fault) = state { throw fault }
  }
}

// MARK: - One test

extension Central {
  /// Resets the controller and waits until it is ready.
  public mutating func setUp(until limit: Instant = .never) throws(LabFault) {
    state = .reset
    session.start(at: transport.now)
    try flush()
    while true {
      let isOver = try step(until: limit) == .none
      while let event = session.takeEvent() {
        if event == .ready { state = .setUp }
      }
      if isSetUp { return }
      guard !isOver || transport.now < limit else {
        throw fail(LabFault(.noAnswer, "the controller was not set up in time"))
      }
    }
  }

  /// When the central must act even if the controller sends nothing, in the transport's time; `never` if it need
  /// not.
  public var deadline: Instant {
    mutating get { min(session.deadline ?? .never, silenceLimit.map { lastActivity + $0 } ?? .never) }
  }

  /// Ends all links and connection attempts, and waits up to three seconds for the controller to confirm this.
  public mutating func endLinks() throws(LabFault) {
    try checkUse()
    guard isSetUp else { return }
    try perform(.disconnect)
    let end = transport.now + .seconds(3)
    while !session.isAtRest, transport.now < end {
      _ = try step(until: end)
      while session.takeEvent() != nil {}
    }
  }

  /// Sets the current time to zero.
  public mutating func startClock() {
    epoch = transport.now
    // Recorded failures matter only until they are repaired.
    recorder?.startOver(at: epoch)
  }

  /// Starts an operation.
  public mutating func perform(_ operation: CentralOperation) throws(LabFault) {
    session.perform(operation, at: transport.now)
    try flush()
  }

  /// Sends malformed L2CAP payloads; see ``CentralSession/provoke(_:at:)``.
  public mutating func provoke(_ packets: [(channel: UInt16, payload: [UInt8])]) throws(LabFault) {
    session.provoke(packets, at: transport.now)
    try flush()
  }

  /// Lets time pass until the next packet or due action, at most until `limit`, in the transport's time.
  public mutating func step(until limit: Instant) throws(LabFault) -> Step {
    let due = session.deadline
    let check = silenceLimit.map { lastActivity + $0 }
    let packet: HCIPacket?
    do {
      packet = try transport.receive(until: min(limit, due ?? .never, check ?? .never))
    } catch {
      throw fail(error)
    }
    let now = transport.now
    if let packet {
      lastActivity = now
      recorder?.note(packet, isReceived: true, at: now)
      session.receive(packet, at: now)
      if overrun.isEndless(isLate: session.isLate(at: now), at: now) { session.advance(to: now) }
      try flush()
      return .packet
    }
    if let due, due <= now {
      session.advance(to: now)
    } else if let check, check <= now {
      lastActivity = now
      session.checkController(at: now)
    } else {
      return .none
    }
    try flush()
    return .due
  }

  /// Takes the next event.
  ///
  /// - Throws: a fault if the controller does not scan.
  public mutating func takeEvent() throws(LabFault) -> CentralEvent? {
    let event = session.takeEvent()
    if case .scanning(_, let status)? = event, status != .success {
      throw fail(LabFault(.badAnswer, "the controller does not scan: \(status)"))
    }
    return event
  }

  /// Takes the transport's diagnostics since the last call.
  public mutating func takeDiagnostics() -> [String] { transport.takeDiagnostics() }

  /// Sends the session's queued packets to the controller.
  private mutating func flush() throws(LabFault) {
    while let packet = session.takePacket() {
      do {
        try transport.send(packet)
      } catch {
        throw fail(error)
      }
      recorder?.note(packet, isReceived: false, at: transport.now)
    }
    if let failure = session.failure { throw fail(LabFault(failure)) }
  }
}

// MARK: - Recovery of the controller

extension Central {
  /// Abandons everything in progress and checks that the controller is alive. The controller must then be set up.
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

  /// Returns whether a packet is the Command Complete event of Read BD_ADDR.
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

  /// Reopens the transport, then resets the controller and sets it up. Part of the time is reserved for the setup.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(LabFault) {
    forgetEverything()
    do {
      try transport.reopen(how, until: limit - Self.setupTime)
      (isTransportLost, fault) = (false, nil)
    } catch {
      throw fail(error)
    }
    try setUp(until: max(limit, transport.now + Self.setupTime))
  }

  /// More time than a working controller needs for its setup.
  private static var setupTime: Interval { .milliseconds(1300) }

  private mutating func forgetEverything() {
    state = .reset
    session.forgetEverything()
  }

  /// Stores the fault, so that every call fails until the controller is recovered.
  private mutating func fail(_ trouble: LabFault) -> LabFault {
    state = .failed(trouble)
    return trouble
  }

  private mutating func fail(_ fault: TransportFault) -> LabFault {
    self.fault = fault
    switch fault.symptom {
    case .unavailable, .busy, .lost: isTransportLost = true
    case .silent, .malformed: break
    }
    return fail(LabFault(fault))
  }
}

/// A strategy that recovers the controller at the end of a transport.
public protocol ControllerRecovery<Transport>: AnyObject {
  /// The transport to the controller.
  associatedtype Transport: HCITransport

  /// The fault that ends every call at once when no recovery step is left.
  var fault: LabFault? { get }

  /// Tries one recovery step after another until the controller works again.
  ///
  /// - Returns: the diagnostics, one line each.
  func climb(_ central: inout Central<Transport>) -> [String]

  /// Takes the diagnostics since the last call.
  func takeDiagnostics() -> [String]
}

/// Distinguishes a backlog of packets from a controller that sends without pause.
///
/// A backlog arrived while this program was suspended, so its packets come before any due action. Packets without
/// pause must not delay due actions.
public struct Overrun: Sendable {
  private var begin: Instant?

  /// Creates a detector that has seen no delay.
  public init() {}

  /// Returns whether due actions have been late for a second, longer than it takes to process a backlog.
  public mutating func isEndless(isLate: Bool, at now: Instant) -> Bool {
    guard isLate else {
      begin = nil
      return false
    }
    let begin = begin ?? now
    self.begin = begin
    return now - begin >= .seconds(1)
  }
}
