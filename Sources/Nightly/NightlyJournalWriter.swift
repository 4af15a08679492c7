import System
import Basics
import Synchronization

/// Writes the journal of a night that is under way, so that reports can be made of it before its end.
///
/// The journal is written as a whole each time, by a thread of its own: of a big night that takes a while, in which no
/// child must be taken for one that hangs.
final class NightlyJournalWriter: Sendable {
  /// How often it is written at most.
  private static let period = Interval.seconds(10)
  /// How many times as long as it took to write it is left alone: a fiftieth of the time is spent on it at most.
  private static let rest: Int64 = 50

  private struct State {
    var isWriting = false
    /// By the monotonic clock, when it may be written next.
    var next = Interval.zero
    var fault: FileFault?
  }

  private let state = Mutex(State())

  /// How long it is left alone that took so long to write.
  static func pause(after length: Interval) -> Interval { max(period, length * rest) }

  /// Whether it is being written.
  var isWriting: Bool { state.withLock(\.isWriting) }

  /// Begins to write the journal.
  ///
  /// - Parameter body: writes it; called in another thread, and not at all where it is too soon after the last time.
  /// - Returns: whether it is written.
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

  /// Why the journal could not be written last, once.
  func takeFault() -> FileFault? {
    state.withLock { state in
      defer { state.fault = nil }
      return state.fault
    }
  }
}
