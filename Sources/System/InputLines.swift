import Basics
import Glibc
import Synchronization

/// Lines of standard input, read together with other event sources rather than by a blocking call.
public struct InputLines {
  /// An input.
  public enum Input: Equatable {
    case line(String)
    /// The beginning of a line that is too long; nothing after it is read.
    case tooLong
    /// The end.
    case end
  }

  private var buffer = LineBuffer()
  private var isAtEnd = false

  /// Whether standard input is a terminal.
  public static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Continues where reading last stopped.
  public init() {}

  /// The descriptors to poll for more input, with the events of poll(2).
  public let descriptors: [(descriptor: Int32, events: Int16)] = [(STDIN_FILENO, Int16(POLLIN))]

  /// The next input; `nil` if there is none yet.
  public mutating func next() -> Input? {
    while true {
      switch buffer.next() {
      case .whole(let bytes)?: return .line(String(decoding: bytes, as: UTF8.self))
      case .tooLong?: return .tooLong
      case nil: break
      }
      guard !isAtEnd else { return .end }
      var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
      guard Kernel.poll(&polled, for: 0) > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = (try? Descriptors.read(into: &bytes, from: STDIN_FILENO)) ?? 0
      isAtEnd = count == 0
      // Text before the end is a line, with or without a line feed.
      if isAtEnd, buffer.isEmpty { return .end }
      buffer.append(isAtEnd ? [UInt8(ascii: "\n")] : bytes[..<count])
    }
  }
}

/// Lines of standard input that can also be watched during other work: lines that were not watched for are
/// kept for later reading.
public final class KeptInputLines: Sendable {
  private struct State {
    var lines = InputLines()
    var kept: [InputLines.Input] = []
    /// Counts starts and stops of listening: a thread of an earlier start no longer reads.
    var turn = 0
  }

  private static let restInterval = Interval.milliseconds(100)

  private let state = Mutex(State())

  /// Continues where reading last stopped.
  public init() {}

  /// The descriptors to poll for more input, with the events of poll(2).
  public var descriptors: [(descriptor: Int32, events: Int16)] { state.withLock { $0.lines.descriptors } }

  /// The next input; `nil` if there is none yet.
  public func next() -> InputLines.Input? {
    state.withLock { $0.kept.isEmpty ? $0.lines.next() : $0.kept.removeFirst() }
  }

  /// Listens for a line in a thread of its own, until it comes or ``stopListening()``.
  ///
  /// - Parameter heard: called in that thread.
  public func listen(for line: String, then heard: @escaping @Sendable () -> Void) {
    let turn = state.withLock { state in
      state.turn += 1
      return state.turn
    }
    inBackground {
      while let isHeard = self.pollInput(for: line, in: turn) {
        if isHeard { return heard() }
        rest(for: Self.restInterval)
      }
    }
  }

  /// Stops listening.
  public func stopListening() { state.withLock { $0.turn += 1 } }

  /// Whether the line has come; `nil` if listening has ended.
  private func pollInput(for line: String, in turn: Int) -> Bool? {
    state.withLock { state in
      guard state.turn == turn else { return nil }
      // The system stops a background process that reads from a terminal.
      guard !InputLines.isTerminal || tcgetpgrp(STDIN_FILENO) == getpgrp() else { return false }
      while let input = state.lines.next() {
        if input == .line(line) { return true }
        state.kept.append(input)
        if input == .end || input == .tooLong { return nil }
      }
      return false
    }
  }
}
