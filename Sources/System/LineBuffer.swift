/// Splits the bytes of a stream into lines.
///
/// It is bounded: a line longer than ``limit`` bytes is an error of the sender.
public struct LineBuffer {
  /// The default maximum length of a line, in bytes.
  public static let usualLimit = 64 * 1024

  /// The first item in the buffer.
  public enum Line: Equatable {
    /// A whole line, without its end.
    case whole([UInt8])
    /// The beginning of a line that is too long.
    case tooLong([UInt8])
  }

  /// The maximum length of a line, in bytes.
  public let limit: Int
  private var bytes: [UInt8] = []
  /// The beginning of the first remaining line.
  private var start = 0
  /// The position up to which no line feed was found.
  private var searched = 0

  /// Makes an empty buffer.
  public init(limit: Int = LineBuffer.usualLimit) {
    self.limit = limit
  }

  /// Appends the next bytes.
  public mutating func append(_ more: ArraySlice<UInt8>) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      (start, searched) = (0, 0)
    } else if start > limit {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes += more
  }

  /// Whether the buffer is empty.
  public var isEmpty: Bool { start == bytes.count }

  /// Whether there is a whole line, or one that is too long.
  public var hasLine: Bool {
    bytes[searched...].contains(UInt8(ascii: "\n")) || bytes.count - start > limit
  }

  /// Removes and returns the first line; `nil` if there is no whole one.
  public mutating func next() -> Line? {
    if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")), end - start <= limit {
      defer {
        start = end + 1
        searched = start
      }
      return .whole(Array(bytes[start..<end]))
    }
    guard bytes.count - start <= limit else {
      return .tooLong(Array(bytes[start...].prefix(limit)))
    }
    searched = bytes.count
    return nil
  }
}
