import Basics

/// Extracts messages from a byte stream in which a header precedes each message, as in the Language Server
/// Protocol.
///
///     Content-Length: 52\r\n
///     \r\n
///     {"jsonrpc":"2.0", …}
///
/// The buffer is bounded: a header that is too long, or that announces too long a message, is a fault. The start of
/// the next message is then unknown, and the stream cannot continue.
struct MessageFrames {
  /// An item of the stream.
  enum Frame: Equatable {
    case message([UInt8])
    /// The stream is invalid, with the reason.
    case fault(String)
  }

  /// The maximum length of a message: a document of maximum size with every byte escaped.
  static let longest = 32 << 20
  /// The maximum length of a header.
  static let longestHeader = 4096

  private var bytes: [UInt8] = []
  private var start = 0
  /// The length of the current message, once its header has been read.
  private var expected: Int?
  private var isBroken = false

  mutating func append(_ more: some Collection<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += more
  }

  /// Returns the next item; `nil` until it is complete.
  mutating func next() -> Frame? {
    guard !isBroken else { return nil }
    if expected == nil {
      switch header() {
      case nil: return nil
      case .success(let length)?: expected = length
      case .failure(let fault)?:
        isBroken = true
        bytes = []
        start = 0
        return .fault(fault.reason)
      }
    }
    guard let expected, bytes.count - start >= expected else { return nil }
    let message = Array(bytes[start..<start + expected])
    start += expected
    self.expected = nil
    return .message(message)
  }

  private struct Fault: Error {
    var reason: String
  }

  /// Reads a complete header; returns `nil` until there is one.
  private mutating func header() -> Result<Int, Fault>? {
    let window = bytes[start...].prefix(Self.longestHeader)
    guard let end = window.firstRange(of: Array("\r\n\r\n".utf8)) else {
      return window.count < Self.longestHeader
        ? nil : .failure(Fault(reason: "a header has more than \(Self.longestHeader) bytes"))
    }
    let lines = String(decoding: window[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    start = end.upperBound
    var length: Int?
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
      guard parts.count == 2 else { return .failure(Fault(reason: "a line of a header has no colon")) }
      guard parts[0].lowercased() == "content-length" else { continue }
      guard let number = Int(parts[1]), number >= 0, !parts[1].hasPrefix("+") else {
        return .failure(Fault(reason: "Content-Length is no number of bytes"))
      }
      length = number
    }
    guard let length else { return .failure(Fault(reason: "a header has no Content-Length")) }
    guard length <= Self.longest else {
      return .failure(Fault(reason: "a message has more than \(Self.longest) bytes"))
    }
    return .success(length)
  }
}

extension EditorServer {
  /// Returns a message with its header.
  ///
  /// - Parameter body: the text of the message.
  public static func framed(_ body: String) -> String {
    "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }
}
