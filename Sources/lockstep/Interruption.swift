import System
import Synchronization

/// Ctrl-C and SIGTERM: once, and the run ends after its step with a report; twice, and everything ends at once.
enum Interruption {
  private static let count = Atomic<Int>(0)

  /// Whether a signal has come.
  static var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

  /// Has everything end as after a first signal.
  static func request() { count.add(1, ordering: .relaxed) }

  /// Listens from now on.
  static func listen() {
    // Made before the handler needs it, since making it is nothing for a signal handler.
    _ = isRequested
    EndingSignals.handle { signal in
      guard Interruption.count.add(1, ordering: .relaxed).oldValue > 0 else { return }
      RunningGroup.end()
      Host.exitAtOnce(128 + signal)
    }
  }
}
