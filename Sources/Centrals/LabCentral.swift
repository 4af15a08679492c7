public import Basics
public import Bluetooth
public import Conformance

/// The central of a lab: a host on a controller, real or emulated, that is set up anew for each test, looked after, and
/// brought back when it fails.
///
/// Whoever uses it asks its ``host``, hands what that wants done to ``carryOut(_:)``, lets time pass with
/// ``step(until:)``, and takes what happened from ``takeReport()``. Trouble with the transport or the controller is a
/// `LabFault`, after which every call throws the same one until ``reconnect(until:)``, ``resetController(until:)`` or
/// ``reopen(_:until:)`` has helped. Which of them is tried, and when, is for whoever uses it to say; links and attempts
/// are gone with each.
public struct LabCentral<Transport: HCITransport> {
  /// How it is with the controller.
  private enum State {
    case reset, setUp
    /// What everything ends with until it is in work again.
    case failed(LabFault)
  }

  /// What a step was about.
  public enum Step: Sendable {
    /// Nothing: the limit has come.
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
  public var patience: Interval?
  /// Its Bluetooth. What this wants done goes to ``carryOut(_:)``, at once and in order.
  public var host: BluetoothHost
  /// Notes its packets, if somebody wants that.
  public var recorder: PacketRecorder?
  /// Whether the way to the controller is closed, so that nothing can be asked of it before it is opened anew.
  public private(set) var isWayLost = false

  /// Whether the host is kept from what is due.
  private var hostOverrun = Overrun()
  private var state = State.reset
  private var epoch = Instant.zero
  /// When the controller said something, or was asked to.
  private var lastSign = Instant.zero
  /// What the host reported, and how much of it was taken.
  private var reports: [HostEvent] = []
  private var taken = 0

  /// Makes a central whose controller is reset when it is set up first.
  public init(_ transport: Transport, _ settings: HostSettings) {
    self.transport = transport
    host = BluetoothHost(settings)
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

extension LabCentral {
  /// Resets the controller and waits until it can be used.
  public mutating func setUp(until limit: Instant = .never) throws(LabFault) {
    forgetEverything()
    try carryOut(host.start(at: transport.now))
    while !isSetUp {
      let isOver = try step(until: limit) == .none
      guard !isOver || transport.now < limit else {
        throw fail(LabFault(.noAnswer, "the controller was not set up in time"))
      }
      reports.removeAll(keepingCapacity: true)
      taken = 0
    }
  }

  /// Counts time from now on.
  public mutating func startClock() {
    epoch = transport.now
    // What went wrong before is of interest only while it is not put right.
    recorder?.startOver(at: epoch)
  }

  /// Lets time pass up to the next packet or to what the host has to do next, in the transport's time.
  public mutating func step(until limit: Instant) throws(LabFault) -> Step {
    let due = host.deadline
    let check = patience.map { lastSign + $0 }
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
      try carryOut(host.receive(packet, at: now))
      if hostOverrun.isEndless(isLate: host.deadline.map { $0 < now } ?? false, at: now) {
        try carryOut(host.advance(to: now))
      }
      return .packet
    }
    if let due, due <= now {
      try carryOut(host.advance(to: now))
    } else if let check, check <= now {
      lastSign = now
      try carryOut(host.checkController(at: now))
    } else {
      return .none
    }
    return .due
  }

  /// Does what the host wants done: what it sends goes out in its order, and what it reports is kept.
  public mutating func carryOut(_ actions: [HostAction]) throws(LabFault) {
    for action in actions {
      switch action {
      case .transmit(let packet):
        do {
          try transport.send(packet)
          recorder?.note(packet, isReceived: false, at: transport.now)
        } catch {
          throw fail(error)
        }
      case .report(.ready): state = .setUp
      case .report(.failed(let failure)): throw fail(LabFault(failure))
      case .report(let event): reports.append(event)
      }
    }
  }

  /// What happened next, unless it was taken.
  public mutating func takeReport() -> HostEvent? {
    guard taken < reports.count else {
      reports.removeAll(keepingCapacity: true)
      taken = 0
      return nil
    }
    taken += 1
    return reports[taken - 1]
  }

  /// What the way to the controller has to say since it was last asked.
  public mutating func takeDiagnostics() -> [String] { transport.takeDiagnostics() }
}

// MARK: - Bringing the controller back

extension LabCentral {
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

  /// Opens the way to the controller anew, resets that and sets it up. A part of the time is kept for setting it up.
  public mutating func reopen(_ how: Reopening, until limit: Instant) throws(LabFault) {
    forgetEverything()
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

  private mutating func forgetEverything() {
    state = .reset
    reports.removeAll(keepingCapacity: true)
    taken = 0
  }

  /// Keeps the fault, so that nothing is tried before the controller was brought back.
  public mutating func fail(_ fault: LabFault) -> LabFault {
    state = .failed(fault)
    return fault
  }

  private mutating func fail(_ fault: TransportFault) -> LabFault {
    switch fault.symptom {
    case .unavailable, .busy, .lost: isWayLost = true
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
  func climb(_ central: inout LabCentral<Transport>) -> [String]

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
