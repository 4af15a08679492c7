import System
public import Basics
public import Conformance
import Databases

/// The latest moment of the calendar that any run on this machine has seen, which the ``StateStore`` has.
///
/// Clocks are set back, by people and by batteries that are empty: what was over then would not be over any more.
public struct SeenCalendar: Equatable, Sendable {
  /// What the calendar says.
  public let now: WallTime
  /// The latest that it ever said.
  public let latest: WallTime
  /// Why nobody can say what it ever said; `nil` where that is known.
  private let trouble: String?
  private let path: String?

  /// By how much a calendar may be behind: time servers correct it.
  static let tolerance = Interval.seconds(300)
  /// How much later it has to be for it to be worth a note.
  private static let step = Interval.seconds(60)

  /// Reads what was seen.
  ///
  /// - Parameters:
  ///   - now: what the calendar says.
  ///   - path: the store; the bench's own unless given.
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

  /// What is wrong where the calendar was set back, or where nobody can say whether it was.
  public var warning: String? {
    if let trouble { return "whether the calendar of this machine was set back is not known: \(trouble)" }
    guard latest - now > Self.tolerance else { return nil }
    return
      "the calendar of this machine was set back: it says \(now), and said \(latest) before, which is held to; where "
      + "that was wrong, 'lockstep devices restore calendar' forgets it"
  }

  /// Keeps the moment for later runs. Where it cannot be kept, they know no more than now.
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

  /// Forgets what was seen, for who knows that it was wrong.
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
