public import Basics

/// What a question to a program and its answer take over two pipes, with nothing around them.
///
/// It is the pace that a device which is a program cannot be faster than.
public final class PipePace {
  private let child: ChildProcess
  private let request: [UInt8]
  private let lines: Int

  /// Starts a program and asks it once.
  ///
  /// - Parameters:
  ///   - command: what the shell runs.
  ///   - request: the line that is asked; the answer to it is always of as many lines.
  /// - Returns: `nil` where it does not start or does not answer within ten seconds.
  public init?(command: String, request: String) {
    guard let child = try? ChildProcess(command: command) else { return nil }
    self.child = child
    self.request = Array(request.utf8) + [UInt8(ascii: "\n")]
    child.send(self.request)
    guard case .line = child.nextLine(until: MonotonicClock.now + .seconds(10)) else { return nil }
    var lines = 1
    while child.hasLine, case .line = child.nextLine(until: .zero) { lines += 1 }
    self.lines = lines
  }

  /// How long so many round trips take; `nil` when the program does not answer any more.
  public func roundTrips(_ count: Int) -> Interval? {
    child.bareRoundTrips(count, sending: request, lines: lines)
  }
}
