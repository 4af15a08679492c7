public import Basics

/// A host for both roles of LE: scanning, connecting, advertising, GATT client and server over one controller
/// (Core 5.4, Vol 3 Part C and Vol 4 Part E).
///
///      start()             Command Complete of Reset          everything read and set
///     off ───▶ resetting ───────────────────────────▶ settingUp ──────────────────▶ ready
///      start()    ▲                                        │                          │
///     failed ─────┘◀───────────────────────────────────────┴──────────────────────────┘
///                      no answer, refused, undecodable, hardware error, HCI broken
///
/// In `ready` all activities are concurrent: one scan, one advertisement, one attempt to connect and any number of
/// links, each with a small state machine in a file of its own. Their commands to the controller go through one
/// ``CommandQueue``; their data share the controller's buffers in turn.
///
/// The type does no I/O and reads no clock: feed it what happened and when, then carry out the actions it
/// returns, in order, before feeding it anything else. At ``deadline``, call ``advance(to:)``. A failure ends
/// all links and attempts without an event for each; so does ``start(at:)``.
///
/// It uses legacy commands, which every controller supports, but accepts extended advertising reports, since
/// some controllers send them anyway. It never pairs or encrypts.
public struct BluetoothHost: Sendable {
  let settings: HostSettings
  var phase = Phase.off
  var commands = CommandQueue()
  /// The number of abandoned resets whose responses may still come.
  var staleResets = 0
  /// The features of LE that the controller has, as bits (Core 5.4, Vol 6 Part B §4.6).
  var features: UInt64 = 0
  var buffers = ControllerBuffers()
  var links: [HostLink] = []
  var nextLink = 1
  var earlyPackets = EarlyPackets()
  var scanner = HostActivity<HostScan>()
  var advertiser = HostActivity<HostAdvertisement>()
  var initiator = Initiator()
  var database: GATTDatabase
  /// The ignored reserved fields of the controller's packets: each kind is reported once.
  private var ignored = Reserved()
  /// The actions that the current call will return.
  var actions: [HostAction] = []

  /// Makes a host with services after those that every server has: GAP with the device's name, and GATT.
  public init(_ settings: HostSettings, services: [ServiceDefinition] = []) {
    self.settings = settings
    database = GATTDatabase(Self.ownServices(settings) + services)
  }

  /// Whether the controller is set up and nothing has failed since.
  public var isReady: Bool {
    if case .ready = phase { true } else { false }
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    mutating get {
      var earliest = min(commands.deadline?.time ?? .never, initiator.deadline, earlyPackets.deadline)
      for index in links.indices { earliest = min(earliest, links[index].deadline) }
      return earliest == .never ? nil : earliest
    }
  }
}

extension BluetoothHost {
  /// Resets the controller and sets it up; ``HostEvent/ready(_:)`` or ``HostEvent/failed(_:)`` follows.
  ///
  /// May be called at any time: all state is reset except the values of the server's characteristics.
  public mutating func start(at now: Instant) -> [HostAction] {
    forgetEverything()
    phase = .resetting
    send(.reset(), for: .setUp, at: now)
    return takeActions()
  }

  /// Receives a packet of the controller.
  public mutating func receive(_ packet: HCIPacket, at now: Instant) -> [HostAction] {
    switch (phase, packet) {
    case (.off, _), (.failed, _): break
    case (_, .event(let code, let parameters)): receiveEvent(code, parameters, at: now)
    case (.resetting, _), (.settingUp, _): break
    case (.ready, .acl(let fragment)): receive(fragment, at: now)
    case (.ready, .command(let opcode, _)): fail(.broken("a command, 0x\(opcode.hex), from the controller"))
    case (.ready, .synchronous), (.ready, .isochronous): break
    }
    return takeActions()
  }

  /// Performs everything that was due at or before a time.
  public mutating func advance(to now: Instant) -> [HostAction] {
    if let (time, opcode) = commands.deadline, time <= now {
      fail(.noAnswer(opcode: opcode))
    }
    // The end of one attempt may begin the next, whose deadline may also have passed.
    while initiator.deadline <= now { carryOut(initiator.deadlinePassed(), at: now) }
    if earlyPackets.deadline <= now { giveUpEarlyPackets() }
    var index = 0
    // A failure ends all links.
    while index < links.count {
      if links[index].deadline <= now { linkDeadlinePassed(index, at: now) }
      index += 1
    }
    return takeActions()
  }
}

/// An action of a part of a host that knows no links.
enum HostPartAction: Sendable {
  case send(HCICommand, CommandQueue.Asker)
  case report(HostEvent)
  case reportViolation(String)
  /// Adopt an established link.
  case adopt(ConnectionComplete, isWanted: Bool)
}

extension BluetoothHost {
  /// The phase of a host.
  enum Phase: Sendable {
    /// It was not started.
    case off
    /// The controller is being reset; earlier events are ignored.
    case resetting
    /// The controller's properties are read, and its events configured.
    case settingUp(HostSetUp)
    /// All requests are possible.
    case ready
    /// No request is possible.
    case failed
  }

  /// Removes and returns the actions of the current call.
  mutating func takeActions() -> [HostAction] {
    let taken = actions
    actions = []
    return taken
  }

  /// Carries out the actions of a part.
  mutating func carryOut(_ todo: [HostPartAction], at now: Instant) {
    for action in todo {
      switch action {
      case .send(let command, let asker): send(command, for: asker, at: now)
      case .report(let event): report(event)
      case .reportViolation(let sentence): reportViolation(nil, sentence)
      case .adopt(let connection, let isWanted): addLink(connection, isWanted: isWanted, at: now)
      }
    }
  }

  mutating func report(_ event: HostEvent) {
    actions.append(.report(event))
  }

  mutating func reportViolation(_ link: LinkID?, _ sentence: String) {
    actions.append(.report(.protocolViolation(link, sentence)))
  }

  /// Reports ignored reserved values in the controller's packets, each kind once.
  mutating func reportIgnored(_ reserved: Reserved) {
    let new = ignored.takeNew(from: reserved)
    if !new.isEmpty { reportViolation(nil, "\(new); ignored, from now on without a word") }
  }

  /// Abandons the controller.
  mutating func fail(_ failure: HostFailure) {
    forgetEverything()
    phase = .failed
    report(.failed(failure))
  }

  private mutating func forgetEverything() {
    if commands.unanswered?.opcode == HCICommand.reset.opcode { staleResets += 1 }
    commands = CommandQueue()
    buffers = ControllerBuffers()
    links = []
    earlyPackets = EarlyPackets()
    scanner = HostActivity<HostScan>()
    advertiser = HostActivity<HostAdvertisement>()
    initiator = Initiator()
  }

  /// Whether a request can be carried out: not after a failure that the caller may not know yet.
  func mayAct() -> Bool {
    switch phase {
    case .ready: true
    case .failed: false
    case .off, .resetting, .settingUp: preconditionFailure("the host is not ready")
    }
  }
}

extension BluetoothHost {
  private mutating func receiveEvent(_ code: UInt8, _ parameters: [UInt8], at now: Instant) {
    let event: HCIEvent
    var reserved = Reserved()
    do {
      event = try HCIEvent(code: code, parameters: parameters, ignoring: &reserved)
    } catch {
      return undecodableEvent(code, parameters, error)
    }
    if !reserved.isEmpty { reportIgnored(reserved) }
    switch (phase, event) {
    case (.resetting, .commandComplete(let credits, HCICommand.reset.opcode, let returned)):
      commandCompleted(HCICommand.reset.opcode, credits: credits, returned, at: now)
    case (.resetting, .commandStatus(let status, let credits, HCICommand.reset.opcode)):
      commandStatus(HCICommand.reset.opcode, credits: credits, status, at: now)
    case (.resetting, _), (.off, _), (.failed, _):
      break
    case (_, .commandComplete(let credits, let opcode, let returned)):
      commandCompleted(opcode, credits: credits, returned, at: now)
    case (_, .commandStatus(let status, let credits, let opcode)):
      commandStatus(opcode, credits: credits, status, at: now)
    case (_, .hardwareError(let code)):
      fail(.hardwareError(code))
    case (.settingUp, _):
      break
    case (.ready, _):
      receiveWhenReady(event, at: now)
    }
  }

  private mutating func receiveWhenReady(_ event: HCIEvent, at now: Instant) {
    switch event {
    case .numberOfCompletedPackets(let completed):
      packetsCompleted(completed, at: now)
    case .leAdvertisingReport(let reports), .leExtendedAdvertisingReport(let reports):
      for heard in reports { report(.advertisement(heard)) }
    case .leConnectionComplete(let connection):
      connectionCompleted(connection, at: now)
    case .disconnectionComplete(let status, let handle, let reason):
      disconnectionCompleted(status, handle, reason, at: now)
    case .leConnectionUpdateComplete(let status, let handle, let timing):
      connectionUpdated(handle, status, timing, at: now)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      remoteAsksForParameters(handle, parameters, at: now)
    case .leDataLengthChange(let handle, let length):
      if let index = index(of: handle), links[index].isReported {
        report(.dataLength(links[index].id, length))
      }
    case .leLongTermKeyRequest(let handle, _, _):
      reply(.leLongTermKeyRequestNegativeReply(handle), for: .nobody, to: handle, at: now)
    case .dataBufferOverflow:
      fail(.broken("the controller says that it was sent more than it takes"))
    case .commandComplete, .commandStatus, .hardwareError:
      preconditionFailure("handled before")
    case .encryptionChange, .readRemoteVersionInformationComplete, .leReadRemoteFeaturesComplete, .otherLE,
      .other:
      // These events were not requested.
      break
    }
  }

  /// An advertising report may be malformed because of its sender, since some controllers do not check it; all other
  /// events are the controller's own.
  private mutating func undecodableEvent(_ code: UInt8, _ parameters: [UInt8], _ error: DecodeError) {
    switch (phase, code, parameters.first) {
    case (.resetting, _, _):
      break
    case (_, HCIEventCode.leMeta, LESubeventCode.advertisingReport?),
      (_, HCIEventCode.leMeta, LESubeventCode.extendedAdvertisingReport?):
      reportViolation(nil, "an advertising report that does not decode, \(error)")
    case (_, HCIEventCode.leMeta, let subevent?):
      fail(.undecodable("LE event 0x\([subevent].hex)", error))
    case (_, _, _):
      fail(.undecodable("event 0x\([code].hex)", error))
    }
  }
}
