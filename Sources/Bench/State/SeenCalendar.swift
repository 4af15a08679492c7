import System
public import Basics
public import Conformance
import Databases

/// The latest calendar time that any run on this machine has seen, from the ``StateStore``.
///
/// Clocks are set back, by people and by empty batteries. Without this time a lapsed entry would be active again.
public struct SeenCalendar: Equatable, Sendable {
  /// The current calendar time.
  public let now: WallTime
  /// The latest calendar time seen.
  public let latest: WallTime
  /// Why the latest time cannot be read; `nil` if it can.
  private let trouble: String?
  private let path: String?

  /// By how much a calendar may be behind: time servers correct it.
  static let tolerance = Interval.seconds(300)
  /// The least advance that is worth storing.
  private static let step = Interval.seconds(60)

  /// Reads the latest time seen.
  ///
  /// - Parameters:
  ///   - now: the current calendar time.
  ///   - path: the store; the bench's own if omitted.
  public init(now: WallTime, in path: String? = StateFolder.store) {
    self.now = now
    self.path = path
    do throws(StateFault) {
      latest = max(now, try Self.latest(in: path) ?? now)
      trouble = nil
    } catch {
      latest = now
      trouble = "\(error)"
    }
  }

  /// The warning that the calendar was set back, or that this cannot be determined; `nil` without one.
  public var warning: String? {
    if let trouble { return "whether the calendar of this machine was set back is not known: \(trouble)" }
    guard latest - now > Self.tolerance else { return nil }
    return
      "the calendar of this machine was set back: it says \(now), but said \(latest) before, which "
      + "still counts; if that was wrong, 'lockstep devices restore calendar' forgets it"
  }

  /// Stores the current time for later runs, if possible.
  public func note() {
    guard let path, trouble == nil, latest == now else { return }
    do throws(StateFault) {
      if let seen = try Self.latest(in: path), now - seen <= Self.step { return }
      try StateStore(path).change { database throws(DatabaseError) in
        try database.run(
          "INSERT INTO calendar VALUES (0, $1) ON CONFLICT (id) DO UPDATE SET latest = max(latest, $1)",
          [.integer(now.nanoseconds)])
      }
    } catch {}
  }

  /// Deletes the stored time, if it is known to be wrong.
  public static func forget() throws(LabFault) {
    do throws(StateFault) {
      guard let path = StateFolder.store, try latest(in: path) != nil else { return }
      try StateStore(path).change { database throws(DatabaseError) in try database.run("DELETE FROM calendar")
      }
    } catch {
      throw LabFault(.noDevice, "the calendar cannot be forgotten: \(error)")
    }
  }

  private static func latest(in path: String?) throws(StateFault) -> WallTime? {
    try StateStore.reading(path)?.read { database throws(DatabaseError) in
      try database.first("SELECT latest FROM calendar")?.first?.integer.map { WallTime(nanoseconds: $0) }
    }.flatMap(\.self)
  }
}
