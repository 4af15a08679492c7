public import SesameDevice
public import Transports
import Bluetooth
import System
public import Conformance
import Basics

/// The ladder of one controller, and what was tried on it by earlier processes, which lies in
/// `recoveries/NAME.log` of the ``StateFolder``: a process for each case is not to begin anew each time.
public final class Recovery {
  private var ladder: RecoveryLadder
  private let spec: TransportSpec
  private let name: String
  private let power: Inventory.PowerSwitch?
  private let log: WearLines?
  private let whenOut: (String) -> Void
  private var remarks: [String] = []
  /// Why everything ends at once, once no rung is left.
  public private(set) var fault: LabFault?

  /// Makes the ladder of a controller.
  ///
  /// - Parameters:
  ///   - spec: the way to it.
  ///   - power: what turns its power off and on.
  ///   - folder: where the tries are written down; the usual place unless given.
  ///   - whenOut: told why, when no rung is left and the controller is out of use.
  public init(
    of spec: TransportSpec, power: Inventory.PowerSwitch? = nil, in folder: String? = nil,
    whenOut: @escaping (String) -> Void = { _ in }
  ) {
    self.spec = spec
    self.power = power
    self.whenOut = whenOut
    name = spec.identity
    ladder = RecoveryLadder(hasUSBReset: spec.isDongle, powerSettles: power?.settle)
    // Where nothing can be kept, each process begins anew.
    let place = folder ?? (try? Self.folder())
    log = place.flatMap { [name] in try? WearLines(Self.path(of: name, in: $0)) }
    let now = BenchClock.now
    for line in (try? log?.read { $0.isOver(at: now) }.lines) ?? [] {
      guard let line else { continue }
      if line.text == Self.restored {
        ladder.forget()
      } else if let rung = RecoveryRung(record: line.text) {
        // On the scale of the transport's time.
        ladder.recall(rung, at: Waiting.now + (line.place(at: now) - now.uptime))
      }
    }
  }

  /// Climbs until the controller is in work again.
  ///
  /// - Returns: what there is to say of it, a line for each try.
  public func climb<Surroundings>(_ link: inout AirLink<Transport, Surroundings>) -> [String] {
    var way = ClimbingLink(link) { self.write($0) }
    let works = ladder.climb(&way)
    link = way.link
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
      _ = transport.takeRemarks()
      return transport
    } catch {
      // What is there, and may not be used, would be there again.
      guard power != nil, error.symptom == .silent || error.symptom != .busy && spec.isPresent != true else {
        throw LabFault(.noDevice, error.description)
      }
      remarks.append("\(spec): not opened: \(error)")
    }
    var way = ClosedWay(spec: spec, power: power, settings: settings) { self.write($0) }
    let works = ladder.climb(&way)
    remarks += way.lines
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
  public func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks
  }

  private func putOut(_ lastFailure: String?) {
    write("out-of-use")
    let reason = "no rung of the recovery ladder helped; the last one: \(lastFailure ?? "none was tried")"
    fault = LabFault(.noDevice, "\(name) is out of use: \(reason)")
    whenOut(reason)
  }

  private func write(_ text: String) { try? log?.append([WearLine(text, at: BenchClock.now)]) }
}

/// The way to a controller that could not be opened.
private struct ClosedWay: RecoverableWay {
  let spec: TransportSpec
  let power: Inventory.PowerSwitch?
  let settings: TransportSettings
  let record: (String) -> Void
  var transport: Transport?
  var lines: [String] = []
  var lastFailure: String?

  var now: Instant { Waiting.now }
  var isWayLost: Bool { true }

  mutating func attempt(_ rung: RecoveryRung, until limit: Instant) -> String? {
    switch rung {
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

  mutating func note(_ line: String, _ attempt: RecoveryLadder.Attempt?) {
    lines.append(line)
    guard let attempt else { return }
    lastFailure = attempt.failure
    record(attempt.record)
  }
}

extension Recovery {
  /// The line after which all before it is forgotten.
  private static let restored = "restored"

  /// Notes that a person saw to a controller: what was tried before does not count any more.
  public static func restore(_ identity: String) throws(LabFault) {
    let path = path(of: identity, in: try folder())
    guard Host.isFile(path) else { return }
    try WearLines(path).append([WearLine(restored, at: BenchClock.now)])
  }

  private static func folder() throws(LabFault) -> String { try StateFolder.folder("recoveries") }

  private static func path(of identity: String, in folder: String) -> String {
    "\(folder)/\(Lease.name(identity)).log"
  }
}
