public import Basics
import Synchronization
public import System

/// The day, as far as the calendar of this machine can be believed.
///
/// What has lapsed stays so, and whoever sets a clock back gains nothing: the day is never before the latest that any run
/// on this machine has seen, which lies in the state folder. It is the other way round with a clock that was wrong for a
/// while and too far ahead, and so it is said where that lies.
public enum Calendar {
  /// The day now.
  public static var today: Day { Day(unixTime: SeenCalendar(now: WallClock.time).latest.unixTime) }

  /// What is wrong with the calendar, if anything is.
  public static var warning: String? { SeenCalendar(now: WallClock.time).warning }

  /// The day now, which later runs are to know of; a calendar that was set back is said once.
  public static func noted(_ messages: StatusLine) -> Day {
    let seen = SeenCalendar(now: WallClock.time)
    seen.note()
    if let warning = seen.warning, wasSaid.exchange(true, ordering: .relaxed) == false {
      messages.say("lockstep: \(warning)")
    }
    return Day(unixTime: seen.latest.unixTime)
  }

  private static let wasSaid = Atomic<Bool>(false)
}
