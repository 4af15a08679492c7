import Bluetooth
public import Conformance
import Lab
public import Sesame
import Simulation

/// The ladder of one controller, and what was tried on it by earlier processes, which lies in
/// `$XDG_STATE_HOME/lockstep/recoveries/NAME.log`: a process for each case is not to begin anew each time.
public final class Recovery {
  private var ladder: RecoveryLadder
  private let name: String
  private let log: LineFile?
  private let whenOut: (String) -> Void
  /// Why everything ends at once, once no rung is left.
  public private(set) var fault: LabFault?

  /// Makes the ladder of a carrier.
  ///
  /// - Parameters:
  ///   - folder: where the tries are written down; the usual place unless given.
  ///   - whenOut: told why, when no rung is left and the controller is out of use.
  public init(
    of carrier: Carrier, in folder: String? = nil, whenOut: @escaping (String) -> Void = { _ in }
  ) {
    let ways = carrier.reopenings
    name = carrier.spec.identity
    self.whenOut = whenOut
    ladder = RecoveryLadder(
      hasUSBReset: ways.contains(.afterReset), powerSettles: carrier.power?.settle)
    // Where nothing can be kept, each process begins anew.
    let place = folder ?? (try? Self.folder())
    log = place.flatMap { [name] in try? LineFile(Self.path(of: name, in: $0)) }
    let now = BenchClock.now
    for line in (try? log?.read { $0.isOver(at: now) }.lines) ?? [] {
      guard let line else { continue }
      if line.text == Self.restored {
        ladder.forget()
      } else if let rung = RecoveryRung(record: line.text) {
        // On the scale of the carrier's time.
        ladder.recall(rung, at: Waiting.now + (line.place(at: now) - now.uptime))
      }
    }
  }

  /// Climbs until the controller is in work again.
  ///
  /// - Returns: what there is to say of it, a line for each try.
  public func climb<Surroundings>(_ link: inout AirLink<Carrier, Surroundings>) -> [String] {
    var way = ClimbingLink(link) { self.write($0) }
    let works = ladder.climb(&way)
    link = way.link
    if !works {
      write("out-of-use")
      let reason =
        "no rung of the recovery ladder helped; the last one: \(way.lastFailure ?? "none was tried")"
      fault = LabFault(.noDevice, "\(name) is out of use: \(reason)")
      whenOut(reason)
    }
    return way.lines
  }

  private func write(_ text: String) { try? log?.append([WearLine(text, at: BenchClock.now)]) }
}

extension Recovery {
  /// The line after which all before it is forgotten.
  private static let restored = "restored"

  /// Notes that a person saw to a controller: what was tried before does not count any more.
  public static func restore(_ identity: String) throws(LabFault) {
    let path = path(of: identity, in: try folder())
    guard Host.isFile(path) else { return }
    try LineFile(path).append([WearLine(restored, at: BenchClock.now)])
  }

  private static func folder() throws(LabFault) -> String { try StateFolder.folder("recoveries") }

  private static func path(of identity: String, in folder: String) -> String {
    "\(folder)/\(Lease.name(identity)).log"
  }
}
