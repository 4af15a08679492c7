import Bench
import Basics
import Conformance
import Harness
public import Journal
import System

/// The order for the watcher process of a run on a real lock: the lock, its transport, and its park position.
///
/// The order contains no secrets: the watcher reads the key from the lock's file.
public struct LockWatchOrder: Equatable {
  /// The lock, as in `--device lock:NAME`.
  var lock: String
  /// The inventory that contains the lock, if any.
  var bench: String?
  /// The transport of the run.
  var transport: String
  var park: ParkPosition
  /// The path of the log.
  var log: String?

  /// The order as a line, which ``init(_:)`` parses.
  var line: String {
    var members: [JSON.Member] = [
      JSON.Member("lock", .text(lock)), JSON.Member("transport", .text(transport)),
      JSON.Member("park", .text(park.rawValue)),
    ]
    if let bench { members.append(JSON.Member("bench", .text(bench))) }
    if let log { members.append(JSON.Member("log", .text(log))) }
    return JSON.mapping(members).line
  }
}

extension LockWatchOrder {
  public init?(_ line: String) {
    guard let json = try? JSON(parsing: Array(line.utf8)) else { return nil }
    func text(_ name: String) -> String? { if case .text(let text)? = json[name] { text } else { nil } }
    guard let lock = text("lock"), let transport = text("transport"),
      let park = text("park").flatMap(ParkPosition.init(rawValue:))
    else { return nil }
    self.init(lock: lock, bench: text("bench"), transport: transport, park: park, log: text("log"))
  }
}

/// Parks a lock whose run died.
public struct LockWatch {
  /// The maximum time for retries while the lock is in use elsewhere or unreachable.
  private static let retryTime = Interval.seconds(600)
  /// The maximum number of attempts to park the lock.
  private static let maximumAttempts = 3

  private let order: LockWatchOrder
  private let settings: LabSettings
  private let spec: DeviceSpec

  public init(_ order: LockWatchOrder) throws(UsageError) {
    self.order = order
    let lock = try BenchLock(named: order.lock, on: order.bench)
    var settings = LabSettings(of: lock, isNamed: true, park: order.park)
    settings.transports = [try TransportChoice(naming: order.transport, on: lock?.bench)]
    self.settings = settings
    spec = settings.device ?? DeviceSpec(.lock, order.lock)
  }

  /// Parks the lock, unless it is parked or another process holds its lease and does so.
  public func perform() -> CommandStatus {
    let bench = LockBench(settings, isWatched: false)
    guard let lock = bench.identity(of: spec), CycleCounter.isAway(lock) else { return .agree }
    log("the run is gone, and the lock was not parked")
    let limit = Waiting.now + Self.retryTime
    var pause = Interval.milliseconds(200)
    var attempts = 0
    while CycleCounter.isAway(lock), Waiting.now < limit, attempts < Self.maximumAttempts {
      let bench = LockBench(settings, isWatched: false)
      bench.reserve([spec])
      if bench.isReserved {
        attempts += 1
        park(with: bench)
      }
      bench.shutDown()
      if CycleCounter.isAway(lock) { rest(for: pause) }
      pause = min(pause + pause, .seconds(5))
    }
    let isParked = !CycleCounter.isAway(lock)
    if attempts == 0, isParked { log("another process has parked the lock") }
    if !isParked { log("the lock is not parked, see to it; the next run on it brings it there first") }
    return isParked ? .agree : .labFault
  }

  private func park(with bench: LockBench) {
    do throws(LabFault) {
      for words in try bench.parkPending(of: spec) { log(words) }
    } catch {
      log(error.detail)
    }
  }

  private func log(_ words: String) {
    guard let path = order.log, let file = try? LineFile(path) else { return }
    try? file.append(["\(WallClock.now) \(words)"])
  }
}
