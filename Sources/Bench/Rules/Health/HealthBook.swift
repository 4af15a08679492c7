public import Basics

/// The health of one lock or one dongle.
public struct DeviceHealth: Equatable, Sendable {
  /// One failure.
  public struct Failure: Equatable, Sendable {
    /// When it failed.
    public var time: WallTime
    /// Why it failed.
    public var reason: String
    /// For a lock, the dongle over which it failed; for a dongle, the lock that it did not reach; `nil` if no other
    /// device can be at fault.
    public var other: String?
  }

  /// Why a device is out of use.
  public struct OutOfUse: Equatable, Sendable {
    /// Since when.
    public var since: WallTime
    /// The reason.
    public var reason: String

    /// Makes a reason.
    public init(since: WallTime, reason: String) {
      self.since = since
      self.reason = reason
    }
  }

  /// The consecutive failures since the last success.
  public var failures: [Failure] = []
  /// Why the device is out of use until a person restores it; `nil` while it is in use.
  public var outOfUse: OutOfUse?
  /// When it last succeeded.
  public var lastPass: WallTime?
  /// Its name when it was last checked.
  public var name: String?

  /// A device without a record.
  public init() {}

  /// The number of consecutive failures that puts a device out of use.
  public static var maximumFailures: Int { 2 }
}

/// The health of locks and dongles: their failures, and which devices are out of use until a person restores them.
///
/// When a lock cannot be reached, either the lock or the dongle may be at fault. Therefore:
///
/// | finding | the lock | the dongle |
/// | --- | --- | --- |
/// | healthy | works: its failures are cleared | works: its failures are cleared |
/// | unwell | failed | works |
/// | unreached | failed, over this dongle | failed, by this lock; the same lock counts once |
/// | transport | unchanged | failed |
/// | limited | unchanged | unchanged |
///
/// Two consecutive failures put either out of use. A lock that keeps failing while others are reached over the same
/// dongle is at fault itself, since each of those clears the dongle. If two different locks cannot be reached over a
/// dongle, and none is reached in between, the dongle is at fault: their failures over it are cleared, and a lock
/// that was out of use for those alone is in use again. If a lock that was not reached over one dongle is reached
/// over another, the first dongle's failure stands, and the same lock may count there again.
public struct HealthBook: Equatable, Sendable {
  /// The records, sorted by identity.
  public private(set) var records: [(identity: String, health: DeviceHealth)]

  /// Makes a book from known records.
  public init(_ records: [(identity: String, health: DeviceHealth)] = []) {
    self.records = records.sorted { $0.identity < $1.identity }
  }

  public static func == (left: HealthBook, right: HealthBook) -> Bool {
    left.records.elementsEqual(right.records) { $0 == $1 }
  }

  /// The health of a device.
  public subscript(identity: String) -> DeviceHealth {
    get { records.first { $0.identity == identity }?.health ?? DeviceHealth() }
    set {
      if let index = records.firstIndex(where: { $0.identity == identity }) {
        records[index].health = newValue
      } else {
        let index = records.firstIndex { $0.identity > identity } ?? records.endIndex
        records.insert((identity, newValue), at: index)
      }
    }
  }
}

extension HealthBook {
  /// Records the result of a check.
  ///
  /// - Parameters:
  ///   - finding: the result.
  ///   - lock: the lock's identity.
  ///   - dongle: the identity of the dongle over which the lock was checked; `nil` without one.
  ///   - now: the time of the check.
  /// - Returns: the changes for users of either device, one sentence each.
  public mutating func take(
    _ finding: HealthFinding, lock: String, dongle: String?, at now: WallTime
  ) -> [String] {
    switch finding {
    case .healthy:
      pass(lock, at: now)
      return reached(lock, over: dongle, at: now)
    case .unwell(let reason):
      return reached(lock, over: dongle, at: now)
        + fail(lock, DeviceHealth.Failure(time: now, reason: reason), at: now)
    case .unreached(let reason):
      var news = fail(lock, DeviceHealth.Failure(time: now, reason: reason, other: dongle), at: now)
      guard let dongle, !self[dongle].failures.contains(where: { $0.other == lock }) else { return news }
      let failure = DeviceHealth.Failure(time: now, reason: "\(lock) was not reached over it", other: lock)
      news += fail(dongle, failure, at: now)
      if self[dongle].outOfUse?.since == now { news += clearFailures(of: dongle) }
      return news
    case .transport(let reason):
      guard let dongle else { return fail(lock, DeviceHealth.Failure(time: now, reason: reason), at: now) }
      let news = fail(dongle, DeviceHealth.Failure(time: now, reason: reason), at: now)
      return self[dongle].outOfUse?.since == now ? news + clearFailures(of: dongle) : news
    case .limited: return []
    }
  }

  /// Records that a person restored a device: its failures are cleared.
  public mutating func restore(_ identity: String) {
    self[identity].failures = []
    self[identity].outOfUse = nil
    // A new failure counts from one again.
    for index in records.indices { records[index].health.failures.removeAll { $0.other == identity } }
  }

  private mutating func pass(_ identity: String, at now: WallTime) {
    self[identity].failures = []
    self[identity].lastPass = now
  }

  private mutating func fail(
    _ identity: String, _ failure: DeviceHealth.Failure, at now: WallTime
  ) -> [String] {
    self[identity].failures.append(failure)
    let failures = self[identity].failures
    guard failures.count >= DeviceHealth.maximumFailures, self[identity].outOfUse == nil else { return [] }
    var reasons: [String] = []
    for failure in failures where !reasons.contains(failure.reason) { reasons.append(failure.reason) }
    let reason = "failed \(failures.count) times in a row: " + reasons.joined(separator: "; ")
    self[identity].outOfUse = DeviceHealth.OutOfUse(since: now, reason: reason)
    return ["\(identity) is out of use: \(reason)"]
  }

  /// Records that a lock was reached over a dongle.
  private mutating func reached(_ lock: String, over dongle: String?, at now: WallTime) -> [String] {
    if let dongle { pass(dongle, at: now) }
    // An earlier lock that was not reached over it was not at fault.
    for index in records.indices where records[index].identity != lock && records[index].identity != dongle {
      for number in records[index].health.failures.indices
      where records[index].health.failures[number].other == lock {
        records[index].health.failures[number].other = nil
      }
    }
    return []
  }

  /// Clears the failures of locks over a dongle that turned out to be at fault.
  private mutating func clearFailures(of dongle: String) -> [String] {
    var news: [String] = []
    for index in records.indices {
      var health = records[index].health
      let count = health.failures.count
      health.failures.removeAll { $0.other == dongle }
      guard health.failures.count < count else { continue }
      if health.outOfUse != nil, health.failures.count < DeviceHealth.maximumFailures {
        health.outOfUse = nil
        news.append("\(records[index].identity) is in use again: \(dongle) was at fault")
      }
      records[index].health = health
    }
    return news
  }
}
