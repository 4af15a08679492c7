import Glibc
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

/// Answers the lines of standard input, until it ends, with as few reads and writes as there can be.
///
/// - Parameter answer: appends the answer to a line, with its own ends of lines.
public func answerLines(_ answer: (_ line: ArraySlice<UInt8>, _ output: inout [UInt8]) -> Void) {
  var room = [UInt8](repeating: 0, count: LineBuffer.usualLimit)
  var (begun, output): ([UInt8], [UInt8]) = ([], [])
  while true {
    let count = unsafe Kernel.receive(STDIN_FILENO, &room, room.count)
    guard count > 0 else { return }
    var rest = room[..<count]
    output.removeAll(keepingCapacity: true)
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if begun.isEmpty {
        answer(rest[..<end], &output)
      } else {
        begun += rest[..<end]
        answer(begun[...], &output)
        begun.removeAll()
      }
      rest = rest[(end + 1)...]
    }
    begun += rest
    if output.isEmpty { continue }
    guard unsafe Kernel.send(STDOUT_FILENO, output, output.count) == output.count else { return }
  }
}
