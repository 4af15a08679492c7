public import Basics
import Synchronization
public import System

/// The current day, protected against a clock that was set back.
///
/// The day is never earlier than the latest that any run on this machine has seen, which the state folder stores, so
/// that a lapsed entry stays lapsed. If the clock was too far ahead for a while, the stored day is too late; the
/// warning therefore names the file.
public enum Calendar {
  /// The current day.
  public static var today: Day { Day(unixTime: SeenCalendar(now: WallClock.time).latest.unixTime) }

  /// The problem of the calendar; `nil` if there is none.
  public static var warning: String? { SeenCalendar(now: WallClock.time).warning }

  /// The current day, stored for later runs; warns once if the calendar was set back.
  public static func noted(_ messages: StatusLine) -> Day {
    let seen = SeenCalendar(now: WallClock.time)
    seen.note()
    if let warning = seen.warning, hasWarned.exchange(true, ordering: .relaxed) == false {
      messages.say("lockstep: \(warning)")
    }
    return Day(unixTime: seen.latest.unixTime)
  }

  private static let hasWarned = Atomic<Bool>(false)
}
