import System
import Conformance
import Glibc
import Basics

/// The process that releases the places of a run if the run dies; see ``Watcher``.
final class Watchdog {
  private let client: LabgridClient
  private let watcher: Watcher
  private let note: ReservationNote

  /// Starts it, before anything is reserved.
  init(_ client: LabgridClient) throws(LabFault) {
    self.client = client
    note = try ReservationNote.make(client)
    do {
      watcher = try Watcher(
        [
          LabWatchdog.command, client.address.description, client.owner.host, client.owner.user,
          client.python,
        ],
        without: Secrecy.withheldVariables)
    } catch {
      note.remove()
      throw error
    }
  }

  /// Reports the lock at the place, which is parked before the place is released.
  func register(lock identity: String) { watcher.send(identity) }

  /// Releases the places, and dismisses the watchdog; if the lab does not respond, the watchdog keeps trying.
  ///
  /// - Returns: a diagnostic, if there is one.
  func end() -> String? {
    do throws(LabgridFault) {
      try client.release()
    } catch {
      let fault = client.trouble(error, "the place is not given back yet")
      watcher.handOver()
      return
        "lockstep: \(fault.detail)\n  a background process keeps trying for \(LabWatchdog.retryTime)"
    }
    note.remove()
    watcher.dismiss()
    return nil
  }

  /// Releases the places of runs on this machine that were killed together with their watchdogs.
  static func releaseRemains(at address: LabAddress, python: String, say: (String) -> Void) {
    for owner in ReservationNote.owners {
      guard let (note, place) = ReservationNote.left(by: owner), place == address else { continue }
      do throws(LabgridFault) {
        let count = try LabgridClient(address, owner: owner, python: python).release()
        note.remove()
        if count > 0 { say("lockstep: gave back what a run that was killed held at the lab, as \(owner)") }
      } catch {
        // The request that follows reports whether the lab can be reached.
        return
      }
    }
  }
}

/// The watchdog process of a run, under the name of an internal command.
public enum LabWatchdog {
  /// The name of the command.
  public static let command = "lab-watchdog"

  /// For how long it retries if the coordinator is unreachable.
  static let retryTime = Interval.seconds(600)
  /// For how long it checks: a last request of the run may still take effect.
  private static let lingering = Interval.seconds(20)

  /// The time that parking a lock may take before the place is released.
  private static let parkingTime = Interval.seconds(120)

  /// Waits for the end of the run, and releases its places unless it did so itself.
  ///
  /// - Parameter words: the coordinator, the holder's host and user, and the Python that connects to the coordinator.
  /// - Returns: whether all were released; `nil` if the arguments are invalid.
  public static func perform(_ words: [String]) -> Bool? {
    guard words.count == 4, let address = LabAddress(words[0]) else { return nil }
    let owner = LabOwner(host: words[1], user: words[2])
    guard let locks = Watch.awaitEnd() else { return true }
    // The transport's own watcher parks the lock.
    let limit = MonotonicClock.now + parkingTime
    while locks.contains(where: CycleCounter.isAway), MonotonicClock.now < limit {
      rest(for: .milliseconds(200))
    }
    return release(LabgridClient(address, owner: owner, python: words[3]))
  }

  private static func release(_ client: LabgridClient) -> Bool {
    let begin = MonotonicClock.now
    var note: ReservationNote?
    var isDone = false
    var pause = Interval.milliseconds(200)
    while MonotonicClock.now - begin < (isDone ? lingering : retryTime) {
      // Without a note nothing is held: another process has released it.
      guard ReservationNote.isThere(for: client.owner) else { return true }
      // While the note is locked, the run continues or another process releases its places.
      if note == nil { note = ReservationNote.left(by: client.owner)?.note }
      if note != nil || MonotonicClock.now - begin > lingering {
        isDone = (try? client.release()) != nil
      }
      rest(for: pause)
      pause = min(pause + pause, .seconds(15))
    }
    if isDone { note?.remove() }
    return isDone
  }
}
