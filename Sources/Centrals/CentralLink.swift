public import Basics
public import Bluetooth
public import Conformance

/// One link of a central at a time: asked for, asked for again, used, and left.
///
///                connect           link up                 established
///     idle ──▶ connecting ───────────────────▶ up, for sure or not ──▶ up
///       ▲        ▲     │                          │  0x3E: it never came about
///       │        └─────┼──────────────────────────┘
///       └─ disconnect, failed, disconnected ──────┘
///
/// - Links have the least interval, 7.5 ms, no latency, and are lost after 2 s.
/// - A link that is left is over for its user at once, with reason 0x16, as is an attempt that is given up, with 0x02. What
///   was written before goes out first, and no other link is begun until it is over.
public struct CentralLink<Transport: HCITransport> {
  /// What a report of the host is, of the link.
  public enum Event {
    /// The link came up; the first time, or once more after it had never come about.
    case connected(LinkID, isFirst: Bool)
    /// It ended, or never came about, with so many packets that may not have arrived.
    case disconnected(reason: UInt8, unacknowledged: Int)
    /// It was left, and what was written last may not have arrived.
    case leftUnsurely
    /// Something else.
    case other(HostEvent)
  }

  private enum State {
    case idle
    /// With how often an attempt may still be made again that the controller took for a link before it was one.
    case connecting(attemptsLeft: Int)
    case up(LinkID, attemptsLeft: Int)
  }

  /// The central.
  public var central: LabCentral<Transport>
  /// Whom it connects to.
  public var address: PeerAddress?
  private var state = State.idle
  /// The link that was left, until it is over, and whether it is to end once the controller has sent what it has.
  private var leaving: (link: LinkID, isDraining: Bool)?
  /// How many attempts were given up of which the host has not said that they are over.
  private var givenUp = 0

  /// Makes one of a central that has no links.
  public init(_ central: LabCentral<Transport>) { self.central = central }

  /// Whether there is neither a link nor an attempt at one.
  public var isIdle: Bool { if case .idle = state { true } else { false } }

  /// The link, once it is up.
  public var link: LinkID? { if case .up(let link, _) = state { link } else { nil } }
}

extension CentralLink {
  /// How often a link is asked for once more that never came about: the packet that asks for it was lost, and the other
  /// end knows nothing of it (0x3E; Core 5.4, Vol 6 Part B §4.5). Hosts do so by themselves.
  private static var repeatedAttempts: Int { 3 }

  /// How long the other end is listened for then; one that has gone away meanwhile is lost.
  private static var repeatedAttemptTime: Interval { .seconds(3) }

  /// Begins to connect to ``address``, unless there is a link or an attempt.
  public mutating func connect() throws(LabFault) {
    guard isIdle else { return }
    state = .connecting(attemptsLeft: Self.repeatedAttempts)
    try beginConnecting()
  }

  /// Takes the link for one that has come about: there was an answer.
  public mutating func noteEstablished() {
    if case .up(let link, _) = state { state = .up(link, attemptsLeft: 0) }
  }

  /// Leaves the link, or gives the attempt up.
  ///
  /// - Returns: the reason with which it is over; `nil` where there was neither.
  public mutating func disconnect() throws(LabFault) -> UInt8? {
    let last = state
    state = .idle
    switch last {
    case .idle: return nil
    case .connecting:
      // An attempt that waits for an earlier link to end was not begun.
      if leaving == nil {
        givenUp += 1
        try central.carryOut(central.host.cancelConnecting(at: central.transport.now))
      }
      return HCIErrorCode.unknownConnection.rawValue
    case .up(let link, _):
      leaving = (link, isDraining: true)
      try endDrained()
      return HCIErrorCode.localHostTerminated.rawValue
    }
  }

  /// Ends links and attempts, and gives the controller a few seconds to say that it did; a reset follows anyway.
  public mutating func endEverything() throws(LabFault) {
    _ = try disconnect()
    let end = central.transport.now + .seconds(3)
    while givenUp > 0 || leaving != nil, central.transport.now < end {
      _ = try step(until: end)
      while let report = central.takeReport() { _ = try take(report) }
      try endDrained()
    }
  }

  /// Forgets links and attempts: the central was set up anew, or is about to be.
  public mutating func forgetEverything() {
    (givenUp, leaving, state) = (0, nil, .idle)
  }

  /// Lets time pass up to the next packet or to what the host has to do next, in the transport's time.
  public mutating func step(until limit: Instant) throws(LabFault) -> LabCentral<Transport>.Step {
    try central.step(until: limit)
  }

  /// Ends the link that was left, once what was written before has arrived; asked after every packet.
  public mutating func endDrained() throws(LabFault) {
    guard let leaving, leaving.isDraining, central.host.hasSentEverything(on: leaving.link) else { return }
    self.leaving?.isDraining = false
    try central.carryOut(
      central.host.disconnect(leaving.link, reason: .remoteUserTerminated, at: central.transport.now))
  }

  /// Connects, once nothing of an earlier link is in the way.
  private mutating func beginConnecting() throws(LabFault) {
    guard case .connecting(let attemptsLeft) = state, leaving == nil, let address else { return }
    let isFirst = attemptsLeft == Self.repeatedAttempts
    let time = isFirst ? Interval.forever : Self.repeatedAttemptTime
    try central.carryOut(
      central.host.connect(to: address, ConnectionParameters(), timeout: time, at: central.transport.now))
  }

  /// Takes in what the host reports.
  ///
  /// - Returns: what it means; nothing where the link goes on by itself.
  public mutating func take(_ report: HostEvent) throws(LabFault) -> [Event] {
    switch report {
    case .connected(let link, _):
      guard case .connecting(let attemptsLeft) = state else { return [] }
      state = .up(link, attemptsLeft: attemptsLeft)
      return [.connected(link, isFirst: attemptsLeft == Self.repeatedAttempts)]
    case .connectionFailed(let status):
      if givenUp > 0 {
        givenUp -= 1
        return []
      }
      guard case .connecting = state else { return [] }
      state = .idle
      return [.disconnected(reason: status.rawValue, unacknowledged: 0)]
    case .disconnected(let link, let reason, let unacknowledged):
      return try disconnected(link, reason, unacknowledged)
    default: return [.other(report)]
    }
  }

  private mutating func disconnected(
    _ link: LinkID, _ reason: HCIErrorCode, _ unacknowledged: Int
  ) throws(LabFault) -> [Event] {
    if let leaving, link == leaving.link {
      // What was written last may not have arrived, though it was left.
      let isSure = !leaving.isDraining && unacknowledged == 0 && reason == .localHostTerminated
      self.leaving = nil
      try beginConnecting()
      return isSure ? [] : [.leftUnsurely]
    }
    guard case .up(link, let attemptsLeft) = state else { return [] }
    if reason == .failedToEstablish, attemptsLeft > 0 {
      state = .connecting(attemptsLeft: attemptsLeft - 1)
      try beginConnecting()
      return []
    }
    state = .idle
    return [.disconnected(reason: reason.rawValue, unacknowledged: unacknowledged)]
  }
}
