import System
import Basics
import Synchronization

/// Writes the journal of a running night, so that reports can be made before its end.
///
/// Each write replaces the whole journal, which takes a while in a large night. It runs in its own thread,
/// because the session must keep polling: otherwise a child would seem to hang.
final class NightlyJournalWriter: Sendable {
  /// The minimum interval between two writes.
  private static let period = Interval.seconds(10)
  /// The minimum ratio of the pause to the duration of a write: writing takes at most a fiftieth of the time.
  private static let rest: Int64 = 50

  private struct State {
    var isWriting = false
    /// When the journal may be written next, by the monotonic clock.
    var next = Interval.zero
    var fault: FileFault?
  }

  private let state = Mutex(State())

  /// The pause after a write of a duration.
  static func pause(after length: Interval) -> Interval { max(period, length * rest) }

  /// Whether a write is in progress.
  var isWriting: Bool { state.withLock(\.isWriting) }

  /// Starts to write the journal.
  ///
  /// - Parameter body: writes the journal; called in another thread, and not at all if the last write is still in
  ///   progress or too recent.
  /// - Returns: whether the write has started.
  func write(_ body: @escaping @Sendable () throws(FileFault) -> Void) -> Bool {
    let begin = MonotonicClock.now
    let isTime = state.withLock { state in
      guard !state.isWriting, state.next <= begin else { return false }
      state.isWriting = true
      return true
    }
    guard isTime else { return false }
    let work: @Sendable () -> Void = { [self] in
      var fault: FileFault?
      do throws(FileFault) { try body() } catch { fault = error }
      let end = MonotonicClock.now
      state.withLock { state in
        state.isWriting = false
        state.next = end + Self.pause(after: end - begin)
        state.fault = fault
      }
    }
    // Without a thread, the night waits for the write: that is better than no journal.
    if !inBackground(work) { work() }
    return true
  }

  /// Removes and returns the fault of the last write.
  func takeFault() -> FileFault? {
    state.withLock { state in
      defer { state.fault = nil }
      return state.fault
    }
  }
}
