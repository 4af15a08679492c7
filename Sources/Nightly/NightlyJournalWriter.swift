import System
import Basics
import Synchronization

/// Writes the journal of a running night, so that reports can be made before its end.
///
/// The whole journal is written each time, in a thread of its own: in a large night that takes a while,
/// during which no child must be mistaken for a hanging one.
final class NightlyJournalWriter: Sendable {
  /// The minimum interval between two writes.
  private static let period = Interval.seconds(10)
  /// The minimum ratio of the pause to the duration of a write: writing takes at most a fiftieth of the time.
  private static let rest: Int64 = 50

  private struct State {
    var isWriting = false
    /// When it may be written next, by the monotonic clock.
    var next = Interval.zero
    var fault: FileFault?
  }

  private let state = Mutex(State())

  /// The pause after a write of a duration.
  static func pause(after length: Interval) -> Interval { max(period, length * rest) }

  /// Whether a write is in progress.
  var isWriting: Bool { state.withLock(\.isWriting) }

  /// Begins to write the journal.
  ///
  /// - Parameter body: writes it; called in another thread, and not at all if the last write was too recent.
  /// - Returns: whether it is being written.
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
    // A night that waits for its journal is better than one without.
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
