import Basics
import Glibc
import Synchronization

/// Lines of standard input, read together with other event sources rather than by a blocking call.
public struct InputLines {
  /// What came.
  public enum Input: Equatable {
    case line(String)
    /// The beginning of one that is too long to be one; nothing after it is read.
    case tooLong
    /// There will be no more.
    case end
  }

  private var buffer = LineBuffer()
  private var isAtEnd = false

  /// Whether a person types it.
  public static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Begins where it was read last.
  public init() {}

  /// What to poll while more is wanted, with the events of poll(2) that are waited for.
  public let descriptors: [(descriptor: Int32, events: Int16)] = [(STDIN_FILENO, Int16(POLLIN))]

  /// What came next; `nil` while nothing has.
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
      // Text before the end is a line, with or without a line feed; no text is none.
      if isAtEnd, buffer.isEmpty { return .end }
      buffer.append(isAtEnd ? [UInt8(ascii: "\n")] : bytes[..<count])
    }
  }
}

/// Lines of standard input that are looked at while something else is done, too: what is not meant for that is kept for who
/// asks next.
public final class KeptInputLines: Sendable {
  private struct State {
    var lines = InputLines()
    var kept: [InputLines.Input] = []
    /// Counts starts and stops of listening: a thread of an earlier start no longer reads.
    var turn = 0
  }

  private static let restInterval = Interval.milliseconds(100)

  private let state = Mutex(State())

  /// Begins where it was read last.
  public init() {}

  /// What to poll while more is wanted, with the events of poll(2) that are waited for.
  public var descriptors: [(descriptor: Int32, events: Int16)] { state.withLock { $0.lines.descriptors } }

  /// What came next; `nil` while nothing has.
  public func next() -> InputLines.Input? {
    state.withLock { $0.kept.isEmpty ? $0.lines.next() : $0.kept.removeFirst() }
  }

  /// Listens for a line in a thread of its own, until it comes or ``stopListening()``.
  ///
  /// - Parameter heard: what is done then, in that thread.
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

  /// Listens no more.
  public func stopListening() { state.withLock { $0.turn += 1 } }

  /// Whether the line has come; `nil` where it is waited for no more.
  private func pollInput(for line: String, in turn: Int) -> Bool? {
    state.withLock { state in
      guard state.turn == turn else { return nil }
      // A background process that reads from a terminal is stopped by it.
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
