public import Links
public import Transports
import Bluetooth
import System
public import Conformance
import Basics

/// The escalation of one controller, and what was tried on it by earlier processes, as far as a ``RecoveryLog`` knows: a process
/// for each case is not to begin anew each time.
public final class Recovery {
  private var escalation: RecoveryEscalation
  private let spec: TransportSpec
  private let name: String
  private let power: Inventory.PowerSwitch?
  private let log: RecoveryLog
  private let whenOut: (String) -> Void
  private var diagnostics: [String] = []
  /// Why everything ends at once, once no step is left.
  public private(set) var fault: LabFault?

  /// Makes the escalation of a controller.
  ///
  /// - Parameters:
  ///   - spec: the way to it.
  ///   - power: what turns its power off and on.
  ///   - whenOut: told why, when no step is left and the controller is out of use.
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
    for (step, time) in log.tries where !time.isOver(at: now) {
      // On the scale of the transport's time.
      escalation.recall(step, at: Waiting.now + (time.place(at: now) - now.uptime))
    }
  }

  /// Climbs until the controller is in work again.
  ///
  /// - Returns: what there is to say of it, a line for each try.
  public func climb(_ central: inout Central<Transport>) -> [String] {
    var way = RecoveringCentral(central, record: log.keep)
    let works = escalation.climb(&way)
    central = way.central
    if !works { putOut(way.lastFailure) }
    return way.lines
  }

  /// Opens the way to the controller. Where it is gone, and its power can be turned off and on, it is climbed back to.
  public func open(_ settings: TransportSettings = TransportSettings()) throws(LabFault) -> Transport {
    var settings = settings
    settings.cyclePower = power.map { Self.cycle($0, of: spec) }
    do {
      let transport = try Transport(opening: spec, settings: settings)
      // That it was opened goes without saying.
      _ = transport.takeDiagnostics()
      return transport
    } catch {
      // What is there, and may not be used, would be there again.
      guard power != nil, error.symptom == .silent || error.symptom != .busy && spec.isPresent != true else {
        throw LabFault(.noDevice, error.description)
      }
      diagnostics.append("\(spec): not opened: \(error)")
    }
    var way = ClosedWay(spec: spec, power: power, settings: settings, record: log.keep)
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

  /// Takes what there is to say since it was last asked.
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

/// The way to a controller that could not be opened.
private struct ClosedWay: RecoverableWay {
  let spec: TransportSpec
  let power: Inventory.PowerSwitch?
  let settings: TransportSettings
  let record: (RecoveryEscalation.Attempt) -> Void
  var transport: Transport?
  var lines: [String] = []
  var lastFailure: String?

  var now: Instant { Waiting.now }
  var isWayLost: Bool { true }

  mutating func attempt(_ step: RecoveryStep, until limit: Instant) -> String? {
    switch step {
    case .reconnect, .hciReset, .usbReset: return "the controller is not there"
    case .reopen: break
    case .powerCycle:
      guard let power else { return "it hangs on no switch" }
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
  /// Notes that a person saw to a controller: what was tried before does not count any more.
  public static func restore(_ identity: String) throws(LabFault) {
    try RecoveryLog(controller: identity, path: StateFolder.store).forget()
  }
}
