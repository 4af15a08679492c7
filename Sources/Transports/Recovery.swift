public import Bluetooth
public import Conformance
import Glibc
import Lab
public import Sesame
public import Simulation

/// The ladder of one controller, and what was tried on it by earlier processes, which lies in
/// `$XDG_STATE_HOME/lockstep/recoveries/NAME.log`: a process for each case is not to begin anew each time.
public final class Recovery {
  private var ladder: RecoveryLadder
  private let name: String
  private let log: LineFile?
  /// Why everything ends at once, once no rung is left.
  public private(set) var fault: LabFault?

  /// Makes the ladder of a controller.
  ///
  /// - Parameters:
  ///   - identity: what it is called by which programs keep it from each other; see ``Carrier/identity``.
  ///   - reopenings: how the way to it can be opened anew.
  ///   - settle: how long its power needs to fall and to come back.
  ///   - folder: where the tries are written down; `nil` for nowhere.
  public init(of identity: String, _ reopenings: [Reopening], settle: Interval? = nil, in folder: String?) {
    name = identity
    ladder = RecoveryLadder(
      hasUSBReset: reopenings.contains(.afterReset),
      powerSettles: reopenings.contains(.afterPowerCycle) ? settle ?? .seconds(3) : nil)
    let file = String(identity.map { $0 == "/" || $0 == ":" ? "-" : $0 })
    log = folder.flatMap { try? LineFile("\($0)/\(file).log") }
    let now = BenchClock.now
    let lines = (try? log?.read { $0.isOver(at: now) }.lines) ?? []
    for line in lines {
      guard let line, let rung = RecoveryRung(record: line.text) else { continue }
      // On the scale of the carrier's time.
      ladder.recall(rung, at: Waiting.now + (line.place(at: now) - now.uptime))
    }
  }

  /// The ladder of a carrier.
  public convenience init(of carrier: Carrier) {
    self.init(
      of: carrier.identity, carrier.reopenings, settle: carrier.power?.settle,
      in: try? StateFolder.folder("recoveries"))
  }

  /// Climbs until the controller is in work again.
  ///
  /// - Returns: what there is to say of it, a line for each try.
  public func climb<Surroundings>(
    _ link: inout AirLink<Carrier, Surroundings>
  ) -> [String] {
    var way = CarrierWay(link: link, log: log)
    let works = ladder.climb(&way)
    link = way.link
    if !works {
      way.write("out-of-use")
      let last = way.lastFailure ?? "none was tried"
      fault = LabFault(
        .noDevice, "\(name) is out of use, since no rung of the ladder helped; the last one: \(last)")
    }
    return way.lines
  }
}

/// A way to a controller, with what is said while it is climbed back to.
private struct CarrierWay<Surroundings: LockSurroundings>: RecoverableWay {
  var link: AirLink<Carrier, Surroundings>
  /// Where each try is written down as soon as it has ended.
  let log: LineFile?
  var lines: [String] = []
  var lastFailure: String?

  var now: Instant { link.carrier.now }
  var isWayLost: Bool { link.isWayLost }

  mutating func attempt(_ rung: RecoveryRung, until limit: Instant) -> String? {
    do {
      switch rung {
      case .reconnect: try link.reconnect(until: limit)
      case .hciReset: try link.resetController(until: limit)
      case .reopen: try link.reopen(.anew, until: limit)
      case .usbReset: try link.reopen(.afterReset, until: limit)
      case .powerCycle: try link.reopen(.afterPowerCycle, until: limit)
      }
      return nil
    } catch {
      return error.description
    }
  }

  mutating func note(_ line: String, _ attempt: RecoveryLadder.Attempt?) {
    lines += link.takeRemarks() + [line]
    guard let attempt else { return }
    lastFailure = attempt.failure
    write(attempt.record)
  }

  func write(_ text: String) { try? log?.append([WearLine(text, at: BenchClock.now)]) }
}
