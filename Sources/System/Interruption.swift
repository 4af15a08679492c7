/// Ctrl-C, and every other signal that asks for the end: once, and what is waited for is waited for no more, and the run
/// ends with a report; twice, and everything ends at once.
public enum Interruption {
  /// Whether a signal has come.
  public static var isRequested: Bool { EndingSignals.requestCount > 0 }

  /// Whether nothing that takes its time is to be waited for: a signal has come, or, of a worker, the end of its input.
  public static var isHeard: Bool { isRequested || EndOfInput.isReached }

  /// Has everything end as after a first signal.
  public static func request() { EndingSignals.countRequest() }

  /// Listens from now on.
  public static func listen() {
    // Made before the handler needs them, since making them is nothing for a signal handler.
    EndingSignals.prepare()
    LastWords.set(nil)
    EndingSignals.handle { signal in
      guard EndingSignals.countRequest(by: signal) > 0 else { return }
      Interruption.endAtOnce(signal)
    }
  }

  /// Listens from now on, unless the handling of signals was decided before: a worker leaves them to its campaign.
  public static func listenUnlessDecided() {
    if !EndingSignals.isDecided { listen() }
  }

  /// Listens while nothing needs to be finished: the first signal ends the process at once.
  ///
  /// - Parameter words: the message to print then.
  public static func listen(saying words: String) {
    LastWords.set(words)
    EndingSignals.handle { signal in Interruption.endAtOnce(signal) }
  }

  private static func endAtOnce(_ signal: Int32) -> Never {
    RunningGroup.end()
    LastWords.say()
    Host.exitAtOnce(128 + signal)
  }
}
