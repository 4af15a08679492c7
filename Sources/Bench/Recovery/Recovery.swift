public import Links
public import Transports
import Bluetooth
import System
public import Conformance
import Basics

/// The escalation of one controller, including the attempts of earlier processes from the ``RecoveryLog``, so that a
/// process per case does not restart it each time.
public final class Recovery {
  private var escalation: RecoveryEscalation
  private let spec: TransportSpec
  private let name: String
  private let power: Inventory.PowerSwitch?
  private let log: RecoveryLog
  private let whenOut: (String) -> Void
  private var diagnostics: [String] = []
  /// The fault that ends the run when no step is left.
  public private(set) var fault: LabFault?

  /// Makes the escalation of a controller.
  ///
  /// - Parameters:
  ///   - spec: the controller's transport.
  ///   - power: its power switch.
  ///   - whenOut: called with the reason when no step is left and the controller is out of use.
  public init(
    of spec: TransportSpec, power: Inventory.PowerSwitch? = nil,
    whenOut: @escaping (String) -> Void = { _ in }
  ) {
    self.spec = spec
    self.power = power
    self.whenOut = whenOut
    name = spec.identity
    escalation = RecoveryEscalation(hasUSBReset: spec.isDongle, powerSettles: power?.settle)
    log = RecoveryLog(controller: name, path: StateFolder.store)
    let now = BenchClock.now
    for (step, time) in log.attempts where !time.isOver(at: now) {
      // Converts to the transport's time.
      escalation.recall(step, at: Waiting.now + (time.place(at: now) - now.uptime))
    }
  }

  /// Tries the steps until the controller works again.
  ///
  /// - Returns: the journal lines, one for each attempt.
  public func climb(_ central: inout Central<Transport>) -> [String] {
    var way = RecoveringCentral(central, record: log.keep)
    let works = escalation.climb(&way)
    central = way.central
    if !works { putOut(way.lastFailure) }
    return way.lines
  }

  /// Opens the transport. If the controller is missing and its power can be switched, the escalation tries to bring
  /// it back.
  public func open(_ settings: TransportSettings = TransportSettings()) throws(LabFault) -> Transport {
    var settings = settings
    settings.cyclePower = power.map { Self.cycle($0, of: spec) }
    do {
      let transport = try Transport(opening: spec, settings: settings)
      // A successful opening needs no diagnostic.
      _ = transport.takeDiagnostics()
      return transport
    } catch {
      // A controller that is present but not accessible would be refused again.
      guard power != nil, error.symptom == .silent || error.symptom != .busy && spec.isPresent != true else {
        throw LabFault(.noDevice, error.description)
      }
      diagnostics.append("\(spec): not opened: \(error)")
    }
    var way = ClosedTransport(spec: spec, power: power, settings: settings, record: log.keep)
    let works = escalation.climb(&way)
    diagnostics += way.lines
    if works, let transport = way.transport { return transport }
    putOut(way.lastFailure)
    throw fault ?? LabFault(.noDevice, "\(name) is out of use")
  }

  private static func cycle(
    _ power: Inventory.PowerSwitch, of spec: TransportSpec
  ) -> TransportSettings.PowerCycle {
    { (busPath: String?, limit: Instant) throws(TransportFault) -> String in
      do throws(PowerControl.Fault) {
        return try PowerControl(power, dongle: busPath).cycle(until: limit)
      } catch {
        throw TransportFault(.unavailable, "\(spec): \(error.text)")
      }
    }
  }

  /// Removes and returns the diagnostics since the last call.
  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics
  }

  private func putOut(_ lastFailure: String?) {
    let reason = "no step of the recovery escalation helped; the last one: \(lastFailure ?? "none was tried")"
    fault = LabFault(.noDevice, "\(name) is out of use: \(reason)")
    whenOut(reason)
  }
}

/// A transport that could not be opened.
private struct ClosedTransport: RecoverableTransport {
  let spec: TransportSpec
  let power: Inventory.PowerSwitch?
  let settings: TransportSettings
  let record: (RecoveryEscalation.Attempt) -> Void
  var transport: Transport?
  var lines: [String] = []
  var lastFailure: String?

  var now: Instant { Waiting.now }
  var isTransportLost: Bool { true }

  mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String? {
    switch step {
    case .reconnect, .hciReset, .usbReset: return "the controller is not there"
    case .reopen: break
    case .powerCycle:
      guard let power else { return "it has no power switch" }
      do {
        let isGone = spec.isPresent == false
        let text = try PowerControl(power, dongle: spec.busPath, isGone: isGone).cycle(until: limit)
        lines.append("\(spec): \(text)")
      } catch {
        return error.text
      }
    }
    return open(until: limit)
  }

  private mutating func open(until limit: Instant) -> String? {
    var settings = settings
    var failure: String
    repeat {
      settings.openTimeout = max(.milliseconds(200), limit - now)
      do {
        transport = try Transport(opening: spec, settings: settings)
        return nil
      } catch {
        failure = error.description
      }
      Waiting.wait(for: [], until: now + .milliseconds(200))
    } while now < limit
    return failure
  }

  mutating func note(_ line: String, _ attempt: RecoveryEscalation.Attempt?) {
    lines.append(line)
    guard let attempt else { return }
    lastFailure = attempt.failure
    record(attempt)
  }
}

extension Recovery {
  /// Records that a person serviced a controller: earlier attempts no longer count.
  public static func restore(_ identity: String) throws(LabFault) {
    try RecoveryLog(controller: identity, path: StateFolder.store).forget()
  }
}
