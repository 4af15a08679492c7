public import Basics
public import Bluetooth
public import Conformance

/// A central on a transport: its ``session`` with a controller, real or emulated, that is set up afresh for each test, watched,
/// and brought back when it fails.
///
/// Hand it operations with ``perform(_:)``, let time pass with ``step(until:)``, and take what happened from ``takeEvent()``.
/// Trouble with the transport or the controller is a `LabFault`, after which every call throws the same one until
/// ``reconnect(until:)``, ``resetController(until:)`` or ``reopen(_:until:)`` has helped. The user decides which of them is
/// tried, and when; links and attempts are gone with each.
public struct Central<Transport: HCITransport> {
  /// How it is with the controller.
  private enum State {
    case reset, setUp
    /// What everything ends with until it is in work again.
    case failed(LabFault)
  }

  /// What a step was about.
  public enum Step: Sendable {
    /// Nothing: the limit has come, or the transport stopped before it, since the other end has something to show.
    case none
    /// A packet of the controller.
    case packet
    /// Something that was due.
    case due
  }

  /// The way to the controller.
  public private(set) var transport: Transport
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence. Without it,
  /// a controller that froze looks like a lock that does not answer.
  public var silenceLimit: Interval?
  /// What it does with its controller.
  public private(set) var session: CentralSession
  /// Notes its packets, where they are wanted.
  public var recorder: PacketRecorder?
  /// Whether the way to the controller is closed, so that nothing can be asked of it before it is opened again.
  public private(set) var isTransportLost = false
  /// What was wrong with the way to the controller last; `nil` where that was the controller's, or nothing.
  public private(set) var fault: TransportFault?

  /// Whether the session is kept from what is due.
  private var overrun = Overrun()
  private var state = State.reset
  private var epoch = Instant.zero
  /// When the controller said something, or was asked to.
  private var lastSign = Instant.zero

  /// Makes a central whose controller is reset when it is set up first.
  public init(_ transport: Transport, _ settings: HostSettings, silenceLimit: Interval? = nil) {
    self.transport = transport
    self.silenceLimit = silenceLimit
    session = CentralSession(settings)
  }

  /// The time since ``startClock()``.
  @inline(__always)
  public var now: Instant { .zero + (transport.now - epoch) }

  /// The moment of the transport's time that is one of ours.
  public func transportTime(of moment: Instant) -> Instant { epoch + (moment - .zero) }

  /// Whether the controller was set up and nothing was wrong with it since.
  public var isSetUp: Bool { if case .setUp = state { true } else { false } }

  /// Throws when nothing can be asked of the controller.
  public func check() throws(LabFault) {
    switch state {
    case .setUp: break
    case .failed(let fault): throw fault
    case .reset: throw LabFault(.notPossible, "nothing was prepared since the controller was lost")
    }
  }

  /// Throws when the controller has to be brought back first.
  public func checkUse() throws(LabFault) {
    if case .failed(let fault) = state { throw fault }
  }
}

// MARK: - One test

extension Central {
  /// Resets the controller and waits until it can be used.
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

  /// When there is something to do without a packet of the controller, in the transport's time; never where there is nothing.
  public var deadline: Instant {
    mutating get { min(session.deadline ?? .never, silenceLimit.map { lastSign + $0 } ?? .never) }
  }

  /// Ends links and attempts, after which the controller has a few seconds to say that they are over.
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

  /// Counts time from now on.
  public mutating func startClock() {
    epoch = transport.now
    // What went wrong before is of interest only while it is not put right.
    recorder?.startOver(at: epoch)
  }

  /// Has an operation done.
  public mutating func perform(_ operation: CentralOperation) throws(LabFault) {
    session.perform(operation, at: transport.now)
    try flush()
  }

  /// Sends L2CAP payloads that make no sense; see ``CentralSession/provoke(_:at:)``.
  public mutating func provoke(_ packets: [(channel: UInt16, payload: [UInt8])]) throws(LabFault) {
    session.provoke(packets, at: transport.now)
    try flush()
  }

  /// Lets time pass up to the next packet or to what is due next, in the transport's time.
  public mutating func step(until limit: Instant) throws(LabFault) -> Step {
    let due = session.deadline
    let check = silenceLimit.map { lastSign + $0 }
    let packet: HCIPacket?
    do {
      packet = try transport.receive(until: min(limit, due ?? .never, check ?? .never))
    } catch {
      throw fail(error)
    }
    let now = transport.now
    if let packet {
      lastSign = now
      recorder?.note(packet, isReceived: true, at: now)
      session.receive(packet, at: now)
      if overrun.isEndless(isLate: session.isLate(at: now), at: now) { session.advance(to: now) }
      try flush()
      return .packet
    }
    if let due, due <= now {
      session.advance(to: now)
    } else if let check, check <= now {
      lastSign = now
      session.checkController(at: now)
    } else {
      return .none
    }
    try flush()
    return .due
  }

  /// Takes what happened next.
  ///
  /// - Throws: a fault where the controller does not scan.
  public mutating func takeEvent() throws(LabFault) -> CentralEvent? {
    let event = session.takeEvent()
    if case .scanning(_, let status)? = event, status != .success {
      throw fail(LabFault(.badAnswer, "the controller does not scan: \(status)"))
    }
    return event
  }

  /// Takes what the way to the controller has to say since it was last asked.
  public mutating func takeDiagnostics() -> [String] { transport.takeDiagnostics() }

  /// Hands the controller what the session wants sent.
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

// MARK: - Bringing the controller back

extension Central {
  /// Gives up everything under way, and asks the controller for a sign of life. After that it has to be set up.
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

  /// Opens the way to the controller again, resets that and sets it up. A part of the time is kept for setting it up.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(LabFault) {
    forgetEverything()
    do {
      try transport.reopen(how, until: limit - Self.settingUp)
      (isTransportLost, fault) = (false, nil)
    } catch {
      throw fail(error)
    }
    try setUp(until: max(limit, transport.now + Self.settingUp))
  }

  /// As long as a controller that works needs to be set up, and more.
  private static var settingUp: Interval { .milliseconds(1300) }

  private mutating func forgetEverything() {
    state = .reset
    session.forgetEverything()
  }

  /// Keeps the fault, so that nothing is tried before the controller was brought back.
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

/// How the controller at the end of a transport is brought back into work.
public protocol ControllerRecovery<Transport>: AnyObject {
  /// The way to the controller.
  associatedtype Transport: HCITransport

  /// Why everything ends at once, once nothing is left to try.
  var fault: LabFault? { get }

  /// Tries what there is until the controller is in work again; gives what there is to say of it, one line each.
  func climb(_ central: inout Central<Transport>) -> [String]

  /// Takes what there is to say since it was last asked.
  func takeDiagnostics() -> [String]
}

/// Tells what arrived while this program was held up, and is heard before anything that is due by now, from a
/// controller that talks without a pause, for which nothing that is due may wait.
public struct Overrun: Sendable {
  private var begin: Instant?

  /// Begins to watch.
  public init() {}

  /// Whether everything has been late for longer than it takes to catch up.
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
