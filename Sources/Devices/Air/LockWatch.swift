import Bench
import Basics
import Conformance
import Harness
public import Journal
import System

/// What the process needs to know that stands beside a run on a real lock: how the lock is reached, and where it is to be
/// left. It says nothing that is secret: the key is where the lock's file is.
public struct LockWatchOrder: Equatable {
  /// The lock, as in `--device lock:NAME`.
  var lock: String
  /// The inventory that knows it, if one does.
  var bench: String?
  /// The way that the run had.
  var transport: String
  var park: ParkPosition
  /// Where it is written down what was done.
  var log: String?

  /// The line that ``init(_:)`` reads.
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

/// What is done for a lock whose run died.
public struct LockWatch {
  /// For how long it is tried when the lock cannot be had, or not be reached.
  private static let retryTime = Interval.seconds(600)
  /// How often the lock is tried to be parked.
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
        bring(bench)
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

  private func bring(_ bench: LockBench) {
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
