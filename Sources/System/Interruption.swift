/// The handling of Ctrl-C and all other signals that request the end: after the first, waits are cut short
/// and the run ends with a report; after the second, the process ends at once.
public enum Interruption {
  /// Whether a signal has come.
  public static var isRequested: Bool { EndingSignals.requestCount > 0 }

  /// Whether waits must be cut short: a signal has come, or the input of a worker has ended.
  public static var isHeard: Bool { isRequested || EndOfInput.isReached }

  /// Ends the run as after a first signal.
  public static func request() { EndingSignals.countRequest() }

  /// Begins to handle signals.
  public static func listen() {
    // Initialized before the handler uses them, since that is not permitted in a signal handler.
    EndingSignals.prepare()
    FinalMessage.set(nil)
    EndingSignals.handle { signal in
      guard EndingSignals.countRequest(by: signal) > 0 else { return }
      Interruption.endAtOnce(signal)
    }
  }

  /// Begins to handle signals, unless their handling was decided before: a worker leaves them to its
  /// campaign.
  public static func listenUnlessDecided() {
    if !EndingSignals.isDecided { listen() }
  }

  /// Begins to handle signals while nothing needs to be finished: the first one ends the process at once.
  ///
  /// - Parameter words: the message to print then.
  public static func listen(saying words: String) {
    FinalMessage.set(words)
    EndingSignals.handle { signal in Interruption.endAtOnce(signal) }
  }

  private static func endAtOnce(_ signal: Int32) -> Never {
    RunningGroup.end()
    FinalMessage.print()
    Host.exitAtOnce(128 + signal)
  }
}
