import Bench
import Bluetooth
import Basics
import Conformance
public import System
import Transports

/// Who is shown what a visit finds.
public protocol GATTAudience {
  /// Whether nothing can be shown any more.
  var isGone: Bool { get }
  /// Shows a finding.
  func show(_ finding: GATTFinding)
  /// The next line of a person is awaited from here on.
  func awaitLine()
}

/// Carries a ``GATTExplorer`` to a device: over a controller, with its leases, for a person who may type.
public struct GATTVisit {
  private let transport: Transport
  private let audience: any GATTAudience
  private var host: BluetoothHost
  private var explorer: GATTExplorer
  private var leases: [Lease]
  /// What the person calls the device.
  private let name: String
  private var input: InputLines?
  private var link: LinkID?
  /// A write command that waits for room.
  private var waiting: (handle: AttributeHandle, value: [UInt8])?
  /// Until when the end of the link waits for what was sent to arrive.
  private var draining: Instant?
  private var isInterrupted = false
  private var isAwaitingLine = false
  private var ending: GATTEnding?
  /// What is still to be done, and what the explorer is to hear of after that.
  private var actions: ArraySlice<GATTExplorer.Action> = []
  private var events: ArraySlice<HostEvent> = []
  /// When the controller said something last, or was asked to.
  private var lastSign = Instant.zero

  /// For so long a controller may say nothing before it is asked for a sign of life: one that froze looks like a device
  /// that has nothing to say.
  private static let silence = Interval.seconds(2)
  /// How long what was sent may take to arrive once nothing more is to be.
  private static let drainTime = Interval.seconds(3)

  /// What leases are taken for, as others are told.
  private static let command = "lockstep gatt"

  private init(
    _ errand: GATTExplorer.Errand, to name: String, over transport: Transport, holding leases: [Lease],
    _ input: InputLines?, showing audience: any GATTAudience
  ) {
    self.transport = transport
    self.audience = audience
    self.leases = leases
    self.name = name
    self.input = input
    explorer = GATTExplorer(errand)
    host = BluetoothHost(HostSettings(address: .staticRandom(SystemEntropy().next())))
  }

  /// Visits a device: takes the leases of the lock, where it is known, and of the first controller that is free, does all that
  /// is wanted, and disconnects however it ends.
  ///
  /// - Parameters:
  ///   - capture: where the traffic is written down; `nil` for nowhere.
  ///   - input: where a person types; `nil` where nobody does.
  public static func run(
    _ errand: GATTExplorer.Errand, to target: GATTTarget, capture: String?, input: InputLines?,
    showing audience: any GATTAudience
  ) -> GATTEnding {
    var leases: [Lease] = []
    if let lock = target.lockIdentity {
      do throws(LabFault) {
        leases.append(try Lease(of: lock, for: command))
      } catch {
        return .fault("\(target.name): \(error.detail)")
      }
    }
    let (lease, choice): (Lease, TransportChoice)
    switch firstFree(of: target.ways) {
    case .success(let free): (lease, choice) = free
    case .failure(let fault): return .fault(fault.detail)
    }
    var settings = TransportSettings()
    settings.tap = capture
    do throws(TransportFault) {
      let transport = try Transport(opening: choice.spec, settings: settings)
      defer { transport.close() }
      var visit = GATTVisit(
        errand, to: target.name, over: transport, holding: leases + [lease], input, showing: audience)
      return try visit.run()
    } catch {
      return .fault("\(error); 'lockstep doctor' looks at this machine")
    }
  }

  private static func firstFree(
    of choices: [TransportChoice]
  ) -> Result<(Lease, TransportChoice), LabFault> {
    var reasons: [String] = []
    for choice in choices {
      do throws(LabFault) {
        return .success((try Lease(of: choice.spec.identity, for: command), choice))
      } catch {
        reasons.append("\(choice.shortName): \(error.detail)")
      }
    }
    return .failure(LabFault(.noDevice, reasons.joined(separator: "; ")))
  }

  private mutating func run() throws(TransportFault) -> GATTEnding {
    lastSign = transport.now
    try take(host.start(at: transport.now))
    while true {
      try work()
      if let ending { return ending }
      if !isInterrupted, Interruption.isRequested || audience.isGone {
        isInterrupted = true
        actions += explorer.interrupt(at: transport.now)
      } else if !readLine() {
        try step()
      }
    }
  }
}

extension GATTVisit {
  /// Reads the next line once what the last one asked for is done.
  ///
  /// - Returns: whether there was one.
  private mutating func readLine() -> Bool {
    guard explorer.isIdle, input != nil else { return false }
    if !isAwaitingLine { audience.awaitLine() }
    isAwaitingLine = true
    guard let next = input?.next() else { return false }
    isAwaitingLine = false
    switch next {
    case .end:
      input = nil
      actions += explorer.endOperations(at: transport.now)
    case .tooLong:
      input = nil
      let words = "a line of more than \(LineBuffer.usualLimit) bytes is none"
      actions += explorer.leave(.mistake(words), at: transport.now)
    case .line(let text):
      do throws(GATTMistake) {
        perform(try GATTLine(text: text))
      } catch {
        audience.show(.mistake("\(error)"))
      }
    }
    return true
  }

  private mutating func perform(_ line: GATTLine) {
    switch line {
    case .operation(let operation): actions += explorer.perform(operation, at: transport.now)
    case .help: audience.show(.remark(GATTLine.summary))
    case .quit: actions += explorer.leave(.done, at: transport.now)
    case .blank: break
    }
  }

  /// Lets time pass up to the next packet, the next line or whatever is due.
  private mutating func step() throws(TransportFault) {
    try transport.service()
    // What arrived while this program was held up comes before what is due by now; but not for ever.
    var count = 0
    while count < 64, let packet = transport.take() {
      lastSign = transport.now
      try take(host.receive(packet, at: transport.now))
      try work()
      count += 1
    }
    let now = transport.now
    try take(host.advance(to: now))
    try work()
    actions += explorer.advance(to: now)
    try goOnSending()
    if now - lastSign >= Self.silence {
      lastSign = now
      try take(host.checkController(at: now))
    }
    guard count == 0, actions.isEmpty, events.isEmpty else { return }
    let due = min(host.deadline ?? .never, explorer.deadline ?? .never, draining ?? .never)
    // A signal that comes just before the wait does not end it.
    let limit = min(due, now + .milliseconds(200), now + (transport.pollTimeout ?? .forever))
    let typed = isAwaitingLine ? input?.descriptors ?? [] : []
    Waiting.wait(for: transport.descriptors + typed, until: limit)
  }

  /// Sends what waits for room, and ends the link once what was sent has arrived.
  private mutating func goOnSending() throws(TransportFault) {
    guard let link else { return }
    if let (handle, value) = waiting {
      guard let sent = host.writeCommand(handle, value, on: link, at: transport.now) else { return }
      waiting = nil
      try take(sent)
      actions += explorer.sent(at: transport.now)
    }
    if let limit = draining, host.hasSentEverything(on: link) || transport.now >= limit {
      draining = nil
      try take(host.disconnect(link, reason: .remoteUserTerminated, at: transport.now))
    }
  }

  /// Sends what the host wants sent, and keeps what it reports until that is done.
  private mutating func take(_ wanted: [HostAction]) throws(TransportFault) {
    for action in wanted {
      switch action {
      case .transmit(let packet): try transport.send(packet)
      case .report(let event): events.append(event)
      }
    }
  }

  /// Carries out what the explorer wants done, all of it before the explorer hears of anything else.
  private mutating func work() throws(TransportFault) {
    while true {
      if let action = actions.popFirst() {
        try carryOut(action)
      } else if let event = events.popFirst() {
        if case .connected(let new, _) = event { link = new }
        actions += explorer.receive(event, at: transport.now)
      } else {
        return
      }
    }
  }

  private mutating func carryOut(_ action: GATTExplorer.Action) throws(TransportFault) {
    let now = transport.now
    switch action {
    case .startScanning: try take(host.startScanning(ScanParameters(), filterDuplicates: false, at: now))
    case .stopScanning: try take(host.stopScanning(at: now))
    case .claim(let identities): claim(identities)
    case .connect(let peer, let time):
      try take(host.connect(to: peer, ConnectionParameters(), timeout: time, at: now))
    case .cancelConnecting: try take(host.cancelConnecting(at: now))
    case .start(let procedure):
      guard let link else { preconditionFailure("a procedure runs on a link") }
      try take(host.start(procedure, on: link, at: now).actions)
    case .command(let handle, let value):
      waiting = (handle, value)
      try goOnSending()
    case .disconnect:
      draining = now + Self.drainTime
      try goOnSending()
    case .show(let finding):
      // Who types is to see again where he stands.
      isAwaitingLine = false
      audience.show(finding)
    case .finish(let last): ending = last
    }
  }

  /// Takes what the device is known by, so that nobody else uses it meanwhile.
  private mutating func claim(_ identities: [String]) {
    for identity in identities where !leases.contains(where: { $0.identity == identity }) {
      do throws(LabFault) {
        leases.append(try Lease(of: identity, for: Self.command))
      } catch {
        return actions += explorer.leave(.fault("\(name): \(error.detail)"), at: transport.now)
      }
    }
    actions += explorer.claimed(at: transport.now)
  }
}
