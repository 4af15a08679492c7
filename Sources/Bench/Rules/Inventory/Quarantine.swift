public import Basics

/// A known failure, with the person responsible and an expiry date.
///
/// A scenario in quarantine runs and is reported as usual; its divergences do not fail the run. After ``expires`` the
/// entry has lapsed and they fail the run again, so that an abandoned entry hides nothing.
public struct Quarantine: Equatable, Sendable {
  /// The scenario, or a folder of them: a path as reports show it, or the end of one; `nil` for every scenario.
  public var scenario: String?
  /// The name of the lock; `nil` for every lock.
  public var lock: String?
  /// Why it is in quarantine.
  public var reason: String
  /// The person responsible.
  public var owner: String
  /// The last day on which the entry is active, in UTC.
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

  /// Whether an entry is in effect.
  public enum Status: String, CaseIterable, Sendable {
    /// The entry is in effect.
    case active
    /// The entry has expired.
    case lapsed
  }

  /// The status on a day.
  public func status(on date: Day) -> Status { date <= expires ? .active : .lapsed }

  /// Whether it covers a scenario on a lock.
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
  /// The entry in a report: `until 2026-12-01, ada: jams when cold`.
  public var description: String { "until \(expires), \(owner): \(reason)" }
}
