public import Basics

/// Measures the round trip of a request to a program over two pipes, without any other work.
///
/// A device that is a program cannot be faster.
public final class PipePace {
  private let child: ChildProcess
  private let request: [UInt8]
  private let lines: Int

  /// Starts a program and sends it a first request.
  ///
  /// - Parameters:
  ///   - command: the shell command.
  ///   - request: a line; the answer to it always has the same number of lines.
  /// - Returns: `nil` if it does not start or does not answer within ten seconds.
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

  /// The time of a number of round trips; `nil` if the program does not answer any more.
  public func roundTrips(_ count: Int) -> Interval? {
    child.bareRoundTrips(count, sending: request, lines: lines)
  }
}
