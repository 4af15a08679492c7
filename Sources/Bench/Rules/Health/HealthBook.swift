public import Basics

/// What is known of the health of one lock or one dongle.
public struct DeviceHealth: Equatable, Sendable {
  /// One time that it failed.
  public struct Failure: Equatable, Sendable {
    /// When.
    public var time: WallTime
    /// What happened.
    public var reason: String
    /// Of a lock the dongle over which it failed, of a dongle the lock that was not reached over it; `nil` where only it
    /// can be at fault.
    public var other: String?
  }

  /// Why something is left alone.
  public struct OutOfUse: Equatable, Sendable {
    /// Since when.
    public var since: WallTime
    /// Why.
    public var reason: String

    /// Says why.
    public init(since: WallTime, reason: String) {
      self.since = since
      self.reason = reason
    }
  }

  /// The failures in a row, since it last did what it should.
  public var failures: [Failure] = []
  /// Why it is left alone until somebody restores it; `nil` while it is in use.
  public var outOfUse: OutOfUse?
  /// When it last did what it should.
  public var lastPass: WallTime?
  /// What people called it when it was last checked.
  public var name: String?

  /// Nothing is known.
  public init() {}

  /// How many failures in a row put something out of use.
  public static var patience: Int { 2 }
}

/// The health of locks and dongles: what failed, whose fault it was, and what is left alone until somebody has seen to
/// it.
///
/// A lock that is not reached says nothing by itself: the lock may be at fault, or the dongle. So:
///
/// | finding | the lock | the dongle |
/// | --- | --- | --- |
/// | healthy | is well: its failures are forgotten | works: its failures are forgotten |
/// | unwell | failed | works |
/// | unreached | failed, over this dongle | failed, by this lock; the same lock counts once |
/// | transport | says nothing | failed |
/// | limited | says nothing | says nothing |
///
/// Two failures in a row put either out of use. A lock that fails again and again while others are reached over the
/// same dongle is at fault itself, since each of those clears the dongle. When two different locks are not reached over
/// a dongle, and none in between, it is the dongle: their failures over it are taken back, and a lock that they alone
/// put out of use is in use again. When a lock that was not reached over one dongle is reached over another, the first
/// one's failure stands, and the same lock counts there again.
public struct HealthBook: Equatable, Sendable {
  /// The records, in the order of their identities.
  public private(set) var records: [(identity: String, health: DeviceHealth)]

  /// Opens a book with what is known; nothing is known of anything else.
  public init(_ records: [(identity: String, health: DeviceHealth)] = []) {
    self.records = records.sorted { $0.identity < $1.identity }
  }

  public static func == (left: HealthBook, right: HealthBook) -> Bool {
    left.records.elementsEqual(right.records) { $0 == $1 }
  }

  /// What is known of something.
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
  /// Takes in what a check found.
  ///
  /// - Parameters:
  ///   - finding: what it found.
  ///   - lock: the identity of the lock.
  ///   - dongle: that of the dongle over which it was asked; `nil` where there is none.
  ///   - now: when.
  /// - Returns: what changed for who wants to use either, a sentence each.
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
      if self[dongle].outOfUse?.since == now { news += acquit(of: dongle) }
      return news
    case .transport(let reason):
      guard let dongle else { return fail(lock, DeviceHealth.Failure(time: now, reason: reason), at: now) }
      let news = fail(dongle, DeviceHealth.Failure(time: now, reason: reason), at: now)
      return self[dongle].outOfUse?.since == now ? news + acquit(of: dongle) : news
    case .limited: return []
    }
  }

  /// Takes in that somebody saw to something: all that was held against it is forgotten.
  public mutating func restore(_ identity: String) {
    self[identity].failures = []
    self[identity].outOfUse = nil
    // It may fail anew, and then counts anew.
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
    guard failures.count >= DeviceHealth.patience, self[identity].outOfUse == nil else { return [] }
    var reasons: [String] = []
    for failure in failures where !reasons.contains(failure.reason) { reasons.append(failure.reason) }
    let reason = "failed \(failures.count) times in a row: " + reasons.joined(separator: "; ")
    self[identity].outOfUse = DeviceHealth.OutOfUse(since: now, reason: reason)
    return ["\(identity) is out of use: \(reason)"]
  }

  /// Takes in that a lock spoke over a dongle.
  private mutating func reached(_ lock: String, over dongle: String?, at now: WallTime) -> [String] {
    if let dongle { pass(dongle, at: now) }
    // Where it was not reached before, it was not the lock.
    for index in records.indices where records[index].identity != lock && records[index].identity != dongle {
      for number in records[index].health.failures.indices
      where records[index].health.failures[number].other == lock {
        records[index].health.failures[number].other = nil
      }
    }
    return []
  }

  /// Takes back what was held against locks over a dongle that turned out to be at fault.
  private mutating func acquit(of dongle: String) -> [String] {
    var news: [String] = []
    for index in records.indices {
      var health = records[index].health
      let count = health.failures.count
      health.failures.removeAll { $0.other == dongle }
      guard health.failures.count < count else { continue }
      if health.outOfUse != nil, health.failures.count < DeviceHealth.patience {
        health.outOfUse = nil
        news.append("\(records[index].identity) is in use again: \(dongle) was at fault")
      }
      records[index].health = health
    }
    return news
  }
}
