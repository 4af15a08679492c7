public import Basics

/// What is known to fail, and who sees to it until when.
///
/// What is in quarantine is driven and reported like everything else; its divergences do not turn a run red. The day
/// after ``expires`` the entry has lapsed, and they do again: an entry that nobody looks after hides nothing.
public struct Quarantine: Equatable, Sendable {
  /// The scenario, or a folder of them: a path as reports show it, or the end of one; `nil` for every scenario.
  public var scenario: String?
  /// The name of the lock; `nil` for every lock.
  public var lock: String?
  /// Why.
  public var reason: String
  /// Who sees to it.
  public var owner: String
  /// The last day on which it holds, in UTC.
  public var expires: Day

  /// Puts a scenario, a lock or a scenario on a lock in quarantine.
  public init(
    scenario: String? = nil, lock: String? = nil, reason: String, owner: String, expires: Day
  ) {
    precondition(scenario != nil || lock != nil, "something is in quarantine")
    self.scenario = scenario
    self.lock = lock
    self.reason = reason
    self.owner = owner
    self.expires = expires
  }

  /// Whether an entry holds.
  public enum Status: String, CaseIterable, Sendable {
    /// It holds.
    case active
    /// Its time is over.
    case lapsed
  }

  /// Whether it holds on a day.
  public func status(on date: Day) -> Status { date <= expires ? .active : .lapsed }

  /// Whether it is about a scenario on a lock.
  ///
  /// - Parameters:
  ///   - file: the path of the scenario, as reports show it.
  ///   - name: the name of the lock.
  public func covers(scenario file: String, on name: String) -> Bool {
    guard lock == nil || lock == name else { return false }
    return scenario.map { Self.parts(file).contains(Self.parts($0)) } ?? true
  }

  private static func parts(_ path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }
  }
}

extension Quarantine: CustomStringConvertible {
  /// What it says to who reads a report: `until 2026-12-01, ada: jams when cold`.
  public var description: String { "until \(expires), \(owner): \(reason)" }
}
