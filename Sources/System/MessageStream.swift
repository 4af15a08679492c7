import Glibc
import Secrets

/// Standard input and output as a program uses them that talks to another one in messages of any bytes.
///
/// Nobody looks at it: nothing is coloured, and nothing waits for its line to end.
public struct MessageStream {
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Begins where they were used last.
  public init() {}

  /// What comes next, as soon as there is any; nothing at the end.
  public mutating func receive() -> ArraySlice<UInt8> {
    let count = (try? Descriptors.read(into: &buffer, from: STDIN_FILENO)) ?? 0
    return buffer[..<count]
  }

  /// Sends a text whole.
  ///
  /// - Parameter frame: puts its length before it; it is given the text as it goes out, without any secret.
  public func send(_ text: String, framed frame: (String) -> String) throws(SystemError) {
    try Descriptors.write(Array(frame(Redactor.shared.redacted(text)).utf8), to: STDOUT_FILENO)
  }
}
