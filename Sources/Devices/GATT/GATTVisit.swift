import Bench
import Bluetooth
import Basics
import Conformance
import Links
public import System
import Transports

/// Receives the findings of a session.
public protocol GATTAudience {
  /// Whether the audience can no longer receive findings.
  var isGone: Bool { get }
  /// Shows a finding.
  func show(_ finding: GATTFinding)
  /// Prompts for the next line of input.
  func awaitLine()
}

/// Connects a ``GATTExplorer`` to a device: over a controller, with its leases, and with the input of a user.
public struct GATTVisit {
  private var central: Central<Transport>
  private let audience: any GATTAudience
  private var explorer: GATTExplorer
  private var leases: [Lease]
  /// The user's name for the device.
  private let name: String
  private var input: InputLines?
  private var isInterrupted = false
  private var isAwaitingLine = false
  private var ending: GATTEnding?
  /// The actions that are not yet carried out.
  private var actions: ArraySlice<GATTExplorer.Action> = []

  /// The command that holds the leases, shown to other users.
  private static let command = "lockstep gatt"

  private init(
    _ script: GATTExplorer.Script, to name: String, over transport: Transport, holding leases: [Lease],
    _ input: InputLines?, showing audience: any GATTAudience
  ) {
    self.audience = audience
    self.leases = leases
    self.name = name
    self.input = input
    explorer = GATTExplorer(script)
    // A controller that is frozen looks like a device that sends nothing.
    central = Central(
      transport, HostSettings(address: .staticRandom(SystemEntropy().next())), silenceLimit: .seconds(2))
  }

  /// Connects to a device: leases the lock, if known, and the first free controller, performs the operations, and
  /// disconnects in any case.
  ///
  /// - Parameters:
  ///   - capture: The path of the capture; `nil` for none.
  ///   - input: The lines of an interactive session; `nil` for any other.
  public static func run(
    _ script: GATTExplorer.Script, to target: GATTTarget, capture: String?, input: InputLines?,
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
    switch firstFree(of: target.transports) {
    case .success(let free): (lease, choice) = free
    case .failure(let fault): return .fault(fault.detail)
    }
    var settings = TransportSettings()
    settings.tap = capture
    do throws(TransportFault) {
      let transport = try Transport(opening: choice.spec, settings: settings)
      defer { transport.close() }
      var visit = GATTVisit(
        script, to: target.name, over: transport, holding: leases + [lease], input, showing: audience)
      do throws(LabFault) {
        return try visit.run()
      } catch {
        return .fault(error.detail + doctorHint)
      }
    } catch {
      return .fault("\(error)" + doctorHint)
    }
  }

  private static let doctorHint = "; 'lockstep doctor' checks this computer"

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

  private mutating func run() throws(LabFault) -> GATTEnding {
    try central.setUp()
    actions += explorer.begin()
    while true {
      try work()
      if let ending {
        try central.endLinks()
        return ending
      }
      if !isInterrupted, Interruption.isRequested || audience.isGone {
        isInterrupted = true
        actions += explorer.interrupt(at: central.transport.now)
      } else if !readLine() {
        try step()
      }
    }
  }
}

extension GATTVisit {
  /// Reads the next line after the operation of the previous one is complete.
  ///
  /// - Returns: Whether there was a line.
  private mutating func readLine() -> Bool {
    guard explorer.isIdle, input != nil else { return false }
    if !isAwaitingLine { audience.awaitLine() }
    isAwaitingLine = true
    guard let next = input?.next() else { return false }
    isAwaitingLine = false
    switch next {
    case .end:
      input = nil
      actions += explorer.endOperations(at: central.transport.now)
    case .tooLong:
      input = nil
      let words = "a line has at most \(LineBuffer.usualLimit) bytes"
      actions += explorer.leave(.mistake(words), at: central.transport.now)
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
    case .operation(let operation): actions += explorer.perform(operation, at: central.transport.now)
    case .help: audience.show(.remark(GATTLine.summary))
    case .quit: actions += explorer.leave(.done, at: central.transport.now)
    case .blank: break
    }
  }

  /// Waits for the next packet, the next line or the next deadline.
  private mutating func step() throws(LabFault) {
    // Packets that arrived during a delay precede deadlines that have passed; a limit keeps packets from delaying
    // these without end.
    var count = 0
    while count < 64, try central.step(until: central.transport.now) != .none {
      try work()
      count += 1
    }
    let (transport, now) = (central.transport, central.transport.now)
    actions += explorer.advance(to: now)
    guard count == 0, actions.isEmpty else { return }
    let due = min(central.deadline, explorer.deadline ?? .never)
    // A signal just before the wait does not end it, so the wait is short.
    let limit = min(due, now + .milliseconds(200), now + (transport.pollTimeout ?? .forever))
    let typed = isAwaitingLine ? input?.descriptors ?? [] : []
    Waiting.wait(for: transport.descriptors + typed, until: limit)
  }

  /// Carries out the explorer's actions, all of them before its next input.
  private mutating func work() throws(LabFault) {
    while true {
      if let action = actions.popFirst() {
        try carryOut(action)
      } else if let event = try central.takeEvent() {
        actions += explorer.receive(event, at: central.transport.now)
      } else {
        return
      }
    }
  }

  private mutating func carryOut(_ action: GATTExplorer.Action) throws(LabFault) {
    switch action {
    case .perform(let operation): try central.perform(operation)
    case .claim(let identities): claim(identities)
    case .show(let finding):
      // An interactive user needs a new prompt.
      isAwaitingLine = false
      audience.show(finding)
    case .finish(let last): ending = last
    }
  }

  /// Leases the device's identities, so that no other process uses the device.
  private mutating func claim(_ identities: [String]) {
    for identity in identities where !leases.contains(where: { $0.identity == identity }) {
      do throws(LabFault) {
        leases.append(try Lease(of: identity, for: Self.command))
      } catch {
        return actions += explorer.leave(.fault("\(name): \(error.detail)"), at: central.transport.now)
      }
    }
    actions += explorer.claimed(at: central.transport.now)
  }
}
