import Glibc

/// Lines of standard input as they come: nobody waits for one but with others for whom he waits too.
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
      // What stands before the end is a line, with a line feed or without; nothing is none.
      if isAtEnd, buffer.isEmpty { return .end }
      buffer.append(isAtEnd ? [UInt8(ascii: "\n")] : bytes[..<count])
    }
  }
}
