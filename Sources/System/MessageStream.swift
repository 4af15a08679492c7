import Glibc
import Secrets

/// Standard input and output for a protocol of binary messages with another program.
///
/// It adds no colours, and does not buffer lines.
public struct MessageStream {
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Continues where the streams were last used.
  public init() {}

  /// The next bytes, as soon as there are any; empty at the end.
  public mutating func receive() -> ArraySlice<UInt8> {
    let count = (try? Descriptors.read(into: &buffer, from: STDIN_FILENO)) ?? 0
    return buffer[..<count]
  }

  /// Sends a whole text.
  ///
  /// - Parameter frame: adds the length before the text; it receives the redacted text.
  public func send(_ text: String, framed frame: (String) -> String) throws(SystemError) {
    try Descriptors.write(Array(frame(Redactor.shared.redacted(text)).utf8), to: STDOUT_FILENO)
  }
}
